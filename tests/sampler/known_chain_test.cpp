// The statistics of tiny chains after three steps, by their XXH3: what a seed means, pinned across redesigns. Recorded
// on x86-64 with the mathematics library of the day; every kernel and instruction set has the same ones, since in so
// few draws no rounding flips any.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/hash.hpp"
#include "checkpoint_bytes.hpp"
#include "known_answers.hpp"
#include "online_data.hpp"
#include "sampler/batch_chain.hpp"
#include "targets.hpp"
#include "tensor/records.hpp"

namespace ztp::test {
namespace known_chain_tests {

constexpr std::uint64_t seed = 31;

// A tensor with a network, and something of each kind missing.
void fill(OnlineData& data) {
  add_modes({12, 9, 4}, data);
  add_ones(70, false, seed, data, [](const Cell& cell) { return cell[0] != 11 && cell[2] != 3; });
  add_network(0, 20, seed, data);
  for (std::uint32_t j = 2; j < 11; ++j) {
    const std::uint32_t pair[] = {j, 11};
    if (find_record(std::as_const(data.networks[0].edges), 2, pair) == data.networks[0].size())
      data.networks[0].missing.append(pair, 2);
  }
  data.missing.slices = {{11}, {}, {}};
  for (std::uint32_t j = 0; j < 9; ++j)
    for (const std::uint32_t id : {j, j, 3u}) data.missing.cells.push_back(id);
  data.make_problem(5, 3, seed);
}

std::string hash_of(const Statistics& statistics) {
  Hash hash;
  const auto add = [&](const std::vector<std::int64_t>& totals) { hash.add(totals.data(), 8 * totals.size()); };
  for (const auto& counts : statistics.rows) {
    const std::string rows = bytes_of(*counts);
    hash.add(rows.data(), rows.size());
  }
  add(statistics.tensor);
  for (const auto& network : statistics.networks) add(network);
  add(statistics.from_ones);
  add(statistics.from_edges);
  return fmt::format("{:016x}", hash.sum());
}

std::string after_three_steps(PoissonChain& chain) {
  chain.start();
  for (int t = 0; t < 3; ++t) chain.step(true);
  return hash_of(chain.statistics());
}

// check(kernel, name), with the reference and with the fast kernel on every instruction set.
template <class Check>
void for_each_kernel(Check check) {
  Pool pool(2);
  check(*make_kernel(KernelName::reference, pool), "reference");
  for_each_target([&](const std::string& target) { check(*make_kernel(KernelName::cpu, pool), target); });
}

TEST(KnownChain, Plain) {
  if (!recorded_here) GTEST_SKIP() << recorded_elsewhere;
  OnlineData data;
  fill(data);
  for_each_kernel([&](Kernel& kernel, const std::string& name) {
    BatchChain chain(data.problem, kernel, 1);
    EXPECT_EQ(after_three_steps(chain), "1d3587da20e4be46") << name;
  });
}

TEST(KnownChain, Bounded) {
  if (!recorded_here) GTEST_SKIP() << recorded_elsewhere;
  OnlineData data;
  fill(data);
  data.problem.bounded = true;
  for_each_kernel([&](Kernel& kernel, const std::string& name) {
    BatchChain chain(data.problem, kernel, 1);
    EXPECT_EQ(after_three_steps(chain), "4123daa937881b84") << name;
  });
}

TEST(KnownChain, CollapsedAndLearning) {
  if (!recorded_here) GTEST_SKIP() << recorded_elsewhere;
  OnlineData data;
  fill(data);
  data.problem.collapsed = true;
  data.problem.hyper.learn_dirichlet = data.problem.hyper.learn_shapes = true;
  for_each_kernel([&](Kernel& kernel, const std::string& name) {
    BatchChain chain(data.problem, kernel, 1);
    EXPECT_EQ(after_three_steps(chain), "4114f6c06244caeb") << name;
  });
}

TEST(KnownChain, Online) {
  if (!recorded_here) GTEST_SKIP() << recorded_elsewhere;
  OnlineData data;
  fill(data);
  for_each_kernel([&](Kernel& kernel, const std::string& name) {
    OnlineChain chain = data.chain({}, kernel, 1);
    EXPECT_EQ(after_three_steps(chain), "8996c32552ec85a4") << name;
  });
}

// Expectations go through roundings of floats: they are pinned by the reference alone.
TEST(KnownChain, OnlineMeans) {
  if (!recorded_here) GTEST_SKIP() << recorded_elsewhere;
  OnlineData data;
  fill(data);
  Pool pool(2);
  const auto kernel = make_kernel(KernelName::reference, pool);
  OnlineChain chain = data.chain({.expected_counts = true, .mean_parameters = true}, *kernel, 1);
  EXPECT_EQ(after_three_steps(chain), "c153e0e2b053d934");
}

}  // namespace known_chain_tests
}  // namespace ztp::test
