// The index of entries by row, and the row sums that are made with it. Seed 29; no chance.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <vector>

#include "kernel/cpu/draw_block.hpp"
#include "kernel/host_arrays.hpp"
#include "worlds.hpp"

namespace ztp::test {
namespace rows_tests {

constexpr std::uint64_t seed = 29;

template <class T>
std::vector<T> list(const Buffer<T>& buffer) {
  return {buffer.begin(), buffer.end()};
}

using Longs = std::vector<std::uint64_t>;
using Numbers = std::vector<std::uint32_t>;

// ---- index_rows -----------------------------------------------------------------------------------------------------

// Rows without entries at the beginning, in the middle and at the end.
TEST(RowIndex, OfATensorByHand) {
  const Numbers coords = {1, 2, 0,  //
                          1, 0, 0,  //
                          3, 2, 0,  //
                          3, 2, 0,  //
                          4, 1, 0};
  const std::vector<RowIndex> index = index_rows(coords.data(), 5, FactorLayout::cp({6, 4, 1}, 2));
  ASSERT_EQ(index.size(), 3u);
  EXPECT_EQ(list(index[0].begin), (Longs{0, 0, 2, 2, 4, 5, 5}));
  EXPECT_TRUE(index[0].entry.empty());  // entries are sorted by their first coordinate
  EXPECT_EQ(list(index[1].begin), (Longs{0, 1, 2, 5, 5}));
  EXPECT_EQ(list(index[1].entry), (Numbers{1, 4, 0, 2, 3}));
  EXPECT_EQ(list(index[2].begin), (Longs{0, 5}));
  EXPECT_EQ(list(index[2].entry), (Numbers{0, 1, 2, 3, 4}));
  // With the first and the second mode on one matrix.
  const std::vector<RowIndex> tied = index_rows(coords.data(), 5, FactorLayout({0, 0, 1}, {{6, 2}, {1, 2}}, 2));
  ASSERT_EQ(tied.size(), 2u);
  EXPECT_EQ(list(tied[0].begin), (Longs{0, 1, 4, 7, 9, 10, 10}));
  EXPECT_EQ(list(tied[0].entry), (Numbers{1, 0, 1, 4, 0, 2, 3, 2, 3, 4}));
  EXPECT_EQ(list(tied[1].entry), (Numbers{0, 1, 2, 3, 4}));
}

// Both ends of an edge are rows of the same matrix: each edge is there twice, a loop twice in one row.
TEST(RowIndex, OfEdgesByHand) {
  const Numbers coords = {0, 1, 0, 3, 1, 3, 3, 3};
  const std::vector<RowIndex> index = index_rows(coords.data(), 4, FactorLayout::pairs(5, 2));
  ASSERT_EQ(index.size(), 1u);
  EXPECT_EQ(list(index[0].begin), (Longs{0, 2, 4, 4, 8, 8}));
  EXPECT_EQ(list(index[0].entry), (Numbers{0, 1, 0, 2, 1, 2, 3, 3}));
}

TEST(RowIndex, OfNothing) {
  for (const FactorLayout& layout : {FactorLayout::cp({3, 3}, 2), FactorLayout::pairs(3, 2)}) {
    const std::vector<RowIndex> index = index_rows(nullptr, 0, layout);
    ASSERT_EQ(index.size(), layout.matrices());
    for (const RowIndex& one : index) {
      EXPECT_EQ(list(one.begin), (Longs{0, 0, 0, 0}));
      EXPECT_TRUE(one.entry.empty());
    }
  }
}

// Every run is of whole rows, or of a part of one row; together they are all rows and all entries, in order. Here rows
// have as many entries as a run may have beside their row, one more, and two more.
TEST(RowIndex, RunsAreAllRowsOnce) {
  Numbers coords;
  const std::vector<std::size_t> entries = {0, 4095, 4096, 0, 4097, 3, 4091, 1, 3 * 4096 + 1};
  for (std::uint32_t j = 0; j < entries.size(); ++j)
    for (std::size_t e = 0; e < entries[j]; ++e) coords.insert(coords.end(), {j, 0});
  const std::vector<RowIndex> index = index_rows(coords.data(), coords.size() / 2, FactorLayout::cp({10000, 2}, 2));
  const auto runs = [&](std::size_t f) {
    std::vector<std::array<std::size_t, 5>> result;
    for (const RowRun& run : index[f].runs)
      result.push_back({run.rows.begin, run.rows.end, run.begin, run.end, run.whole});
    return result;
  };
  using Runs = std::vector<std::array<std::size_t, 5>>;
  EXPECT_EQ(runs(0), (Runs{{0, 1, 0, 0, 1},
                           {1, 2, 0, 4095, 1},
                           {2, 3, 4095, 8191, 1},
                           {3, 4, 8191, 8191, 1},
                           {4, 5, 8191, 12287, 0},
                           {4, 5, 12287, 12288, 0},
                           {5, 7, 12288, 16382, 1},
                           {7, 8, 16382, 16383, 1},
                           {8, 9, 16383, 20479, 0},
                           {8, 9, 20479, 24575, 0},
                           {8, 9, 24575, 28671, 0},
                           {8, 9, 28671, 28672, 0},
                           {9, 4105, 28672, 28672, 1},
                           {4105, 8201, 28672, 28672, 1},
                           {8201, 10000, 28672, 28672, 1}}));
  EXPECT_EQ(runs(1).size(), 8u);  // seven parts of one row, and a row without entries
}

// ---- row sums -------------------------------------------------------------------------------------------------------

void expect_indexed_sums(const World& world, const std::string& name) {
  for (const unsigned threads : {1u, 2u, 3u, 7u}) {
    Pool pool(threads);
    for_each_kernel(pool, [&](Kernel& kernel, const std::string& kernel_name) {
      if (kernel_name == "reference") return;
      for (const bool bounded : {false, true}) {
        const Drawn plain = allocate(kernel, world, world_key(seed, 4), {.bounded = bounded});
        const AllocateCase indexed{.bounded = bounded, .indexed = true, .fresh = true};
        EXPECT_TRUE(same_counts(plain, allocate(kernel, world, world_key(seed, 4), indexed)))
            << kernel_name << ", " << name << ", " << threads;
      }
    });
  }
}

// Half of all entries in one row: it reaches over several runs, each of which may be another thread's. First of its mode,
// last, and in the middle; runs that end where a row does, and rows without entries just there.
TEST(RowSums, OfARowThatReachesOverRuns) {
  for (const std::uint32_t row : {0u, 20u, 40u})
    for (const Shape shape : {Shape::cp, Shape::tied})
      for (const Kind kind : all_kinds) {
        World world = make_world({3, 20, 4 * 4096 + 11, kind, 1, shape}, seed);
        for (std::size_t e = 0; e < world.size(); e += 2) world.coords[3 * e] = row;
        for (std::size_t e = 1; e < world.size(); e += 2) world.coords[3 * e + 1] = 7 * row;
        sort_records(world.coords.data(), world.size(), 3, world.counts.empty() ? nullptr : world.counts.data());
        expect_indexed_sums(world, fmt::format("row {}, kind {}", row, static_cast<int>(kind)));
      }
}

TEST(RowSums, OfRowsThatEndWithRuns) {
  for (const std::size_t entries : {4095, 4096, 4097}) {  // a run has 4096 rows and entries
    World world = make_world({2, 20, 3 * entries}, seed);
    for (const std::uint32_t gap : {1u, 2u}) {
      for (std::size_t e = 0; e < world.size(); ++e) {
        world.coords[2 * e] = static_cast<std::uint32_t>(1 + gap * (e / entries));  // rows 1, 2, 3 or 1, 3, 5
        world.coords[2 * e + 1] = static_cast<std::uint32_t>(e / entries * 3);
      }
      expect_indexed_sums(world, fmt::format("{} entries, gap {}", entries, gap));
    }
  }
}

// Without entries fresh sums are zero all the same, in every kernel.
TEST(RowSums, OfNothing) {
  for (const unsigned threads : {1u, 3u}) {
    Pool pool(threads);
    World world = make_world({2, 20, 10}, seed);
    world.coords.clear();
    for_each_kernel(pool, [&](Kernel& kernel, const std::string& name) {
      for (const bool indexed : {false, true})
        for (const bool bounded : {false, true}) {
          const AllocateCase c{.bounded = bounded, .indexed = indexed, .fresh = true};
          const Drawn nothing = allocate(kernel, world, world_key(seed, 4), c);
          EXPECT_TRUE(same_counts(nothing, nothing_drawn(world))) << name;
          EXPECT_EQ(nothing.log_likelihood, 0) << name;
        }
    });
  }
}

// Sums that are not fresh keep what they hold, narrow or wide, and added to by any way.
TEST(RowSums, ThatAreNotFreshAreAddedTo) {
  Pool pool(3);
  for (const Shape shape : {Shape::cp, Shape::tied, Shape::tied_shared}) {
    const World world = make_world({3, 20, 9000, Kind::ones, 1, shape}, seed);
    for_each_kernel(pool, [&](Kernel& kernel, const std::string& name) {
      for (const bool wide : {false, true})
        for (const bool expected : {false, true}) {
          const Drawn once = allocate(kernel, world, world_key(seed, 4), {.expected = expected});
          const KernelSums sums(kernel, world, wide);
          for (const bool indexed : {true, false}) {
            const Loaded loaded(kernel, world, world.cells(indexed));
            const DrawSettings settings{.t = 3, .expected = expected};
            kernel.allocate(*loaded.ones, loaded.rates, world_key(seed, 4), settings, sums.sums());
          }
          EXPECT_TRUE(same_counts(sums.drawn(), times(2, once)))
              << name << ", wide " << wide << ", expected " << expected;
        }
    });
  }
}

// A part has 32 bits, or as many in units of 2^32: the largest count is two parts, not a billion.
TEST(DrawnParts, HoldCountsOf64Bits) {
  for (const std::int64_t count :
       {std::int64_t{1}, std::int64_t{2}, (std::int64_t{1} << 32) - 1, std::int64_t{1} << 32,
        (std::int64_t{1} << 32) + 1, (std::int64_t{1} << 62) - 1000, std::int64_t{1} << 62}) {
    std::uint32_t component = 0;
    cpu::Drawn drawn;
    drawn.end = 1;
    drawn.component = &component;
    drawn.totals.assign(16, 0);
    const std::size_t first = drawn.begin_parts();
    drawn.add_part(5, count);
    drawn.add_part(7, 3);
    drawn.end_parts(0, first);
    std::map<std::uint32_t, std::int64_t> found;
    cpu::for_each_part(drawn, 0, [&](std::uint32_t r, std::int64_t units) { found[r] += units; });
    EXPECT_EQ(found, (std::map<std::uint32_t, std::int64_t>{{5, count}, {7, 3}}));
    EXPECT_LE(drawn.parts.size(), 3u);
    EXPECT_EQ(drawn.totals[5], count);
  }
}

}  // namespace rows_tests
}  // namespace ztp::test
