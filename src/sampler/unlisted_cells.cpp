#include "sampler/unlisted_cells.hpp"

#include <algorithm>
#include <cmath>

#include "model/distributions.hpp"
#include "sampler/latent_counts.hpp"

namespace ztp {
namespace {

// Up to so many products of rows and components, the rate of cells (i, i) is computed; above, what was drawn of them
// stands for it.
constexpr std::size_t most_products = std::size_t{1} << 27;

// Draws rows in proportion to columns of u, among some of the rows.
class RowSampler {
 public:
  template <class Contains>
  RowSampler(const Matrix<float>& u, const Contains& contains) : u_(u), mass_(u.columns(), 0.0), largest_(u.columns()) {
    const double n = static_cast<double>(u.rows());
    for (std::size_t j = 0; j < u.rows(); ++j) {
      if (!contains(j)) continue;
      rows_.push_back(static_cast<std::uint32_t>(j));
      for (std::size_t q = 0; q < u.columns(); ++q) {
        const double value = static_cast<double>(u.row(j)[q]) / n;
        mass_[q] += value;
        largest_[q] = std::max(largest_[q], value);
      }
      if (rows_.size() % rows_of_block == 0) until_.insert(until_.end(), mass_.begin(), mass_.end());
    }
  }

  double mass(std::size_t q) const { return mass_[q]; }  // of column q in these rows
  double largest(std::size_t q) const { return largest_[q]; }
  double value(std::size_t j, std::size_t q) const {
    return static_cast<double>(u_.row(j)[q]) / static_cast<double>(u_.rows());
  }
  const std::vector<std::uint32_t>& rows() const { return rows_; }

  // By blocks of rows first, and then row by row.
  std::uint32_t draw(std::size_t q, Stream& stream) const {
    const double target = stream.uniform() * mass_[q];
    std::size_t begin = 0, end = until_.size() / mass_.size();
    while (begin < end) {
      const std::size_t middle = (begin + end) / 2;
      if (until_[middle * mass_.size() + q] <= target)
        begin = middle + 1;
      else
        end = middle;
    }
    std::size_t i = std::min(begin * rows_of_block, rows_.size() - 1);
    double sum = begin == 0 ? 0 : until_[(begin - 1) * mass_.size() + q];
    for (const std::size_t last = std::min(i + rows_of_block, rows_.size()) - 1; i < last; ++i)
      if ((sum += value(rows_[i], q)) > target) break;
    return rows_[i];
  }

 private:
  static constexpr std::size_t rows_of_block = 32;

  const Matrix<float>& u_;
  std::vector<std::uint32_t> rows_;
  std::vector<double> mass_, largest_;
  std::vector<double> until_;  // blocks x columns: the mass up to the end of each whole block
};

std::vector<Matrix<float>> factors_on_host(const State& state) {
  std::vector<Matrix<float>> result;
  for (const auto& factors : state.factors) {
    Matrix<float>& u = result.emplace_back(factors->rows(), factors->columns());
    copy_to_host(*factors, u);
  }
  return result;
}

}  // namespace

UnlistedCells::UnlistedCells(const Problem& problem) : problem_(problem), in_slice_(slice_masks(problem)) {
  has_slices_ = std::any_of(in_slice_.begin(), in_slice_.end(), [](const auto& mask) { return !mask.empty(); });
}

double UnlistedCells::draw(const State& state, std::uint32_t chain, std::uint32_t t, LatentParts& parts) const {
  if (empty()) return 0;
  const FactorLayout& layout = state.layout;
  const std::size_t K = layout.modes(), R = layout.components();
  const std::vector<Matrix<float>> u = factors_on_host(state);
  const auto key = [&](Purpose purpose, std::size_t mode) {
    return stream_key(problem_.seed, chain, purpose, static_cast<std::uint32_t>(mode), {.update = problem_.update});
  };
  std::vector<RowSampler> of_matrix, outside_slices;  // all rows; and of each mode with slices those in none
  for (const Matrix<float>& factors : u) of_matrix.emplace_back(factors, [](std::size_t) { return true; });
  std::vector<const RowSampler*> all, outside;  // of each mode: all rows, and those in no missing slice
  outside_slices.reserve(K);
  for (std::size_t k = 0; k < K; ++k) {
    all.push_back(&of_matrix[layout.matrix(k)]);
    outside.push_back(all.back());
    if (in_slice_[k].empty()) continue;
    outside_slices.emplace_back(u[layout.matrix(k)], [&](std::size_t j) { return !in_slice(k, j); });
    outside.back() = &outside_slices.back();
  }
  std::vector<std::uint32_t> cell(K);
  double rate = 0;
  // The missing slices of mode k, outside those of the modes before it: one Poisson total for each component, whose
  // coordinates are independent.                                                                               (M18)
  for (std::size_t k = 0; k < K; ++k) {
    if (in_slice_[k].empty()) continue;
    const RowSampler inside(u[layout.matrix(k)], [&](std::size_t j) { return in_slice(k, j); });
    const auto sampler = [&](std::size_t l) -> const RowSampler& {
      return l == k ? inside : l < k ? *outside[l] : *all[l];
    };
    for (std::size_t r = 0; r < R; ++r) {
      double mean = std::exp(state.tensor.log_weight[r]);
      for (std::size_t l = 0; l <= k; ++l) mean *= sampler(l).mass(layout.column(l, r));
      Stream stream(key(Purpose::slice_totals, k), t, r);
      rate += mean;
      for (std::int64_t unit = draw_poisson(stream, mean); unit > 0; --unit) {
        for (std::size_t l = 0; l < K; ++l) cell[l] = sampler(l).draw(layout.column(l, r), stream);
        parts.add(cell.data(), r, 1);
      }
    }
  }
  if (!problem_.self_missing) return rate;
  // Cells (i, i) outside the slices. Component r has lambda_r u[i, q] u[i, p] of them for the columns q and p of its
  // tied modes: draw i by q at the rate of lambda_r max_i u[i, p], and keep it with probability u[i, p] / max.    (M51)
  std::size_t k = 0;
  while (layout.tied_mode(k) == k) ++k;
  const std::size_t tied = layout.tied_mode(k);
  const RowSampler& rows = *all[k];
  const bool exact = outside[k]->rows().size() * R <= most_products;
  for (std::size_t r = 0; r < R; ++r) {
    const std::size_t q = layout.column(k, r), p = layout.column(tied, r);
    const double weight = std::exp(state.tensor.log_weight[r]);
    double others = exact ? weight : 0, together = 0;
    for (std::size_t l = 0; l < K && exact; ++l)
      if (l != k && l != tied) others *= outside[l]->mass(layout.column(l, r));
    for (std::size_t i = 0; i < outside[k]->rows().size() && exact; ++i) {
      const std::uint32_t j = outside[k]->rows()[i];
      if (!in_slice(tied, j)) together += rows.value(j, q) * rows.value(j, p);
    }
    rate += others * together;
    Stream stream(key(Purpose::self_cells, 0), t, r);
    for (std::int64_t unit = draw_poisson(stream, weight * rows.largest(p)); unit > 0; --unit) {
      const std::uint32_t i = rows.draw(q, stream);
      bool kept = stream.uniform() * rows.largest(p) < rows.value(i, p);
      for (std::size_t l = 0; l < K; ++l) {
        cell[l] = l == k || l == tied ? i : all[l]->draw(layout.column(l, r), stream);
        kept = kept && !in_slice(l, cell[l]);
      }
      if (!kept) continue;
      parts.add(cell.data(), r, 1);
      if (!exact) rate += 1;
    }
  }
  return rate;
}

}  // namespace ztp
