// No random number is used twice: not by the parts of a step, not by the steps of a chain, and not by updates that
// follow each other. Seed 17; the keys are 64 bits, so that of a million of them two are the same with probability
// 3e-8.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "checkpoint_bytes.hpp"
#include "online_data.hpp"
#include "recording_kernel.hpp"
#include "sampler/batch_chain.hpp"
#include "sampler/update_chain.hpp"

namespace ztp::test {
namespace random_keys_tests {

constexpr std::uint64_t seed = 17;
constexpr std::uint32_t updates = 3;
constexpr OnlineOptions options{.inner_draws = 3, .looks = 4};

// A fit, batch or online, or an update by as many ones and edges as the fit had: with several minibatches and a
// network.
void fill(OnlineData& data, std::uint32_t update) {
  add_modes({12, 9, 4}, data);
  add_ones(70, false, seed + update, data, [](const Cell& cell) { return cell[2] != 3; });
  add_network(0, 20, seed + update, data);
  if (update == 0) {
    data.missing.slices = {{}, {}, {3}};
    data.missing.cells.append(Cell{0, 0, 0}.data(), 3);
  }
  data.make_problem(3, 5, seed);
  data.problem.update = update;
}

// As `ztp update` does it: the statistics of the chain before go on, all steps of the update have random numbers of
// their own.
std::vector<RecordingKernel::Use> history(bool batch, std::uint32_t number) {
  Pool pool(1);
  const auto reference = make_kernel(KernelName::reference, pool);
  RecordingKernel kernel(*reference);
  std::string carried;
  const auto run_all = [&](Chain& chain) {
    chain.start();
    run(chain, static_cast<int>(options.looks));
    chain.draw_state();
    carried = checkpoint_bytes(chain);
  };
  for (std::uint32_t update = 0; update <= updates; ++update) {
    OnlineData data;
    fill(data, update);
    if (update > 0) {
      const OwnedMinibatches minibatches = data.minibatches(kernel);
      UpdateChain chain(data.problem, options, minibatches.data(), kernel, number);
      restore(chain, carried, 0);
      run_all(chain);
    } else if (batch) {
      BatchChain chain(data.problem, kernel, number);
      run_all(chain);
    } else {
      OnlineChain chain = data.chain(options, kernel, number);
      run_all(chain);
    }
  }
  return std::move(kernel.uses);
}

TEST(RandomKeys, AFitAndItsUpdatesUseEachStreamOnce) {
  for (const bool batch : {false, true}) {
    std::vector<RecordingKernel::Use> uses = history(batch, 0);
    for (const RecordingKernel::Use& use : history(batch, 1)) uses.push_back(use);
    std::sort(uses.begin(), uses.end(), [](const auto& a, const auto& b) { return a.order() < b.order(); });
    std::set<std::string> operations;
    for (std::size_t i = 0; i < uses.size(); ++i) {
      operations.insert(uses[i].operation);
      ASSERT_FALSE(i > 0 && uses[i - 1].overlaps(uses[i])) << uses[i].operation << " in step " << uses[i].t << ", and "
                                                           << uses[i - 1].operation << " with the same random numbers";
    }
    // Three updates of two chains: columns of three modes, at first for five minibatches and before them, three inner
    // draws.
    EXPECT_GT(uses.size(), 3u * 2 * 3 * 6 * 3);
    EXPECT_EQ(operations.size(), batch ? 5u : 4u) << "the test has not seen what it is for";
  }
}

// Weights are drawn on the host. Those that a step of an update uses are the average of what these keys give.
TEST(RandomKeys, WeightsOfAnUpdateComeFromKeysOfTheirOwn) {
  constexpr std::uint32_t update = 2, number = 1, t = 3;
  Pool pool(1);
  const auto kernel = make_kernel(KernelName::reference, pool);
  OnlineData data;
  fill(data, update);
  const OwnedMinibatches minibatches = data.minibatches(*kernel);
  UpdateChain chain(data.problem, options, minibatches.data(), *kernel, number);
  chain.start();
  run(chain, t - 1);
  const double scale = chain.statistics().scale;
  const std::vector<std::int64_t> tensor = chain.statistics().tensor, network = chain.statistics().networks[0];
  chain.step(false);
  const auto expect_average = [&](const WeightPrior& prior, const std::vector<std::int64_t>& totals, Purpose purpose,
                                  const Weights& used) {
    std::vector<double> mean(totals.size(), 0.0);
    for (std::uint32_t draw = 0; draw < options.inner_draws; ++draw) {
      Weights drawn(totals.size());
      draw_weights(prior, totals, scale, {stream_key(seed, number, purpose, 0, {update, draw}), t}, drawn);
      for (std::size_t r = 0; r < mean.size(); ++r) mean[r] += std::exp(drawn.log_weight[r]) / options.inner_draws;
    }
    for (std::size_t r = 0; r < mean.size(); ++r) EXPECT_NEAR(used.log_weight[r], std::log(mean[r]), 1e-12) << r;
  };
  expect_average(data.problem.hyper.tensor, tensor, Purpose::weights, chain.state().tensor);
  expect_average(data.problem.hyper.network, network, Purpose::edge_weights, chain.state().networks[0]);
}

// All keys, of twenty updates of ten minibatches and five inner draws. With several seeds, since the key of one must
// not be that of another: the last of them is the first plus what updates once added to it.
TEST(RandomKeys, AllCoordinatesTellKeysApart) {
  std::vector<std::uint64_t> keys;
  for (const std::uint64_t of_run : {seed, seed + 1, seed + 0x9e3779b97f4a7c15})
    for (std::uint32_t chain = 0; chain < 3; ++chain)
      for (std::uint32_t purpose = 1; purpose <= static_cast<std::uint32_t>(Purpose::replicates); ++purpose)
        for (std::uint32_t mode = 0; mode < 3; ++mode)
          for (std::uint32_t update = 0; update <= 20; ++update)
            for (std::uint32_t draw = 0; draw < 55; ++draw) {
              const StreamKey key = stream_key(of_run, chain, static_cast<Purpose>(purpose), mode, {update, draw});
              keys.push_back(std::uint64_t{key.word[0]} << 32 | key.word[1]);
            }
  std::sort(keys.begin(), keys.end());
  EXPECT_EQ(std::adjacent_find(keys.begin(), keys.end()), keys.end());
}

}  // namespace random_keys_tests
}  // namespace ztp::test
