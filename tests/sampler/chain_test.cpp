// Parity and invariants of chains, batch and online, plain and with everything that can be missing or learned: the same
// bits for any number of threads and after a restart, and sums that must agree. Everything is a function of the seed
// 11; there is no chance in a run.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <numeric>
#include <optional>

#include "checkpoint_bytes.hpp"
#include "online_data.hpp"
#include "sampler/batch_chain.hpp"
#include "sampler/shared_chain.hpp"

namespace ztp::test {
namespace {

constexpr std::uint64_t seed = 11;
constexpr std::size_t R = 20;

struct Setting {
  std::string name;
  bool everything;  // slices in two modes, listed cells, pairs of networks are missing; all that can be learned is
  bool collapsed = false;
  std::optional<OnlineOptions> online = {};
  std::size_t minibatches = 5;
  bool shared = false;  // components share columns, and the last mode is one-hot
};

std::vector<Setting> all_settings() {
  std::vector<Setting> settings = {
      {"Plain", false}, {"Everything", true}, {"Collapsed", false, true}, {"EverythingCollapsed", true, true}};
  for (const bool everything : {false, true})
    for (const bool collapsed : {false, true})
      settings.push_back(
          {fmt::format("SharedColumns{}{}", everything ? "Everything" : "", collapsed ? "Collapsed" : ""),
           everything,
           collapsed,
           {},
           5,
           true});
  for (const bool counts : {false, true})
    for (const bool parameters : {false, true})
      for (const std::uint32_t draws : {1u, 3u}) {
        if (draws > 1 && parameters) continue;
        const std::string name = fmt::format("Online{}Counts{}{}Parameters", counts ? "Expected" : "Drawn",
                                             parameters ? "Mean" : "Drawn", draws);
        const OnlineOptions options{.expected_counts = counts, .mean_parameters = parameters, .inner_draws = draws};
        settings.push_back({name, true, false, options});
        settings.push_back({name + "FewRows", false, false, options, 200});  // 75 ones, 1004 rows
      }
  for (const bool everything : {false, true})
    for (const bool means : {false, true}) {
      const std::string name =
          fmt::format("OnlineSharedColumns{}{}", everything ? "Everything" : "", means ? "Mean" : "");
      settings.push_back({name, everything, false, OnlineOptions{.mean_parameters = means}, 5, true});
    }
  settings.push_back({"OnlineSharedColumnsFewRows", false, false, OnlineOptions{}, 200, true});
  return settings;
}

// Missing entities are some of modes 0 and 1. Ones and edges differ from the cells and pairs that are listed in whether
// the sum of their coordinates is a multiple of three.
bool is_listed(const Cell& cell) {
  return std::accumulate(cell.begin(), cell.end(), 0u) % 3 == 0;
}

// Large enough for several blocks of everything; the minibatches of one network are so dense that they have an index of
// rows, and those of the other are not.
void fill(const Setting& setting, OnlineData& data) {
  const std::uint32_t sizes[] = {700, 300, 4};
  const auto in_slice = [](const Cell& cell) { return cell[0] == 0 || cell[0] > 696 || cell[1] > 296; };
  add_modes({sizes[0], sizes[1], sizes[2]}, data);
  add_ones(15'017, false, seed, data, [&](const Cell& cell) { return !is_listed(cell) && !in_slice(cell); });
  if (setting.online ? setting.everything && !setting.shared : true) {
    add_network(0, 900, seed, data, [](const Cell& pair) { return !is_listed(pair); });
    add_network(1, 3500, seed, data, [](const Cell& pair) { return !is_listed(pair); });
  }
  if (setting.everything) {
    data.missing.slices = {{0, 697, 698, 699}, {297, 298, 299}, {}};
    for (std::uint32_t i = 1; i < 697; ++i)
      for (std::uint32_t j = i % 47; j < 297; j += 47)
        for (std::uint32_t l = 0; l < sizes[2]; ++l)
          if (is_listed({i, j, l})) data.missing.cells.append(Cell{i, j, l}.data(), 3);
    for (Network& network : data.networks)
      for (std::uint32_t i = 0; i < sizes[network.mode]; ++i)
        for (std::uint32_t j = i + 3; j < sizes[network.mode]; j += 31)
          if (is_listed({i, j})) network.missing.append(Cell{i, j}.data(), 2);
  }
  data.make_problem(R, setting.minibatches, seed);
  data.problem.hyper.learn_dirichlet = data.problem.hyper.learn_shapes = setting.everything && !setting.online;
  data.problem.learn_after = 1;
  data.problem.collapsed = setting.collapsed;
  if (!setting.shared) return;
  const std::vector<std::vector<std::uint32_t>> columns(3, std::vector<std::uint32_t>(R, 0));
  data.problem.layout = FactorLayout({0, 1, 2}, {{sizes[0], 5}, {sizes[1], 6}, {sizes[2], sizes[2]}}, R, columns);
  data.problem.layout.make_one_hot(2);
  data.problem.hyper.tensor.shared = true;
}

std::unique_ptr<PoissonChain> make_chain(OnlineData& data, const Setting& setting, Kernel& kernel,
                                         std::uint32_t number = 0) {
  if (setting.shared && setting.online) return data.shared_chain(*setting.online, kernel, number);
  if (setting.shared) return std::make_unique<SharedChain>(data.problem, kernel, number);
  if (!setting.online) return std::make_unique<BatchChain>(data.problem, kernel, number);
  return std::unique_ptr<PoissonChain>(new OnlineChain(data.chain(*setting.online, kernel, number)));
}

class ChainTest : public testing::TestWithParam<Setting> {
 protected:
  void SetUp() override { fill(GetParam(), data_); }
  std::unique_ptr<PoissonChain> make(Kernel& kernel, std::uint32_t number = 0) {
    return make_chain(data_, GetParam(), kernel, number);
  }
  OnlineData data_;
};

void expect_same(Chain& a, Chain& b, const std::string& name) {
  EXPECT_TRUE(checkpoint_bytes(a) == checkpoint_bytes(b)) << name;
  a.draw_state();
  b.draw_state();
  EXPECT_TRUE(parameter_bytes(a.state()) == parameter_bytes(b.state())) << name;
}

TEST_P(ChainTest, ThreadsMakeNoDifference) {
  Pool one(1);
  const auto alone = make_kernel(KernelName::cpu, one);
  const auto expected = make(*alone);
  expected->start();
  const std::vector<double> log_likelihood = run(*expected, 20);
  for (const unsigned threads : {2u, 3u, 7u}) {
    Pool pool(threads);
    const auto team = make_kernel(KernelName::cpu, pool);
    const auto chain = make(*team);
    chain->start();
    EXPECT_EQ(bytes_of(run(*chain, 20)), bytes_of(log_likelihood)) << threads << " threads";
    expect_same(*chain, *expected, fmt::format("{} threads", threads));
  }
}

// What a checkpoint holds is all that a chain needs to go on as if it had not stopped. A draw that is kept does not
// matter.
TEST_P(ChainTest, ResumedEqualsUninterrupted) {
  Pool pool(2);
  const auto kernel = make_kernel(KernelName::cpu, pool);
  for (const int stop : {0, 1, 4}) {
    const auto whole = make(*kernel, 1), first = make(*kernel, 1), second = make(*kernel, 1);
    whole->start();
    first->start();
    const std::vector<double> expected = run(*whole, 9);
    std::vector<double> got = run(*first, stop);
    first->draw_state();
    restore(*second, checkpoint_bytes(*first), first->steps_done());
    for (const double value : run(*second, 9 - stop)) got.push_back(value);
    EXPECT_EQ(bytes_of(got), bytes_of(expected)) << stop;
    EXPECT_EQ(second->steps_done(), 9u);
    expect_same(*second, *whole, fmt::format("stopped after {} steps", stop));
  }
}

// Chains, seeds and updates must differ: two that agreed would double-count their draws.
TEST_P(ChainTest, ChainsSeedsAndUpdatesDiffer) {
  Pool pool(1);
  const auto kernel = make_kernel(KernelName::cpu, pool);
  const auto totals = [&](std::uint32_t number) {
    const auto chain = make(*kernel, number);
    chain->start();
    run(*chain, 2);
    return chain->statistics().tensor;
  };
  const auto one = totals(0), other_chain = totals(1);
  ++data_.problem.update;
  const auto other_update = totals(0);
  --data_.problem.update;
  ++data_.problem.seed;
  const auto other_seed = totals(0);
  EXPECT_NE(one, other_chain);
  EXPECT_NE(one, other_update);
  EXPECT_NE(one, other_seed);
}

std::int64_t sum(const std::vector<std::int64_t>& values) {
  return std::accumulate(values.begin(), values.end(), std::int64_t{0});
}

// Row sums of every mode are the totals, plus two ends for each count of a network of that mode; what comes from ones
// is part of them and has a count for each one, and imputed counts are not in it. Expected counts are rounded, each to
// a unit.
TEST_P(ChainTest, RowSumsAreTotals) {
  Pool pool(2);
  const auto kernel = make_kernel(KernelName::cpu, pool);
  const auto chain = make(*kernel);
  const bool rounded = GetParam().online && GetParam().online->expected_counts;
  // Counts that are too small to be remembered by component stay in their column when the component moves.
  const bool some_stay = GetParam().online && GetParam().shared;
  chain->start();
  for (int t = 0; t < 5; ++t) {
    chain->step(false);
    const Statistics& statistics = chain->statistics();
    auto* const shared = dynamic_cast<SharedChain*>(chain.get());
    const FactorLayout& layout = shared != nullptr ? shared->columns() : chain->state().layout;
    for (std::size_t r = 0; r < R; ++r) ASSERT_LE(statistics.from_ones[r], statistics.tensor[r]);
    for (std::size_t k = 0; k < 3; ++k) {
      if (layout.is_one_hot(k)) continue;
      const std::size_t P = layout.size(k).columns;
      std::vector<std::int64_t> columns(P, 0), expected(P, 0);
      for_blocks_of_rows(*statistics.rows[k], [&](Range rows, const std::int64_t* values) {
        for (std::size_t i = 0; i < rows.size() * P; ++i) columns[i % P] += values[i];
      });
      for (std::size_t r = 0; r < R; ++r) expected[layout.column(k, r)] += statistics.tensor[r];
      for (std::size_t m = 0; m < data_.networks.size(); ++m)
        for (std::size_t q = 0; data_.networks[m].mode == k && q < P; ++q) expected[q] += 2 * statistics.networks[m][q];
      if (some_stay) {
        ASSERT_EQ(sum(columns), sum(expected));
        continue;
      }
      for (std::size_t q = 0; q < P; ++q)
        if (rounded)
          ASSERT_NEAR(statistics.scale * static_cast<double>(columns[q] - expected[q]), 0, 1e-2);
        else
          ASSERT_EQ(columns[q], expected[q]);
    }
    const double ones = static_cast<double>(data_.tensor.nnz());  // online, weights are rounded to a unit
    EXPECT_GE(statistics.scale * static_cast<double>(sum(statistics.from_ones)), ones * (1 - 1e-4));
    EXPECT_EQ(sum(statistics.tensor) > sum(statistics.from_ones), GetParam().everything);
  }
}

INSTANTIATE_TEST_SUITE_P(Settings, ChainTest, testing::ValuesIn(all_settings()),
                         [](const auto& setting) { return setting.param.name; });

// What the setting says makes a difference.
TEST(BatchChain, CollapsedMovesAndMissingCellsMatter) {
  Pool pool(1);
  const auto kernel = make_kernel(KernelName::cpu, pool);
  OnlineData data;
  fill({"", true}, data);
  const auto totals = [&](bool collapsed, const Missing* missing) {
    data.problem.collapsed = collapsed;
    data.problem.missing = missing;
    BatchChain chain(data.problem, *kernel, 0);
    chain.start();
    run(chain, 2);
    return chain.statistics().tensor;
  };
  const auto plain = totals(false, &data.missing);
  EXPECT_NE(plain, totals(true, &data.missing));
  EXPECT_NE(plain, totals(false, nullptr));
}

// CP is the layout in which component r has column r, whether that is stored or not.
TEST(BatchChain, StoredColumnsOfCpMakeTheSameDraws) {
  Pool pool(2);
  const auto kernel = make_kernel(KernelName::cpu, pool);
  OnlineData data;
  fill({"", true}, data);
  Problem stored = data.problem;
  std::vector<std::uint32_t> column(R);
  std::iota(column.begin(), column.end(), 0u);
  std::vector<FactorLayout::Size> sizes;
  for (std::size_t f = 0; f < 3; ++f) sizes.push_back(data.problem.layout.size(f));
  stored.layout = FactorLayout({0, 1, 2}, sizes, R, {column, column, column});
  BatchChain expected(data.problem, *kernel, 0), chain(stored, *kernel, 0);
  expected.start();
  chain.start();
  EXPECT_EQ(bytes_of(run(chain, 6)), bytes_of(run(expected, 6)));
  expect_same(chain, expected, "stored columns");
}

// Lists that are there and empty are the same as none at all, with networks and without.
TEST(MissingChain, NothingMissingIsTheSameAsNull) {
  Pool pool(2);
  const auto kernel = make_kernel(KernelName::cpu, pool);
  for (const bool networks : {true, false}) {
    OnlineData data;
    fill({"", true, true}, data);
    if (!networks) data.problem.networks = {};
    data.problem.missing = nullptr;
    BatchChain expected(data.problem, *kernel, 0);
    expected.start();
    const std::vector<double> log_likelihood = run(expected, 4);
    for (const std::size_t modes : {0, 3}) {
      Missing empty;
      empty.slices.resize(modes);
      Problem problem = data.problem;
      problem.missing = &empty;
      BatchChain chain(problem, *kernel, 0);
      chain.start();
      EXPECT_EQ(bytes_of(run(chain, 4)), bytes_of(log_likelihood)) << modes << " empty lists";
      expect_same(chain, expected, fmt::format("{} empty lists", modes));
    }
  }
}

// 10^15 cells, of which 2 * 10^12 are in missing slices: a sweep that looked at each of them would take an hour at the
// least, and one that does not takes a fraction of a second. The limit is far from both.
TEST(MissingChain, ASweepDoesNotLookAtEveryMissingCell) {
  constexpr std::uint32_t n = 100'000, gone = 100;
  OnlineData data;
  add_modes({n, n, n}, data);
  add_ones(2000, false, seed, data, [](const Cell& cell) { return cell[0] < n - gone && cell[1] < n - gone; });
  data.missing.slices.resize(3);
  for (std::uint32_t j = n - gone; j < n; ++j)
    for (const std::size_t k : {0, 1}) data.missing.slices[k].push_back(j);
  data.make_problem(3, 1, seed);
  EXPECT_GT(missing_volume(data.tensor, data.missing), 1.9e12);
  Pool pool(1);
  const auto kernel = make_kernel(KernelName::cpu, pool);
  BatchChain chain(data.problem, *kernel, 0);
  chain.start();
  const auto before = std::chrono::steady_clock::now();
  chain.sweep();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - before;
  EXPECT_LT(took.count(), 60);
  RecordProperty("seconds", fmt::format("{}", took.count()));
}

}  // namespace
}  // namespace ztp::test
