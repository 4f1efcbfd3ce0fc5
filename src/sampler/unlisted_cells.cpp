#include "sampler/unlisted_cells.hpp"

#include <algorithm>
#include <cmath>

#include "model/distributions.hpp"
#include "sampler/latent_counts.hpp"

namespace ztp {
namespace {

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
    }
    running_.resize(u.columns());
  }

  double mass(std::size_t q) const { return mass_[q]; }  // of column q in these rows
  double largest(std::size_t q) const { return largest_[q]; }
  double value(std::size_t j, std::size_t q) const {
    return static_cast<double>(u_.row(j)[q]) / static_cast<double>(u_.rows());
  }
  const std::vector<std::uint32_t>& rows() const { return rows_; }

  std::uint32_t draw(std::size_t q, Stream& stream) {
    std::vector<double>& running = running_[q];
    if (running.empty()) {
      double sum = 0;
      for (const std::uint32_t j : rows_) running.push_back(sum += static_cast<double>(u_.row(j)[q]));
    }
    const double target = stream.uniform() * running.back();
    const auto found = std::upper_bound(running.begin(), running.end(), target);
    return rows_[static_cast<std::size_t>(std::min(found, running.end() - 1) - running.begin())];
  }

 private:
  const Matrix<float>& u_;
  std::vector<std::uint32_t> rows_;
  std::vector<double> mass_, largest_;
  std::vector<std::vector<double>> running_;  // sums of a column, made when it is first asked for
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
  std::vector<RowSampler> all, outside;  // of each mode: all rows, and those in no missing slice
  for (std::size_t k = 0; k < K; ++k) {
    all.emplace_back(u[layout.matrix(k)], [](std::size_t) { return true; });
    outside.emplace_back(u[layout.matrix(k)], [&](std::size_t j) { return !in_slice(k, j); });
  }
  std::vector<std::uint32_t> cell(K);
  double rate = 0;
  // The missing slices of mode k, outside those of the modes before it: one Poisson total for each component, whose
  // coordinates are independent.                                                                               (M18)
  for (std::size_t k = 0; k < K; ++k) {
    if (in_slice_[k].empty()) continue;
    RowSampler inside(u[layout.matrix(k)], [&](std::size_t j) { return in_slice(k, j); });
    const auto sampler = [&](std::size_t l) -> RowSampler& { return l == k ? inside : l < k ? outside[l] : all[l]; };
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
  for (std::size_t r = 0; r < R; ++r) {
    const std::size_t q = layout.column(k, r), p = layout.column(tied, r);
    const double weight = std::exp(state.tensor.log_weight[r]);
    double others = 1, together = 0;
    for (std::size_t l = 0; l < K; ++l)
      if (l != k && l != tied) others *= outside[l].mass(layout.column(l, r));
    for (const std::uint32_t i : outside[k].rows())
      if (!in_slice(tied, i)) together += all[k].value(i, q) * all[k].value(i, p);
    rate += weight * others * together;
    Stream stream(key(Purpose::self_cells, 0), t, r);
    for (std::int64_t unit = draw_poisson(stream, weight * all[k].largest(p)); unit > 0; --unit) {
      const std::uint32_t i = all[k].draw(q, stream);
      bool kept = stream.uniform() * all[k].largest(p) < all[k].value(i, p);
      for (std::size_t l = 0; l < K; ++l) {
        cell[l] = l == k || l == tied ? i : all[l].draw(layout.column(l, r), stream);
        kept = kept && !in_slice(l, cell[l]);
      }
      if (kept) parts.add(cell.data(), r, 1);
    }
  }
  return rate;
}

}  // namespace ztp
