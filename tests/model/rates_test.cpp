// Rates, with tied modes and shared columns as with CP, against plain loops over components. No chance.
#include "model/rates.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "kernel/host_arrays.hpp"
#include "model/open_rates.hpp"
#include "shared_columns.hpp"
#include "targets.hpp"

namespace ztp::test {
namespace {

constexpr double rounding = 2e-6;  // of sums of at most 20 products of 4 floats

const std::vector<FactorLayout>& layouts() {
  static const std::vector<FactorLayout> all = {shared_layout(), FactorLayout::cp({4, 3, 2}, 1),
                                                FactorLayout::cp({5, 1, 3}, 19)};
  return all;
}

void expect_rates(Kernel& kernel, const FactorLayout& layout) {
  const State state = random_state(layout, kernel, 3);
  const Rates rates = tensor_rates(state);
  const std::vector<std::uint32_t> cells = all_cells(layout);
  const std::size_t count = cells.size() / 3, R = layout.components();
  std::vector<double> z(count), parts(count * R);
  kernel.score(cells.data(), count, rates, z.data());
  kernel.score_parts(cells.data(), count, rates, parts.data());
  for (std::size_t e = 0; e < count; ++e) {
    const double expected = plain_rate(state, &cells[3 * e]);
    EXPECT_NEAR(z[e], expected, rounding * expected);
    for (std::size_t r = 0; r < R; ++r) {
      const double part = plain_part(state, &cells[3 * e], r);
      EXPECT_NEAR(parts[e * R + r], part, rounding * part);
    }
  }
}

TEST(Rates, OfCellsAndTheirComponents) {
  Pool pool(2);
  for (const FactorLayout& layout : layouts()) {
    expect_rates(*make_kernel(KernelName::reference, pool), layout);
    for_each_target([&](const std::string&) { expect_rates(*make_kernel(KernelName::cpu, pool), layout); });
  }
}

// Every cell, with each of its modes left open to the last.
TEST(OpenRates, WithOneModeLeftOpen) {
  HostArrays arrays;
  for (const FactorLayout& layout : layouts()) {
    const State state = random_state(layout, arrays, 5);
    const std::vector<std::uint32_t> cells = all_cells(layout);
    for (std::size_t e = 0; e < cells.size() / 3; ++e) {
      const std::uint32_t* cell = &cells[3 * e];
      const double expected = plain_rate(state, cell);
      for (std::size_t open = 0; open < 3; ++open) {
        OpenRates rates(layout, state.tensor.log_weight);
        for (std::size_t k = 0; k < 3; ++k)
          if (k != open) rates.give(k, on_host(state.of_mode(k)).row(cell[k]));
        const Matrix<float> u = on_host(state.of_mode(open));
        const ColumnRates columns = rates.columns(open);
        EXPECT_NEAR(columns.of(u.row(cell[open])), expected, rounding * expected);
        EXPECT_EQ(*std::max_element(columns.weight.begin(), columns.weight.end()), 1.0f);
        // The weight of a column is what the components that use it have, but for its own factor.
        for (std::size_t q = 0; q < u.columns(); ++q) {
          const double own = static_cast<double>(u.row(cell[open])[q]);
          double sum = 0;
          for (std::size_t r = 0; r < layout.components(); ++r)
            if (layout.column(open, r) == q) sum += plain_part(state, cell, r) / own;
          EXPECT_NEAR(columns.scale * static_cast<double>(columns.weight[q]), sum, rounding * sum);
        }
        rates.give(open, u.row(cell[open]));
        EXPECT_NEAR(rates.rate(), expected, 1e-12 * expected);
        for (std::size_t r = 0; r < layout.components(); ++r)
          EXPECT_NEAR(rates.part(r), plain_part(state, cell, r), 1e-12 * expected);
      }
    }
  }
}

TEST(OpenRates, AreBoundsWithTheLargestOfEachColumn) {
  const FactorLayout layout = shared_layout();
  HostArrays arrays;
  const State state = random_state(layout, arrays, 7);
  const Matrix<float> first = on_host(state.of_mode(0)), last = on_host(state.of_mode(2));
  std::vector<float> largest(first.columns(), 0.0f);
  for (std::size_t j = 0; j < first.rows(); ++j)
    for (std::size_t q = 0; q < first.columns(); ++q) largest[q] = std::max(largest[q], first.row(j)[q]);
  for (std::uint32_t i = 0; i < 7; ++i)
    for (std::uint32_t l = 0; l < 5; ++l) {
      OpenRates rates(layout, state.tensor.log_weight);
      rates.give(0, first.row(i));
      rates.give(1, largest.data());
      const double bound = rates.columns(2).of(last.row(l));
      for (std::uint32_t j = 0; j < 7; ++j) {
        const std::uint32_t cell[] = {i, j, l};
        EXPECT_LE(plain_rate(state, cell), bound * (1 + rounding));
      }
    }
}

// Products of what is given may be far beyond floats; what is left is not.
TEST(OpenRates, HoldProductsThatFloatsDoNot) {
  const FactorLayout layout = FactorLayout::cp({2, 2, 2}, 2);
  OpenRates rates(layout, {std::log(8.0), std::log(4.0)});  // n^3 = 8
  const float small[] = {1e-30f, 3e-30f}, other[] = {1e-25f, 1e-25f}, row[] = {1e15f, 1e15f};
  rates.give(0, small);
  rates.give(1, other);
  const ColumnRates columns = rates.columns(2);
  EXPECT_NEAR(columns.of(row) / 2.5e-40, 1, 1e-6);  // (1 + 3 / 2) 1e-30 1e-25 1e15
}

TEST(Rates, AreZeroWhereAllWeightsAre) {
  const FactorLayout layout = FactorLayout::cp({2, 3}, 2);
  Pool pool(1);
  const std::uint32_t cell[] = {1, 2};
  for (const KernelName name : {KernelName::reference, KernelName::cpu}) {
    const auto kernel = make_kernel(name, pool);
    State state = random_state(layout, *kernel, 9);
    state.tensor.log_weight.assign(2, -std::numeric_limits<double>::infinity());
    double z = -1, parts[] = {-1, -1};
    kernel->score(cell, 1, tensor_rates(state), &z);
    kernel->score_parts(cell, 1, tensor_rates(state), parts);
    EXPECT_EQ(z, 0);
    EXPECT_EQ(parts[0] + parts[1], 0);
    OpenRates open(layout, state.tensor.log_weight);
    open.give(0, on_host(state.of_mode(0)).row(1));
    EXPECT_EQ(open.columns(1).of(on_host(state.of_mode(1)).row(2)), 0);
  }
}

}  // namespace
}  // namespace ztp::test
