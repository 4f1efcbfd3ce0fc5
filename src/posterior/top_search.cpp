#include "posterior/top_search.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ztp {
namespace {

bool better(const ScoredCell& a, const ScoredCell& b) {
  return a.score != b.score ? a.score > b.score : a.cell < b.cell;
}

}  // namespace

double mean_probability(const float* a, const float* b, const std::vector<double>& scale, std::size_t R) {
  double sum = 0;
  for (std::size_t d = 0; d < scale.size(); ++d) {
    float lanes_sum[8] = {};
    const float* x = a + d * R;
    const float* y = b + d * R;
    std::size_t r = 0;
    for (; r + 8 <= R; r += 8)
      for (std::size_t l = 0; l < 8; ++l) lanes_sum[l] += x[r + l] * y[r + l];
    float z = 0;
    for (; r < R; ++r) z += x[r] * y[r];
    for (const float part : lanes_sum) z += part;
    sum -= std::expm1(-scale[d] * static_cast<double>(z));
  }
  return sum / static_cast<double>(scale.size());
}

TopSearch::TopSearch(OpenCells cells, std::size_t top, Pool& pool)
    : R_(cells.R),
      open_(std::move(cells.open)),
      weight_(std::move(cells.weight)),
      scale_(std::move(cells.scale)),
      cell_(std::move(cells.cell)),
      top_(top),
      pool_(pool) {
  // Few candidates first: the last mode is scored in bulk.
  std::sort(open_.begin(), open_.end(),
            [](const OpenMode& a, const OpenMode& b) { return a.ids.size() < b.ids.size(); });
}

std::vector<ScoredCell> TopSearch::run(const std::function<bool(const std::uint32_t*)>& skip) {
  skip_ = &skip;
  descend(0, weight_);
  std::sort(best_.begin(), best_.end(), better);
  return best_;
}

// For each candidate of the mode at this level: an upper bound over all completions, which at the last level is the score.
std::vector<double> TopSearch::bounds(std::size_t level, const std::vector<float>& weight) const {
  std::vector<float> rest = weight;
  for (std::size_t later = level + 1; later < open_.size(); ++later)
    for (std::size_t x = 0; x < rest.size(); ++x) rest[x] *= open_[later].largest[x];
  const OpenMode& mode = open_[level];
  std::vector<double> bound(mode.ids.size());
  const Blocks blocks{mode.ids.size(), 64};
  pool_.for_blocks(blocks.count(), [&](std::size_t b) {
    for (std::size_t c = blocks.begin(b); c < blocks.end(b); ++c)
      bound[c] = mean_probability(mode.rows.data() + c * rest.size(), rest.data(), scale_, R_);
  });
  return bound;
}

void TopSearch::descend(std::size_t level, const std::vector<float>& weight) {
  if (level == open_.size())
    return offer(mean_probability(weight.data(), std::vector<float>(weight.size(), 1.0f).data(), scale_, R_));
  const OpenMode& mode = open_[level];
  const std::vector<double> bound = bounds(level, weight);
  std::vector<std::size_t> order(mode.ids.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return bound[a] > bound[b]; });
  const bool last = level + 1 == open_.size();
  std::vector<float> product(weight.size());
  for (const std::size_t c : order) {
    if (best_.size() == top_ && bound[c] * bound_slack < best_.front().score) break;
    cell_[mode.mode] = mode.ids[c];
    if (last) {
      offer(bound[c]);
      continue;
    }
    for (std::size_t x = 0; x < product.size(); ++x) product[x] = weight[x] * mode.rows[c * product.size() + x];
    descend(level + 1, product);
  }
}

void TopSearch::offer(double score) {
  ScoredCell candidate{score, cell_};
  if (best_.size() == top_ && !better(candidate, best_.front())) return;
  if ((*skip_)(cell_.data())) return;
  if (best_.size() == top_) {
    std::pop_heap(best_.begin(), best_.end(), better);
    best_.pop_back();
  }
  best_.push_back(std::move(candidate));
  std::push_heap(best_.begin(), best_.end(), better);
}

}  // namespace ztp
