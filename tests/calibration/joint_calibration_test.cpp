// Does the sampler draw from the posterior of the model? Geweke's joint test ("Getting it right", 2004).
//
// Two simulators of the joint law of parameters, data and latent counts. Marginal-conditional: parameters from the
// prior, then all counts. Successive-conditional: counts for the data at hand (draw_counts), a sweep, and the triple
// (data, counts the sweep began with, parameters it drew from them) is taken down; then data anew from the parameters,
// and on. If the sampler is right both have the same means of everything. Data refreshed before the triple is taken
// would hide a sampler that ignores them; counts after the sweep would not do with collapsed moves, which leave
// the law of the counts as it is, but not that of the counts given the parameters. Missing cells are simulated and not
// shown.
//
// At the defaults of `ztp fit` weights have no mean, and both simulators are restricted to the same event, which is
// exact (restricted_model.hpp).
//
// Seeds: seed_of(1, model) for the sampler, seed_of(2, model) and seed_of(3, model) for the simulators; nothing is
// retried. False alarms: 1 % over all functionals of all models together (Bonferroni; differences of means of 200
// batches each, by Student's t).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "calibration.hpp"
#include "calibration_models.hpp"
#include "joint_functionals.hpp"
#include "restricted_model.hpp"
#include "statistics.hpp"
#include "tiny_model.hpp"
#include "twin.hpp"

namespace ztp::test {
namespace {

// ---- the models, and which bugs must be seen in each ----------------------------------------------------------------

struct JointTest {
  Model model;
  std::vector<Bug> bugs;
};

const std::vector<JointTest>& joint_tests() {
  static const std::vector<JointTest> tests = {
      {base("binary_matrix", {3, 4}), {Bug::gamma_scale, Bug::totals_plus_one, Bug::ignores_data}},
      {base("binary_tensor", {2, 3, 2}), {Bug::beta_shape, Bug::no_truncation}},
      {base("binary_four_modes", {2, 3, 2, 2}), {Bug::gamma_scale, Bug::totals_plus_one}},
      {counts(base("count_tensor", {2, 3, 2})), {Bug::totals_plus_one, Bug::no_truncation}},
      {base("one_network", {3, 4}, {1}), {Bug::no_diagonal, Bug::one_end}},
      {base("two_networks", {3, 4}, {0, 1}), {Bug::no_diagonal}},
      {base("two_networks_on_a_mode", {3, 3}, {1, 1}), {Bug::no_diagonal}},
      {without(base("missing_cells", {3, 4}), {}, {1, 4, 5, 11}), {Bug::missing_as_zeros}},
      {without(base("missing_slices", {3, 3, 2}), {{}, {0, 2}}, {}), {Bug::missing_as_zeros}},
      // Slices of modes 1 and 3 cross, and cells 1 and 12 are listed although they lie in one (cell 1 in two).
      {without(base("crossing_slices", {3, 3, 2}), {{0}, {}, {1}}, {1, 8, 10, 12}),
       {Bug::missing_as_zeros, Bug::slices_twice, Bug::listed_twice}},
      {without(base("partial_network", {3, 4}, {1}), {}, {}, {{1, 4}}), {Bug::missing_as_zeros, Bug::no_diagonal}},
      // Entity 2 of the network's mode has no tensor data at all: cold start.
      {without(base("network_and_missing", {4, 3}, {0}), {{1}, {}}, {2, 9}, {{0, 5}}),
       {Bug::missing_as_zeros, Bug::no_diagonal}},
      {without(counts(base("count_and_missing", {3, 4})), {{2}, {}}, {1, 6}), {Bug::missing_as_zeros}},
      {learned(base("learned", {3, 4})), {Bug::learned_after, Bug::totals_plus_one}},
      {learned(base("learned_with_network", {2, 3, 2}, {1})), {Bug::learned_after, Bug::no_diagonal}},
      {without(learned(counts(base("everything", {3, 3, 2}, {0, 1}))), {{0}, {2}, {}}, {0, 8, 16}, {{1}, {0}}),
       {Bug::learned_after, Bug::missing_as_zeros, Bug::slices_twice}},
      {collapsed(base("collapsed_binary", {3, 4}), 3),
       {Bug::collapsed_wrong_g, Bug::proposals_as_components, Bug::split_without_q, Bug::split_without_places}},
      {collapsed(counts(base("collapsed_count", {2, 3, 2, 2})), 4), {Bug::collapsed_wrong_g}},
      {collapsed(without(base("collapsed_network_and_missing", {4, 3}, {0}), {{1}, {}}, {2, 9}, {{0, 5}}), 3),
       {Bug::collapsed_wrong_g, Bug::missing_as_zeros}},
      {collapsed(heavy_network(base("collapsed_heavy_network", {3, 4}, {0})), 3),
       {Bug::collapsed_no_ends, Bug::collapsed_sees_ones}},
      {collapsed(learned(base("collapsed_learned", {3, 4})), 4), {Bug::collapsed_wrong_g}},
      // Two components are one block of bounds; several blocks: the last model, and bounded_dist_test.cpp.
      {bounded(without(base("bounded_network_and_missing", {4, 3}, {0}), {{1}, {}}, {2, 9}, {{0, 5}})),
       {Bug::missing_as_zeros, Bug::no_diagonal}},
      {bounded(many_components(base("bounded_many", {2, 2}))), {Bug::no_truncation}},
      // The prior that `ztp fit` has by default, restricted: Model::most_counts, Model::fewest_ones.
      {at_defaults(base("defaults", {3, 4}), 3, 1), {Bug::totals_plus_one, Bug::no_truncation, Bug::ignores_data}},
      {collapsed(at_defaults(base("defaults_collapsed", {3, 4}), 4, 2), 4),
       {Bug::collapsed_wrong_g, Bug::proposals_as_components, Bug::split_without_places}},
      {collapsed(without(at_defaults(base("defaults_missing", {3, 3, 2}), 4, 2), {}, {1, 4, 8, 11, 15}), 4),
       {Bug::missing_as_zeros, Bug::collapsed_sees_ones}},
      // Components that share columns: without moves, with each kind of move alone, and with both.
      {moves(shared(base("shared_plain", {2, 3, 2}), 3, {2, 2, 2}), false, false), {Bug::p_not_shared}},
      {moves(shared(base("shared_columns", {2, 3, 2}), 3, {2, 2, 2}), false, true), {Bug::p_not_shared}},
      {moves(shared(base("shared_scan", {2, 3, 2}), 4, {2, 3, 2}), true, false), {Bug::lowest_empty}},
      {moves(few_entities(tied(shared(base("tied_scan", {3, 3, 2}), 3, {2, 2}), true)), true, false),
       {Bug::no_self_cells, Bug::no_tie_correction, Bug::lowest_empty}},
      {moves(tied(shared(base("tied_columns", {3, 3, 2}), 3, {2, 2}), true), false, true), {Bug::no_self_cells}},
      {moves(without(tied(shared(base("tied_plain", {3, 3, 2}), 3, {2, 2}), true), {{}, {1}, {}}, {4}), false, false),
       {Bug::no_self_cells}},
      // Each move alone, with all that there is.
      {moves(without(one_hot(learned(tied(shared(base("scan_everything", {3, 3, 2}, {0}), 4, {2, 2}), true)), 2),
                     {{0}, {}, {}}, {7, 11}, {{1}}),
             true, false),
       {Bug::no_self_cells}},
      {moves(without(
                 one_hot(learned(counts(tied(shared(base("columns_everything", {4, 4, 2}, {0}), 3, {2, 2}), true))), 2),
                 {{}, {2}, {1}}, {3, 6}, {{1}}),
             false, true),
       {Bug::missing_as_zeros}},
      {moves(one_hot(shared(base("one_hot_both", {2, 3, 2}), 4, {2, 2, 2}), 2), true, true), {Bug::lowest_empty}},
      {moves(without(one_hot(tied(shared(base("tied_one_hot_missing", {3, 3, 2}), 4, {2, 2}), true), 2), {{0}, {}, {}},
                     {7, 11}),
             true, true),
       {Bug::no_self_cells, Bug::missing_as_zeros}},
      {moves(without(learned(counts(tied(shared(base("tied_everything", {3, 3, 2}, {0}), 3, {2, 2}), true))),
                     {{}, {2}, {1}}, {3, 6}, {{1}}),
             true, true),
       {Bug::no_self_cells, Bug::missing_as_zeros}},
  };
  return tests;
}

// ---- the test -------------------------------------------------------------------------------------------------------

constexpr std::size_t batches = 200;
// The chain of one model is slow to forget (counts, columns of their own, learned hyperparameters): 40,000 draws hold
// too few that are independent. They once gave |z| = 4.99, where 200,000 give 2.65 and a million 2.63.
std::size_t draws_of(const Model& model) {
  return full_form() ? 1'000'000 : model.name == "columns_everything" ? 200'000 : 40'000;
}
constexpr std::size_t twin_draws = 25'000;  // a bug must be seen in the short form

std::vector<std::string> names_of(const Model& model) {
  Generator generator(2);
  const auto [q, data] = draw_joint(generator, model);
  Functionals functionals(true);
  functionals.compute(model, q, data, data.sums);
  return functionals.names();
}

// 1 % is divided by the number of all functionals of all models, counted, whichever of them a run looks at.
double limit() {
  static const double value = [] {
    std::size_t all = 0;
    for (const JointTest& test : joint_tests()) all += names_of(test.model).size();
    return two_sided_limit(0.01 / static_cast<double>(all), batches);
  }();
  return value;
}

// Independent draws are their own batches: the same arithmetic serves both simulators.
std::vector<BatchMeans> marginal_conditional(const Model& model) {
  Generator generator(seed_of(2, model.name));
  const std::size_t draws = draws_of(model);
  std::vector<BatchMeans> means(names_of(model).size(), BatchMeans(draws, batches));
  Functionals functionals;
  for (std::size_t i = 0; i < draws; ++i) {
    const auto [q, data] = draw_joint(generator, model);
    functionals.compute(model, q, data, data.sums);
    for (std::size_t j = 0; j < means.size(); ++j) means[j].add(functionals.values()[j]);
  }
  return means;
}

// So there is no burn-in. t: the number of the last sweep.
template <class Sampler>
void start_from_joint_law(Generator& generator, const Model& model, std::uint32_t t, Sampler& sampler, Data& data) {
  JointDraw start = draw_joint(generator, model);
  data = std::move(start.data);
  set(data.sums, sampler.statistics());
  sampler.shapes() = start.q.shapes;
  if constexpr (requires { sampler.columns(); })
    for (std::size_t k = 0; k < start.q.c.size(); ++k)
      std::copy(start.q.c[k].begin(), start.q.c[k].end(), sampler.columns().columns_of_mode(k).begin());
  sampler.restore(t);
}

// Empty if the chain runs away. A chain of a restricted model is slow to forget its start, so each batch is a chain of
// its own there: means of batches are then independent, whatever their length.
template <class Make>
std::vector<BatchMeans> successive_conditional(const Model& model, std::size_t length, Make make) {
  Generator generator(seed_of(3, model.name));
  Pool pool(1);
  const auto kernel = make_kernel(calibrated_kernel(), pool);
  Observed observed(model, seed_of(1, model.name));
  auto sampler = make(observed, *kernel);
  std::vector<BatchMeans> means(names_of(model).size(), BatchMeans(length, batches));
  Functionals functionals;
  Data data;
  std::uint32_t t = 0;
  for (std::size_t i = 0; i < length; ++i) {
    const bool starts = i == 0 || (model.is_restricted() && i % (length / batches) == 0);
    if (starts) start_from_joint_law(generator, model, t, sampler, data);
    observed.set(data);
    sampler.data_changed();
    if (!starts) sampler.draw_counts();
    if (!draw_until_allowed(model, sampler, t)) return {};
    const LatentSums counts = sums_of(sampler.statistics());
    sampler.sweep();
    ++t;
    const Parameters q = parameters_of(sampler.state());
    if (diverged(sampler.state())) return {};
    functionals.compute(model, q, data, counts);
    for (std::size_t j = 0; j < means.size(); ++j) means[j].add(functionals.values()[j]);
    std::optional<Data> next = simulate_allowed(generator, model, q);
    if (!next) return {};
    data = std::move(*next);
  }
  return means;
}

template <class Make>
Worst compare(const Model& model, const std::vector<BatchMeans>& prior, std::size_t length, Make make,
              Results& results) {
  const std::vector<BatchMeans> chain = successive_conditional(model, length, make);
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<std::string> names = names_of(model);
  Worst worst;
  if (chain.empty()) {
    results.row(model.name, name_of(make.bug), "the chain diverged", "", "", infinity, limit());
    return {infinity, "the chain diverged"};
  }
  for (std::size_t j = 0; j < names.size(); ++j) {
    const double z = (chain[j].mean() - prior[j].mean()) / std::hypot(chain[j].error(), prior[j].error());
    results.row(model.name, name_of(make.bug), names[j], prior[j].mean(), chain[j].mean(), z, limit());
    worst.consider(z, names[j]);
  }
  return worst;
}

class Joint : public testing::TestWithParam<std::size_t> {};

TEST_P(Joint, AgreesAndSeesBugs) {
  const auto& [model, bugs] = joint_tests()[GetParam()];
  Results results("joint-" + model.name, "model\tbug\tfunctional\tprior\tchain\tz\tlimit");
  const std::vector<BatchMeans> prior = marginal_conditional(model);
  ASSERT_GE(prior.size(), 20u);
  const bool shared = model.shares_columns();
  const Worst worst = shared ? compare(model, prior, draws_of(model), MakeSharedChain{}, results)
                             : compare(model, prior, draws_of(model), MakeChain{}, results);
  fmt::print("  {} functionals, limit {:.2f}, largest |z| {:.2f} ({})\n", prior.size(), limit(), std::abs(worst.z),
             worst.name);
  EXPECT_LT(std::abs(worst.z), limit()) << worst.name;
  for (const Bug bug : bugs) {
    const Worst caught = shared ? compare(model, prior, twin_draws, MakeSharedTwin{bug}, results)
                                : compare(model, prior, twin_draws, MakeTwin{bug}, results);
    fmt::print("  {}: largest |z| {:.2f} ({})\n", name_of(bug), std::abs(caught.z), caught.name);
    EXPECT_GT(std::abs(caught.z), limit()) << name_of(bug) << " went unseen";
  }
}

INSTANTIATE_TEST_SUITE_P(Models, Joint, testing::Range(std::size_t{0}, joint_tests().size()),
                         [](const auto& test) { return joint_tests()[test.param].model.name; });

// ---- the twins ------------------------------------------------------------------------------------------------------

// A twin without a bug is the chain bit by bit, so what the tests catch is the bug.
TEST(Twins, WithoutABugEqualTheChain) {
  for (const JointTest& test : joint_tests()) {
    if (test.model.shares_columns()) continue;  // their twins are the chain itself
    Generator generator(3);
    Observed observed(test.model, 1);
    observed.set(draw_joint(generator, test.model).data);
    Pool pool(1);
    const auto kernel = make_kernel(calibrated_kernel(), pool);
    BatchChain chain = MakeChain{}(observed, *kernel);
    Twin twin = MakeTwin{Bug::none}(observed, *kernel);
    chain.start();
    twin.start();
    for (int t = 0; t < 50; ++t) {
      chain.sweep();
      twin.sweep();
      chain.draw_counts();
      twin.draw_counts();
    }
    const Parameters a = parameters_of(chain.state()), b = parameters_of(twin.state());
    EXPECT_EQ(a.shapes.dirichlet, b.shapes.dirichlet) << test.model.name;
    EXPECT_EQ(a.shapes.tensor, b.shapes.tensor) << test.model.name;
    EXPECT_EQ(a.shapes.networks, b.shapes.networks) << test.model.name;
    EXPECT_EQ(a.u, b.u) << test.model.name;
    EXPECT_EQ(a.lambda, b.lambda) << test.model.name;
    EXPECT_EQ(a.p, b.p) << test.model.name;
    EXPECT_EQ(a.beta, b.beta) << test.model.name;
    EXPECT_EQ(a.h, b.h) << test.model.name;
    EXPECT_EQ(chain.statistics().tensor, twin.statistics().tensor) << test.model.name;
    EXPECT_EQ(chain.statistics().networks, twin.statistics().networks) << test.model.name;
    EXPECT_EQ(chain.statistics().from_ones, twin.statistics().from_ones) << test.model.name;
    EXPECT_EQ(chain.statistics().from_edges, twin.statistics().from_edges) << test.model.name;
  }
}

}  // namespace
}  // namespace ztp::test
