// A number that goes bad in a fit: the run has a checkpoint from which it goes on.
#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.hpp"
#include "faulty_world.hpp"
#include "run/prepare.hpp"
#include "run/sample_run.hpp"
#include "sampler/batch_chain.hpp"
#include "temp_dir.hpp"

namespace ztp::test {
namespace {

// A run whose seventh sweep goes bad has a checkpoint of the sixth, although none was due, and ends from there as one
// in which nothing did.
TEST(Numeric, TheRunHasACheckpointOfTheSweepBefore) {
  const TempDir dir;
  FaultyWorld world;
  Dataset data;
  data.tensor = std::move(world.tensor);
  FitOptions options;
  options.rank = 5;
  options.sweeps = 20;
  options.chains = 1;
  options.sampler = Sampler::plain;
  options = complete_options(options, data);
  const Problem problem = make_problem(options, data);
  RunInfo info = describe_run(data, options, {}, "");
  const auto run = [&](const std::string& name, const std::vector<Checkpoint>& from) {
    return sample_run(
        {dir / name, data, {}, info, {}},
        [&](std::uint32_t c, std::size_t) { return std::make_unique<BatchChain>(problem, world.kernel, c); }, 1, from);
  };
  for (const char* name : {"whole", "failed"}) {
    std::filesystem::create_directories(dir / name);
    write_initial_files(dir / name, info, data, {});
  }
  EXPECT_EQ(run("whole", {}), FitOutcome::complete);
  world.kernel.plant({3 * 6, 4, 0, not_a_number});
  EXPECT_EQ(message_of([&] { run("failed", {}); }),
            "sweep 7: mode user, row 5, component 1: the factor is not a number" + remedy);
  std::vector<std::string> warnings;
  const std::vector<Checkpoint> from = latest_checkpoints(dir / "failed", info, warnings);
  ASSERT_EQ(from.size(), 1u);
  EXPECT_EQ(from[0].sweeps, 6u);
  EXPECT_EQ(run("failed", from), FitOutcome::complete);
  EXPECT_EQ(read_text(dir / "failed/draws.nc"), read_text(dir / "whole/draws.nc"));
}

}  // namespace
}  // namespace ztp::test
