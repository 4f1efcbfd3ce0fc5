// Answers of a run whose draws do not fit into the memory that is allowed: the same numbers as with all of it. Data
// have the seeds 5 and 7, and fits the seed 1: deterministic.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/memory.hpp"
#include "base/random.hpp"
#include "errors.hpp"
#include "kernel/host_arrays.hpp"
#include "planted.hpp"
#include "related_people.hpp"
#include "store/draw_rows.hpp"
#include "temp_dir.hpp"
#include "ztp/rivals.hpp"

namespace ztp {
namespace {

using test::error_of;
using test::holds;
using test::TempDir;
using Given = std::vector<std::optional<std::uint32_t>>;
using Cells = std::vector<std::uint32_t>;

constexpr const char* nothing = "1";      // a byte: a cell at a time, or the fewest rows
constexpr const char* little = "300000";  // a part of the rows of a draw

class LittleMemory : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    dir_ = new TempDir;
    add_rivals();
    fit_all();
  }
  static void TearDownTestSuite() { delete dir_; }

  static Dataset planted_data(bool network) {
    SimulateOptions planted;
    planted.dims = {120, 80, 20};
    planted.ones = 6000;
    planted.rank = 6;
    planted.seed = 5;
    planted.edges = {{"mode1", 300}};
    Simulated simulated = simulate(planted);
    Dataset data = test::as_dataset(simulated);
    if (!network) data.networks.clear();
    return data;
  }
  static void fit_all() {
    FitOptions options;
    options.rank = 6;
    options.sweeps = 60;
    options.draws = 40;
    options.chains = 2;
    options.threads = 2;
    options.sampler = Sampler::plain;
    options.holdout = 0.1;
    fit(planted_data(true), options, *dir_ / "cp");
    options.holdout = 0;
    options.columns = {"4"};
    fit(planted_data(false), options, *dir_ / "shared");
    options.columns = {};
    options.likelihood = Likelihood::count;
    Dataset counted = planted_data(false);
    for (std::size_t e = 0; e < counted.tensor.nnz(); ++e)
      counted.tensor.counts.push_back(1 + static_cast<std::int64_t>(e % 3));
    fit(std::move(counted), options, *dir_ / "counts");
    options.likelihood = Likelihood::binary;
    options.model = Model::logistic;
    options.sampler = Sampler::automatic;
    fit(planted_data(false), options, *dir_ / "rival");
    FitOptions related = test::tied();
    related.sweeps = 60;
    related.draws = 20;
    related.chains = 2;
    fit(test::groups(), related, *dir_ / "tied");
  }

  // Cells with some entities again and again, and every 64th entity of no cell.
  static Cells some_cells(const Posterior& posterior, std::size_t count) {
    Cells cells;
    for (std::size_t e = 0; e < count; ++e)
      for (std::size_t k = 0; k < posterior.modes().size(); ++k)
        cells.push_back(static_cast<std::uint32_t>((7 * e + e * e % 11 + 5 * k) % posterior.modes()[k].labels.size()));
    return cells;
  }
  static TestCells test_cells(const Posterior& posterior, std::size_t count) {
    TestCells cells;
    const Cells coords = some_cells(posterior, count);
    cells.coords.append(coords.data(), coords.size());
    for (std::size_t e = 0; e < count; ++e) {
      cells.outcome.push_back(e % 3 == 0 ? 1 : 0);
      if (has_counts(posterior.info().options)) cells.counts.push_back(e % 3 == 0 ? static_cast<int>(1 + e % 4) : 0);
    }
    return cells;
  }
  static void expect_same(const Prediction& a, const Prediction& b) {
    EXPECT_EQ(a.probability, b.probability);
    EXPECT_EQ(a.sd, b.sd);
    EXPECT_EQ(a.q05, b.q05);
    EXPECT_EQ(a.q95, b.q95);
    EXPECT_EQ(a.rate, b.rate);
  }
  // What recommend finds: cells, with what is told of them.
  static std::vector<Recommendation> found(Posterior& posterior, const Given& given, std::size_t top) {
    std::vector<Recommendation> result;
    posterior.recommend(given, top, [&](const Recommendation& item) {
      result.push_back(item);
      return true;
    });
    return result;
  }
  static inline const TempDir* dir_ = nullptr;
};

TEST_F(LittleMemory, SomeRowsOfAMatrixAreThoseOfAllRows) {
  for (const char* run : {"cp", "tied", "shared"}) {
    SCOPED_TRACE(run);
    const DrawsFile draws(*dir_ / run, run_info(*dir_ / run));
    Matrix<float> u;
    draws.load_factor(3, 0, u);
    for (const std::vector<std::uint32_t>& ids : std::vector<std::vector<std::uint32_t>>{{0}, {1, 2, 9, 23}, {5, 6}}) {
      std::size_t seen = 0;
      draws.read_rows(3, 0, ids, [&](Range places, const float* values) {
        for (std::size_t c = places.begin; c < places.end; ++c, values += u.columns(), ++seen)
          EXPECT_TRUE(std::equal(values, values + u.columns(), u.row(ids[c])));
      });
      EXPECT_EQ(seen, ids.size());
    }
  }
}

TEST_F(LittleMemory, CellsGoByTheRowsThatThereIsRoomFor) {
  const DrawsFile draws(*dir_ / "cp", run_info(*dir_ / "cp"));
  const double row = static_cast<double>(Matrix<float>::bytes_of(1, 6));
  const Cells cells = {3, 9, 1, 3, 9, 2, 100, 9, 2, 100, 79, 19};  // 3, 1, 1 and 2 new rows
  const auto fit = [&](double room) { return DrawRows(draws, cells.data(), 4, room).cells(); };
  EXPECT_EQ(fit(0), 1u);
  EXPECT_EQ(fit(2.5 * row), 1u);
  EXPECT_EQ(fit(4.5 * row), 3u) << "a cell begins if there was room left";
  EXPECT_EQ(fit(100 * row), 4u);
  const DrawRows rows(draws, cells.data(), 4, 100 * row);
  EXPECT_EQ(Cells(rows.coords(), rows.coords() + 12), (Cells{0, 0, 0, 0, 0, 1, 1, 0, 1, 1, 1, 2}));
  EXPECT_EQ(rows.layout().size_of_mode(2).rows, 3u);
  HostArrays arrays;
  State some = rows.make_state(arrays), all = draws.make_state(arrays);
  rows.load(7, some);
  draws.load(7, all);
  EXPECT_EQ(some.tensor.log_weight, all.tensor.log_weight);
  EXPECT_EQ(tensor_rates(some).scale, tensor_rates(all).scale);
  for (std::size_t q = 0; q < 6; ++q)
    EXPECT_EQ(values_of(some.of_mode(1)).row(1)[q], values_of(all.of_mode(1)).row(79)[q]);
  Cells many;  // more of them than rows
  for (std::uint32_t e = 0; e < 300; ++e) many.insert(many.end(), {e % 120, 0, 0});
  const DrawRows whole(draws, many.data(), 300, 1e9);
  EXPECT_EQ(whole.coords(), many.data());
  EXPECT_EQ(whole.layout().size_of_mode(1).rows, 80u);
}

// An entity that the fit has not seen has the mean of all rows: rates are linear in them, so its rate is the mean of the
// rates of all entities in its place.
TEST_F(LittleMemory, AnEntityThatWasNotSeenIsAnAverageOne) {
  for (const char* run : {"cp", "shared", "counts"})
    for (const char* memory : {"", little, nothing}) {
      SCOPED_TRACE(fmt::format("{} {}", run, memory));
      Posterior posterior(*dir_ / run, 2, {.memory = memory});
      const std::size_t K = posterior.modes().size();
      const Cells cell = {3, 9, 1};
      for (std::size_t k = 0; k < K; ++k) {
        const auto size = static_cast<std::uint32_t>(posterior.modes()[k].labels.size());
        Cells all, unseen = cell;
        for (std::uint32_t j = 0; j < size; ++j) {
          all.insert(all.end(), cell.begin(), cell.end());
          all[j * K + k] = j;
        }
        unseen[k] = size;
        unseen.insert(unseen.end(), cell.begin(), cell.end());
        double sum = 0;
        for (const Prediction& p : posterior.predict(all.data(), size)) sum += p.rate;
        const std::vector<Prediction> found = posterior.predict(unseen.data(), 2, true);
        EXPECT_NEAR(found[0].rate, sum / size, 1e-5 * sum / size);
        expect_same(found[1], posterior.predict(cell.data(), 1)[0]);
        EXPECT_TRUE(holds(error_of([&] { posterior.predict(unseen.data(), 2); }, ErrorKind::usage), "has the id"));
      }
    }
  Posterior rival(*dir_ / "rival", 2);
  const Cells unseen = {120, 9, 1};
  EXPECT_TRUE(holds(error_of([&] { rival.predict(unseen.data(), 1, true); }, ErrorKind::usage), "has the id 120"));
}

TEST_F(LittleMemory, PredictionsAndScoresAreTheSame) {
  for (const char* run : {"cp", "shared", "counts", "rival", "tied"}) {
    SCOPED_TRACE(run);
    Posterior all(*dir_ / run, 2), least(*dir_ / run, 2, {.memory = nothing}), less(*dir_ / run, 2, {.memory = little});
    const Cells cells = some_cells(all, 300);
    const std::vector<Prediction> wanted = all.predict(cells.data(), 300), of_few = least.predict(cells.data(), 20),
                                  of_all = less.predict(cells.data(), 300);
    for (std::size_t e = 0; e < 300; ++e) expect_same(of_all[e], wanted[e]);
    for (std::size_t e = 0; e < 20; ++e) expect_same(of_few[e], wanted[e]);
    const TestCells tests = test_cells(all, 200);
    const Evaluation a = all.evaluate(tests), b = less.evaluate(tests);
    EXPECT_EQ(a.log_loss, b.log_loss);
    EXPECT_EQ(a.auc_roc, b.auc_roc);
    ASSERT_EQ(a.counts.has_value(), b.counts.has_value());
    if (!a.counts) continue;
    EXPECT_EQ(a.counts->log_score, b.counts->log_score);
    EXPECT_EQ(a.counts->deviance, b.counts->deviance);
  }
  Posterior all(*dir_ / "cp", 2), less(*dir_ / "cp", 2, {.memory = little});
  EXPECT_EQ(all.evaluate().log_loss, less.evaluate().log_loss) << "held-out cells";
  const std::vector<RunVerdict> wanted = all.verdicts(), got = less.verdicts();
  for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_EQ(got[i].line(), wanted[i].line());
}

TEST_F(LittleMemory, PartsOfRatesAreTheSame) {
  for (const char* run : {"cp", "shared", "tied"}) {
    SCOPED_TRACE(run);
    Posterior all(*dir_ / run, 2), least(*dir_ / run, 2, {.memory = nothing});
    const Cells cells = some_cells(all, 20);
    const auto wanted = all.explain(cells.data(), 20), got = least.explain(cells.data(), 20);
    for (std::size_t e = 0; e < 20; ++e) {
      ASSERT_EQ(got[e].size(), wanted[e].size());
      for (std::size_t i = 0; i < got[e].size(); ++i) {
        EXPECT_EQ(got[e][i].component, wanted[e][i].component);
        EXPECT_EQ(got[e][i].columns, wanted[e][i].columns);
        EXPECT_EQ(got[e][i].share, wanted[e][i].share);
      }
    }
  }
}

// 120 entities are four blocks of the fewest candidates.
TEST_F(LittleMemory, RankingsAreTheSame) {
  for (const char* run : {"cp", "shared", "tied"}) {
    SCOPED_TRACE(run);
    for (const bool raw : {false, true}) {
      Posterior all(*dir_ / run, 2, {.raw = raw}), least(*dir_ / run, 2, {.raw = raw, .memory = nothing});
      const TestCells tests = test_cells(all, 24);
      double last = 0;
      RankingOptions options;
      options.draws = 5;
      const Ranking wanted = all.rank(tests, options);
      options.progress = [&](double part) {
        EXPECT_GE(part, last);
        last = part;
      };
      const Ranking got = least.rank(tests, options);
      EXPECT_NEAR(last, 1, 1e-9);
      for (std::size_t i = 0; i < wanted.modes.size(); ++i) {
        EXPECT_EQ(got.by_mode[i].mrr, wanted.by_mode[i].mrr);
        EXPECT_EQ(got.by_mode[i].mean_rank, wanted.by_mode[i].mean_rank);
        EXPECT_EQ(got.by_mode[i].ndcg, wanted.by_mode[i].ndcg);
        EXPECT_EQ(got.by_mode[i].ranks, wanted.by_mode[i].ranks);
      }
    }
  }
}

// With less and less memory: the same cells, until there is no room for the candidates that cannot be told apart.
TEST_F(LittleMemory, RecommendationsAreTheSameOrRefused) {
  for (const char* run : {"cp", "shared", "tied"}) {
    Posterior all(*dir_ / run, 2);
    const std::optional<std::uint32_t> open;
    std::size_t same = 0, refused = 0;
    for (const Given& given : std::vector<Given>{{open, open, open}, {3, open, open}, {open, 2, open}, {2, 1, 4}}) {
      const std::vector<Recommendation> wanted = found(all, given, 20);
      for (const char* memory : {"8M", "3M", "1M", "300000", "100000", nothing}) {
        SCOPED_TRACE(std::string(run) + " " + memory);
        Posterior limited(*dir_ / run, 2, {.memory = memory});
        std::vector<Recommendation> got;
        try {
          got = found(limited, given, 20);
        } catch (const Error& error) {
          EXPECT_EQ(error.kind(), ErrorKind::config);
          EXPECT_TRUE(holds(error.what(), "too many cells are nearly as probable")) << error.what();
          EXPECT_TRUE(holds(error.what(), "--memory"));
          ++refused;
          continue;
        }
        ++same;
        ASSERT_EQ(got.size(), wanted.size());
        for (std::size_t i = 0; i < got.size(); ++i) {
          EXPECT_EQ(got[i].cell, wanted[i].cell);
          expect_same(got[i].prediction, wanted[i].prediction);
        }
      }
    }
    EXPECT_GE(same, 8u) << run;
    EXPECT_GE(refused, 3u) << run;
  }
}

TEST_F(LittleMemory, ALimitThatIsNoneIsRefused) {
  EXPECT_TRUE(holds(error_of([&] { Posterior(*dir_ / "cp", 1, {.memory = "much"}); }, ErrorKind::config), "--memory"));
}

TEST(RoomWithin, IsPartOfWhatIsLeft) {
  EXPECT_EQ(room_within(32), 1);
  const double resident = resident_memory(), room = room_within(resident + 2e9);
  EXPECT_NEAR(room, 1e9, 1e8);
}

}  // namespace
}  // namespace ztp
