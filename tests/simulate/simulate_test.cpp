// Synthetic tensors: exactly the ones that were asked for, from the factors that the truth names, as a function of
// options and seed; the sampling they rest on; and files that read back.
#include "ztp/simulate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>

#include "errors.hpp"
#include "simulate/alias.hpp"
#include "simulate/distinct_cells.hpp"
#include "simulate/points.hpp"
#include "statistics.hpp"
#include "temp_dir.hpp"
#include "ztp/read.hpp"

namespace ztp {
namespace {

using test::error_of, test::holds;
using Cell = std::vector<std::uint32_t>;

SimulateOptions made(const std::vector<std::uint64_t>& dims, std::uint64_t ones, std::size_t rank, std::uint64_t seed,
                     SimulateKind kind = SimulateKind::planted) {
  SimulateOptions options;
  options.dims = dims;
  options.ones = ones;
  options.rank = rank;
  options.seed = seed;
  options.kind = kind;
  return options;
}

// Exactly as many ones as asked for, in order (hence distinct), and within bounds.
void expect_sound(const SimulateOptions& options, const Simulated& result) {
  const SparseTensor& tensor = result.tensor;
  const std::size_t order = options.dims.size();
  ASSERT_EQ(tensor.nnz(), options.ones);
  for (std::size_t e = 0; e < tensor.nnz(); ++e) {
    const std::uint32_t* cell = tensor.cell(e);
    for (std::size_t k = 0; k < order; ++k) ASSERT_LT(cell[k], options.dims[k]);
    ASSERT_TRUE(e == 0 || std::lexicographical_compare(cell - order, cell, cell, cell + order));
  }
  double lambda = 0;
  for (const double weight : result.lambda) lambda += weight;
  EXPECT_NEAR(lambda, static_cast<double>(result.points), 1e-6 * static_cast<double>(result.points));
  EXPECT_GE(result.points, options.ones);
}

bool same(const Buffer<std::uint32_t>& a, const Buffer<std::uint32_t>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

// Observed counts against expected ones, those below 5 taken together; false alarms 1e-6.
void expect_fit(const std::vector<double>& observed, const std::vector<double>& expected) {
  double statistic = 0, rest_observed = 0, rest_expected = 0, groups = 0;
  const auto add = [&](double o, double e) {
    statistic += (o - e) * (o - e) / e;
    ++groups;
  };
  for (std::size_t i = 0; i < observed.size(); ++i) {
    if (expected[i] >= 5) {
      add(observed[i], expected[i]);
    } else {
      rest_observed += observed[i];
      rest_expected += expected[i];
    }
  }
  if (rest_expected >= 5)
    add(rest_observed, rest_expected);
  else
    EXPECT_LT(rest_observed, 40);  // Poisson(5) passes 40 with probability 1e-21
  EXPECT_GT(test::chi_squared_tail(statistic, groups - 1), 1e-6);
}

// Seed 2; 10^6 draws for each of three columns, one of them with weights of very different size and zeros; false alarms
// 3e-6.
TEST(AliasTable, DrawsTheColumn) {
  std::mt19937_64 engine(2);
  for (const std::size_t size : {1u, 7u, 1000u}) {
    TrueFactorColumn column;
    double sum = 0;
    for (std::size_t i = 0; i < size; ++i) {
      column.ids.push_back(static_cast<std::uint32_t>(3 * i + 5));
      const double uniform = static_cast<double>(engine() >> 11) * 0x1p-53;
      column.u.push_back(i % 10 == 3 ? 0 : std::pow(uniform, 8));
      sum += column.u[i];
    }
    std::vector<double> expected(size), observed(size);
    const std::size_t draws = 1'000'000;
    for (std::size_t i = 0; i < size; ++i) expected[i] = (column.u[i] /= sum) * static_cast<double>(draws);
    const AliasTable table(column);
    std::vector<std::uint32_t> ids(draws);
    table.draw(stream_key(2, 0, Purpose::simulate), 0, 0, draws, ids.data());
    for (const std::uint32_t id : ids) ++observed[(id - 5) / 3];
    for (std::size_t i = 3; i < size; i += 10) EXPECT_EQ(observed[i], 0);
    if (size > 1) expect_fit(observed, expected);
  }
}

TEST(Simulate, MakesExactlyTheOnesAskedFor) {
  for (const SimulateKind kind : {SimulateKind::planted, SimulateKind::model}) {
    const SimulateOptions options = made({300, 200, 20}, 20000, 6, 3, kind);
    expect_sound(options, simulate(options));
  }
  // Nearly every cell that can be reached: many rounds.
  SimulateOptions dense = made({6, 5, 4}, 119, 2, 4, SimulateKind::model);
  dense.dirichlet = 3;
  expect_sound(dense, simulate(dense));
  const SimulateOptions two = made({1, 1000}, 100, 1, 5);
  expect_sound(two, simulate(two));
}

TEST(Simulate, IsAFunctionOfOptionsAndSeed) {
  SimulateOptions options = made({300, 200, 20}, 5000, 6, 6);
  options.edges = {{"mode1", 500}};
  const Simulated a = simulate(options), b = simulate(options);
  EXPECT_TRUE(same(a.tensor.coords, b.tensor.coords));
  EXPECT_TRUE(same(a.networks[0].edges, b.networks[0].edges));
  EXPECT_EQ(a.lambda, b.lambda);
  options.seed = 7;
  EXPECT_FALSE(same(a.tensor.coords, simulate(options).tensor.coords));
}

TEST(Simulate, WorksWhereCellsDoNotFitIntoAKey) {
  const SimulateOptions options = made(std::vector<std::uint64_t>(12, 1000), 20000, 4, 8);  // 10^36 cells
  EXPECT_FALSE(KeySet::fits(options.dims));
  expect_sound(options, simulate(options));
  const SimulateOptions large = made({1ull << 31, 1ull << 31, 5}, 3000, 4, 9);
  expect_sound(large, simulate(large));
}

// The two ways to hold cells are one and the same set.
TEST(Simulate, KeysAndRecordsAgree) {
  const SimulateOptions options = made({100, 1, 64, 65}, 30000, 4, 10);
  PointDrawer drawer(options, {});
  KeySet keys(options.dims);
  RecordSet records(options.dims);
  EXPECT_EQ(drawer.draw_ones(keys).points, drawer.draw_ones(records).points);
  ASSERT_EQ(keys.size(), records.size());
  for (std::size_t e = 0; e < keys.size(); ++e) {
    Cell a(4), b(4);
    keys.get(e, a.data());
    records.get(e, b.data());
    ASSERT_EQ(a, b);
  }
}

std::vector<std::vector<std::map<std::uint32_t, double>>> truth_of(const SimulateOptions& options) {
  std::vector<std::vector<std::map<std::uint32_t, double>>> truth(options.dims.size());  // [k][r]
  for (std::size_t k = 0; k < options.dims.size(); ++k)
    for (std::size_t r = 0; r < options.rank; ++r) {
      const TrueFactorColumn column = true_factor_column(options, k, r);
      auto& entries = truth[k].emplace_back();
      double sum = 0;
      for (std::size_t i = 0; i < column.ids.size(); ++i) sum += entries[column.ids[i]] = column.u[i];
      EXPECT_NEAR(sum, 1, 1e-12);
      EXPECT_EQ(entries.size(), column.ids.size());
    }
  return truth;
}

TEST(Simulate, PlantedOnesFallIntoBlocks) {
  SimulateOptions options = made({400, 300, 50}, 10000, 10, 11);
  options.edges = {{"mode2", 800}};
  const Simulated result = simulate(options);
  const auto truth = truth_of(options);
  for (std::size_t k = 0; k < 3; ++k)  // each entity lies in one or two blocks
    for (std::uint32_t j = 0; j < options.dims[k]; ++j) {
      std::size_t covered = 0;
      for (const auto& block : truth[k]) covered += block.count(j);
      EXPECT_GE(covered, 1u);
      EXPECT_LE(covered, 2u);
    }
  for (std::size_t e = 0; e < result.tensor.nnz(); ++e) {
    bool inside = false;
    for (std::size_t r = 0; r < options.rank; ++r) {
      bool all = true;
      for (std::size_t k = 0; k < 3; ++k) all &= truth[k][r].count(result.tensor.cell(e)[k]) > 0;
      inside |= all;
    }
    ASSERT_TRUE(inside);
  }
  for (std::size_t e = 0; e < result.networks[0].size(); ++e) {
    bool inside = false;
    for (const auto& block : truth[1])
      inside |=
          block.count(result.networks[0].edges[2 * e]) > 0 && block.count(result.networks[0].edges[2 * e + 1]) > 0;
    ASSERT_TRUE(inside);
  }
}

// Seeds 12 and 13. Of 20,000 points in 10^8 cells and more hardly one hits a cell twice, so that the ones of an entity
// are a multinomial count: lambda_r u[j, r] summed over r. Eight statistics, false alarms 1e-6 each.
TEST(Simulate, MarginalsAgreeWithTheTruth) {
  for (const SimulateKind kind : {SimulateKind::planted, SimulateKind::model}) {
    SimulateOptions options = made({200, 250, 200, 300}, 20000, 3, kind == SimulateKind::planted ? 12 : 13, kind);
    options.dirichlet = 2;
    const Simulated result = simulate(options);
    EXPECT_LT(result.points, options.ones + 20);
    const auto truth = truth_of(options);
    for (std::size_t k = 0; k < 4; ++k) {
      std::vector<double> observed(options.dims[k]), expected(options.dims[k]);
      for (std::size_t e = 0; e < result.tensor.nnz(); ++e) ++observed[result.tensor.cell(e)[k]];
      for (std::size_t r = 0; r < options.rank; ++r)
        for (const auto& [j, u] : truth[k][r]) expected[j] += result.lambda[r] * u;
      expect_fit(observed, expected);
    }
  }
}

TEST(Simulate, EdgesAreDistinctAndUndirected) {
  SimulateOptions options = made({300, 200}, 100, 5, 14);
  options.mode_names = {"user", "item"};
  options.edges = {{"item", 1500}, {"user", 2000}};
  const Simulated result = simulate(options);
  ASSERT_EQ(result.networks.size(), 2u);
  EXPECT_EQ(result.networks[0].mode, 1u);
  EXPECT_EQ(result.networks[0].size(), 1500u);
  EXPECT_EQ(result.networks[1].size(), 2000u);
  for (const Network& network : result.networks) {
    std::set<std::pair<std::uint32_t, std::uint32_t>> seen;
    for (std::size_t e = 0; e < network.size(); ++e) {
      const std::uint32_t i = network.edges[2 * e], j = network.edges[2 * e + 1];
      EXPECT_LT(i, j);
      EXPECT_LT(j, options.dims[network.mode]);
      EXPECT_TRUE(seen.insert({i, j}).second);
    }
  }
}

// Of a caller in C++: the program refuses these before it comes to this. The others: tests/bad_inputs.
TEST(Simulate, RefusesWhatIsOutOfRange) {
  const auto refusal = [](const SimulateOptions& options) {
    return error_of([&] { simulate(options); }, ErrorKind::config);
  };
  EXPECT_TRUE(holds(refusal(made({10, 0}, 1, 1, 1)), "--dims"));
  EXPECT_TRUE(holds(refusal(made({10, (1ull << 31) + 1}, 1, 1, 1)), "--dims"));
  EXPECT_TRUE(holds(refusal(made({10, 10}, 0, 1, 1)), "--ones"));
  EXPECT_TRUE(holds(refusal(made({10, 10}, 1, 0, 1)), "--rank"));
  EXPECT_THROW(simulate_kind_named("fancy"), Error);
}

TEST(Simulate, WritesFilesThatReadBack) {
  const test::TempDir directory;
  SimulateOptions options = made({300, 200, 20}, 5000, 6, 15);
  options.mode_names = {"user", "item", "week"};
  options.edges = {{"user", 500}};
  const Simulated wanted = simulate(options);
  const SimulateSummary summary = write_simulation(options, directory.path(), false);
  EXPECT_EQ(summary.points, wanted.points);
  ReadOptions read;
  read.file = directory.path() + "/tensor.tsv";
  read.labels = {directory.path() + "/labels"};
  read.networks = {"user=" + directory.path() + "/network-user.tsv"};
  const Dataset back = read_dataset(read);
  EXPECT_TRUE(same(back.tensor.coords, wanted.tensor.coords));
  EXPECT_TRUE(same(back.networks[0].edges, wanted.networks[0].edges));
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory.path()))
    EXPECT_EQ(entry.path().string().find(".part"), std::string::npos);

  options.edges.clear();
  write_simulation(options, directory.path(), true, false);  // takes the old truth and network away
  EXPECT_FALSE(std::filesystem::exists(directory.path() + "/network-user.tsv"));
  EXPECT_FALSE(std::filesystem::exists(directory.path() + "/truth/weights.tsv"));
}

TEST(Simulate, WritesTheTruth) {
  const test::TempDir directory;
  const SimulateOptions options = made({300, 200, 20}, 5000, 6, 16);
  write_simulation(options, directory.path(), false);
  const auto truth = truth_of(options);
  std::ifstream file(directory.path() + "/truth/mode2.tsv");
  std::string header;
  std::getline(file, header);
  EXPECT_EQ(header, "#mode2\tcomponent\tu");
  std::uint32_t entity;
  std::size_t component, lines = 0, entries = 0;
  for (double u; file >> entity >> component >> u; ++lines)
    EXPECT_NEAR(u / truth[1].at(component - 1).at(entity - 1), 1, 1e-6);
  for (const auto& column : truth[1]) entries += column.size();
  EXPECT_EQ(lines, entries);
  std::ifstream weights(directory.path() + "/truth/weights.tsv");
  std::getline(weights, header);
  const Simulated wanted = simulate(options);
  lines = 0;
  for (double lambda; weights >> component >> lambda; ++lines)
    EXPECT_DOUBLE_EQ(lambda, wanted.lambda.at(component - 1));
  EXPECT_EQ(lines, options.rank);
}

}  // namespace
}  // namespace ztp
