// Small tensors of a logistic CP model, and what Quad-App and PW-QuadApp compute, worked out cell by cell.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "baselines/quad_chain.hpp"
#include "baselines/training_cells.hpp"
#include "model/distributions.hpp"

namespace ztp::test {

using Cell = std::vector<std::uint32_t>;

inline std::vector<Cell> all_cells(const std::vector<std::uint32_t>& sizes) {
  std::vector<Cell> result = {{}};
  for (const std::uint32_t n : sizes) {
    std::vector<Cell> longer;
    for (const Cell& cell : result)
      for (std::uint32_t j = 0; j < n; ++j) {
        longer.push_back(cell);
        longer.back().push_back(j);
      }
    result = std::move(longer);
  }
  return result;
}

// Ones drawn from logits b + sum_r prod_k u with normal u of this scale; every cell is missing with a given
// probability.
struct QuadWorld {
  SparseTensor tensor;
  Buffer<std::uint32_t> missing;
  std::vector<Cell> cells;        // all of them
  std::vector<double> theta;      // the truth
  std::vector<bool> one, hidden;  // what was drawn (also where it is hidden), and what is hidden

  RivalProblem problem(std::size_t R, std::uint64_t seed) const {
    return {&tensor, missing.empty() ? nullptr : &missing, R, seed};
  }
  Cell coordinates() const {  // of all cells, one after the other
    Cell all;
    for (const Cell& cell : cells) all.insert(all.end(), cell.begin(), cell.end());
    return all;
  }
};

inline QuadWorld quad_world(const std::vector<std::uint32_t>& sizes, std::size_t R, double scale, double hide,
                            std::uint64_t seed, double intercept = -1.5) {
  QuadWorld world;
  std::vector<std::vector<double>> u;
  Stream stream(stream_key(seed, 0, Purpose::simulate), 0, 0);
  for (const std::uint32_t n : sizes) {
    Mode mode;
    for (std::uint32_t j = 0; j < n; ++j) mode.labels.add(std::to_string(j));
    world.tensor.modes.push_back(std::move(mode));
    u.emplace_back();
    for (std::size_t i = 0; i < n * R; ++i) u.back().push_back(scale * draw_normal(stream));
  }
  world.cells = all_cells(sizes);
  for (const Cell& cell : world.cells) {
    double theta = intercept;
    for (std::size_t r = 0; r < R; ++r) {
      double product = 1;
      for (std::size_t k = 0; k < sizes.size(); ++k) product *= u[k][cell[k] * R + r];
      theta += product;
    }
    world.theta.push_back(theta);
    world.one.push_back(stream.uniform() < logistic(theta));
    world.hidden.push_back(stream.uniform() < hide);
    if (world.hidden.back())
      world.missing.append(cell.data(), cell.size());
    else if (world.one.back())
      world.tensor.coords.append(cell.data(), cell.size());
  }
  return world;
}

// For the logistic rival: rank 2, nothing hidden.
inline QuadWorld logistic_world(const std::vector<std::uint32_t>& sizes, double intercept, std::uint64_t seed) {
  return quad_world(sizes, 2, 1.3, 0, seed, intercept);
}

inline std::uint64_t all_zeros(const SparseTensor& tensor) {
  return zeros_wanted(tensor, nullptr, "all");
}

// Gauss with pivots.
inline std::vector<double> solve(std::vector<std::vector<double>> A, std::vector<double> b) {
  const std::size_t n = b.size();
  for (std::size_t i = 0; i < n; ++i) {
    std::size_t pivot = i;
    for (std::size_t j = i; j < n; ++j)
      if (std::abs(A[j][i]) > std::abs(A[pivot][i])) pivot = j;
    std::swap(A[i], A[pivot]);
    std::swap(b[i], b[pivot]);
    for (std::size_t j = 0; j < n; ++j) {
      if (j == i) continue;
      const double factor = A[j][i] / A[i][i];
      for (std::size_t c = i; c < n; ++c) A[j][c] -= factor * A[i][c];
      b[j] -= factor * b[i];
    }
  }
  for (std::size_t i = 0; i < n; ++i) b[i] /= A[i][i];
  return b;
}

// The chain with its parts open, and beside them what they should be.
class OpenChain : public QuadChain {
 public:
  OpenChain(const QuadWorld& world, std::size_t R, double ridge, std::size_t blocks, Pool& pool, std::uint64_t seed)
      : QuadChain(world.problem(R, seed), ridge, blocks, pool, 0), world_(world), ridge_(ridge), R_(R) {}

  using QuadChain::grow;
  using QuadChain::sum_blocks;
  using QuadChain::surrogate;
  using QuadChain::update_bounds;
  using QuadChain::update_intercept;
  using QuadChain::update_moments;
  using QuadChain::update_rows;

  double intercept() const { return intercept_; }
  void set_intercept(double b) { intercept_ = b; }
  const float* row(std::size_t k, std::size_t j) const { return u_[k].row(j); }

  // prod over the modes but one.
  std::vector<double> x(const Cell& cell, std::size_t without) const {
    std::vector<double> result(R_, 1.0);
    for (std::size_t k = 0; k < cell.size(); ++k)
      for (std::size_t r = 0; k != without && r < R_; ++r) result[r] *= static_cast<double>(row(k, cell[k])[r]);
    return result;
  }
  double theta(const Cell& cell) const {
    double sum = intercept_;
    for (const double part : x(cell, cell.size())) sum += part;
    return sum;
  }
  double penalty() const {
    double sum = 0;
    for (const Matrix<float>& u : u_)
      for (std::size_t j = 0; j < u.rows(); ++j)
        for (std::size_t r = 0; r < R_; ++r) sum += ridge_ / 2 * std::pow(static_cast<double>(u.row(j)[r]), 2);
    return sum;
  }
  double loss() const {
    double sum = penalty();
    for (std::size_t i = 0; i < world_.cells.size(); ++i) {
      const double t = theta(world_.cells[i]);
      if (!world_.hidden[i]) sum += std::log1p(std::exp(t)) - (world_.one[i] ? t : 0);
    }
    return sum;
  }
  // With the bounds where they are now.
  double bounded_loss() const {
    double sum = penalty();
    for (std::size_t i = 0; i < world_.cells.size(); ++i) {
      if (world_.hidden[i]) continue;
      const double t = theta(world_.cells[i]), xi2 = mean_square()[block_of(world_.cells[i].data())];
      const double xi = std::sqrt(xi2), l = std::tanh(xi / 2) / (4 * xi);
      sum += std::log1p(std::exp(xi)) + (t - xi) / 2 + l * (t * t - xi2) - (world_.one[i] ? t : 0);
    }
    return sum;
  }
  // The row that minimises bounded_loss, all else given.
  std::vector<double> best_row(std::size_t k, std::size_t j) const {
    std::vector<std::vector<double>> A(R_, std::vector<double>(R_, 0.0));
    std::vector<double> c(R_, 0.0);
    for (std::size_t r = 0; r < R_; ++r) A[r][r] = ridge_;
    for (std::size_t i = 0; i < world_.cells.size(); ++i) {
      const Cell& cell = world_.cells[i];
      if (world_.hidden[i] || cell[k] != j) continue;
      const double xi = std::sqrt(mean_square()[block_of(cell.data())]), l = std::tanh(xi / 2) / (4 * xi);
      const std::vector<double> other = x(cell, k);
      for (std::size_t r = 0; r < R_; ++r) {
        c[r] += ((world_.one[i] ? 1 : 0) - 0.5 - 2 * l * intercept_) * other[r];
        for (std::size_t s = 0; s < R_; ++s) A[r][s] += 2 * l * other[r] * other[s];
      }
    }
    return solve(A, c);
  }

 private:
  const QuadWorld& world_;
  const double ridge_;
  const std::size_t R_;
};

}  // namespace ztp::test
