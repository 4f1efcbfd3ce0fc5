// What runs with shared columns answer, against plain loops over their draws. Data have the seed 7 and fits the seeds 1
// and 2: deterministic.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "errors.hpp"
#include "kernel/host_arrays.hpp"
#include "model/rates.hpp"
#include "related_people.hpp"
#include "store/draws_file.hpp"
#include "temp_dir.hpp"
#include "ztp/fit.hpp"
#include "ztp/posterior.hpp"

namespace ztp {
namespace {

using test::groups, test::people, test::relations, test::TempDir, test::tied;
using Cell = std::vector<std::uint32_t>;
using Entry = std::vector<std::size_t>;

FitOptions short_run(std::vector<std::string> columns, std::size_t chains = 1) {
  FitOptions options = tied();
  options.columns = std::move(columns);
  options.sweeps = 60;
  options.draws = 20;
  options.chains = static_cast<int>(chains);
  return options;
}

std::vector<Cell> all_cells(const std::vector<Mode>& modes) {
  std::vector<Cell> cells;
  for (std::uint32_t i = 0; i < modes[0].labels.size(); ++i)
    for (std::uint32_t l = 0; l < modes[1].labels.size(); ++l)
      for (std::uint32_t j = 0; j < modes[2].labels.size(); ++j) cells.push_back({i, l, j});
  return cells;
}

using Given = std::vector<std::optional<std::uint32_t>>;

// All cells with their probabilities, but for training ones and, unless `self`, cells (i, i).
std::map<Cell, double> candidates(Posterior& posterior, bool self) {
  const Dataset data = groups();
  std::map<Cell, double> result;
  std::vector<std::uint32_t> coords;
  for (const Cell& cell : all_cells(posterior.modes())) {
    Given in_data;  // ids of the data, which has people in other orders
    for (std::size_t k = 0; k < 3; ++k)
      in_data.push_back(data.tensor.modes[k].labels.find(posterior.modes()[k].labels[cell[k]]));
    const Cell here = {in_data[0].value_or(0), cell[1], in_data[2].value_or(0)};
    if ((!self && cell[0] == cell[2]) || (in_data[0] && in_data[2] && data.tensor.contains(here.data()))) continue;
    result[cell] = 0;
    coords.insert(coords.end(), cell.begin(), cell.end());
  }
  const std::vector<Prediction> predictions = posterior.predict(coords.data(), result.size());
  for (std::size_t e = 0; e < predictions.size(); ++e)
    result[{coords[3 * e], coords[3 * e + 1], coords[3 * e + 2]}] = predictions[e].probability;
  return result;
}

// Recommends, and compares with the candidates that agree with what is given, largest first.
void compare(Posterior& posterior, const std::map<Cell, double>& all, const Given& given) {
  std::vector<double> expected;
  for (const auto& [cell, probability] : all) {
    bool asked = true;
    for (std::size_t k = 0; k < 3; ++k) asked = asked && (!given[k] || *given[k] == cell[k]);
    if (asked) expected.push_back(probability);
  }
  std::sort(expected.begin(), expected.end(), std::greater<>());
  std::size_t e = 0;
  posterior.recommend(given, 40, [&](const Recommendation& item) {
    for (std::size_t k = 0; k < 3; ++k) EXPECT_TRUE(!given[k] || item.cell[k] == *given[k]);
    EXPECT_NEAR(item.prediction.probability, all.at(item.cell), 1e-9);
    EXPECT_NEAR(item.prediction.probability, expected.at(e++), 1e-6);
    return true;
  });
  EXPECT_EQ(e, std::min<std::size_t>(40, expected.size()));
}

TEST(SharedAnswers, RecommendationsAreTheMostProbableCells) {
  const TempDir dir;
  std::vector<std::pair<std::string, FitOptions>> runs = {{"own", short_run({"subject=6", "relation=own"}, 2)},
                                                          {"learned", short_run({"subject=6", "relation=3"})},
                                                          {"untied", short_run({"4"})},
                                                          {"self", short_run({"subject=6", "relation=own"})}};
  runs[2].second.tie = {};
  runs[2].second.self_cells = SelfCells::automatic;
  runs[3].second.self_cells = SelfCells::zero;
  const std::optional<std::uint32_t> open;
  for (const auto& [name, options] : runs) {
    SCOPED_TRACE(name);
    fit(groups(), options, dir / name);
    Posterior posterior(dir / name, 2);
    const std::map<Cell, double> all = candidates(posterior, options.self_cells != SelfCells::missing);
    for (const Given& given : std::vector<Given>{{open, open, open},
                                                 {3, open, open},
                                                 {open, 2, open},
                                                 {open, open, 5},
                                                 {4, 1, open},
                                                 {open, 3, 7},
                                                 {2, open, 9},
                                                 {2, 1, 9}})
      compare(posterior, all, given);
  }
}

// Each share of a cell's rate, summed over components with the same columns, from the stored draws of the first chain.
TEST(SharedAnswers, PartsAreThoseOfCoreEntries) {
  const TempDir dir;
  fit(groups(), short_run({"subject=6", "relation=own"}, 2), dir / "run");
  Posterior posterior(dir / "run", 2);
  const DrawsFile draws(dir / "run", posterior.info());
  HostArrays arrays;
  State state = draws.make_state(arrays);
  const Cell cells = {3, 2, 8, 0, 0, 1, 5, 3, 5};
  const auto found = posterior.explain(cells.data(), 3);
  for (std::size_t e = 0; e < 3; ++e) {
    std::map<Entry, double> parts;
    double total = 0;
    for (std::size_t d = 0; d < posterior.draws_of(0); ++d) {
      draws.load(d, state);
      for (std::size_t r = 0; r < state.layout.components(); ++r) {
        double part = std::exp(state.tensor.log_weight[r]);
        Entry entry;
        for (std::size_t k = 0; k < 3; ++k) {
          const std::size_t q = state.layout.column(k, r), n = state.layout.size_of_mode(k).rows;
          part *= static_cast<double>(values_of(state.of_mode(k)).row(cells[3 * e + k])[q]) / static_cast<double>(n);
          entry.push_back(q + 1);
        }
        parts[entry] += part;
        total += part;
      }
    }
    std::size_t expected = 0;
    for (const auto& [entry, part] : parts) expected += part > 0.01 * total ? 1 : 0;
    EXPECT_EQ(found[e].size(), expected);
    for (const Recommendation::Part& part : found[e]) {
      EXPECT_EQ(part.component, 0u);
      EXPECT_EQ(part.columns[1], cells[3 * e + 1] + std::size_t{1}) << "an entry of another relation";
      EXPECT_NEAR(part.share, parts[part.columns] / total, 1e-5);
    }
    EXPECT_TRUE(std::is_sorted(found[e].begin(), found[e].end(),
                               [](const auto& a, const auto& b) { return a.share > b.share; }));
  }
}

double overlap(const std::vector<float>& u, std::size_t q, const std::vector<float>& v, std::size_t s, std::size_t P) {
  double sum = 0;
  for (std::size_t j = 0; j < people; ++j)
    sum += std::sqrt(static_cast<double>(u[j * P + q]) * static_cast<double>(v[j * P + s]));
  return sum;
}

double agreement(double overlap, double w, double other_w) {
  return 2 * std::sqrt(w * other_w) * overlap / (w + other_w);
}

// (M57) and (M58) by hand, from mean factors and the weights that columns and core show.
TEST(SharedAnswers, StabilityOfColumnsAndEntries) {
  const TempDir dir;
  fit(groups(), short_run({"subject=6", "relation=own"}, 2), dir / "run");
  Posterior posterior(dir / "run", 2);
  const std::vector<float> u = posterior.mean_factor(0, 0), v = posterior.mean_factor(0, 1);
  const std::vector<ComponentMatch> matches = posterior.match_columns(0, 0, posterior, 1);
  std::vector<double> weight(6), other_weight(6);
  for (const Column& column : posterior.columns(0, 1, 0)) weight[column.number - 1] = column.weight;
  for (const Column& column : posterior.columns(0, 1, 1)) other_weight[column.number - 1] = column.weight;
  const double total = std::accumulate(weight.begin(), weight.end(), 0.0),
               other_total = std::accumulate(other_weight.begin(), other_weight.end(), 0.0);
  std::vector<std::size_t> partners;
  for (const Column& column : posterior.columns(2, 1, 0)) {  // the tied mode: the same
    const ComponentMatch& match = matches[column.number - 1];
    const std::size_t s = match.partner.value();
    partners.push_back(s);
    EXPECT_NEAR(match.overlap, overlap(u, column.number - 1, v, s, 6), 1e-4);
    EXPECT_NEAR(match.agreement, agreement(match.overlap, column.weight / total, other_weight[s] / other_total), 1e-4);
    if (column.weight >= weight_of_empty) {
      EXPECT_EQ(column.stability, match.agreement);
    }
  }
  std::sort(partners.begin(), partners.end());
  EXPECT_EQ(std::unique(partners.begin(), partners.end()), partners.end()) << "one to one";

  std::map<Entry, double> core, other_core;
  for (const CoreEntry& entry : posterior.core(1)) other_core[entry.columns] = entry.weight;
  std::size_t stable = 0, i = 0;
  const std::vector<CoreMatch> entries = posterior.match_core(0, posterior, 1);
  for (const CoreEntry& entry : posterior.core(0)) {
    const CoreMatch& match = entries.at(i++);
    ASSERT_EQ(match.columns, entry.columns);
    const ComponentMatch &from = matches[entry.columns[0] - 1], &to = matches[entry.columns[2] - 1];
    const Entry partner = {*from.partner + 1, entry.columns[1], *to.partner + 1};
    EXPECT_EQ(match.partner, partner) << "relations keep their entities";
    EXPECT_NEAR(match.overlap, from.overlap * to.overlap, 1e-6);
    if (const auto found = other_core.find(partner); found != other_core.end()) {
      EXPECT_NEAR(entry.stability, agreement(match.overlap, 2 * entry.weight / total, 2 * found->second / other_total),
                  1e-4);
    }
    stable += entry.stability > 0.9 ? 1 : 0;
  }
  EXPECT_EQ(i, entries.size());
  EXPECT_GE(stable, 6u) << "of groups that relate, most are found by both";
}

TEST(SharedAnswers, AChainIsMatchedWithItself) {
  const TempDir dir;
  fit(groups(), short_run({"subject=6", "relation=own"}), dir / "run");
  Posterior posterior(dir / "run", 1);
  for (std::size_t mode = 0; mode < 3; ++mode)
    for (const ComponentMatch& match : posterior.match_columns(mode, 0, posterior, 0)) {
      if (match.weight_share == 0) continue;
      EXPECT_EQ(match.partner, match.component);
      EXPECT_NEAR(match.agreement, 1, 1e-4);
    }
  for (const CoreMatch& match : posterior.match_core(0, posterior, 0)) {
    EXPECT_EQ(match.partner, match.columns);
    EXPECT_NEAR(match.agreement, 1, 1e-3);
    EXPECT_EQ(match.weight_share, match.partner_weight_share);
  }
  for (const Column& column : posterior.columns(0, 1)) EXPECT_TRUE(std::isnan(column.stability));
  for (const CoreEntry& entry : posterior.core()) EXPECT_TRUE(std::isnan(entry.stability));
}

// The second run has its modes in another order, the seed 2, fewer columns and no tie.
TEST(SharedAnswers, TwoRunsAreMatchedByNamesAndLabels) {
  const TempDir dir;
  fit(groups(), short_run({"subject=5", "relation=own"}), dir / "one");
  Dataset turned;
  const Dataset data = groups();
  turned.tensor.modes = {data.tensor.modes[1], data.tensor.modes[2], data.tensor.modes[0]};
  for (std::size_t e = 0; e < data.tensor.nnz(); ++e)
    for (const std::size_t k : {1, 2, 0}) turned.tensor.coords.push_back(data.tensor.cell(e)[k]);
  turned.tensor.sort_and_merge();
  FitOptions options = short_run({"subject=4", "object=5", "relation=own"});
  options.tie = {};
  options.self_cells = SelfCells::automatic;
  options.seed = 2;
  fit(std::move(turned), options, dir / "two");
  Posterior one(dir / "one", 1), two(dir / "two", 1);
  EXPECT_EQ(one.match_columns(0, 0, two, 0).size(), 5u);
  std::size_t unmatched = 0;
  double agreed = 0;
  for (const ComponentMatch& match : one.match_columns(0, 0, two, 0)) unmatched += match.partner ? 0 : 1;
  EXPECT_EQ(unmatched, 1u);
  for (const CoreMatch& match : one.match_core(0, two, 0)) {
    if (match.partner.empty()) continue;
    ASSERT_EQ(match.partner.size(), 3u);
    EXPECT_EQ(match.partner[0], match.columns[1]) << "the relation comes first in the other run";
    agreed += match.weight_share * match.agreement;
  }
  EXPECT_GT(agreed, 0.3) << "by weight, entries that both have";
}

TEST(SharedAnswers, AreRefusedWhereTheyHaveNoMeaning) {
  const TempDir dir;
  fit(groups(), short_run({"subject=5", "relation=own"}, 2), dir / "shared");
  FitOptions options;
  options.chains = 1;
  options.rank = 4;
  options.sweeps = 10;
  options.threads = 1;
  fit(groups(), options, dir / "plain");
  Posterior shared(dir / "shared", 1), plain(dir / "plain", 1);
  const auto refusal = [&](const auto& ask) { return test::error_of(ask, ErrorKind::config); };
  const std::string of_shared = "this one was fitted with --columns, and match_columns and match_core are for";
  EXPECT_TRUE(test::holds(refusal([&] { shared.match_components(0, plain, 0); }), of_shared));
  EXPECT_TRUE(test::holds(refusal([&] { plain.match_components(0, shared, 0); }), of_shared));
  EXPECT_TRUE(test::holds(refusal([&] { shared.match_chains(); }), of_shared));
  EXPECT_TRUE(test::holds(refusal([&] { shared.components(3); }), "and has columns and a core"));
  const std::string of_plain = "is for runs with --columns; in this one, components have columns of their own";
  EXPECT_TRUE(test::holds(refusal([&] { shared.match_core(0, plain, 0); }), of_plain));
  EXPECT_TRUE(test::holds(refusal([&] { plain.match_columns(0, 0, shared, 0); }), of_plain));
  const std::uint32_t cell[] = {0, 0, 1};
  const Matching matching = shared.match_columns(0);
  EXPECT_TRUE(test::holds(refusal([&] { shared.parts_of_rates(matching, cell, 1); }), "explain tells the parts"));
  EXPECT_TRUE(test::holds(test::error_of([&] { shared.matched_mean_factor(matching, 1); }, ErrorKind::usage),
                          "the matching has not the chains and columns of the mode of this run, 2 and 4"));
  EXPECT_THROW(shared.match_columns(3), Error);
}

// Means over matched chains, intervals over draws, and weights of a network, by column of the tied matrix.
TEST(SharedAnswers, NumbersOfColumns) {
  const TempDir dir;
  Dataset data = groups();
  data.networks.resize(1);
  data.networks[0].mode = 2;
  for (const std::uint32_t id : {0, 3, 1, 4, 2, 5}) data.networks[0].edges.push_back(id);
  fit(std::move(data), short_run({"subject=5", "relation=own"}, 2), dir / "run");
  Posterior posterior(dir / "run", 1);
  EXPECT_EQ(posterior.network_weights(0).size(), 5u);
  const std::vector<float> mean = posterior.matched_mean_factor(posterior.match_columns(0), 0);
  for (std::size_t q = 0; q < 5; ++q) {
    double sum = 0;
    for (std::size_t j = 0; j < people; ++j) sum += static_cast<double>(mean[j * 5 + q]);
    EXPECT_NEAR(sum, 1, 1e-4);
  }
  const DrawsFile draws(dir / "run", posterior.info());
  Matrix<float> u;
  std::vector<float> values;
  for (std::size_t d = 0; d < posterior.draws_of(0); ++d) {
    draws.load_factor(d, 0, u);
    values.push_back(u.row(7)[4] / static_cast<float>(people));
  }
  std::sort(values.begin(), values.end());
  for (const std::size_t mode : {0, 2}) {
    const Interval interval = posterior.factor_intervals({{mode, 7, 4}}).front();
    EXPECT_GE(interval.q05, static_cast<double>(values.front()));
    EXPECT_LE(interval.q95, static_cast<double>(values.back()));
    const auto below = std::lower_bound(values.begin(), values.end(), static_cast<float>(interval.q05));
    EXPECT_NEAR(static_cast<double>(below - values.begin()), 0.05 * static_cast<double>(values.size()), 1);
  }
  EXPECT_THROW(posterior.factor_intervals({{0, 7, 5}}), Error);
}

}  // namespace
}  // namespace ztp
