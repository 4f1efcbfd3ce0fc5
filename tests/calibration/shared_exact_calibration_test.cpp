// Does the sampler draw from the posterior of the model, where components share columns? Long runs against exact
// posteriors of 2x2x2 and of tied 3x3x2 tensors, with three components and two columns: probabilities of cells, and the
// law of which components have counts and which of them share columns. Without moves, with each kind of move alone, and
// with all of them.
//
// Seeds: seed_of(1, example) for the sampler, seed_of(2, example) for the simulator; nothing is retried. False alarms:
// 1 % over all quantities of all examples (Bonferroni; means of 200 batches, by Student's t).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "calibration.hpp"
#include "calibration_models.hpp"
#include "exact_shared_counts.hpp"
#include "exact_shared_ones.hpp"
#include "statistics.hpp"
#include "twin.hpp"

namespace ztp::test {
namespace {

constexpr std::size_t batches = 200;
const std::size_t sweeps = full_form() ? 2'000'000 : 20'000;
constexpr std::size_t twin_sweeps = 20'000;  // a bug must be seen in the short form
constexpr std::size_t burn_in = 500;

// ---- the examples, and which bugs must be seen in each --------------------------------------------------------------

struct Moves {
  const char* name;
  bool scan, columns;
};
constexpr Moves plain{"plain", false, false}, scan{"scan", true, false}, columns{"columns", false, true},
    both{"both", true, true};

struct Planted {
  Bug bug;
  Moves moves;
};

struct Example {
  Model model;
  std::vector<std::int64_t> y;
  std::vector<std::size_t> cells;  // whose probabilities are looked at
  std::vector<Planted> bugs;
};

Example example(Model model, std::vector<std::int64_t> y, std::vector<std::size_t> cells, std::vector<Planted> bugs) {
  model.hyper.tensor = {0.5, 10, 0.4, true};
  std::fill(model.hyper.dirichlet.begin(), model.hyper.dirichlet.end(), 0.5);
  return {std::move(model), std::move(y), std::move(cells), std::move(bugs)};
}
Model cube(const char* name) {
  return shared(base(name, {2, 2, 2}), exact_R, {2, 2, 2});
}
// Subject, object and relation; cells (i, i) are the numbers 0, 1, 8, 9, 16 and 17.
Model relation(const char* name, bool self_missing) {
  return tied(shared(base(name, {3, 3, 2}), exact_R, {2, 2}), self_missing);
}

const std::vector<Example>& examples() {
  static const std::vector<Example> list = {
      example(cube("cube"), {1, 0, 0, 1, 0, 0, 1, 0}, {0, 1, 7},
              {{Bug::p_not_shared, plain}, {Bug::lowest_empty, scan}}),
      example(relation("tied", true), {0, 0, 1, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {2, 3, 8},
              {{Bug::no_tie_correction, scan}, {Bug::no_self_cells, columns}}),
      example(without(one_hot(relation("tied_one_hot", true), 2), {}, {13}),
              {0, 0, 1, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {2, 8, 13},
              {{Bug::no_self_cells, scan}, {Bug::missing_as_zeros, both}}),
      example(counts(cube("cube_of_counts")), {2, 0, 0, 1, 0, 0, 1, 1}, {0, 1, 7}, {{Bug::lowest_empty, both}}),
      example(counts(relation("tied_counts", false)), {1, 0, 2, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0},
              {0, 3, 16}, {{Bug::p_not_shared, columns}}),
  };
  return list;
}

// ---- the quantities -------------------------------------------------------------------------------------------------

// What a chain shows after a sweep.
struct Seen {
  Parameters q;
  Arrangement arrangement;
  bool first_has_counts;
};

struct Quantity {
  std::string name;
  double exact;
  std::function<double(const Seen&)> value;
  bool of_counts;  // or of parameters
};

double choose_two(double n) {
  return n * (n - 1) / 2;
}

// Pairs of components with counts that share a column of mode k.
double pairs(const Arrangement& arrangement, std::size_t k) {
  double second = 0;
  for (const Columns3 columns : arrangement) second += static_cast<double>(column_of(columns, k));
  return choose_two(second) + choose_two(static_cast<double>(arrangement.size()) - second);
}

// Pairs of all components, on average over the columns of those without counts: Polya's urn.
double expected_pairs(double first, double second) {
  const double drawn = first + second;
  if (drawn == exact_R) return choose_two(first) + choose_two(second);
  return ((1 + first) * expected_pairs(first + 1, second) + (1 + second) * expected_pairs(first, second + 1)) /
         (2 + drawn);
}

class Quantities {
 public:
  Quantities(const Example& data, const Arrangements& arrangements) : data_(data), arrangements_(arrangements) {}

  // All that follows from the law of arrangements.
  void add_structure(const std::vector<double>& law) {
    const auto add = [&](const char* name, auto function) {
      double exact = 0;
      for (std::size_t i = 0; i < law.size(); ++i) exact += law[i] * function(arrangements_[i]);
      list_.push_back({name, exact, [function](const Seen& seen) { return function(seen.arrangement); }, true});
    };
    const auto occupied = [](const Arrangement& now) { return static_cast<double>(now.size()); };
    add("components with counts", occupied);
    add("one component has counts", [](const Arrangement& now) { return now.size() == 1 ? 1.0 : 0.0; });
    add("all components have counts", [](const Arrangement& now) { return now.size() == exact_R ? 1.0 : 0.0; });
    list_.push_back({"component 1 has counts", list_[0].exact / exact_R,
                     [](const Seen& seen) { return seen.first_has_counts ? 1.0 : 0.0; }, true});
    add("two components in the same columns", [](const Arrangement& now) {
      for (std::size_t i = 1; i < now.size(); ++i)
        if (now[i] == now[i - 1]) return 1.0;
      return 0.0;
    });
    for (std::size_t k = 0; k < data_.model.K(); ++k) add_columns_of(k, law, add);
    if (!data_.model.tied) return;
    add("components with one column for tied modes", [](const Arrangement& now) {
      double both = 0;
      for (const Columns3 columns : now) both += column_of(columns, 0) == column_of(columns, 1) ? 1 : 0;
      return both;
    });
    add("columns used by tied modes", [](const Arrangement& now) {
      bool used[exact_P] = {};
      for (const Columns3 columns : now) used[column_of(columns, 0)] = used[column_of(columns, 1)] = true;
      return static_cast<double>(used[0]) + static_cast<double>(used[1]);
    });
  }
  template <class Function>
  void add(std::string name, double exact, Function function) {
    list_.push_back({std::move(name), exact, [function](const Seen& seen) { return function(seen.q); }, false});
  }
  const std::vector<Quantity>& list() const { return list_; }

 private:
  template <class Add>
  void add_columns_of(std::size_t k, const std::vector<double>& law, Add add) {
    const std::string of_mode = fmt::format(" of mode {}", k + 1);
    add(("pairs with counts in one column" + of_mode).c_str(), [k](const Arrangement& now) { return pairs(now, k); });
    add(("columns used" + of_mode).c_str(), [k](const Arrangement& now) {
      return now.empty() ? 0.0 : pairs(now, k) == choose_two(static_cast<double>(now.size())) ? 1.0 : 2.0;
    });
    double all = 0;
    for (std::size_t i = 0; i < law.size(); ++i) {
      double second = 0;
      for (const Columns3 columns : arrangements_[i]) second += static_cast<double>(column_of(columns, k));
      all += law[i] * expected_pairs(static_cast<double>(arrangements_[i].size()) - second, second);
    }
    this->add("pairs in one column" + of_mode, all, [k](const Parameters& q) {
      return static_cast<double>((q.c[k][0] == q.c[k][1]) + (q.c[k][0] == q.c[k][2]) + (q.c[k][1] == q.c[k][2]));
    });
  }

  const Example& data_;
  const Arrangements& arrangements_;
  std::vector<Quantity> list_;
};

template <unsigned order>
std::vector<Quantity> quantities(const Example& data) {
  const Arrangements arrangements(3);
  const Model& model = data.model;
  Quantities result(data, arrangements);
  const auto p = [](const Parameters& q) { return q.p[0]; };
  if (model.counts) {
    const ExactCounts exact(model, arrangements, data.y, data.cells);
    result.add_structure(exact.arrangement);
    result.add("p", exact.p, p);
    for (std::size_t i = 0; i < data.cells.size(); ++i)
      result.add(fmt::format("z of cell {}", data.cells[i] + 1), exact.z[i],
                 [&model, cell = data.cells[i]](const Parameters& q) { return model.rate(q, cell); });
    return result.list();
  }
  const ExactOnes exact = ExactOnes::of<order>(model, arrangements, data.y, data.cells);
  EXPECT_NEAR(sum(exact.arrangement), 1, 1e-9) << model.name;  // computed in another way than the evidence
  result.add_structure(exact.arrangement);
  result.add("p", exact.p, p);
  result.add("E exp(-sum lambda / 2)", exact.laplace, [](const Parameters& q) { return std::exp(-sum(q.lambda) / 2); });
  for (std::size_t i = 0; i < data.cells.size(); ++i)
    result.add(fmt::format("P(cell {} = 0)", data.cells[i] + 1), exact.zero[i],
               [&model, cell = data.cells[i]](const Parameters& q) { return std::exp(-model.rate(q, cell)); });
  return result.list();
}

// ---- the yardstick itself -------------------------------------------------------------------------------------------

double likelihood(const Example& example, const Parameters& q) {
  double product = 1;
  for (std::size_t i = 0; i < example.y.size(); ++i) {
    if (!example.model.is_observed(i)) continue;
    const double z = example.model.rate(q, i), y = static_cast<double>(example.y[i]);
    product *= example.model.counts ? std::exp(-z) * std::pow(z, y) : y > 0 ? -std::expm1(-z) : std::exp(-z);
  }
  return product;
}

// In standard errors; what is certain has none.
double deviation(double difference, double error) {
  return std::abs(difference) < 1e-9 ? 0 : difference / error;
}

// Draws from the prior, weighted by the likelihood, have the same means: the largest |z|.
Worst weighted_prior_draws(const Example& example, const std::vector<Quantity>& list) {
  const std::size_t draws = full_form() ? 4'000'000 : 100'000;
  Generator generator(seed_of(2, example.model.name));
  std::vector<BatchMeans> means(list.size(), BatchMeans(draws, batches));
  double weights = 0;
  for (std::size_t n = 0; n < draws; ++n) {
    const Seen seen{draw_prior(generator, example.model), {}, false};
    const double weight = likelihood(example, seen.q);
    weights += weight / static_cast<double>(draws);
    for (std::size_t i = 0; i < list.size(); ++i)
      if (!list[i].of_counts) means[i].add(weight * (list[i].value(seen) - list[i].exact));
  }
  Worst worst;
  for (std::size_t i = 0; i < list.size(); ++i)
    if (!list[i].of_counts)
      worst.consider(deviation(means[i].mean() / weights, means[i].error() / weights), list[i].name);
  return worst;
}

// The largest difference that fewer nodes make: several times what those that are used are off by.
double difference(const std::vector<Quantity>& list, const std::vector<Quantity>& coarse) {
  double largest = 0;
  for (std::size_t i = 0; i < list.size(); ++i) largest = std::max(largest, std::abs(list[i].exact - coarse[i].exact));
  return largest;
}

// ---- the test -------------------------------------------------------------------------------------------------------

// 18 to 21 quantities of each example, and six or seven of them once more by weighted draws from the prior.
double limit() {
  return two_sided_limit(0.01 / static_cast<double>((4 * 21 + 7) * examples().size()), batches);
}

template <class Sampler>
Seen look_at(Sampler& sampler) {
  const std::vector<std::int64_t>& s = sampler.statistics().tensor;
  Seen seen{parameters_of(sampler.state()), {}, s[0] > 0};
  for (std::size_t r = 0; r < exact_R; ++r) {
    Columns3 columns = 0;
    for (std::size_t k = 0; k < 3; ++k) columns |= std::size_t{sampler.columns().columns_of_mode(k)[r]} << k;
    if (s[r] > 0) seen.arrangement.push_back(columns);
  }
  std::sort(seen.arrangement.begin(), seen.arrangement.end());
  return seen;
}

template <class Make>
Worst compare(const Example& example, const Moves& moves, const std::vector<Quantity>& list, std::size_t length,
              Make make, Results& results) {
  Pool pool(1);
  const auto kernel = make_kernel(KernelName::cpu, pool);
  const std::string name = fmt::format("{}_{}", example.model.name, moves.name);
  const Model model = ztp::test::moves(example.model, moves.scan, moves.columns);
  Observed observed(model, seed_of(1, name));
  Data data;
  data.y = example.y;
  observed.set(data);
  auto sampler = make(observed, *kernel);
  sampler.start();
  std::vector<BatchMeans> means(list.size(), BatchMeans(length, batches));
  for (std::size_t t = 0; t < length + burn_in; ++t) {
    sampler.sweep();
    if (t < burn_in) continue;
    const Seen seen = look_at(sampler);
    for (std::size_t i = 0; i < list.size(); ++i) means[i].add(list[i].value(seen));
  }
  Worst worst;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const double z = deviation(means[i].mean() - list[i].exact, means[i].error());
    results.row("shared_" + name, "cpu", name_of(make.bug), list[i].name, list[i].exact, means[i].mean(), z, limit());
    worst.consider(z, list[i].name);
  }
  return worst;
}

class SharedExact : public testing::TestWithParam<std::size_t> {};

TEST_P(SharedExact, AgreesAndSeesBugs) {
  const Example& example = examples()[GetParam()];
  Results results("exact-shared_" + example.model.name, "model\tkernel\tbug\tquantity\texact\tchain\tz\tlimit");
  const std::vector<Quantity> list = full_form() ? quantities<8>(example) : quantities<5>(example);
  ASSERT_LE(list.size(), 21u);
  const double off = difference(list, full_form() ? quantities<6>(example) : quantities<4>(example));
  fmt::print("  fewer nodes change quantities by {:.1e}\n", off);
  EXPECT_LT(off, full_form() ? 3e-4 : 3e-3);
  const Worst weighted = weighted_prior_draws(example, list);
  EXPECT_LT(std::abs(weighted.z), limit()) << "weighted draws from the prior: " << weighted.name;
  for (const Moves& moves : {plain, scan, columns, both}) {
    const Worst worst = compare(example, moves, list, sweeps, MakeSharedChain{}, results);
    fmt::print("  {} quantities, limit {:.2f}, {}: largest |z| {:.2f} ({})\n", list.size(), limit(), moves.name,
               std::abs(worst.z), worst.name);
    EXPECT_LT(std::abs(worst.z), limit()) << moves.name << ": " << worst.name;
  }
  for (const Planted& planted : example.bugs) {
    const Worst caught = compare(example, planted.moves, list, twin_sweeps, MakeSharedTwin{planted.bug}, results);
    fmt::print("  {}, {}: largest |z| {:.2f} ({})\n", name_of(planted.bug), planted.moves.name, std::abs(caught.z),
               caught.name);
    EXPECT_GT(std::abs(caught.z), limit()) << name_of(planted.bug) << " went unseen";
  }
}

INSTANTIATE_TEST_SUITE_P(Examples, SharedExact, testing::Range(std::size_t{0}, examples().size()),
                         [](const auto& test) { return examples()[test.param].model.name; });

}  // namespace
}  // namespace ztp::test
