// Counts in a checkpoint are 64 bits wide, whatever they are in memory. Everything is a function of the seed 19.
#include "run/checkpoint.hpp"

#include <gtest/gtest.h>

#include "checkpoint_bytes.hpp"
#include "errors.hpp"
#include "online_data.hpp"
#include "sampler/batch_chain.hpp"
#include "temp_dir.hpp"

namespace ztp::test {
namespace {

constexpr std::uint64_t seed = 19;

// `large`: so large a prior that the counts imputed for missing slices pass 2^31, which the ones do not let expect.
void fill(bool large, OnlineData& data) {
  add_modes({30, 20, 4}, data);
  add_ones(200, false, seed, data, [](const Cell& cell) { return cell[2] != 3; });
  add_network(0, 40, seed, data);
  data.missing.slices = {{}, {}, {3}};
  data.make_problem(5, 1, seed);
  if (large) data.problem.hyper.tensor = {1e11, 1e11, 0.5};
}

HostCounts& rows(PoissonChain& chain, std::size_t f) {
  return on_this_host(*chain.statistics().rows[f]);
}

bool all_wide(PoissonChain& chain, bool wide) {
  bool all = true;
  for (std::size_t f = 0; f < 3; ++f) all = all && rows(chain, f).wide() == wide;
  return all;
}

struct CheckpointTest : testing::Test {
  // Written after the steps that `from` has done, and read into a chain that goes on.
  void pass_on(Chain& from, Chain& to) {
    write_checkpoint(path, info, from, 1.5, nullptr);
    EXPECT_EQ(restore_chain(path, info, to).seconds, 1.5);
  }
  Pool pool{2};
  std::unique_ptr<Kernel> kernel = make_kernel(KernelName::cpu, pool);
  TempDir dir;
  RunInfo info;
  const std::string path = dir / "checkpoint-1-a.bin";
};

// Runs of earlier versions go on: an option that they did not know is at its default.
TEST(CheckpointOptions, AbsentOnesAreDefaults) {
  FitOptions options;
  options.rank = 7;
  check_options_match("file", R"({"rank": 7})", options);
  options.tie = {"a=b"};
  EXPECT_EQ(error_of([&] { check_options_match("file", R"({"rank": 7})", options); }, ErrorKind::config),
            "file: written with tie [], but options.json says [\"a=b\"]");
}

TEST_F(CheckpointTest, CountsAbove32BitsWidenWhatTheyAreReadInto) {
  OnlineData data;
  fill(true, data);
  BatchChain whole(data.problem, *kernel, 0), resumed(data.problem, *kernel, 0);
  whole.start();
  ASSERT_TRUE(all_wide(whole, false));
  run(whole, 3);
  ASSERT_TRUE(all_wide(whole, true));
  std::int64_t largest = 0;
  for_blocks_of_rows(*whole.statistics().rows[2], [&](Range of_block, const std::int64_t* values) {
    largest = std::max(largest, *std::max_element(values, values + of_block.size() * 5));
  });
  ASSERT_GT(largest, std::int64_t{1} << 31);
  ASSERT_TRUE(all_wide(resumed, false));
  pass_on(whole, resumed);
  EXPECT_TRUE(all_wide(resumed, true));
  EXPECT_TRUE(checkpoint_bytes(resumed) == checkpoint_bytes(whole));
  run(whole, 4);
  run(resumed, 4);
  EXPECT_TRUE(checkpoint_bytes(resumed) == checkpoint_bytes(whole));
  EXPECT_TRUE(parameter_bytes(resumed.state()) == parameter_bytes(whole.state()));
}

// As those of the reference kernel, and of versions before there were narrow ones.
TEST_F(CheckpointTest, NarrowCountsGoOnAsWideOnesAndBack) {
  OnlineData data;
  fill(false, data);
  BatchChain whole(data.problem, *kernel, 0), wide(data.problem, *kernel, 0), narrow(data.problem, *kernel, 0);
  for (std::size_t f = 0; f < 3; ++f) rows(wide, f).widen();
  whole.start();
  run(whole, 3);
  pass_on(whole, wide);
  run(wide, 3);
  pass_on(wide, narrow);
  EXPECT_TRUE(all_wide(wide, true));
  EXPECT_TRUE(all_wide(narrow, false));
  run(narrow, 3);
  run(whole, 6);
  EXPECT_TRUE(checkpoint_bytes(narrow) == checkpoint_bytes(whole));
  EXPECT_TRUE(parameter_bytes(narrow.state()) == parameter_bytes(whole.state()));
}

// Counts that cannot be must be seen, also those that 32 bits would cut off to some that can.
TEST_F(CheckpointTest, CountsBelowZeroAreRefused) {
  OnlineData data;
  fill(false, data);
  for (const std::int64_t bad : {std::int64_t{-1}, 5 - (std::int64_t{1} << 32)}) {
    BatchChain damaged(data.problem, *kernel, 0), restored(data.problem, *kernel, 0);
    damaged.start();
    const std::vector<std::int64_t> row = {0, bad, 0, 0, 0};
    rows(damaged, 0).widen();
    rows(damaged, 0).write({7, 8}, row.data());
    const std::string message = error_of([&] { pass_on(damaged, restored); }, ErrorKind::input);
    EXPECT_TRUE(holds(message, "has invalid numbers")) << bad;
  }
}

}  // namespace
}  // namespace ztp::test
