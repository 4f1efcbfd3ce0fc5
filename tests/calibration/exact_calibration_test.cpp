// Does the sampler draw from the posterior of the model? Long runs against exact posterior means of 2x2x2 and 2x3
// tensors.
//
// Seeds: seed_of(1, example) for the sampler, seed_of(2, example) for the simulator; nothing is retried. False alarms:
// a mean is wrong if it is more than 4 of its standard errors off, which come from 200 batches: 9e-5 for each by
// Student's t, so at most 3 % for the 335 quantities of all examples. The two kernels make the same draws but for
// roundings.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "calibration.hpp"
#include "exact_posterior.hpp"
#include "statistics.hpp"
#include "tiny_model.hpp"
#include "twin.hpp"

namespace ztp::test {
namespace {

constexpr std::size_t batches = 200;
constexpr double limit = 4;
const std::size_t sweeps = full_form() ? 2'000'000 : 50'000;
constexpr std::size_t twin_sweeps = 50'000;  // a bug must be seen in the short form
constexpr std::size_t burn_in = 500;

// ---- the examples, and which bugs must be seen in each --------------------------------------------------------------

struct Example {
  Model model;
  std::vector<std::int64_t> y;
  std::vector<std::vector<std::int64_t>> x;
  std::vector<Bug> bugs;

  Data data() const {
    Data result;
    result.y = y;
    result.x = x;
    return result;
  }
};

// Fixed data: zeros and ones (edges) as listed.
Example example(std::string name, std::vector<std::uint32_t> sizes, std::vector<double> a, std::size_t R,
                std::vector<std::int64_t> y, std::vector<Bug> bugs) {
  Example result;
  result.model.name = std::move(name);
  result.model.sizes = std::move(sizes);
  result.model.R = R;
  result.model.hyper = {std::move(a), {0.8, 5, 0.4}, {1.2, 4, 0.5}};
  result.y = std::move(y);
  result.bugs = std::move(bugs);
  return result;
}
Example two_two_two(std::string name, std::size_t R, std::vector<Bug> bugs) {
  return example(std::move(name), {2, 2, 2}, {1, 0.5, 1.5}, R, {1, 0, 0, 1, 0, 0, 1, 1}, std::move(bugs));
}
Example two_three(std::string name, std::size_t R, std::vector<Bug> bugs) {
  return example(std::move(name), {2, 3}, {0.5, 1}, R, {1, 0, 1, 0, 1, 0}, std::move(bugs));
}
// A network over the three entities of mode 2; edges 1-2 and 2-3.
Example with_network(Example result) {
  result.model.network_modes = {1};
  result.x = {{1, 0, 1}};
  return result;
}
Example without(Example result, std::vector<std::vector<std::uint32_t>> slices, std::vector<std::size_t> cells,
                std::vector<std::vector<std::size_t>> pairs = {}) {
  result.model.missing_slices = std::move(slices);
  result.model.missing_cells = std::move(cells);
  result.model.missing_pairs = std::move(pairs);
  return result;
}
Example collapsed(Example result) {
  result.model.configure = [](Problem& problem) { problem.collapsed = true; };
  return result;
}

// Two components are one block: the bounded draw as such, but nothing to choose blocks from (bounded_dist_test.cpp).
Example bounded(Example result) {
  result.model.configure = [](Problem& problem) { problem.bounded = true; };
  return result;
}

const std::vector<Example>& examples() {
  static const std::vector<Example> list = {
      two_two_two("tensor_rank_1", 1, {Bug::gamma_scale, Bug::totals_plus_one}),
      two_two_two("tensor_rank_2", 2,
                  {Bug::gamma_scale, Bug::beta_shape, Bug::totals_plus_one, Bug::no_truncation, Bug::ignores_data}),
      two_three("matrix_rank_1", 1, {Bug::gamma_scale, Bug::totals_plus_one}),
      two_three("matrix_rank_2", 2, {Bug::gamma_scale, Bug::totals_plus_one}),
      with_network(two_three("network", 2, {Bug::no_diagonal, Bug::one_end})),
      without(two_three("missing_cell", 2, {Bug::missing_as_zeros}), {}, {4}),
      without(two_three("missing_slice", 2, {Bug::missing_as_zeros}), {{}, {2}}, {}),
      without(two_two_two("tensor_missing_slice_and_cell", 2, {Bug::missing_as_zeros}), {{1}, {}, {}}, {3}),
      without(with_network(two_three("partial_network", 2, {Bug::missing_as_zeros, Bug::no_diagonal})), {}, {}, {{2}}),
      // Entity 3 of mode 2 has no tensor data, and its link to entity 1 is unknown.
      without(with_network(two_three("network_and_missing", 2, {Bug::missing_as_zeros, Bug::no_diagonal})), {{}, {2}},
              {0}, {{1}}),
      collapsed(two_two_two("collapsed_tensor", 2, {Bug::totals_plus_one, Bug::collapsed_wrong_g})),
      collapsed(without(with_network(two_three("collapsed_everything", 2, {Bug::missing_as_zeros, Bug::no_diagonal})),
                        {{}, {2}}, {0}, {{1}})),
      bounded(two_two_two("bounded_tensor", 2, {Bug::no_truncation})),
      bounded(without(with_network(two_three("bounded_everything", 2, {Bug::missing_as_zeros, Bug::no_diagonal})),
                      {{}, {2}}, {0}, {{1}})),
  };
  return list;
}

// ---- the quantities -------------------------------------------------------------------------------------------------

// A quantity with its exact posterior mean, and the function of the parameters that a chain averages.
struct Quantity {
  std::string name;
  double exact;
  std::function<double(const Parameters&)> value;
};

double exponential(const Model& model, const Exponent& exponent, const Parameters& q) {
  double total = exponent.lambda > 0 ? exponent.lambda * sum(q.lambda) : 0;
  for (std::size_t i = 0; i < exponent.cells.size(); ++i)
    if (exponent.cells[i] > 0) total += exponent.cells[i] * model.rate(q, i);
  for (std::size_t pair = 0; pair < exponent.pairs.size(); ++pair)
    if (exponent.pairs[pair] > 0) total += exponent.pairs[pair] * model.pair_rate(q, 0, pair);
  if (exponent.beta > 0) total += exponent.beta * sum(q.beta[0]);
  return std::exp(-total);
}

// P(b = 0) of every cell and pair, joint probabilities of neighbours, the law of sum lambda and of sum beta.
std::vector<Quantity> quantities(const Model& model, const ExactPosterior& posterior) {
  std::vector<Quantity> list;
  const auto add = [&](std::string name, auto change) {
    Exponent e = posterior.nothing();
    change(e);
    list.push_back(
        {std::move(name), posterior.mean(e), [&model, e](const Parameters& q) { return exponential(model, e, q); }});
  };
  const std::size_t cells = model.cells(), pairs = posterior.nothing().pairs.size();
  for (std::size_t i = 0; i < cells; ++i)
    add(fmt::format("P(cell {} = 0)", i + 1), [&](Exponent& e) { e.cells[i] = 1; });
  for (std::size_t i = 0; i < cells; ++i)
    add(fmt::format("P(cells {}, {} = 0)", i + 1, (i + 1) % cells + 1),
        [&](Exponent& e) { e.cells[i] = e.cells[(i + 1) % cells] = 1; });
  for (const double t : {0.1, 0.3, 0.7, 1.5, 4.0})
    add(fmt::format("E exp(-{} sum lambda)", t), [&](Exponent& e) { e.lambda = t; });
  add("P(all cells = 0)", [](Exponent& e) { e.cells.assign(e.cells.size(), 1); });
  add("E exp(-(z of cell 1) / 2 - sum lambda)", [](Exponent& e) { e.cells[0] = 0.5, e.lambda = 1; });
  for (std::size_t i = 0; i < pairs; ++i)
    add(fmt::format("P(pair {} = 0)", i + 1), [&](Exponent& e) { e.pairs[i] = 1; });
  if (pairs > 0) {
    for (const double t : {0.2, 1.0}) add(fmt::format("E exp(-{} sum beta)", t), [&](Exponent& e) { e.beta = t; });
    add("P(cell 1 = 0, pair 1 = 0)", [](Exponent& e) { e.cells[0] = e.pairs[0] = 1; });
    add("E exp(-sum lambda - sum beta)", [](Exponent& e) { e.lambda = e.beta = 1; });
  }
  list.push_back(
      {"E log sum lambda", posterior.mean_log_lambda(), [](const Parameters& q) { return std::log(sum(q.lambda)); }});
  return list;
}

// ---- the test -------------------------------------------------------------------------------------------------------

// On a machine with a GPU, that one alone: the others are tested everywhere.
std::vector<const char*> exact_kernels() {
  if (calibrated_kernel() == KernelName::cuda) return {"cuda"};
  return {"cpu", "reference"};
}

// A long run of the sampler on fixed data, against the exact means.
template <class Make>
Worst compare(const Example& example, const std::vector<Quantity>& list, const char* kernel_name, std::size_t length,
              Make make, Results& results) {
  Pool pool(1);
  const auto kernel = make_kernel(choice_named<KernelName>(kernel_name).value(), pool);
  Observed observed(example.model, seed_of(1, example.model.name));
  observed.set(example.data());
  auto sampler = make(observed, *kernel);
  sampler.start();
  std::vector<BatchMeans> means(list.size(), BatchMeans(length, batches));
  const double infinity = std::numeric_limits<double>::infinity();
  for (std::size_t t = 0; t < length + burn_in; ++t) {
    sampler.sweep();
    const Parameters q = parameters_of(sampler.state());
    if (diverged(sampler.state())) {
      results.row(example.model.name, kernel_name, name_of(make.bug), "the chain diverged", "", "", infinity, limit);
      return {infinity, "the chain diverged"};
    }
    for (std::size_t i = 0; t >= burn_in && i < list.size(); ++i) means[i].add(list[i].value(q));
  }
  Worst worst;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const double z = (means[i].mean() - list[i].exact) / means[i].error();
    results.row(example.model.name, kernel_name, name_of(make.bug), list[i].name, list[i].exact, means[i].mean(), z,
                limit);
    worst.consider(z, list[i].name);
  }
  return worst;
}

class Exact : public testing::TestWithParam<std::size_t> {};

TEST_P(Exact, AgreesAndSeesBugs) {
  const Example& example = examples()[GetParam()];
  Results results("exact-" + example.model.name, "model\tkernel\tbug\tquantity\texact\tchain\tz\tlimit");
  const std::vector<Quantity> list = quantities(example.model, ExactPosterior::of(example.model, example.data()));
  ASSERT_GE(list.size(), 20u);
  for (const char* kernel : exact_kernels()) {
    const Worst worst = compare(example, list, kernel, sweeps, MakeChain{}, results);
    fmt::print("  {} quantities, {}: largest |z| {:.2f} ({})\n", list.size(), kernel, std::abs(worst.z), worst.name);
    EXPECT_LT(std::abs(worst.z), limit) << kernel << ": " << worst.name;
  }
  for (const Bug bug : example.bugs) {
    const Worst caught = compare(example, list, "cpu", twin_sweeps, MakeTwin{bug}, results);
    fmt::print("  {}: largest |z| {:.2f} ({})\n", name_of(bug), std::abs(caught.z), caught.name);
    EXPECT_GT(std::abs(caught.z), limit) << name_of(bug) << " went unseen";
  }
}

INSTANTIATE_TEST_SUITE_P(Examples, Exact, testing::Range(std::size_t{0}, examples().size()),
                         [](const auto& test) { return examples()[test.param].model.name; });

// ---- the yardstick itself -------------------------------------------------------------------------------------------

// Whether what is observed of the simulated data is what was observed.
bool same_data(const Example& example, const Data& data) {
  bool same = true;
  for (std::size_t i = 0; i < data.y.size(); ++i)
    if (example.model.is_observed(i)) same = same && (data.y[i] > 0) == (example.y[i] > 0);
  for (std::size_t m = 0; m < data.x.size(); ++m)
    for (std::size_t pair = 0; pair < data.x[m].size(); ++pair)
      if (example.model.pair_is_observed(m, pair)) same = same && (data.x[m][pair] > 0) == (example.x[m][pair] > 0);
  return same;
}

// More nodes change nothing, and the probability of the data is that of simulating them: |z| > 4 for none of 14 by
// chance, but for a probability of 0.09 %.
TEST(ExactMeans, AreExact) {
  for (const Example& example : examples()) {
    const ExactPosterior posterior = ExactPosterior::of(example.model, example.data());
    const ExactPosterior finer = ExactPosterior::of<24>(example.model, example.data());
    const double evidence = posterior.evidence();
    EXPECT_NEAR(evidence, finer.evidence(), 1e-6 * evidence) << example.model.name;
    Generator generator(seed_of(2, example.model.name));
    const double draws = full_form() ? 1'000'000 : 100'000;
    double hits = 0;
    for (double i = 0; i < draws; ++i)
      hits += same_data(example, simulate(generator, example.model, draw_prior(generator, example.model)));
    const double z = (hits - draws * evidence) / std::sqrt(draws * evidence * (1 - evidence));
    fmt::print("  {}: evidence {:.5f}, simulated {:.5f}, z {:.2f}\n", example.model.name, evidence, hits / draws, z);
    EXPECT_LT(std::abs(z), limit) << example.model.name;
  }
}

// The interpolated transform is the sum it interpolates.
TEST(ExactMeans, AreInterpolatedWell) {
  for (const WeightPrior prior : {WeightPrior{0.8, 5, 0.4}, WeightPrior{1.2, 4, 0.5}}) {
    const LaplaceTransform psi(prior);
    EXPECT_NEAR(psi(0), psi.direct(0).first, 1e-10);
    for (double q = 1e-16; q < 3e4; q *= 1.37) EXPECT_NEAR(psi(q), psi.direct(q).first, 1e-10 * psi(q)) << q;
  }
}

}  // namespace
}  // namespace ztp::test
