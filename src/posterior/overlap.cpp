#include "posterior/overlap.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "evaluate/assignment.hpp"

namespace ztp {
namespace {

constexpr std::size_t rows_at_a_time = 256;  // of both factors: they stay in the cache, and float sums stay short
constexpr std::size_t tile_height = 4, tile_width = 8;

// Sums over some rows, for tile_height columns of u and tile_width of v. A tile fits into the registers of any machine.
struct Tile {
  float sum[tile_height][tile_width] = {};

  void add(const float* u, std::size_t u_stride, const float* v, std::size_t v_stride, std::size_t rows) {
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t x = 0; x < tile_height; ++x)
        for (std::size_t y = 0; y < tile_width; ++y) sum[x][y] += u[i * u_stride + x] * v[i * v_stride + y];
  }
};

// The columns first..first+15 of u with all of v, into sums: 16 rows of v.stride() numbers.
void add_products(const Matrix<float>& u, std::size_t first, const Matrix<float>& v, std::vector<double>& sums) {
  const Blocks blocks{u.rows(), rows_at_a_time};
  for (std::size_t b = 0; b < blocks.count(); ++b) {
    const std::size_t begin = blocks.begin(b), rows = blocks.end(b) - begin;
    for (std::size_t r = 0; r < lanes; r += tile_height)
      for (std::size_t s = 0; s < v.stride(); s += tile_width) {
        Tile tile;
        tile.add(u.row(begin) + first + r, u.stride(), v.row(begin) + s, v.stride(), rows);
        for (std::size_t x = 0; x < tile_height; ++x)
          for (std::size_t y = 0; y < tile_width; ++y)
            sums[(r + x) * v.stride() + s + y] += static_cast<double>(tile.sum[x][y]);
      }
  }
}

// Parts of the whole; zeros, where all are.
std::vector<double> shares(std::vector<double> weights) {
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double& weight : weights) weight = total > 0 ? weight / total : 0;
  return weights;
}

}  // namespace

void take_square_roots(Matrix<float>& u, Pool& pool) {
  std::vector<double> sums(u.columns(), 0.0);
  for (std::size_t j = 0; j < u.rows(); ++j)
    for (std::size_t r = 0; r < u.columns(); ++r) sums[r] += static_cast<double>(u.row(j)[r]);
  std::vector<float> factor(u.columns(), 0.0f);
  for (std::size_t r = 0; r < u.columns(); ++r)
    if (sums[r] > 0) factor[r] = static_cast<float>(1 / std::sqrt(sums[r]));
  const Blocks blocks{u.rows(), 4096};
  pool.for_blocks(blocks.count(), [&](std::size_t b) {
    for (std::size_t j = blocks.begin(b); j < blocks.end(b); ++j)
      for (std::size_t r = 0; r < u.columns(); ++r) u.row(j)[r] = std::sqrt(u.row(j)[r]) * factor[r];
  });
}

void multiply_by_overlaps(const Matrix<float>& u, const Matrix<float>& v, Pool& pool, Matrix<double>& overlap) {
  pool.for_blocks(u.stride() / lanes, [&](std::size_t b) {
    std::vector<double> sums(lanes * v.stride(), 0.0);
    add_products(u, b * lanes, v, sums);
    for (std::size_t r = b * lanes; r < std::min((b + 1) * lanes, u.columns()); ++r)
      for (std::size_t s = 0; s < v.columns(); ++s)
        overlap.row(r)[s] *=
            std::min(1.0, sums[(r - b * lanes) * v.stride() + s]);  // (M46); 1 + 1e-7 is a rounding error
  });
}

double common_weight(const ComponentMatch& match) {
  return std::sqrt(match.weight_share * match.partner_weight_share) * match.overlap;
}

std::vector<ComponentMatch> match_by_overlap(const Matrix<double>& overlap, const std::vector<double>& weights,
                                             const std::vector<double>& other_weights) {
  const std::vector<double> w = shares(weights), other_w = shares(other_weights);
  const auto pair = [&](std::size_t r, std::size_t s) {
    return ComponentMatch{r, s, overlap.row(r)[s], 0, w[r], other_w[s]};
  };
  Matrix<double> gain(w.size(), other_w.size());
  for (std::size_t r = 0; r < w.size(); ++r)
    for (std::size_t s = 0; s < other_w.size(); ++s) gain.row(r)[s] = common_weight(pair(r, s));
  const auto partners = best_assignment(gain);  // (M47)
  std::vector<ComponentMatch> matches;
  for (std::size_t r = 0; r < w.size(); ++r) {
    ComponentMatch match{r, std::nullopt, 0, 0, w[r], 0};
    if (partners[r]) match = pair(r, *partners[r]);
    const double both = match.weight_share + match.partner_weight_share;
    match.agreement = both > 0 ? 2 * common_weight(match) / both : 0;  // (M48)
    matches.push_back(match);
  }
  return matches;
}

}  // namespace ztp
