// Splits into training and test cells: exactly the part that was asked for, apart from each other, uniform, as a
// function of the seed; and files that read back. What is refused: tests/bad_inputs.
#include "ztp/split.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>

#include "statistics.hpp"
#include "temp_dir.hpp"
#include "ztp/error.hpp"
#include "ztp/read.hpp"

namespace ztp {
namespace {

using Cell = std::vector<std::uint32_t>;

// A tensor with `ones` random ones. The data need not be random in any strict sense; seeds are stated at each use.
SparseTensor made(const std::vector<std::uint32_t>& dims, std::size_t ones, unsigned seed, bool counts = false) {
  std::mt19937_64 engine(seed);
  std::set<Cell> cells;
  while (cells.size() < ones) {
    Cell cell;
    for (const std::uint32_t n : dims) cell.push_back(static_cast<std::uint32_t>(engine() % n));
    cells.insert(cell);
  }
  SparseTensor tensor;
  for (std::size_t k = 0; k < dims.size(); ++k)
    tensor.modes.push_back({fmt::format("m{}", k), LabelTable::numbered(1, dims[k])});
  for (const Cell& cell : cells) {
    tensor.coords.append(cell.data(), cell.size());
    if (counts) tensor.counts.push_back(static_cast<std::int64_t>(engine() % 9 + 1));
  }
  return tensor;
}

std::vector<Cell> cells_of(const Buffer<std::uint32_t>& coords, std::size_t order) {
  std::vector<Cell> cells;
  for (std::size_t e = 0; e < coords.size(); e += order)
    cells.emplace_back(coords.data() + e, coords.data() + e + order);
  return cells;
}

SplitOptions with(Protocol protocol, double holdout, std::uint64_t seed) {
  SplitOptions options;
  options.protocol = protocol;
  options.holdout = holdout;
  options.seed = seed;
  return options;
}

SplitOptions sliced(const std::string& mode, std::uint32_t after, std::uint64_t zeros, std::uint64_t seed = 1) {
  SplitOptions options = with(Protocol::slices, 0.1, seed);
  options.mode = mode;
  options.after = after;
  options.zeros_per_one = zeros;
  return options;
}

// What holds for every split: training and test ones are the tensor's ones, each in one of the two; zeros are zeros;
// both lists are sorted and no cell comes twice.
void expect_sound(const SparseTensor& tensor, const Split& parts) {
  const std::vector<Cell> train = cells_of(parts.coords, tensor.order());
  const std::vector<Cell> test = cells_of(parts.test.coords, tensor.order());
  ASSERT_EQ(test.size(), parts.test.size());
  EXPECT_TRUE(std::is_sorted(train.begin(), train.end()));
  EXPECT_TRUE(std::is_sorted(test.begin(), test.end()));
  EXPECT_EQ(std::adjacent_find(test.begin(), test.end()), test.end());
  std::vector<Cell> ones = train;
  std::uint64_t zeros = 0;
  for (std::size_t i = 0; i < test.size(); ++i) {
    EXPECT_EQ(parts.test.outcome[i] == 1, tensor.contains(test[i].data()));
    for (std::size_t k = 0; k < tensor.order(); ++k) EXPECT_LT(test[i][k], tensor.modes[k].labels.size());
    if (parts.test.outcome[i] == 1)
      ones.push_back(test[i]);
    else
      ++zeros;
  }
  std::sort(ones.begin(), ones.end());
  EXPECT_EQ(ones, cells_of(tensor.coords, tensor.order()));
  EXPECT_EQ(parts.test_ones, ones.size() - train.size());
  EXPECT_EQ(parts.test_zeros, zeros);
}

TEST(Split, HoldsOutExactlyTheStatedPartOfAllCells) {
  const SparseTensor kinship_sized = made({104, 104, 26}, 10686, 1);
  const Split parts = split(kinship_sized, with(Protocol::cells, 0.1, 7));
  EXPECT_EQ(parts.test.size(), 28122u);  // round(0.1 * 281216)
  expect_sound(kinship_sized, parts);
}

// From a few cells to nearly all: beyond a half the complement is what is drawn.
TEST(Split, HoldsOutAnyPartOfTheCells) {
  const SparseTensor tensor = made({7, 5, 3}, 40, 2);
  for (const double part : {0.01, 0.49, 0.51, 0.8}) {
    const Split parts = split(tensor, with(Protocol::cells, part, 3));
    EXPECT_EQ(parts.test.size(), static_cast<std::size_t>(std::llround(part * 105))) << part;
    expect_sound(tensor, parts);
  }
}

TEST(Split, HoldsOutOnesAndDrawsZeros) {
  const SparseTensor tensor = made({50, 40, 30}, 3005, 4);
  const Split parts = split(tensor, with(Protocol::ones, 0.1, 5));
  EXPECT_EQ(parts.test_ones, 301u);  // round(300.5)
  EXPECT_EQ(parts.test_zeros, 5u * 301u);
  expect_sound(tensor, parts);
}

TEST(Split, DrawsEveryZeroWhenAllAreNeeded) {
  const SparseTensor tensor = made({4, 4}, 8, 6);
  SplitOptions options = with(Protocol::ones, 0.5, 1);
  options.zeros_per_one = 2;  // 4 ones, and all 8 zeros
  const Split parts = split(tensor, options);
  EXPECT_EQ(parts.test_zeros, 8u);
  expect_sound(tensor, parts);
}

TEST(Split, WorksBeyondTwoToTheSixtyThreeCells) {
  const SparseTensor tensor = made(std::vector<std::uint32_t>(12, 1000), 500, 8);
  const Split parts = split(tensor, with(Protocol::ones, 0.2, 9));
  EXPECT_EQ(parts.test_ones, 100u);
  EXPECT_EQ(parts.test_zeros, 500u);
  expect_sound(tensor, parts);
}

TEST(Split, SlicesTakeWholeEntities) {
  const SparseTensor tensor = made({20, 15, 10}, 600, 10);
  const Split parts = split(tensor, sliced("m1", 12, 3));
  expect_sound(tensor, parts);
  EXPECT_GT(parts.test_ones, 0u);
  EXPECT_EQ(parts.test_zeros, 3 * parts.test_ones);
  for (std::size_t e = 0; e < parts.coords.size() / 3; ++e) EXPECT_LT(parts.coords[3 * e + 1], 12u);
  for (std::size_t i = 0; i < parts.test.size(); ++i) EXPECT_GE(parts.test.coords[3 * i + 1], 12u);
}

TEST(Split, SlicesKeepCounts) {
  const SparseTensor tensor = made({20, 15}, 100, 11, true);
  const Split parts = split(tensor, sliced("m0", 10, 1));
  ASSERT_EQ(parts.counts.size(), parts.coords.size() / 2);
  std::map<Cell, std::int64_t> count;
  for (std::size_t e = 0; e < tensor.nnz(); ++e) count[Cell(tensor.cell(e), tensor.cell(e) + 2)] = tensor.counts[e];
  const std::vector<Cell> train = cells_of(parts.coords, 2);
  for (std::size_t e = 0; e < train.size(); ++e) EXPECT_EQ(parts.counts[e], count[train[e]]);
}

TEST(Split, IsAFunctionOfTheSeed) {
  const SparseTensor tensor = made({30, 30, 30}, 2000, 12);
  for (const Protocol protocol : {Protocol::cells, Protocol::ones}) {
    const Split a = split(tensor, with(protocol, 0.1, 1)), b = split(tensor, with(protocol, 0.1, 1));
    const Split c = split(tensor, with(protocol, 0.1, 2));
    EXPECT_TRUE(std::equal(a.test.coords.begin(), a.test.coords.end(), b.test.coords.begin(), b.test.coords.end()));
    EXPECT_FALSE(std::equal(a.test.coords.begin(), a.test.coords.end(), c.test.coords.begin(), c.test.coords.end()));
  }
}

// hold_out leaves in the tensor what split copies.
TEST(Split, HoldOutLeavesTheTrainingOnes) {
  for (const bool counted : {false, true})
    for (const SplitOptions& options :
         {with(Protocol::cells, 0.1, 1), with(Protocol::ones, 0.1, 1), sliced("m0", 20, 1)}) {
      SparseTensor tensor = made({30, 30, 30}, 2000, 13, counted);
      const Split parts = split(tensor, options), held_out = hold_out(tensor, options);
      EXPECT_EQ(tensor.modes[0].labels.size(), 30u);
      EXPECT_EQ(cells_of(tensor.coords, 3), cells_of(parts.coords, 3));
      EXPECT_EQ(cells_of(held_out.test.coords, 3), cells_of(parts.test.coords, 3));
      EXPECT_EQ(tensor.nnz() + held_out.test_ones, 2000u);
      EXPECT_TRUE(std::equal(tensor.counts.begin(), tensor.counts.end(), parts.counts.begin(), parts.counts.end()));
      EXPECT_EQ(tensor.counts.size(), counted ? tensor.nnz() : 0);
      for (std::size_t i = 0; i < held_out.test.size(); ++i)
        EXPECT_FALSE(tensor.contains(held_out.test.coords.data() + 3 * i));
    }
}

// How often each of `population` things was in a sample of `size` of them, over many samples: a chi-squared statistic
// with population - 1 degrees of freedom, corrected for drawing without replacement.
void expect_uniform(const std::vector<double>& hits, double size, double samples) {
  const double population = static_cast<double>(hits.size()), p = size / population, expected = samples * p;
  double statistic = 0;
  for (const double hit : hits) statistic += (hit - expected) * (hit - expected) / (expected * (1 - p));
  statistic *= (population - 1) / population;
  const double p_value = test::chi_squared_tail(statistic, population - 1);
  EXPECT_GT(p_value, 1e-6);
  EXPECT_LT(p_value, 1 - 1e-6);
}

// Seeds 1 to 4000; false alarms 2e-6 for each of the four statistics.
TEST(Split, DrawsUniformly) {
  const SparseTensor tensor = made({6, 5, 4}, 40, 14);
  const double samples = 4000;
  std::vector<double> cell_hits(120), one_hits(40), zero_hits(80), slice_hits;
  std::map<Cell, double> slice_zero_hits;
  double slice_zeros = 0;
  const auto number = [](const std::uint32_t* cell) { return (cell[0] * 5 + cell[1]) * 4 + cell[2]; };
  std::vector<std::size_t> rank(120);  // of a cell among the ones, or among the zeros
  for (std::uint32_t i = 0, one = 0, zero = 0; i < 120; ++i) {
    const std::uint32_t cell[3] = {i / 20, i / 4 % 5, i % 4};
    rank[i] = tensor.contains(cell) ? one++ : zero++;
  }
  for (std::uint64_t seed = 1; seed <= 4000; ++seed) {
    const Split cells = split(tensor, with(Protocol::cells, 0.25, seed));
    for (std::size_t i = 0; i < 30; ++i) ++cell_hits[number(cells.test.coords.data() + 3 * i)];
    SplitOptions options = with(Protocol::ones, 0.3, seed);
    options.zeros_per_one = 2;
    const Split ones = split(tensor, options);
    for (std::size_t i = 0; i < ones.test.size(); ++i)
      ++(ones.test.outcome[i] == 1 ? one_hits : zero_hits)[rank[number(ones.test.coords.data() + 3 * i)]];
    const Split slices = split(tensor, sliced("m2", 3, 1, seed));
    slice_zeros = static_cast<double>(slices.test_zeros);
    for (std::size_t i = 0; i < slices.test.size(); ++i)
      if (slices.test.outcome[i] == 0) {
        const std::uint32_t* cell = slices.test.coords.data() + 3 * i;
        ++slice_zero_hits[Cell(cell, cell + 3)];
      }
  }
  for (const auto& [cell, hits] : slice_zero_hits) slice_hits.push_back(hits);
  expect_uniform(cell_hits, 30, samples);
  expect_uniform(one_hits, 12, samples);
  expect_uniform(zero_hits, 24, samples);
  ASSERT_EQ(slice_hits.size(), 30 - slice_zeros);  // every zero of the slice, as often as there are ones in it
  expect_uniform(slice_hits, slice_zeros, samples);
}

// Of a caller in C++: the program refuses these before it comes to this.
TEST(Split, RefusesWhatIsOutOfRange) {
  SplitOptions many = with(Protocol::ones, 0.5, 1);
  many.zeros_per_one = ~std::uint64_t{0};
  EXPECT_THROW(split(made({100000, 100000}, 10, 16), many), Error);
  EXPECT_THROW(protocol_named("rows"), Error);
}

TEST(Split, WritesFilesThatReadBack) {
  const test::TempDir directory;
  const SparseTensor tensor = made({9, 8, 7}, 100, 17);
  const Split parts = split(tensor, with(Protocol::ones, 0.2, 1));
  write_split(tensor, parts, directory.path() + "/new/out", false);
  write_split(tensor, parts, directory.path() + "/new/out", true);
  ReadOptions read;
  read.file = directory.path() + "/new/out/train.tsv";
  read.labels = {directory.path() + "/new/out/labels"};
  const Dataset back = read_dataset(read);
  EXPECT_EQ(cells_of(back.tensor.coords, 3), cells_of(parts.coords, 3));
  EXPECT_EQ(back.tensor.modes[2].name, "m2");
  EXPECT_EQ(back.tensor.modes[2].labels[6], "7");
  const TestCells test = read_test_cells(directory.path() + "/new/out/test.tsv", back.tensor.modes);
  EXPECT_EQ(cells_of(test.coords, 3), cells_of(parts.test.coords, 3));
  EXPECT_TRUE(std::equal(test.outcome.begin(), test.outcome.end(), parts.test.outcome.begin()));
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory.path()))
    EXPECT_EQ(entry.path().string().find(".part"), std::string::npos);
}

}  // namespace
}  // namespace ztp
