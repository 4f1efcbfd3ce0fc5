// The part of an iteration that takes its time: rows of factors by least squares, and the moments that stand for all
// cells.
#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>

#include "baselines/quad_chain.hpp"
#include "ztp/error.hpp"

namespace ztp {
namespace {

constexpr std::size_t rows_per_solve = 32;    // few, for threads to share; enough for one factorisation
constexpr std::size_t rows_per_sum = 512;     // each piece has its moments
constexpr std::size_t cells_per_update = 64;  // of rank one, taken together

using Vector = Eigen::VectorXd;
using Square = Eigen::MatrixXd;

Eigen::Index index(std::size_t i) {
  return static_cast<Eigen::Index>(i);
}

std::uint32_t entry_of(const RowIndex& rows, std::uint64_t i) {
  return rows.entry.empty() ? static_cast<std::uint32_t>(i) : rows.entry[i];
}

}  // namespace

std::vector<QuadChain::Piece> QuadChain::pieces(std::size_t k, std::size_t rows) const {
  std::vector<Piece> result;
  for (std::size_t c = 0; c < partition_.classes(k); ++c) {
    const Blocks parts{partition_.entities(k, c).size(), rows};
    for (std::size_t p = 0; p < parts.count(); ++p)
      result.push_back({static_cast<std::uint32_t>(c), parts.begin(p), parts.end(p)});
  }
  return result;
}

// Of the factors of a mode, for every block. Reads u, writes the moments, O(n_k R^2 + R^2 blocks x classes).    (M42)
void QuadChain::update_moments(std::size_t k) {
  const std::size_t R = problem_.R;
  const std::vector<Piece> all = pieces(k, rows_per_sum);
  std::vector<std::size_t> first(partition_.classes(k) + 1, 0);
  for (const Piece& piece : all) ++first[piece.of + 1];
  for (std::size_t c = 0; c < partition_.classes(k); ++c) first[c + 1] += first[c];
  Matrix<double> sums(all.size(), width());
  pool_.for_blocks(all.size(), [&](std::size_t p) {
    const Partition::List& entities = partition_.entities(k, all[p].of);
    Eigen::MatrixXd x(index(R), index(all[p].end - all[p].begin));
    for (std::size_t i = all[p].begin; i < all[p].end; ++i)
      for (std::size_t r = 0; r < R; ++r)
        x(index(r), index(i - all[p].begin)) = static_cast<double>(u_[k].row(entities[i])[r]);
    double* m = sums.row(p);
    m[0] = static_cast<double>(x.cols());
    Eigen::Map<Vector>(m + 1, index(R)) = x.rowwise().sum();
    Eigen::Map<Square>(m + 1 + R, index(R), index(R)).noalias() = x * x.transpose();
  });
  pool_.for_blocks(blocks(), [&](std::size_t b) {
    double* m = moments_[k].row(b);
    std::fill(m, m + width(), 0.0);
    for (const std::uint32_t c : partition_.classes_of(b, k))
      for (std::size_t p = first[c]; p < first[c + 1]; ++p)
        for (std::size_t i = 0; i < width(); ++i) m[i] += sums.row(p)[i];
  });
}

// Of the products over all modes but k (over all, if there is no mode k) for the cells of one slice of a block.  (M42)
void QuadChain::others_of_block(std::size_t block, std::size_t k, double* moments) const {
  std::fill(moments, moments + width(), 1.0);
  for (std::size_t other = 0; other < order(); ++other) {
    if (other == k) continue;
    const double* m = moments_[other].row(block);
    for (std::size_t i = 0; i < width(); ++i) moments[i] *= m[i];
  }
}

// Rows of U^(k), given all else (M43): (A + ridge) u_j = right, where over the observed cells i of row j, in blocks b
// with curvature c_b,
//   A = sum of c_b x_i x_i',   right = sum of (y_i - 1/2 - c_b intercept) x_i,   x_i = prod_{k' != k} u^(k')[i_k'].
// Reads moments, ones and missing cells, writes u.
// O(nnz R K + n_k R^2 + missing R^2 + R^3 (classes, and rows with missing cells)).
void QuadChain::update_rows(std::size_t k) {
  Matrix<double> others(blocks(), width());
  pool_.for_blocks(blocks(), [&](std::size_t b) { others_of_block(b, k, others.row(b)); });
  const std::vector<Piece> all = pieces(k, rows_per_solve);
  pool_.for_blocks(all.size(), [&](std::size_t p) { update_piece(k, all[p], others); });
}

void QuadChain::update_piece(std::size_t k, const Piece& piece, const Matrix<double>& others) {
  const std::size_t R = problem_.R;
  Square shared = Square::Identity(index(R), index(R)) * ridge_;
  Vector zeros = Vector::Zero(index(R));
  for (const std::uint32_t b : partition_.blocks_of(k, piece.of)) {
    const double* m = others.row(b);
    shared += curvature_[b] * Eigen::Map<const Square>(m + 1 + R, index(R), index(R));
    zeros -= (0.5 + curvature_[b] * intercept_) * Eigen::Map<const Vector>(m + 1, index(R));
  }
  const Eigen::LLT<Square> solver(shared);
  for (std::size_t i = piece.begin; i < piece.end; ++i) {
    const std::size_t j = partition_.entities(k, piece.of)[i];
    Vector right = zeros;
    add_ones(k, j, right.data());
    if (!hidden_.empty() && hidden_[k].begin[j] < hidden_[k].begin[j + 1]) {
      Square own = shared;
      take_off_missing(k, j, own.data(), right.data());
      const Eigen::LLT<Square> own_solver(own);
      right = own_solver.solve(right);
      if (own_solver.info() != Eigen::Success) right[0] = std::numeric_limits<double>::quiet_NaN();
    } else {
      right = solver.solve(right);
    }
    if (!right.allFinite())
      throw Error(ErrorKind::numeric,
                  fmt::format("iteration {}: mode {}, row {} has no minimum; raise --ridge", t_ + 1, k + 1, j + 1));
    for (std::size_t r = 0; r < R; ++r) u_[k].row(j)[r] = static_cast<float>(right[index(r)]);
  }
}

void QuadChain::add_ones(std::size_t k, std::size_t j, double* right) const {
  std::vector<double> x(problem_.R);
  for (std::uint64_t i = ones_[k].begin[j]; i < ones_[k].begin[j + 1]; ++i) {
    product(problem_.tensor->cell(entry_of(ones_[k], i)), k, x.data());
    for (std::size_t r = 0; r < problem_.R; ++r) right[r] += x[r];
  }
}

void QuadChain::take_off_missing(std::size_t k, std::size_t j, double* left, double* right) const {
  const std::size_t R = problem_.R;
  Eigen::Map<Square> A(left, index(R), index(R));
  Eigen::Map<Vector> c(right, index(R));
  const std::uint64_t begin = hidden_[k].begin[j], end = hidden_[k].begin[j + 1];
  Square x(index(R), index(cells_per_update));
  for (std::uint64_t from = begin; from < end; from += cells_per_update) {
    const std::size_t count = std::min<std::uint64_t>(cells_per_update, end - from);
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint32_t cell = entry_of(hidden_[k], from + i);
      const double curvature = curvature_[missing_block_[cell]];
      product(missing_cell(cell), k, x.col(index(i)).data());
      c += (0.5 + curvature * intercept_) * x.col(index(i));
      x.col(index(i)) *= std::sqrt(curvature);
    }
    A.selfadjointView<Eigen::Lower>().rankUpdate(x.leftCols(index(count)), -1.0);
  }
}

}  // namespace ztp
