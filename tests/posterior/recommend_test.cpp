// Recommendations of cells and of entities, against plain loops over the stored draws. Data have the seeds 7 and 3, and
// fits the seed 1: deterministic.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "base/random.hpp"
#include "errors.hpp"
#include "kernel/host_arrays.hpp"
#include "related_people.hpp"
#include "store/data.hpp"
#include "store/draws_file.hpp"
#include "temp_dir.hpp"
#include "ztp/fit.hpp"
#include "ztp/posterior.hpp"

namespace ztp {
namespace {

using test::error_of;
using test::TempDir;
using Cell = std::vector<std::uint32_t>;
using Given = std::vector<std::optional<std::uint32_t>>;
const std::optional<std::uint32_t> open;

FitOptions short_fit() {
  FitOptions options;
  options.rank = 5;
  options.chains = 2;
  options.sweeps = 60;
  options.draws = 20;
  options.threads = 1;
  return options;
}

// 9 users, 7 items, 3 days: user and item of the same kind have ones. Some cells and the last user are missing.
Dataset listeners() {
  Dataset data;
  for (const auto& [mode, size] : {std::pair{"user", 9u}, {"item", 7u}, {"day", 3u}})
    data.tensor.modes.push_back({mode, LabelTable::numbered(1, size)});
  Stream stream(stream_key(3, 0, Purpose::simulate), 0, 0);
  data.missing.slices.resize(3);
  data.missing.slices[0] = {8};
  for (std::uint32_t u = 0; u < 8; ++u)
    for (std::uint32_t i = 0; i < 7; ++i)
      for (std::uint32_t d = 0; d < 3; ++d) {
        const std::uint32_t cell[] = {u, i, d};
        if (i == 2 && d == 1 && u < 5)
          data.missing.cells.append(cell, 3);
        else if (stream.uniform() < (u % 3 == i % 3 ? 0.6 : 0.1))
          data.tensor.coords.append(cell, 3);
      }
  data.tensor.sort_and_merge();
  return data;
}

// All cells of a run, with their rates at each draw and the parts of components, by plain loops.
class PlainRun {
 public:
  PlainRun(const std::string& dir, const RunInfo& info) : data(load_data(dir, info)) {
    const std::vector<std::uint32_t> sizes = data.tensor.sizes();
    Cell cell(sizes.size(), 0);
    for (std::size_t k = 0; k < sizes.size();) {
      cells.push_back(cell);
      for (k = 0; k < sizes.size() && ++cell[k] == sizes[k]; ++k) cell[k] = 0;
    }
    const DrawsFile draws(dir, info);
    HostArrays arrays;
    State state = draws.make_state(arrays);
    for (std::size_t d = 0; d < draws.draws().size(); ++d) {
      draws.load(d, state);
      of_first_chain.push_back(draws.draws()[d].chain == 0);
      rate.emplace_back();
      parts.emplace_back();
      for (const Cell& at : cells) add(state, at);
    }
  }
  Dataset data;
  std::vector<Cell> cells;
  std::vector<bool> of_first_chain;
  std::vector<std::vector<double>> rate;  // draw, cell
  std::vector<std::vector<std::map<std::vector<std::size_t>, double>>> parts;

 private:
  void add(const State& state, const Cell& at) {
    const FactorLayout& layout = state.layout;
    std::map<std::vector<std::size_t>, double> of_cell;
    double z = 0;
    for (std::size_t r = 0; r < layout.components(); ++r) {
      double part = std::exp(state.tensor.log_weight[r]);
      std::vector<std::size_t> key;
      for (std::size_t k = 0; k < at.size(); ++k) {
        const std::size_t q = layout.column(k, r);
        part *= static_cast<double>(values_of(*state.factors[layout.matrix(k)]).row(at[k])[q]) /
                static_cast<double>(layout.size_of_mode(k).rows);
        key.push_back(q + 1);
      }
      z += part;
      of_cell[layout.columns_are_components() ? std::vector{r + 1} : key] += part;
    }
    rate.back().push_back(z);
    parts.back().push_back(std::move(of_cell));
  }
};

struct Question {
  std::string name;
  std::size_t mode;
  Given given;
  RecommendOptions options = {};
  bool self_missing = false;
};

// Whether the cell may be recommended.
bool counts(const PlainRun& run, const Question& question, const Cell& cell) {
  for (std::size_t k = 0; k < cell.size(); ++k) {
    if (question.given[k] && *question.given[k] != cell[k]) return false;
    if (k < question.options.exclude_entities.size() &&
        std::count(question.options.exclude_entities[k].begin(), question.options.exclude_entities[k].end(), cell[k]))
      return false;
  }
  for (std::size_t i = 0; i < question.options.exclude_cells.size(); i += cell.size())
    if (std::equal(cell.begin(), cell.end(), question.options.exclude_cells.begin() + static_cast<std::ptrdiff_t>(i)))
      return false;
  if (question.self_missing && cell[0] == cell[2]) return false;
  return !run.data.tensor.contains(cell.data());
}

struct Expected {
  double probability = 0, sd = 0, rate = 0, whole = 0;  // whole: with the cells that do not count
  std::uint64_t ones = 0;
  double cells = 0;
  std::map<std::vector<std::size_t>, double> parts;
};

bool agrees(const Question& question, const Cell& cell) {
  for (std::size_t k = 0; k < cell.size(); ++k)
    if (question.given[k] && *question.given[k] != cell[k]) return false;
  return true;
}

Expected expected_of(const PlainRun& run, const Question& question, std::uint32_t id) {
  Expected result;
  std::vector<double> probability;
  for (std::size_t d = 0; d < run.rate.size(); ++d) {
    double z = 0;
    for (std::size_t e = 0; e < run.cells.size(); ++e) {
      const Cell& cell = run.cells[e];
      if (cell[question.mode] != id || !agrees(question, cell)) continue;
      result.whole += run.rate[d][e] / static_cast<double>(run.rate.size());
      if (d == 0 && run.data.tensor.contains(cell.data())) ++result.ones;
      if (!counts(run, question, cell)) continue;
      z += run.rate[d][e];
      if (d == 0) ++result.cells;
      if (run.of_first_chain[d])
        for (const auto& [key, part] : run.parts[d][e]) result.parts[key] += part;
    }
    probability.push_back(-std::expm1(-z));
    result.rate += z / static_cast<double>(run.rate.size());
  }
  const double draws = static_cast<double>(probability.size());
  result.probability = std::accumulate(probability.begin(), probability.end(), 0.0) / draws;
  for (const double p : probability) result.sd += std::pow(p - result.probability, 2) / (draws - 1);
  result.sd = std::sqrt(result.sd);
  double total = 0;
  for (const auto& [key, part] : result.parts) total += part;
  for (auto& [key, part] : result.parts) part /= total;
  return result;
}

// Rates are sums of floats, and what does not count is taken off: errors are relative to the whole. A float has 2^-24.
void compare(Posterior& posterior, const PlainRun& run, const Question& question, std::size_t top) {
  SCOPED_TRACE(question.name);
  std::map<std::uint32_t, Expected> expected;
  for (std::uint32_t id = 0; id < posterior.modes()[question.mode].labels.size(); ++id) {
    const Expected of_entity = expected_of(run, question, id);
    if (of_entity.cells > 0) expected[id] = of_entity;
  }
  const auto found = posterior.recommend_entities(question.mode, question.given, top, question.options);
  ASSERT_EQ(found.size(), std::min(top, expected.size()));
  std::vector<double> order;
  for (const auto& [id, item] : expected) order.push_back(item.probability);
  std::sort(order.begin(), order.end(), std::greater<>());
  for (std::size_t i = 0; i < found.size(); ++i) {
    const EntityRecommendation& item = found[i];
    ASSERT_TRUE(expected.contains(item.entity)) << item.entity;
    const Expected& one = expected[item.entity];
    const double error = 1e-6 * one.whole + 1e-7;
    EXPECT_NEAR(item.prediction.probability, order[i], error);
    EXPECT_NEAR(item.prediction.probability, one.probability, error);
    EXPECT_NEAR(item.prediction.sd, one.sd, error);
    EXPECT_NEAR(item.prediction.rate, one.rate, error);
    EXPECT_LE(item.prediction.q05, item.prediction.q95);
    EXPECT_EQ(item.ones, one.ones);
    EXPECT_EQ(item.cells, one.cells);
    double shown = 0;
    for (const auto& part : item.parts) {
      const std::vector<std::size_t> key = part.columns.empty() ? std::vector{part.component} : part.columns;
      EXPECT_NEAR(part.share, one.parts.at(key), 1e-6 * (1 + one.whole / one.rate));
      shown += part.share;
    }
    EXPECT_GT(shown, 0.5);
  }
}

TEST(Recommend, EntitiesByTheProbabilityOfAtLeastOneCell) {
  const TempDir dir;
  fit(listeners(), short_fit(), dir / "run");
  Posterior posterior(dir / "run", 2);
  const PlainRun run(dir / "run", posterior.info());
  const RecommendOptions some{.exclude_entities = {{1}, {0, 3}, {2}}, .exclude_cells = {0, 1, 0, 4, 4, 1, 5, 6, 2}};
  const std::vector<Question> questions = {
      {"of a user", 1, {2, open, open}},         {"of a day", 0, {open, open, 1}},
      {"one open mode", 2, {3, 4, open}},        {"all", 1, {open, open, open}},
      {"excluded", 1, {open, open, open}, some}, {"excluded, of an item", 0, {open, 4, open}, some}};
  for (const Question& question : questions) {
    compare(posterior, run, question, 100);
    compare(posterior, run, question, 2);
  }
}

TEST(Recommend, EntitiesOfTiedModes) {
  const TempDir dir;
  std::vector<std::pair<std::string, FitOptions>> runs = {
      {"own", test::tied()}, {"learned", test::tied()}, {"self", test::tied()}};
  runs[1].second.columns = {"subject=6", "relation=3"};
  runs[2].second.self_cells = SelfCells::zero;
  for (auto& [name, options] : runs) {
    SCOPED_TRACE(name);
    options.sweeps = 40;
    options.draws = 8;
    fit(test::groups(), options, dir / name);
    Posterior posterior(dir / name, 2);
    const PlainRun run(dir / name, posterior.info());
    const RecommendOptions some{.exclude_entities = {{3, 4}, {1}, {4, 9}}, .exclude_cells = {5, 2, 7, 6, 0, 6}};
    std::vector<Question> questions = {{"objects of a subject", 2, {5, open, open}},
                                       {"objects of a relation", 2, {open, 1, open}},
                                       {"subjects", 0, {open, open, open}},
                                       {"relations", 1, {open, open, open}},
                                       {"relations of a subject", 1, {5, open, open}},
                                       {"subjects, excluded", 0, {open, open, open}, some},
                                       {"objects, excluded", 2, {open, open, open}, some},
                                       {"relations, excluded", 1, {open, open, open}, some},
                                       {"relations of an object, excluded", 1, {open, open, 6}, some}};
    for (Question& question : questions) {
      question.self_missing = options.self_cells == SelfCells::missing;
      compare(posterior, run, question, 100);
    }
  }
}

// What recommend should find: the most probable cells that count; with distinct, the best of each entity.
std::vector<double> best_cells(Posterior& posterior, const PlainRun& run, const Question& question) {
  std::vector<std::uint32_t> coords;
  for (const Cell& cell : run.cells)
    if (counts(run, question, cell)) coords.insert(coords.end(), cell.begin(), cell.end());
  const std::vector<Prediction> all = posterior.predict(coords.data(), coords.size() / 3);
  std::map<std::uint32_t, double> best;
  for (std::size_t e = 0; e < all.size(); ++e) {
    const std::uint32_t key =
        question.options.distinct ? coords[3 * e + *question.options.distinct] : static_cast<std::uint32_t>(e);
    best[key] = std::max(best[key], all[e].probability);
  }
  std::vector<double> result;
  for (const auto& [key, probability] : best) result.push_back(probability);
  std::sort(result.begin(), result.end(), std::greater<>());
  return result;
}

void compare_cells(Posterior& posterior, const PlainRun& run, const Question& question, std::size_t top) {
  SCOPED_TRACE(question.name);
  const std::vector<double> expected = best_cells(posterior, run, question);
  std::set<std::uint32_t> entities;
  std::size_t e = 0;
  posterior.recommend(
      question.given, top,
      [&](const Recommendation& item) {
        EXPECT_TRUE(counts(run, question, item.cell));
        EXPECT_NEAR(item.prediction.probability, expected.at(e++), 1e-6);
        if (question.options.distinct) {
          EXPECT_TRUE(entities.insert(item.cell[*question.options.distinct]).second);
        }
        return true;
      },
      question.options);
  EXPECT_EQ(e, std::min(top, expected.size()));
}

TEST(Recommend, DistinctEntitiesAndWhatIsExcluded) {
  const TempDir dir;
  fit(listeners(), short_fit(), dir / "cp");
  FitOptions options = test::tied();
  options.sweeps = 40;
  options.draws = 8;
  fit(test::groups(), options, dir / "tied");
  for (const bool tied : {false, true}) {
    const std::string name = tied ? "tied" : "cp";
    SCOPED_TRACE(name);
    Posterior posterior(dir / name, 2);
    const PlainRun run(dir / name, posterior.info());
    RecommendOptions some{.exclude_entities = {{1, 3}, {0}}, .exclude_cells = {0, 1, 0, 4, 2, 1}};
    std::vector<Question> questions = {{"excluded", 0, {open, open, open}, some},
                                       {"excluded, of an entity", 0, {2, open, open}, some}};
    for (const std::size_t k : {0u, 1u, 2u}) {
      some.distinct = k;
      questions.push_back({"distinct " + std::to_string(k), 0, {open, open, open}, some});
      questions.push_back({"distinct alone " + std::to_string(k), 0, {open, open, open}, {.distinct = k}});
      if (k > 0) questions.push_back({"distinct, of an entity", 0, {2, open, open}, {.distinct = k}});
    }
    for (Question& question : questions) {
      question.self_missing = tied;
      for (const std::size_t top : {1u, 3u, 200u}) compare_cells(posterior, run, question, top);
    }
  }
}

// Those with a held-out one are not new either.
void expect_only_new_entities(double holdout) {
  const TempDir dir;
  FitOptions options = short_fit();
  options.holdout = holdout;
  fit(listeners(), options, dir / "run");
  Posterior posterior(dir / "run", 1);
  const Dataset data = load_data(dir / "run", posterior.info());
  const TestCells test = load_test_cells(dir / "run", posterior.info(), posterior.modes(), 1);
  std::size_t of_training = 0, of_test = 0;
  for (std::uint32_t user = 0; user < 8; ++user) {
    std::set<std::uint32_t> known, found;
    for (std::size_t e = 0; e < data.tensor.nnz(); ++e)
      if (data.tensor.cell(e)[0] == user) known.insert(data.tensor.cell(e)[1]);
    of_training += known.size();
    for (std::size_t e = 0; e < test.size(); ++e)
      if (test.outcome[e] == 1 && test.coords[3 * e] == user) of_test += known.insert(test.coords[3 * e + 1]).second;
    posterior.recommend({user, open, open}, 1000,
                        [&](const Recommendation& item) { return found.insert(item.cell[1]).second || true; },
                        {.only_new = 1});
    EXPECT_EQ(found.size() + known.size(), 7u);
    for (const EntityRecommendation& item : posterior.recommend_entities(1, {user, open, open}, 10, {.only_new = 1})) {
      EXPECT_FALSE(known.contains(item.entity));
      EXPECT_TRUE(found.contains(item.entity));
      EXPECT_EQ(item.ones, 0u);
      EXPECT_EQ(item.cells, 3);
    }
    EXPECT_EQ(posterior.recommend_entities(1, {user, open, open}, 10, {.only_new = 1}).size(), found.size());
  }
  EXPECT_GT(of_training, 0u);
  EXPECT_EQ(of_test > 0, holdout > 0) << "the test would see nothing";
  // All items have ones: nothing is left, and that is no error.
  posterior.recommend({open, open, open}, 5, [](const Recommendation&) { return ADD_FAILURE(), true; },
                      {.only_new = 1});
}

TEST(Recommend, OnlyNewEntities) {
  expect_only_new_entities(0);
  expect_only_new_entities(0.3);
}

// Cells that the data declare missing, alone or as a slice; not those that were held out, which the fit also takes for
// missing.
TEST(Recommend, MissingCellsAreMarked) {
  const TempDir dir;
  FitOptions options = short_fit();
  options.holdout = 0.2;
  options.zeros_per_one = 1;
  const Dataset data = listeners();
  fit(listeners(), options, dir / "run");
  Posterior posterior(dir / "run", 1);
  const TestCells test = load_test_cells(dir / "run", posterior.info(), posterior.modes(), 1);
  ASSERT_GT(test.size(), 0u);
  std::set<Cell> held_out, missing, marked, seen;
  for (std::size_t e = 0; e < test.size(); ++e)
    held_out.insert(Cell(test.coords.data() + 3 * e, test.coords.data() + 3 * e + 3));
  for (std::size_t i = 0; i < data.missing.cells.size(); i += 3)
    missing.insert(Cell(data.missing.cells.data() + i, data.missing.cells.data() + i + 3));
  posterior.recommend({open, open, open}, 1000, [&](const Recommendation& item) {
    seen.insert(item.cell);
    if (item.missing && item.cell[0] != 8) marked.insert(item.cell);
    EXPECT_EQ(item.missing, item.cell[0] == 8 || missing.contains(item.cell));
    return true;
  });
  EXPECT_EQ(marked, missing);
  for (const Cell& cell : held_out) EXPECT_TRUE(seen.contains(cell));
  for (const EntityRecommendation& item : posterior.recommend_entities(0, {open, open, open}, 10))
    EXPECT_EQ(item.missing, item.entity == 8);
  for (const EntityRecommendation& item : posterior.recommend_entities(1, {8, open, open}, 10))
    EXPECT_TRUE(item.missing);
}

TEST(Recommend, QuestionsThatCannotBe) {
  const TempDir dir;
  fit(listeners(), short_fit(), dir / "run");
  Posterior posterior(dir / "run", 1), listed(dir / "run", 1, {.listed = 0.9});
  const auto refusal = [&](const RecommendOptions& options, const Given& given = {0u, open, open}) {
    return error_of(
        [&] {
          posterior.recommend(
              given, 1, [](const auto&) { return true; }, options);
        },
        ErrorKind::usage);
  };
  EXPECT_EQ(refusal({.distinct = 0}),
            "recommend: --distinct: an entity of user is given; name a mode that is left open");
  EXPECT_EQ(refusal({.only_new = 3}), "recommend: --only-new: there is no mode 3 (from 0)");
  EXPECT_EQ(refusal({.exclude_entities = {{0}}}), "recommend: user 1 is both given and excluded; drop one of the two");
  EXPECT_EQ(refusal({.exclude_entities = {{}, {7}}}),
            "recommend: the excluded id 7 of mode item, which has 7 entities");
  EXPECT_EQ(refusal({.exclude_cells = {0, 0, 3}}),
            "recommend: an excluded cell has the id 3 of mode day, which has 3 entities");
  EXPECT_EQ(refusal({.exclude_cells = {0, 0}}),
            "recommend: excluded entities need a list for each mode at most, and excluded cells an id for each mode");
  const auto entities = [](Posterior& asked, std::size_t mode, const RecommendOptions& options) {
    return error_of([&] { asked.recommend_entities(mode, {0u, open, open}, 1, options); }, ErrorKind::usage);
  };
  EXPECT_EQ(entities(posterior, 0, {}),
            "recommend: an entity of user is given; only a mode that is left open can be ranked");
  EXPECT_EQ(entities(posterior, 3, {}), "recommend: there is no mode 3 (from 0)");
  EXPECT_EQ(entities(posterior, 1, {.distinct = 1}),
            "recommend: --distinct is for cells; a ranking of entities has each entity once");
  EXPECT_EQ(entities(listed, 1, {}),
            "recommend: --listed works for single cells only, but here each item has several; use --distinct item");
  EXPECT_EQ(listed.recommend_entities(1, {0u, open, 1u}, 3).size(), 3u);
  // Everything is excluded: an empty list.
  EXPECT_TRUE(posterior.recommend_entities(1, {0u, open, open}, 3, {.exclude_entities = {{}, {}, {0, 1, 2}}}).empty());
  posterior.recommend({0u, open, open}, 3, [](const auto&) { return ADD_FAILURE(), true; },
                      {.exclude_entities = {{}, {}, {0, 1, 2}}});
}

}  // namespace
}  // namespace ztp
