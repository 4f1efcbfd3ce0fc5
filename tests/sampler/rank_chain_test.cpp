// Chains that several processes share, as threads, make bit for bit the draws of one process with the same kernel: where
// arrays are on the host, where they are out of reach, and on a GPU. Batch and online, with networks, missing cells and
// shared columns. Everything is a function of the seed 35; there is no chance in a run.
#include <gtest/gtest.h>

#include <numeric>
#include <optional>

#include "checkpoint_bytes.hpp"
#include "online_data.hpp"
#include "rank_kernels.hpp"
#include "sampler/batch_chain.hpp"
#include "sampler/shared_chain.hpp"

namespace ztp::test {
namespace rank_chain_tests {

constexpr std::uint64_t seed = 35;

struct Setting {
  std::string name;
  std::size_t R = 18;
  bool counted = false, everything = false, shared = false, like_a_network = false;
  double dirichlet = 0.1;
  std::optional<OnlineOptions> online = {};
  double memory = 1e12;
};

std::vector<Setting> settings() {
  return {{"Plain"},
          {"ManyComponents", 300},
          {"Counted", 18, true},
          {"Everything", 18, false, true},
          {"SmallDirichlet", 18, false, true, false, false, 0.004},
          {"SharedColumns", 18, false, false, true},
          {"OnesLikeEdges", 18, false, false, false, true},
          {"Chunks", 300, false, false, false, false, 0.1, {}, 1e6},
          {"Online", 18, true, true, false, false, 0.1, OnlineOptions{}},
          {"OnlineMeans", 18, false, true, false, false, 0.1,
           OnlineOptions{.expected_counts = true, .mean_parameters = true}},
          {"OnlineInnerDraws", 18, false, true, false, false, 0.1, OnlineOptions{.inner_draws = 2}}};
}

// Rows for several processes: a share has 256 of them.
void fill(const Setting& setting, OnlineData& data) {
  if (setting.like_a_network) {  // as many edges as ones, and modes of one size
    add_modes({1200, 1200}, data);
    add_ones(3000, false, seed, data);
    add_network(1, 3000, seed, data);
    return data.make_problem(setting.R, 3, seed);
  }
  const auto in_slice = [](const Cell& cell) { return cell[0] == 11 || cell[0] > 1195; };
  add_modes({1200, 700, 4}, data);
  add_ones(3000, setting.counted, seed, data, [&](const Cell& cell) { return !in_slice(cell); });
  if (setting.everything) {
    add_network(0, 900, seed, data);
    data.missing.slices = {{11, 1196, 1197, 1198, 1199}, {}, {}};
    for (std::uint32_t j = 0; j < 90; ++j) data.missing.cells.append(Cell{13 * j, 7 * j, 2}.data(), 3);
  }
  data.make_problem(setting.R, 3, seed);
  data.problem.hyper.dirichlet.assign(3, setting.dirichlet);
  data.problem.hyper.learn_dirichlet = data.problem.hyper.learn_shapes = setting.everything && !setting.online;
  data.problem.learn_after = 1;
  if (!setting.shared) return;
  const std::vector<std::vector<std::uint32_t>> columns(3, std::vector<std::uint32_t>(setting.R, 0));
  data.problem.layout = FactorLayout({0, 1, 2}, {{1200, 5}, {700, 6}, {4, 4}}, setting.R, columns);
  data.problem.layout.make_one_hot(2);
  data.problem.hyper.tensor.shared = true;
}

class RankChain : public testing::TestWithParam<Setting> {};

// All that can be seen of a chain after some steps, with held-out scores and draws in between, and after a restart.
TEST_P(RankChain, DrawsWhatOneProcessDraws) {
  const Setting& setting = GetParam();
  OnlineData of_all;
  fill(setting, of_all);
  const std::vector<std::uint32_t> coords(of_all.tensor.coords.begin(), of_all.tensor.coords.end());
  const auto trace = [&](Kernel& kernel, Comm&) {
    OnlineData data;
    fill(setting, data);
    const auto make = [&]() -> std::unique_ptr<PoissonChain> {
      if (setting.shared) return std::make_unique<SharedChain>(data.problem, kernel, 1);
      if (!setting.online) return std::make_unique<BatchChain>(data.problem, kernel, 1);
      return std::unique_ptr<PoissonChain>(new OnlineChain(data.chain(*setting.online, kernel, 1)));
    };
    std::string bytes;
    const auto first = make();
    first->start();
    const std::uint32_t cells[] = {0, 0, 0, 11, 2, 3, 1199, 699, 3, 600, 400, 1};
    for (int t = 0; t < 3; ++t) {
      bytes += bytes_of(run(*first, 1));
      std::vector<double> probability(4);
      first->probabilities(cells, 4, probability.data());
      bytes += bytes_of(probability);
    }
    bytes += checkpoint_bytes(*first);
    const auto second = make();
    second->start();
    restore(*second, checkpoint_bytes(*first), first->steps_done());
    bytes += bytes_of(run(*second, 2)) + checkpoint_bytes(*second);
    second->draw_state();
    return bytes + parameter_bytes(second->state()) + bytes_of(second->learned());
  };
  for (const std::string& name : rank_kernel_names())
    expect_same_on_ranks(setting.name, name, of_all.problem.layout, coords, trace, setting.memory);
}

INSTANTIATE_TEST_SUITE_P(Settings, RankChain, testing::ValuesIn(settings()),
                         [](const auto& setting) { return setting.param.name; });

}  // namespace rank_chain_tests
}  // namespace ztp::test
