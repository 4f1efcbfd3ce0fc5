// Single moves of counts between components and of components between columns, against their conditional laws: the
// joint probability of all counts and columns, parameters integrated out, for every place that a move may end in.
//
// Seeds: the number of the case. False alarms: each p-value is compared with 1e-5; there are nine of them.
#include "sampler/column_moves.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <vector>

#include "calibration_models.hpp"
#include "kernels.hpp"
#include "statistics.hpp"

namespace ztp::test {
namespace {

constexpr std::size_t draws = 100'000;
constexpr double level = 1e-5;

struct Unit {
  std::vector<std::uint32_t> cell;
  std::size_t r;
};

// Units in components, columns of these, and counts of networks in the columns of the first matrix.
struct Situation {
  Model model;
  std::vector<Unit> units;
  std::vector<std::vector<std::uint32_t>> c;       // [k][r]
  std::vector<std::vector<std::int64_t>> network;  // [row][column]

  bool has_counts(std::size_t r) const {
    return std::any_of(units.begin(), units.end(), [r](const Unit& unit) { return unit.r == r; });
  }
  // (M52) and (M53) are ratios of this.
  double log_joint() const {
    double sum = 0;
    std::vector<double> s(model.R, 0);
    for (const Unit& unit : units) sum += std::log(model.hyper.tensor.shape + s[unit.r]++);
    for (std::size_t k = 0; k < model.K(); ++k) {
      std::vector<double> used(model.columns_of(model.matrix(k)), 0);
      double all = static_cast<double>(used.size());
      for (std::size_t r = 0; r < model.R; ++r)
        if (has_counts(r)) sum += std::log(1 + used[c[k][r]]++) - std::log(all++);
    }
    for (std::size_t f = 0; f < model.matrices(); ++f) {
      if (model.is_one_hot(f)) continue;
      const double n = static_cast<double>(model.rows_of(f)), a = model.hyper.dirichlet[f];
      std::vector<std::vector<double>> S(model.rows_of(f), std::vector<double>(model.columns_of(f), 0));
      for (std::size_t j = 0; f == 0 && j < network.size(); ++j)
        for (std::size_t q = 0; q < network[j].size(); ++q) S[j][q] += static_cast<double>(network[j][q]);
      for (const Unit& unit : units)
        for (std::size_t k = 0; k < model.K(); ++k)
          if (model.matrix(k) == f) S[unit.cell[k]][c[k][unit.r]] += 1;
      for (std::size_t q = 0; q < model.columns_of(f); ++q) {
        double total = n * a;
        for (const auto& row : S) sum += std::lgamma(a + row[q]), total += row[q];
        sum -= std::lgamma(total);
      }
    }
    return sum;
  }

  // The state that the moves work on. The first unit is of a one, the others are imputed, which a scan leaves alone.
  void load(Kernel& kernel, LatentParts& parts, ColumnState& state) const {
    FactorLayout layout = model.layout();
    for (std::size_t k = 0; k < model.K(); ++k) std::copy(c[k].begin(), c[k].end(), layout.columns_of_mode(k).begin());
    Statistics statistics = make_statistics(layout, {}, false, kernel);
    std::vector<std::vector<std::int64_t>> ends;
    for (std::size_t f = 0; f < model.matrices(); ++f) ends.emplace_back(model.columns_of(f), 0);
    for (std::size_t j = 0; j < network.size(); ++j) {
      statistics.rows[0]->write({j, j + 1}, network[j].data());
      for (std::size_t q = 0; q < network[j].size(); ++q) ends[0][q] += network[j][q];
    }
    parts.clear();
    for (const Unit& unit : units) parts.add(unit.cell.data(), unit.r, 1);
    parts.of_ones = 1;
    const PriorShapes shapes{model.hyper.dirichlet, model.hyper.tensor.shape, {}};
    state.load(shapes, ends, parts, layout, statistics);
  }
};

// Subject, object and relation, four components of which two or three have counts.
Situation situation(Model model, std::vector<std::uint32_t> cell) {
  Situation result{moves(few_entities(std::move(model)), true, true), {{std::move(cell), 0}}, {}, {}};
  for (const std::uint32_t j : {0u, 1u, 1u, 2u}) result.units.push_back({{j, (j + 1) % 3, 0}, 1});
  result.units.push_back({{2, 0, 1}, 3});
  result.units.push_back({{1, 2, 1}, 3});
  result.c = {{0, 1, 0, 1}, {1, 1, 0, 0}, {0, 0, 1, 1}};
  return result;
}
std::vector<Situation> situations() {
  const auto relation = [](const char* name) { return tied(shared(base(name, {3, 3, 2}), 4, {2, 2}), false); };
  std::vector<Situation> list = {situation(shared(base("untied", {3, 3, 2}), 4, {2, 2, 2}), {0, 1, 1}),
                                 situation(relation("tied"), {1, 2, 0}), situation(relation("tied_self"), {1, 1, 0}),
                                 situation(one_hot(relation("tied_one_hot"), 2), {2, 2, 1}),
                                 situation(relation("tied_with_network"), {0, 0, 1})};
  list.back().network = {{4, 0}, {1, 1}, {0, 2}};
  for (Situation& one_hot : list)
    if (one_hot.model.one_hot == 2) one_hot.c[2] = {1, 0, 0, 1};
  return list;
}

using Outcome = std::vector<std::size_t>;  // a component, or that it is any new one, and its columns

double p_value(const std::map<Outcome, double>& log_weight, const std::map<Outcome, double>& seen) {
  double all = 0;
  std::vector<double> expected, observed;
  for (const auto& [outcome, value] : log_weight) all += std::exp(value);
  for (const auto& [outcome, value] : log_weight) {
    expected.push_back(std::exp(value) / all * static_cast<double>(draws));
    const auto found = seen.find(outcome);
    observed.push_back(found == seen.end() ? 0 : found->second);
  }
  EXPECT_EQ(std::accumulate(observed.begin(), observed.end(), 0.0), static_cast<double>(draws)) << "other outcomes";
  return chi_squared_p(expected, observed);
}

// Every place for the first unit, all others as they are.
std::map<Outcome, double> places_of_unit(const Situation& now) {
  std::map<Outcome, double> log_weight;
  Situation other = now;
  other.units.erase(other.units.begin());
  std::size_t new_one = now.model.R;
  double empty = 0;
  for (std::size_t r = 0; r < now.model.R; ++r)
    if (!other.has_counts(r)) new_one = r, empty += 1;
  other.units.insert(other.units.begin(), now.units[0]);
  for (std::size_t r = 0; r < now.model.R; ++r) {
    other.units[0].r = r;
    const bool is_new = r == new_one;
    Situation rest = other;
    rest.units.erase(rest.units.begin());
    if (!rest.has_counts(r) && !is_new) continue;
    for (std::uint32_t columns = 0; columns < (is_new ? 8u : 1u); ++columns) {
      if (is_new)
        for (std::size_t k = 0; k < 3; ++k) other.c[k][r] = columns >> k & 1;
      if (now.model.one_hot == 2 && other.c[2][r] != now.units[0].cell[2]) continue;
      const Outcome outcome{is_new ? now.model.R : r, other.c[0][r], other.c[1][r], other.c[2][r]};
      log_weight[outcome] = other.log_joint() + (is_new ? std::log(empty) : 0);
    }
    other.c = now.c;
  }
  return log_weight;
}

class Scan : public TokenScan {
 public:
  Scan(const Problem& problem, bool corrects_ties) : TokenScan(problem) { corrects_ties_ = corrects_ties; }
};

double scan_p_value(const Situation& now, std::uint64_t seed, bool corrects_ties = true) {
  Pool pool(1);
  const auto kernel = make_kernel(KernelName::reference, pool);
  const Observed observed(now.model, 1);
  Scan scan(observed.problem(), corrects_ties);
  ColumnState state(observed.problem());
  std::map<Outcome, double> seen;
  for (std::uint32_t t = 0; t < draws; ++t) {
    LatentParts parts;
    parts.K = 3;
    now.load(*kernel, parts, state);
    scan.run(parts, Stream(stream_key(seed, 0, Purpose::column_moves), t, 0), state);
    const std::size_t r = parts.component[0];
    const bool is_new = state.s[r] == 1;
    seen[{is_new ? now.model.R : r, state.c[0][r], state.c[1][r], state.c[2][r]}] += 1;
  }
  return p_value(places_of_unit(now), seen);
}

TEST(ColumnMoves, AScanDrawsFromTheConditionalOfAUnit) {
  std::uint64_t seed = 0;
  for (const Situation& now : situations()) EXPECT_GT(scan_p_value(now, ++seed), level) << now.model.name;
}

TEST(ColumnMoves, AScanThatForgetsTiesIsSeen) {
  for (const Situation& now : situations())
    EXPECT_EQ(scan_p_value(now, 9, false) < level, now.model.tied) << now.model.name;
}

// Component 1 alone has units, and others are counts of networks: its column is drawn given these.
TEST(ColumnMoves, AColumnStepDrawsFromTheConditionalOfAComponent) {
  Pool pool(1);
  const auto kernel = make_kernel(KernelName::reference, pool);
  std::uint64_t seed = 10;
  for (Situation now : situations()) {
    now.network = {{4, 0}, {1, 1}, {0, 2}};
    std::erase_if(now.units, [](const Unit& unit) { return unit.r != 1; });
    std::map<Outcome, double> log_weight, seen;
    for (std::uint32_t q = 0; q < 2; ++q) {
      Situation other = now;
      other.c[0][1] = q;
      log_weight[{q}] = other.log_joint();
    }
    const Observed observed(now.model, 1);
    ColumnState state(observed.problem());
    ColumnStep step(0);
    ++seed;
    for (std::uint32_t t = 0; t < draws; ++t) {
      LatentParts parts;
      parts.K = 3;
      now.load(*kernel, parts, state);
      step.run(parts, 0, Stream(stream_key(seed, 0, Purpose::column_moves), t, 0), state);
      seen[{state.c[0][1]}] += 1;
    }
    EXPECT_GT(p_value(log_weight, seen), level) << now.model.name;
  }
}

}  // namespace
}  // namespace ztp::test
