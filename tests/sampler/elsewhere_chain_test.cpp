// Chains of a kernel whose arrays are out of reach make, bit for bit, the draws of the kernel that computes for it:
// nothing in sampler/ reads or writes ones, factors and counts except through their handles. Batch and online, with
// networks and missing cells, and updates. Everything is a function of the seed 33; there is no chance in a run.
#include <gtest/gtest.h>

#include <functional>
#include <optional>

#include "checkpoint_bytes.hpp"
#include "elsewhere_kernel.hpp"
#include "online_data.hpp"
#include "sampler/batch_chain.hpp"
#include "sampler/update_chain.hpp"

namespace ztp::test {
namespace elsewhere_chain_tests {

constexpr std::uint64_t seed = 33;
constexpr int steps = 4;

struct Setting {
  std::string name;
  bool collapsed = false, bounded = false, counted = false;
  std::optional<OnlineOptions> online = {};
};

const std::vector<Setting>& settings() {
  static const std::vector<Setting> all = {
      {"Batch"},
      {"Counted", false, false, true},
      {"Collapsed", true},
      {"Bounded", false, true},
      {"Online", false, false, false, OnlineOptions{}},
      {"OnlineInnerDraws", false, false, true, OnlineOptions{.inner_draws = 3}},
      {"OnlineMeans", false, false, false, OnlineOptions{.expected_counts = true, .mean_parameters = true}}};
  return all;
}

void fill(const Setting& setting, std::uint32_t update, OnlineData& data) {
  add_modes({60, 40, 4}, data);
  add_ones(300, setting.counted, seed + update, data, [](const Cell& cell) { return cell[0] != 11 && cell[2] != 3; });
  add_network(0, 90, seed + update, data, [](const Cell& pair) { return pair[1] != 59; });
  if (update == 0) {
    data.missing.slices = {{11}, {}, {}};
    for (std::uint32_t j = 0; j < 9; ++j) data.missing.cells.append(Cell{j, j, 3}.data(), 3);
    for (std::uint32_t j = 0; j < 9; ++j) data.networks[0].missing.append(Cell{j, 59}.data(), 2);
  }
  data.make_problem(18, 3, seed);
  data.problem.update = update;
  data.problem.collapsed = setting.collapsed;
  data.problem.bounded = setting.bounded;
  data.problem.hyper.learn_dirichlet = data.problem.hyper.learn_shapes = !setting.online;
}

// All that can be seen of a chain, after some steps, a restart in the middle, and a draw.
class Trace {
 public:
  using Make = std::function<std::unique_ptr<Chain>()>;

  void run(const Make& make) {
    const auto first = make(), second = make();
    first->start();
    bytes_ += bytes_of(test::run(*first, steps / 2));
    second->start();
    restore(*second, checkpoint_bytes(*first), first->steps_done());
    bytes_ += bytes_of(test::run(*second, steps / 2));
    carried_ = checkpoint_bytes(*second);
    second->draw_state();
    const std::uint32_t cells[] = {0, 0, 0, 11, 2, 3, 59, 39, 3};
    std::vector<double> probability(3);
    second->probabilities(cells, 3, probability.data());
    bytes_ += carried_ + parameter_bytes(second->state()) + bytes_of(probability) + bytes_of(second->learned());
  }
  const std::string& bytes() const { return bytes_; }
  const std::string& carried() const { return carried_; }

 private:
  std::string bytes_, carried_;
};

// A fit and an update of it.
std::string trace(const Setting& setting, Kernel& kernel) {
  Trace trace;
  OnlineData data, more;
  fill(setting, 0, data);
  trace.run([&]() -> std::unique_ptr<Chain> {
    if (!setting.online) return std::make_unique<BatchChain>(data.problem, kernel, 1);
    return std::unique_ptr<Chain>(new OnlineChain(data.chain(*setting.online, kernel, 1)));
  });
  if (!setting.online) return trace.bytes();
  fill(setting, 1, more);
  OnlineOptions options = *setting.online;
  options.looks = steps;
  const OwnedMinibatches minibatches = more.minibatches(kernel);
  const DataInMinibatches parts = minibatches.data();
  const std::string before = trace.carried();
  trace.run([&] {
    auto chain = std::make_unique<UpdateChain>(more.problem, options, parts, kernel, 1);
    restore(*chain, before, 0);
    return chain;
  });
  return trace.bytes();
}

class ElsewhereChain : public testing::TestWithParam<Setting> {};

TEST_P(ElsewhereChain, DrawsWhatTheHostDraws) {
  for (const KernelName name : {KernelName::reference, KernelName::cpu}) {
    Pool pool(2);
    const auto host = make_kernel(name, pool);
    ElsewhereKernel elsewhere(make_kernel(name, pool));
    EXPECT_TRUE(trace(GetParam(), elsewhere) == trace(GetParam(), *host)) << name_of(name);
  }
}

INSTANTIATE_TEST_SUITE_P(Settings, ElsewhereChain, testing::ValuesIn(settings()),
                         [](const auto& setting) { return setting.param.name; });

}  // namespace elsewhere_chain_tests
}  // namespace ztp::test
