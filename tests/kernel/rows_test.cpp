// The index of entries by row, and the row sums that are made with it. Seed 29; no chance.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <vector>

#include "targets.hpp"
#include "tensor/records.hpp"
#include "worlds.hpp"

namespace ztp::test {
namespace {

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
  const std::vector<RowIndex> index = index_rows(coords.data(), 5, {6, 4, 1});
  ASSERT_EQ(index.size(), 3u);
  EXPECT_EQ(list(index[0].begin), (Longs{0, 0, 2, 2, 4, 5, 5}));
  EXPECT_TRUE(index[0].entry.empty());  // entries are sorted by their first coordinate
  EXPECT_EQ(list(index[1].begin), (Longs{0, 1, 2, 5, 5}));
  EXPECT_EQ(list(index[1].entry), (Numbers{1, 4, 0, 2, 3}));
  EXPECT_EQ(list(index[2].begin), (Longs{0, 5}));
  EXPECT_EQ(list(index[2].entry), (Numbers{0, 1, 2, 3, 4}));
}

// Both ends of an edge are rows of the same matrix: each edge is there twice, a loop twice in one row.
TEST(RowIndex, OfEdgesByHand) {
  const Numbers coords = {0, 1, 0, 3, 1, 3, 3, 3};
  const std::vector<RowIndex> index = index_rows(coords.data(), 4, {5, 5}, true);
  ASSERT_EQ(index.size(), 1u);
  EXPECT_EQ(list(index[0].begin), (Longs{0, 2, 4, 4, 8, 8}));
  EXPECT_EQ(list(index[0].entry), (Numbers{0, 1, 0, 2, 1, 2, 3, 3}));
}

TEST(RowIndex, OfNothing) {
  for (const bool shared : {false, true}) {
    const std::vector<RowIndex> index = index_rows(nullptr, 0, {3, 3}, shared);
    ASSERT_EQ(index.size(), shared ? 1u : 2u);
    for (const RowIndex& one : index) {
      EXPECT_EQ(list(one.begin), (Longs{0, 0, 0, 0}));
      EXPECT_TRUE(one.entry.empty());
    }
  }
}

// Every entry is in its row of every mode, once, and in order.
TEST(RowIndex, HoldsEveryEntryOnce) {
  const World world = make_world({4, 1, 5000}, seed);
  const std::vector<RowIndex> index = index_rows(world.coords.data(), world.size(), world.sizes());
  ASSERT_EQ(index.size(), 4u);
  for (std::size_t k = 0; k < 4; ++k) {
    ASSERT_EQ(index[k].begin.size(), world.u[k].rows() + 1);
    EXPECT_EQ(index[k].begin[0], 0u);
    EXPECT_EQ(index[k].begin[world.u[k].rows()], world.size());
    std::vector<int> seen(world.size(), 0);
    for (std::size_t j = 0; j < world.u[k].rows(); ++j)
      for (std::uint64_t i = index[k].begin[j]; i < index[k].begin[j + 1]; ++i) {
        const std::size_t e = k == 0 ? i : index[k].entry[i];
        ++seen[e];
        ASSERT_EQ(world.coords[4 * e + k], j);
        ASSERT_TRUE(k == 0 || i == index[k].begin[j] || index[k].entry[i - 1] < e);
      }
    EXPECT_EQ(seen, std::vector<int>(world.size(), 1)) << k;
  }
}

// ---- row sums -------------------------------------------------------------------------------------------------------

constexpr unsigned team_sizes[] = {1, 2, 3, 7};

void expect_indexed_sums(const World& world, const std::string& name) {
  Pool one(1);
  for (const bool bounded : {false, true}) {
    const Drawn plain = allocate(*make_kernel("cpu", one), world, world_key(seed, 4), {.bounded = bounded});
    for (const unsigned threads : team_sizes) {
      Pool pool(threads);
      const auto cpu = make_kernel("cpu", pool);
      const How how{.bounded = bounded, .indexed = true};
      EXPECT_TRUE(same_counts(plain, allocate(*cpu, world, world_key(seed, 4), how))) << name << ", " << threads;
    }
  }
}

// Half of all entries in one row: it reaches over several blocks of 2048, each of which may be another thread's. First of its mode, last,
// and in the middle; blocks that end where a row does, and rows without entries just there.
TEST(RowSums, OfARowThatReachesOverBlocks) {
  for (const std::uint32_t row : {0u, 20u, 40u})
    for (const Kind kind : {Kind::ones, Kind::counts, Kind::missing}) {
      World world = make_world({3, 20, 6 * 2048 + 11, kind}, seed);
      for (std::size_t e = 0; e < world.size(); e += 2) world.coords[3 * e] = row;
      for (std::size_t e = 1; e < world.size(); e += 2) world.coords[3 * e + 1] = 7 * row;
      sort_records(world.coords.data(), world.size(), 3, world.counts.empty() ? nullptr : world.counts.data());
      expect_indexed_sums(world, fmt::format("row {}, kind {}", row, static_cast<int>(kind)));
    }
}

TEST(RowSums, OfRowsThatEndWithBlocks) {
  World world = make_world({2, 20, 3 * 2048}, seed);
  for (const std::uint32_t gap : {1u, 2u}) {
    for (std::size_t e = 0; e < world.size(); ++e) {
      world.coords[2 * e] = static_cast<std::uint32_t>(1 + gap * (e / 2048));  // rows 1, 2, 3 or 1, 3, 5
      world.coords[2 * e + 1] = static_cast<std::uint32_t>(e / 2048 * 3);      // two rows in each block
    }
    expect_indexed_sums(world, fmt::format("gap {}", gap));
  }
}

// Without entries fresh sums are zero all the same, in both kernels; sums that are not fresh keep what they hold.
TEST(RowSums, OfNothing) {
  for (const char* name : {"cpu", "reference"})
    for (const unsigned threads : team_sizes)
      for (const bool bounded : {false, true}) {
        Pool pool(threads);
        World world = make_world({2, 20, 10}, seed);
        world.coords.clear();
        const Drawn nothing =
            allocate(*make_kernel(name, pool), world, world_key(seed, 4), {.bounded = bounded, .indexed = true});
        for (const auto& rows : nothing.rows)
          for (std::size_t j = 0; j < rows.rows(); ++j)
            for (std::size_t r = 0; r < rows.stride(); ++r) ASSERT_EQ(rows.row(j)[r], 0) << name << ", " << j;
        EXPECT_EQ(nothing.log_likelihood, 0) << name;
        EXPECT_EQ(nothing.units(), 0) << name;
      }
}

TEST(RowSums, ThatAreNotFreshAreAddedTo) {
  const World world = make_world({2, 20, 9000}, seed);
  const std::vector<RowIndex> index = index_rows(world.coords.data(), world.size(), world.sizes());
  for (const char* name : {"cpu", "reference"}) {
    Pool pool(3);
    const auto kernel = make_kernel(name, pool);
    const Drawn once = allocate(*kernel, world, world_key(seed, 4));
    Drawn twice = allocate(*kernel, world, world_key(seed, 4));
    Entries entries = world.entries();
    entries.bounded = true;
    entries.by_row = &index;
    kernel->allocate(entries, world.rates(), world_key(seed, 4), 3,
                     {{&twice.rows[0], &twice.rows[1]}, twice.totals.data()});
    for (std::size_t k = 0; k < 2; ++k)
      for (std::size_t j = 0; j < once.rows[k].rows(); ++j)
        for (std::size_t r = 0; r < 20; ++r) ASSERT_EQ(twice.rows[k].row(j)[r], 2 * once.rows[k].row(j)[r]) << name;
  }
}

}  // namespace
}  // namespace ztp::test
