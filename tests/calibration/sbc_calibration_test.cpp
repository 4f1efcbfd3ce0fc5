// Does the sampler draw from the posterior of the model? Simulation-based calibration (Talts and others 2018; Modrak
// and others 2023): parameters from the prior, data from the parameters, a chain on the data, started as `ztp fit`
// starts it and not from the truth. The rank of the true value of a quantity among L of its draws is then uniform on 0,
// ..., L. At the defaults of `ztp fit` the model is restricted, as in joint_calibration_test.cpp: the posterior is then
// that of the restricted model, and a sweep that ends with too many counts draws these again.
//
// Seeds: seed_of(4, model) for the simulator, seed_of(5, model) for ties, seed_of(1, model) + i for chain i, 6 for the
// test of the bands; nothing is retried. False alarms: 1 % over all quantities of all models together (Bonferroni over
// exact simultaneous bands, rank_band.hpp).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "calibration.hpp"
#include "calibration_models.hpp"
#include "rank_band.hpp"
#include "restricted_model.hpp"
#include "sbc_quantities.hpp"
#include "tiny_model.hpp"
#include "twin.hpp"

namespace ztp::test {
namespace {

constexpr std::size_t L = 99;            // draws that a true value is ranked among
constexpr std::size_t short_form = 200;  // simulations; a bug must be seen with these
const std::size_t simulations = full_form() ? 1'000 : short_form;

// ---- the models, and which bugs must be seen in each ----------------------------------------------------------------

struct SbcTest {
  Model model;
  std::size_t thinning;  // sweeps from one draw to the next; burn-in is ten times that
  std::vector<Bug> bugs;
};

const std::vector<SbcTest>& sbc_tests() {
  static const std::vector<SbcTest> tests = {
      {base("binary_tensor", {2, 3, 2}), 10, {Bug::gamma_scale, Bug::totals_plus_one, Bug::ignores_data}},
      {counts(base("count_tensor", {2, 3, 2})), 10, {Bug::gamma_scale, Bug::totals_plus_one}},
      // Entity 2 of the network's mode has no tensor data at all, two cells are missing, and two links.
      {collapsed(without(base("network_and_missing", {4, 3}, {0}), {{1}, {}}, {2, 9}, {{0, 5}}), 3),
       10,
       {Bug::gamma_scale, Bug::totals_plus_one, Bug::no_diagonal, Bug::missing_as_zeros}},
      {learned(base("learned", {3, 4}, {1})), 20, {Bug::totals_plus_one}},
      {collapsed(without(learned(counts(base("everything", {3, 3, 2}, {0}))), {{}, {2}, {}}, {0, 8}, {{1}}), 3),
       20,
       {Bug::missing_as_zeros}},
      // The prior that `ztp fit` has by default, restricted: Model::most_counts, Model::fewest_ones.
      {at_defaults(base("defaults", {3, 4}), 3, 2), 20, {Bug::no_truncation, Bug::ignores_data}},
      {collapsed(at_defaults(base("defaults_collapsed", {3, 4}), 4, 2), 4),
       10,
       {Bug::no_truncation, Bug::totals_plus_one}},
      {collapsed(without(at_defaults(base("defaults_missing", {3, 3, 2}), 4, 2), {}, {1, 4, 8, 11, 15}), 4),
       10,
       {Bug::missing_as_zeros}},
      {moves(many_weights(shared(base("shared", {3, 3, 2}), 6, {2, 3, 2})), true, true), 5, {Bug::p_not_shared}},
      {moves(without(one_hot(learned(tied(shared(base("tied_one_hot", {3, 3, 2}), 3, {2, 2}), true)), 2), {}, {3, 11}),
             true, true),
       10,
       {Bug::no_self_cells}},
  };
  return tests;
}

template <class Sampler>
ColumnLists columns_of(Sampler& sampler) {
  ColumnLists columns;
  if constexpr (requires { sampler.columns(); })
    for (std::size_t k = 0; k < sampler.columns().modes(); ++k)
      columns.emplace_back(sampler.columns().columns_of_mode(k).begin(), sampler.columns().columns_of_mode(k).end());
  return columns;
}

std::vector<std::string> names_of(const Model& model) {
  Generator generator(4);
  const auto [q, data] = draw_joint(generator, model);
  RankedQuantities quantities;
  quantities.compute(model, q, data, data.sums, q.c);
  return quantities.names();
}

// 1 % is divided by the number of all quantities of all models, counted, whichever of them a run looks at.
double level() {
  static const double value = [] {
    std::size_t all = 0;
    for (const SbcTest& test : sbc_tests()) all += names_of(test.model).size();
    return 0.01 / static_cast<double>(all);
  }();
  return value;
}

const RankBand& band(std::size_t N) {
  static const RankBand short_band(short_form, L), full_band(1'000, L);
  return N == short_form ? short_band : full_band;
}

// ---- the test -------------------------------------------------------------------------------------------------------

// The ranks of one quantity, and how much neighbouring draws go together: the autocorrelation of whether a draw is
// below the true value, which is what a rank adds up.
struct Ranks {
  std::vector<std::size_t> counts = std::vector<std::size_t>(L + 1, 0);
  double products = 0, squares = 0;

  void add(double truth, const std::vector<double>& draws, Generator& ties) {
    std::size_t below = 0, equal = 0;
    std::vector<double> sides;
    for (const double draw : draws) {
      below += draw < truth;
      equal += draw == truth;
      sides.push_back(draw < truth ? 1 : draw == truth ? 0.5 : 0);
    }
    ++counts[below + std::uniform_int_distribution<std::size_t>(0, equal)(ties)];
    const double mean = sum(sides) / static_cast<double>(L);
    for (std::size_t t = 0; t < L; ++t) {
      squares += (sides[t] - mean) * (sides[t] - mean);
      if (t > 0) products += (sides[t] - mean) * (sides[t - 1] - mean);
    }
  }
  double autocorrelation() const { return squares > 0 ? products / squares : 0; }
};

// Empty if a chain runs away.
template <class Make>
std::vector<Ranks> ranks_of(const SbcTest& test, std::size_t N, Make make) {
  const Model& model = test.model;
  Generator generator(seed_of(4, model.name)), ties(seed_of(5, model.name));
  Pool pool(1);
  const auto kernel = make_kernel(KernelName::cpu, pool);
  RankedQuantities quantities;
  std::vector<Ranks> ranks(names_of(model).size());
  std::vector<std::vector<double>> draws(ranks.size(), std::vector<double>(L));
  for (std::size_t i = 0; i < N; ++i) {
    const auto [truth, data] = draw_joint(generator, model);
    Observed observed(model, seed_of(1, model.name) + i);
    observed.set(data);
    auto sampler = make(observed, *kernel);
    sampler.start();
    std::uint32_t t = 0;
    const auto sweep = [&](std::size_t times) {
      for (std::size_t time = 0; time < times; ++time) {
        sampler.sweep();
        ++t;
        if (!draw_until_allowed(model, sampler, t) || diverged(sampler.state())) return false;
      }
      return true;
    };
    if (!sweep(9 * test.thinning)) return {};
    for (std::size_t draw = 0; draw < L; ++draw) {
      if (!sweep(test.thinning)) return {};
      quantities.compute(model, parameters_of(sampler.state()), data, sums_of(sampler.statistics()),
                         columns_of(sampler));
      for (std::size_t j = 0; j < ranks.size(); ++j) draws[j][draw] = quantities.values()[j];
    }
    quantities.compute(model, truth, data, data.sums, truth.c);
    for (std::size_t j = 0; j < ranks.size(); ++j) ranks[j].add(quantities.values()[j], draws[j], ties);
  }
  return ranks;
}

struct Outcome {
  double p = 1;  // the smallest of all quantities
  std::string name;
  double autocorrelation = -1;  // the largest
  std::string slowest;
};

template <class Make>
Outcome look(const SbcTest& test, std::size_t N, Make make, Results& results) {
  const std::vector<Ranks> ranks = ranks_of(test, N, make);
  const std::vector<std::string> names = names_of(test.model);
  if (ranks.empty()) {
    results.row(test.model.name, name_of(make.bug), "the chain diverged", N, L, 0, level(), "", "");
    return {0, "the chain diverged", 0, ""};
  }
  Outcome outcome;
  for (std::size_t j = 0; j < names.size(); ++j) {
    const double p = band(N).simultaneous(band(N).smallest_pointwise(ranks[j].counts));
    const double autocorrelation = ranks[j].autocorrelation();
    results.row(test.model.name, name_of(make.bug), names[j], N, L, p, level(), autocorrelation,
                fmt::format("{}", fmt::join(ranks[j].counts, ",")));
    if (p < outcome.p) outcome.p = p, outcome.name = names[j];
    if (autocorrelation > outcome.autocorrelation)
      outcome.autocorrelation = autocorrelation, outcome.slowest = names[j];
  }
  return outcome;
}

class Sbc : public testing::TestWithParam<std::size_t> {};

TEST_P(Sbc, RanksAreUniformAndBugsAreSeen) {
  const SbcTest& test = sbc_tests()[GetParam()];
  Results results("sbc-" + test.model.name, "model\tbug\tquantity\tN\tL\tp\tlevel\tautocorrelation\tcounts");
  const bool shared = test.model.shares_columns();
  const Outcome outcome =
      shared ? look(test, simulations, MakeSharedChain{}, results) : look(test, simulations, MakeChain{}, results);
  fmt::print("  {} quantities, level {:.1e}, smallest p {:.2g} ({}), largest autocorrelation {:.3f} ({})\n",
             names_of(test.model).size(), level(), outcome.p, outcome.name, outcome.autocorrelation, outcome.slowest);
  EXPECT_GE(outcome.p, level()) << outcome.name;
  // Ranks of draws that go together this much have a variance 1 % above the uniform law's, which 1,000 of them cannot
  // show.
  EXPECT_LT(outcome.autocorrelation, 0.2) << outcome.slowest;
  for (const Bug bug : test.bugs) {
    const Outcome caught =
        shared ? look(test, short_form, MakeSharedTwin{bug}, results) : look(test, short_form, MakeTwin{bug}, results);
    fmt::print("  {}: smallest p {:.2g} ({})\n", name_of(bug), caught.p, caught.name);
    EXPECT_LT(caught.p, level()) << name_of(bug) << " went unseen";
  }
}

INSTANTIATE_TEST_SUITE_P(Models, Sbc, testing::Range(std::size_t{0}, sbc_tests().size()),
                         [](const auto& test) { return sbc_tests()[test.param].model.name; });

// ---- the bands ------------------------------------------------------------------------------------------------------

// Three ranks on 0, 1, 2: all 27 outcomes counted.
TEST(Bands, AreExactWhereAllOutcomesCanBeCounted) {
  const RankBand small(3, 2);
  for (const double gamma : {0.01, 0.1, 0.3, 0.6, 0.99}) {
    double outside = 0;
    for (std::size_t outcome = 0; outcome < 27; ++outcome) {
      std::vector<std::size_t> counts(3, 0);
      for (const std::size_t rank : {outcome % 3, outcome / 3 % 3, outcome / 9}) ++counts[rank];
      outside += small.smallest_pointwise(counts) <= gamma;
    }
    EXPECT_NEAR(small.simultaneous(gamma), outside / 27, 1e-12) << gamma;
  }
}

// Uniform ranks leave the band of a level as often as the recursion says: |z| > 4 by chance with probability 6e-5 each.
TEST(Bands, HoldTheirLevel) {
  for (const std::size_t N : {short_form, std::size_t{1'000}}) {
    const double gamma = band(N).gamma_of(0.05), expected = band(N).simultaneous(gamma), sets = 10'000;
    Generator generator(6);
    std::uniform_int_distribution<std::size_t> rank(0, L);
    double outside = 0;
    for (double i = 0; i < sets; ++i) {
      std::vector<std::size_t> counts(L + 1, 0);
      for (std::size_t n = 0; n < N; ++n) ++counts[rank(generator)];
      outside += band(N).smallest_pointwise(counts) <= gamma;
    }
    const double z = (outside - sets * expected) / std::sqrt(sets * expected * (1 - expected));
    fmt::print("  N = {}: gamma {:.2e}, level {:.4f}, simulated {:.4f}, z {:.2f}\n", N, gamma, expected, outside / sets,
               z);
    EXPECT_GT(expected, 0.045);
    EXPECT_LE(expected, 0.05);
    EXPECT_LT(std::abs(z), 4);
  }
  Results results("sbc-band", "N\tL\trank\tlow\thigh");
  for (const std::size_t N : {short_form, std::size_t{1'000}}) {
    const double gamma = band(N).gamma_of(level());
    for (std::size_t j = 0; j < L; ++j) {
      const auto [low, high] = band(N).limits(j, gamma);
      results.row(N, L, j, low, high);
    }
  }
}

}  // namespace
}  // namespace ztp::test
