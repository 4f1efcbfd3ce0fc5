#include "sampler/collapsed_moves.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace ztp {
namespace {

std::int64_t units(const Allocation& allocation) {
  std::int64_t sum = 0;
  for (const auto& block : allocation)
    for (const Part& part : block) sum += part.count;
  return sum;
}

}  // namespace

CollapsedMoves::CollapsedMoves(const SparseTensor& tensor, const WeightPrior& prior, const FactorLayout& layout,
                               std::unique_ptr<SplitMerge> split_merge)
    : tensor_(tensor),
      prior_(prior),
      R_(layout.components()),
      K_(tensor.order()),
      factor_(padded(R_), 0.0),
      product_(padded(R_)),
      split_merge_(std::move(split_merge)) {
  const std::int64_t counts = std::accumulate(tensor.counts.begin(), tensor.counts.end(), std::int64_t{0});
  most_tokens_ = std::max({std::int64_t{1'000'000}, 16 * static_cast<std::int64_t>(tensor.nnz()), counts});
  most_tokens_ = std::min<std::int64_t>(most_tokens_, std::numeric_limits<std::uint32_t>::max());
  for (std::size_t k = 0; k < K_; ++k) S_.emplace_back(layout.size_of_mode(k).rows, R_);
  // Room for at least the tokens that there are at first, written to, so that the memory is there.
  const std::size_t first_tokens =
      static_cast<std::size_t>(std::min(most_tokens_, std::max(counts, static_cast<std::int64_t>(tensor.nnz()))));
  for (auto* of_token : {&tokens_.entry, &tokens_.component}) {
    of_token->resize(first_tokens);
    of_token->clear();
  }
}

std::size_t CollapsedMoves::bytes(const SparseTensor& tensor, const FactorLayout& layout) {
  // A latent count is rarely more than one or two. Each unit of it is in the allocation and in lists of tokens.
  std::size_t tokens = tensor.nnz() + tensor.nnz() / 2;
  for (const std::int64_t count : tensor.counts) tokens += static_cast<std::size_t>(count);
  std::size_t bytes = 48 * tokens;
  for (std::size_t k = 0; k < layout.modes(); ++k) {
    const std::size_t rows = layout.size_of_mode(k).rows;
    bytes += 24 * rows + Matrix<double>::bytes_of(rows, layout.components());
  }
  return bytes;
}

void CollapsedMoves::run(const Allocation& allocation, const CollapsedInputs& inputs, const Streams& streams,
                         Statistics& statistics) {
  if (too_many(allocation, inputs, statistics)) return;
  const WeightPrior prior = prior_.with_shape(inputs.shapes.tensor);
  load_tokens(allocation, streams.at(0));
  for (std::size_t k = 0; k < K_; ++k) copy_to_host(*statistics.rows[k], S_[k]);
  TokenCounts counts{tensor_, inputs, tokens_, S_, statistics};
  scan(counts, prior, streams.at(1));
  split_merge_->run(counts, prior, streams.at(2));
  for (std::size_t k = 0; k < K_; ++k) copy_from_host(S_[k], *statistics.rows[k]);
}

// More tokens than there is room for; or so many imputed counts that doubles would not tell one more from them. No move
// changes either in number.
bool CollapsedMoves::too_many(const Allocation& allocation, const CollapsedInputs& inputs,
                              const Statistics& statistics) const {
  if (units(allocation) > most_tokens_) return true;
  double counts = 0;
  for (std::size_t r = 0; r < R_; ++r) {
    counts += static_cast<double>(statistics.tensor[r]);
    for (std::size_t k = 0; k < K_; ++k) counts += static_cast<double>(inputs.network_ends[k][r]);
  }
  return counts >= 0x1p52;
}

// The units of one cell are shuffled: the scan takes them in order, and which comes first must not depend on where they
// are.
void CollapsedMoves::load_tokens(const Allocation& allocation, Stream stream) {
  tokens_.entry.clear();
  tokens_.component.clear();
  std::size_t first = 0;  // token of the entry at hand
  for (const auto& block : allocation)
    for (const Part& part : block)
      for (std::int64_t unit = 0; unit < part.count; ++unit) {
        const std::size_t now = tokens_.size();
        if (now > 0 && tokens_.entry[now - 1] != part.entry) first = now;
        tokens_.entry.push_back(part.entry);
        tokens_.component.push_back(part.component);
        if (now > first) std::swap(tokens_.component[now], tokens_.component[first + stream.below(now - first + 1)]);
      }
}

// One Gibbs scan over all tokens.                                                                              (M22)
void CollapsedMoves::scan(TokenCounts& counts, const WeightPrior& prior, Stream stream) {
  for (std::size_t r = 0; r < R_; ++r) set_factor(counts, prior, r);
  for (std::size_t t = 0; t < tokens_.size(); ++t) {
    const std::uint32_t* cell = counts.cell(t);
    std::uint32_t& r = tokens_.component[t];
    counts.change(cell, r, -1);
    set_factor(counts, prior, r);
    r = static_cast<std::uint32_t>(draw_component(counts, prior, cell, stream.uniform()));
    counts.change(cell, r, 1);
    set_factor(counts, prior, r);
  }
}

void CollapsedMoves::set_factor(const TokenCounts& counts, const WeightPrior& prior, std::size_t r) {
  const Predictive of_weights = predictive(prior, static_cast<double>(counts.statistics.tensor[r]));
  double denominator = of_weights.under;
  for (std::size_t k = 0; k < K_; ++k) denominator *= counts.column_divisor(k, r);
  factor_[r] = of_weights.over / denominator;
}

// A component in proportion to its predictive probability of the cell. As in kernel/cpu/allocate, 16 lanes are added up
// side by side, and then the lane and its component are searched.
std::size_t CollapsedMoves::draw_component(const TokenCounts& counts, const WeightPrior& prior,
                                           const std::uint32_t* cell, double uniform) {
  double sums[lanes] = {};
  for (std::size_t b = 0; b < product_.size(); b += lanes) {
    double product[lanes];
    for (std::size_t l = 0; l < lanes; ++l) product[l] = factor_[b + l];
    for (std::size_t k = 0; k < K_; ++k) {
      const double* S = counts.S[k].row(cell[k]) + b;
      const double a = counts.inputs.shapes.dirichlet[k];
      for (std::size_t l = 0; l < lanes; ++l) product[l] *= a + S[l];
    }
    for (std::size_t l = 0; l < lanes; ++l) {
      product_[b + l] = product[l];
      sums[l] += product[l];
    }
  }
  double total = 0;
  for (const double sum : sums) total += sum;
  if (!(total > 1e-200 && total < 1e200)) return draw_in_logs(counts, prior, cell, uniform);
  double target = uniform * total;
  std::size_t lane = 0, found = 0;
  for (std::size_t l = 0; l < lanes; ++l) {
    if (!(sums[l] > 0)) continue;
    lane = l;
    if (target < sums[l]) break;
    target -= sums[l];
  }
  for (std::size_t r = lane; r < product_.size(); r += lanes) {
    if (!(product_[r] > 0)) continue;
    found = r;
    if (target < product_[r]) break;
    target -= product_[r];
  }
  return found;
}

// The same with many modes, where a product leaves the range of numbers.
std::size_t CollapsedMoves::draw_in_logs(const TokenCounts& counts, const WeightPrior& prior, const std::uint32_t* cell,
                                         double uniform) {
  double largest = -std::numeric_limits<double>::infinity(), total = 0;
  for (std::size_t r = 0; r < R_; ++r) {
    const Predictive of_weights = predictive(prior, static_cast<double>(counts.statistics.tensor[r]));
    double sum = std::log(of_weights.over / of_weights.under);
    for (std::size_t k = 0; k < K_; ++k)
      sum += std::log((counts.inputs.shapes.dirichlet[k] + counts.S[k].row(cell[k])[r]) / counts.column_divisor(k, r));
    product_[r] = sum;
    largest = std::max(largest, sum);
  }
  for (std::size_t r = 0; r < R_; ++r) total += product_[r] = std::exp(product_[r] - largest);
  double target = uniform * total;
  std::size_t r = 0;
  while (r + 1 < R_ && (target -= product_[r]) >= 0) ++r;
  return r;
}

}  // namespace ztp
