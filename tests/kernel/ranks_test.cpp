// What several processes compute with parts of the rows is bit for bit what one computes with all of them: sums and
// draws of columns, and counts. As threads; chains are in sampler/rank_chain_test.cpp, fits in cli/ranks.sh. Everything
// is a function of the seeds; there is no chance in a run.
#include <gtest/gtest.h>

#include <numeric>

#include "checkpoint_bytes.hpp"
#include "kernel/cuda/sum_order.hpp"
#include "kernel/draw_columns.hpp"
#include "rank_kernels.hpp"

namespace ztp::test {
namespace ranks_tests {

constexpr StreamKey key = {{0x12345678, 0x9abcdef0}};

struct ColumnCase {
  std::uint32_t rows;
  std::size_t columns;
  double a;
  std::uint32_t listed = 0;  // every so manieth row is drawn; 0: all
};

std::string draw(Kernel& kernel, const ColumnCase& c) {
  const auto S = kernel.counts(c.rows, c.columns, false);
  const auto u = kernel.factors(c.rows, c.columns);
  std::vector<double> totals(c.columns, 0.0);
  const auto count_at = [&](std::size_t j, std::size_t q) {
    return static_cast<std::int64_t>((3 * j + 5 * q) % 11) / 7;
  };
  write_rows(*S, [&](std::size_t j, std::int64_t* row) {
    for (std::size_t q = 0; q < c.columns; ++q) row[q] = count_at(j, q);
  });
  for (std::size_t j = 0; j < c.rows; ++j)
    for (std::size_t q = 0; q < c.columns; ++q) totals[q] += static_cast<double>(count_at(j, q));
  std::vector<std::uint32_t> rows;
  for (std::uint32_t j = 0; c.listed > 0 && j < c.rows; j += c.listed) rows.push_back(j);
  // All rows first: those that are not listed keep what they have.
  std::string bytes = bytes_of(draw_columns(kernel, {*S, c.a}, totals, key, 1, *u));
  if (c.listed > 0) bytes += bytes_of(draw_columns(kernel, {*S, c.a, 1, &rows}, totals, key, 2, *u));
  return bytes + bytes_of(*u);
}

TEST(RankColumns, are_those_of_one_process) {
  for (const std::string& name : rank_kernel_names())
    for (const ColumnCase c : {ColumnCase{5, 3, 0.1},
                               {300, 20, 0.1},
                               {9001, 7, 0.1},
                               {9001, 7, 0.1, 3},
                               {700, 300, 0.3},
                               {700, 300, 0.3, 2},
                               {1500, 5, 0.002},
                               {1500, 5, 0.002, 7}}) {
      const FactorLayout layout = FactorLayout::cp({c.rows, 4}, c.columns);
      expect_same_on_ranks(fmt::format("{} x {}, a = {}, {}", c.rows, c.columns, c.a, c.listed), name, layout, {},
                           [&](Kernel& kernel, Comm&) { return draw(kernel, c); });
    }
}

// So many rows that shares, and groups whose sums are exchanged, are larger.
TEST(RankColumns, of_a_million_rows_are_those_of_one_process) {
  for (const std::string& name : rank_kernel_names()) {
    if (name == "elsewhere") continue;  // slow, and nothing new
    for (const ColumnCase c : {ColumnCase{(1u << 20) + 4321, 2, 0.1}, {(1u << 20) + 4321, 2, 0.1, 5}})
      expect_same_on_ranks(fmt::format("{} rows, {}", c.rows, c.listed), name, FactorLayout::cp({c.rows, 4}, c.columns),
                           {}, [&](Kernel& kernel, Comm&) { return draw(kernel, c); });
  }
}

// The order in which a GPU adds up, on the host: from sums of blocks as from those of groups of 8 of them or of 128. The
// values are multiples of a unit or not: then another order would round otherwise.
TEST(SumOrder, groups_of_several_processes_add_up_alike) {
  for (const std::size_t blocks : {1, 7, 128, 129, 1000, 40'000})
    for (const std::size_t together : {8, 128}) {
      constexpr std::size_t P = 2;
      std::vector<double> values;
      for (std::size_t i = 0; i < blocks * P; ++i) values.push_back(1 / (1 + static_cast<double>(i * 7 % 101)));
      const std::vector<double> groups = cuda::add_neighbours(values, P, cuda::sums_of_thread, together);
      std::vector<double> wanted = values;
      do wanted = cuda::add_neighbours(wanted, P, cuda::sums_of_thread, cuda::sums_of_group);
      while (wanted.size() > P);
      EXPECT_EQ(cuda::add_in_order(groups, P, together), wanted) << blocks << " blocks, " << together;
      const double sum = std::accumulate(values.begin(), values.end(), 0.0);
      EXPECT_NEAR(wanted[0] + wanted[1], sum, 1e-9 * sum);
    }
}

// Each of several processes needs a part of what one needs, and copies of rows of others, as far as there is room.
TEST(GpuMemory, is_shared_out_among_ranks) {
  const FactorLayout layout = FactorLayout::cp({1'000'000, 1'000'000, 1000}, 100);
  constexpr std::uint64_t ones = 100'000'000;
  // 20 bytes for each one, and 8.25 for each of 104 columns of a row.
  const double alone = gpu_bytes(layout, ones, {});
  EXPECT_EQ(alone, 20.0 * ones + 2'001'000 * 104 * 8.25);
  const double of_four = gpu_bytes(layout, ones, {.ranks = 4, .room = 1e9});
  EXPECT_GT(of_four, alone / 4);
  EXPECT_LT(of_four, alone / 2);
  EXPECT_GT(gpu_bytes(layout, ones, {.ranks = 4, .room = 1e12}), of_four);
  EXPECT_LT(gpu_bytes(layout, ones, {.ranks = 4, .room = 1e9, .part_of_columns = 0.5}), of_four);
  EXPECT_GT(gpu_bytes(layout, ones, {.wide = true}), alone);
}

}  // namespace ranks_tests
}  // namespace ztp::test
