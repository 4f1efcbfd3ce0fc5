#include "baselines/quad_chain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "ztp/error.hpp"

namespace ztp {
namespace {

constexpr std::size_t cells_per_piece = 16384;
// Splits follow what the factors look like: the first when they look like something, the others while they still
// change.
constexpr std::uint32_t first_split = 12, split_every = 3;
constexpr std::size_t growth = 4;  // of the number of blocks, each time

std::vector<std::size_t> rows_of(const std::vector<Matrix<float>>& u) {
  std::vector<std::size_t> result;
  for (const Matrix<float>& matrix : u) result.push_back(matrix.rows());
  return result;
}

std::size_t checked_blocks(std::size_t blocks) {
  if (blocks == 0 || blocks > std::numeric_limits<std::uint16_t>::max())
    throw Error(ErrorKind::config, fmt::format("there can be 1 to 65535 blocks, not {}", blocks));
  return blocks;
}

}  // namespace

QuadChain::QuadChain(const RivalProblem& problem, double ridge, std::size_t blocks, Pool& pool, std::uint32_t number)
    : RivalChain(problem, pool, number),
      ridge_(ridge),
      most_blocks_(checked_blocks(blocks)),
      sizes_(rows_of(u_)),
      partition_(sizes_),
      words_((*std::max_element(sizes_.begin(), sizes_.end()) + 63) / 64),
      splits_(1 + 2 * (blocks - 1), 0),
      sides_((blocks - 1) * words_, 0),
      mean_square_(blocks, 0) {
  if (!(ridge > 0)) throw Error(ErrorKind::config, "the ridge penalty must be positive");
  for (std::size_t k = 0; k < order(); ++k) moments_.emplace_back(blocks, width());
  ones_ = index_rows(problem.tensor->coords.data(), problem.tensor->nnz(), state_.layout);
  if (missing_count() > 0) hidden_ = index_rows(problem.missing->data(), missing_count(), state_.layout);
  if (ones_.empty() || (missing_count() > 0 && hidden_.empty()))
    throw Error(ErrorKind::config, "more than 2^32 ones or missing cells");
}

void QuadChain::start() {
  const double ones = static_cast<double>(problem_.tensor->nnz());
  const double zeros = problem_.tensor->volume() - static_cast<double>(missing_count()) - ones;
  const double deviation = std::pow(0.1 / std::sqrt(static_cast<double>(problem_.R)), 1 / static_cast<double>(order()));
  start_at_random(deviation, std::log((ones + 0.5) / (zeros + 0.5)));
  splits_[0] = 0;
  rebuild();
  sum_blocks();
  update_bounds();
}

double QuadChain::step(bool likelihood) {
  if (stale_) rebuild();
  whole_ = false;
  if (t_ >= first_split && t_ % split_every == 0) grow(std::min(most_blocks_, growth * blocks()));
  for (std::size_t k = 0; k < order(); ++k) {
    update_rows(k);
    check_factors(k, t_ + 1);
    update_moments(k);
  }
  sum_blocks();
  update_intercept();
  update_bounds();
  check_weights(++t_);
  whole_ = true;
  return likelihood ? -surrogate() : std::numeric_limits<double>::quiet_NaN();
}

void QuadChain::restore(std::uint32_t t) {
  RivalChain::restore(t);
  // Used as indices: split s divides a block that is there by then, along a mode.
  bool sound = splits_[0] <= (splits_.size() - 1) / 2;
  for (std::size_t s = 0; sound && s < splits_[0]; ++s) sound = splits_[1 + 2 * s] <= s && splits_[2 + 2 * s] < order();
  if (!sound) throw Error(ErrorKind::input, "the checkpoint is damaged: its blocks of cells are invalid; fit again");
  stale_ = true;
}

std::vector<CheckpointField> QuadChain::checkpoint_fields() {
  std::vector<CheckpointField> result = RivalChain::checkpoint_fields();
  result.push_back({"mean_square", mean_square_.data(), mean_square_.size() * sizeof(double)});
  result.push_back({"splits", splits_.data(), splits_.size() * sizeof(std::uint32_t)});
  if (!sides_.empty()) result.push_back({"sides", sides_.data(), sides_.size() * sizeof(std::uint64_t)});
  return result;
}

// All that follows from what is carried.
void QuadChain::rebuild() {
  partition_ = Partition(sizes_);
  missing_block_.assign(missing_count(), 0);
  for (std::size_t s = 0; s < splits_[0]; ++s) apply_split(s);
  for (std::size_t k = 0; k < order(); ++k) update_moments(k);
  curvature_.resize(blocks());
  for (std::size_t b = 0; b < blocks(); ++b) curvature_[b] = bound_curvature(mean_square_[b]);
  stale_ = false;
}

void QuadChain::product(const std::uint32_t* cell, std::size_t without, double* x) const {
  std::fill(x, x + problem_.R, 1.0);
  for (std::size_t k = 0; k < order(); ++k) {
    if (k == without) continue;
    const float* row = u_[k].row(cell[k]);
    for (std::size_t r = 0; r < problem_.R; ++r) x[r] *= static_cast<double>(row[r]);
  }
}

// What all cells of a block sum up to, less its missing cells.                                                (M42)
// Reads the moments, writes the totals, O(blocks R^2 K + missing R K).
void QuadChain::sum_blocks() {
  const std::size_t R = problem_.R;
  totals_.assign(blocks(), {});
  for (std::size_t b = 0; b < blocks(); ++b) {
    std::vector<double> m(width());
    others_of_block(b, order(), m.data());
    totals_[b] = {m[0], std::accumulate(m.begin() + 1, m.begin() + 1 + static_cast<std::ptrdiff_t>(R), 0.0),
                  std::accumulate(m.begin() + 1 + static_cast<std::ptrdiff_t>(R), m.end(), 0.0)};
  }
  const Blocks parts{missing_count(), cells_per_piece};
  std::vector<std::vector<Totals>> hidden(parts.count(), std::vector<Totals>(blocks()));
  pool_.for_blocks(parts.count(), [&](std::size_t p) {
    std::vector<double> x(R);
    for (std::size_t i = parts.begin(p); i < parts.end(p); ++i) {
      product(missing_cell(i), order(), x.data());
      const double z = std::accumulate(x.begin(), x.end(), 0.0);
      Totals& sum = hidden[p][missing_block_[i]];
      sum.cells += 1;
      sum.z += z;
      sum.z2 += z * z;
    }
  });
  for (const std::vector<Totals>& part : hidden)
    for (std::size_t b = 0; b < blocks(); ++b) {
      totals_[b].cells -= part[b].cells;
      totals_[b].z -= part[b].z;
      totals_[b].z2 -= part[b].z2;
    }
}

// b = (nnz - sum_i (1/2 + c z_i)) / sum_i c. Reads the totals, O(blocks).                                      (M44)
void QuadChain::update_intercept() {
  double above = static_cast<double>(problem_.tensor->nnz()), below = 0;
  for (std::size_t b = 0; b < blocks(); ++b) {
    above -= totals_[b].cells / 2 + curvature_[b] * totals_[b].z;
    below += curvature_[b] * totals_[b].cells;
  }
  if (below > 0) intercept_ = above / below;
}

// m, the mean of theta^2 over a block, and the curvature there. Reads the totals, O(blocks).             (M41), (M44)
void QuadChain::update_bounds() {
  curvature_.resize(blocks());
  for (std::size_t b = 0; b < blocks(); ++b) {
    const bool any = totals_[b].cells > 0.5;
    mean_square_[b] = any ? std::max(totals_[b].energy(intercept_), 0.0) / totals_[b].cells : 0;
    curvature_[b] = bound_curvature(mean_square_[b]);
  }
}

// The loss (M40) with the bounds (M41) in it, which where they touch are h(m) a cell. Reads everything, O(nnz R K + R
// sum_k n_k).
double QuadChain::surrogate() const {
  double sum = 0;
  for (std::size_t b = 0; b < blocks(); ++b)
    sum += totals_[b].cells * (bound_height(mean_square_[b]) + intercept_ / 2) + totals_[b].z / 2;
  for (const Matrix<float>& u : u_)
    for (std::size_t j = 0; j < u.rows(); ++j)
      for (std::size_t r = 0; r < problem_.R; ++r) {
        const double value = static_cast<double>(u.row(j)[r]);
        sum += ridge_ / 2 * value * value;
      }
  const Blocks parts{problem_.tensor->nnz(), cells_per_piece};
  std::vector<double> theta(parts.count(), 0.0);
  pool_.for_blocks(parts.count(), [&](std::size_t p) {
    std::vector<double> x(problem_.R);
    for (std::size_t e = parts.begin(p); e < parts.end(p); ++e) {
      product(problem_.tensor->cell(e), order(), x.data());
      theta[p] += std::accumulate(x.begin(), x.end(), intercept_);
    }
  });
  return std::accumulate(theta.begin(), theta.end(), sum, std::minus<>());
}

}  // namespace ztp
