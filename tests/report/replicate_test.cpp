// Data drawn from known parameters.
#include "report/replicate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "kernel/host_arrays.hpp"

namespace ztp {
namespace {

using Degrees = std::vector<std::vector<std::uint64_t>>;

SparseTensor tensor_of(const std::vector<std::uint32_t>& sizes) {
  SparseTensor tensor;
  for (const std::uint32_t size : sizes)
    tensor.modes.push_back({"m" + std::to_string(size), LabelTable::numbered(1, size)});
  return tensor;
}

Degrees degrees_of(const Buffer<std::uint32_t>& cells, const std::vector<std::uint32_t>& sizes) {
  Degrees degrees;
  for (const std::uint32_t size : sizes) degrees.emplace_back(size, 0);
  for (std::size_t i = 0; i < cells.size(); ++i) ++degrees[i % sizes.size()][cells[i]];
  return degrees;
}

std::vector<std::uint32_t> copy_of(const Buffer<std::uint32_t>& cells) {
  return {cells.begin(), cells.end()};
}

// Two components; entity j of a mode has a part of (j + 1) of the first and the rest the other way round.
State state_of(const std::vector<std::uint32_t>& sizes, double first, double second) {
  HostArrays arrays;
  State state = make_state(FactorLayout::cp(sizes, 2), {}, {}, arrays);
  state.tensor.log_weight = {std::log(first), std::log(second)};
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    const std::uint32_t n = sizes[k];
    const double sum = n * (n + 1) / 2.0;
    for (std::uint32_t j = 0; j < n; ++j) {
      const float row[] = {static_cast<float>(n * (j + 1) / sum), static_cast<float>(n * (n - j) / sum)};
      state.factors[k]->write({j, j + 1}, row);
    }
  }
  return state;
}

double rate(const State& state, const std::vector<std::uint32_t>& cell) {
  double z = 0;
  for (std::size_t r = 0; r < state.layout.components(); ++r) {
    double part = std::exp(state.tensor.log_weight[r]);
    for (std::size_t k = 0; k < cell.size(); ++k)
      part *= static_cast<double>(values_of(*state.factors[k]).row(cell[k])[r]) /
              static_cast<double>(state.factors[k]->rows());
    z += part;
  }
  return z;
}

// Seed 3, 400 replicates of 4 x 3 x 2 cells. The mean degree of an entity is within 4.5 standard errors: a false alarm
// of at most 9 x 7e-6 for each of three kinds of data.
TEST(Replicate, DegreesHaveTheExpectationOfTheModel) {
  const std::vector<std::uint32_t> sizes = {4, 3, 2};
  const SparseTensor tensor = tensor_of(sizes);
  const State state = state_of(sizes, 9, 4);
  Missing none, some;
  some.slices = {{}, {1}, {}};
  for (const std::uint32_t id : {0u, 0u, 0u, 3u, 2u, 1u}) some.cells.push_back(id);
  Pool pool(1);
  for (const auto& [missing, counts] : {std::pair{&none, false}, {&some, false}, {&some, true}}) {
    Degrees sum;
    for (const std::uint32_t n : sizes) sum.emplace_back(n, 0);
    std::vector<std::vector<double>> mean(3), spread(3);
    for (std::size_t k = 0; k < 3; ++k) mean[k].resize(sizes[k]), spread[k].resize(sizes[k]);
    for (std::uint32_t a = 0; a < 4; ++a)
      for (std::uint32_t b = 0; b < 3; ++b)
        for (std::uint32_t c = 0; c < 2; ++c) {
          const bool listed = (a == 0 && b == 0 && c == 0) || (a == 3 && b == 2 && c == 1);
          if (missing == &some && (b == 1 || listed)) continue;
          const double z = rate(state, {a, b, c}), p = counts ? z : -std::expm1(-z);
          for (std::size_t k = 0; k < 3; ++k) {
            const std::uint32_t j = k == 0 ? a : k == 1 ? b : c;
            mean[k][j] += p;
            spread[k][j] += counts ? z : p * (1 - p);  // cells are independent
          }
        }
    const std::uint32_t replicates = 400;
    for (std::uint32_t i = 0; i < replicates; ++i) {
      const Degrees degrees = degrees_of(replicated_cells(state, {tensor, *missing, counts, 3}, i, pool), sizes);
      for (std::size_t k = 0; k < 3; ++k)
        for (std::size_t j = 0; j < sizes[k]; ++j) sum[k][j] += degrees[k][j];
    }
    for (std::size_t k = 0; k < 3; ++k)
      for (std::size_t j = 0; j < sizes[k]; ++j)
        EXPECT_NEAR(static_cast<double>(sum[k][j]) / replicates, mean[k][j],
                    4.5 * std::sqrt(spread[k][j] / replicates) + 1e-12)
            << k << " " << j << " " << counts;
  }
}

// Modes so large that a cell needs more than 64 bits, components of several chunks of points, and any number of
// threads.
TEST(Replicate, DoesNotDependOnThreads) {
  for (const std::vector<std::uint32_t>& sizes :
       {std::vector<std::uint32_t>{50, 40}, {3000, 1, 2000}, std::vector<std::uint32_t>(11, 100)}) {
    const SparseTensor tensor = tensor_of(sizes);
    const State state = state_of(sizes, 9000, 100);
    Pool one(1), three(3);
    const Missing nothing;
    const ReplicatePlan plan{tensor, nothing, false, 4};
    const std::vector<std::uint32_t> cells = copy_of(replicated_cells(state, plan, 2, one));
    EXPECT_EQ(cells, copy_of(replicated_cells(state, plan, 2, three)));
    EXPECT_NE(cells, copy_of(replicated_cells(state, plan, 3, one)));
    const std::size_t K = sizes.size(), total = cells.size() / K;
    EXPECT_GT(total, 1000u);
    EXPECT_LT(total, 9700u);  // six standard deviations above the expected number of points
    for (std::size_t e = 1; e < total; ++e)
      ASSERT_TRUE(
          std::lexicographical_compare(&cells[(e - 1) * K], &cells[(e - 1) * K] + K, &cells[e * K], &cells[e * K] + K))
          << "cells are not in order, or one is there twice";
  }
  EXPECT_NEAR(points_expected({std::log(9000), std::log(100)}), 9100, 1e-6);
}

}  // namespace
}  // namespace ztp
