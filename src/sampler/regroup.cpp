#include "sampler/regroup.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace ztp {
namespace {

// A count below 2^52 as a double, in a form that compilers make vectors of: there is no such instruction before AVX-512.
double to_double(std::int64_t count) {
  return std::bit_cast<double>(count + 0x4330000000000000) - 0x1p52;
}

std::int64_t units(const Allocation& allocation) {
  std::int64_t sum = 0;
  for (const auto& block : allocation)
    for (const Part& part : block) sum += part.count;
  return sum;
}

}  // namespace

Regroup::Regroup(const SparseTensor& tensor, const WeightPrior& prior, std::size_t R)
    : tensor_(tensor),
      prior_(prior),
      R_(R),
      K_(tensor.order()),
      split_merge_(tensor, prior, R),
      factor_(padded(R), 0.0),
      product_(padded(R)) {
  const std::int64_t counts = std::accumulate(tensor.counts.begin(), tensor.counts.end(), std::int64_t{0});
  most_tokens_ = std::max({std::int64_t{1'000'000}, 16 * static_cast<std::int64_t>(tensor.nnz()), counts});
  most_tokens_ = std::min<std::int64_t>(most_tokens_, std::numeric_limits<std::uint32_t>::max());
  for (const Mode& mode : tensor.modes) sizes_.push_back(mode.labels.size());
  // Room for at least the tokens that there are at first, written to, so that the memory is there.
  const std::size_t first_tokens =
      static_cast<std::size_t>(std::min(most_tokens_, std::max(counts, static_cast<std::int64_t>(tensor.nnz()))));
  for (auto* of_token : {&tokens_.entry, &tokens_.component}) {
    of_token->resize(first_tokens);
    of_token->clear();
  }
}

void Regroup::run(const Allocation& allocation, const SplitMerge::Given& given, const Streams& streams,
                  Statistics& statistics) {
  given_ = &given;
  statistics_ = &statistics;
  prior_.shape = given.shapes.tensor;
  if (too_many(allocation)) return;
  load(allocation, streams.at(0));
  scan(streams.at(1));
  split_merge_.run(given, streams.at(2), tokens_, statistics);
}

// More tokens than there is room for; or so many imputed counts that doubles would not tell one more from them. No move changes
// either in number.
bool Regroup::too_many(const Allocation& allocation) const {
  if (units(allocation) > most_tokens_) return true;
  double counts = 0;
  for (std::size_t r = 0; r < R_; ++r) {
    counts += static_cast<double>(statistics_->tensor[r]);
    for (std::size_t k = 0; k < K_; ++k) counts += static_cast<double>(given_->network_ends[k][r]);
  }
  return counts >= 0x1p52;
}

// The units of one cell are shuffled: the scan takes them in order, and which comes first must not depend on where they are.
void Regroup::load(const Allocation& allocation, Stream stream) {
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
void Regroup::scan(Stream stream) {
  for (std::size_t r = 0; r < R_; ++r) set_factor(r);
  for (std::size_t t = 0; t < tokens_.size(); ++t) {
    const std::uint32_t* cell = tensor_.cell(tokens_.entry[t]);
    change(cell, tokens_.component[t], -1);
    tokens_.component[t] = static_cast<std::uint32_t>(draw_component(cell, stream.uniform()));
    change(cell, tokens_.component[t], 1);
  }
}

// n_k a_k + S_r^(k): what the counts of column r of mode k are divided by.                                     (M22)
double Regroup::column_factor(std::size_t k, std::size_t r) const {
  return sizes_[k] * given_->shapes.dirichlet[k] + static_cast<double>(statistics_->tensor[r]) +
         static_cast<double>(given_->network_ends[k][r]);
}

void Regroup::set_factor(std::size_t r) {
  const Predictive of_weights = predictive(prior_, static_cast<double>(statistics_->tensor[r]));
  double denominator = of_weights.under;
  for (std::size_t k = 0; k < K_; ++k) denominator *= column_factor(k, r);
  factor_[r] = of_weights.over / denominator;
}

void Regroup::change(const std::uint32_t* cell, std::size_t r, std::int64_t by) {
  for (std::size_t k = 0; k < K_; ++k) statistics_->rows[k].row(cell[k])[r] += by;
  statistics_->tensor[r] += by;
  statistics_->from_ones[r] += by;
  set_factor(r);
}

// A component in proportion to its predictive probability of the cell. As in kernel/cpu/allocate, 16 lanes are added up side by
// side, and then the lane and its component are searched.
std::size_t Regroup::draw_component(const std::uint32_t* cell, double uniform) {
  double sums[lanes] = {};
  for (std::size_t b = 0; b < product_.size(); b += lanes) {
    double product[lanes];
    for (std::size_t l = 0; l < lanes; ++l) product[l] = factor_[b + l];
    for (std::size_t k = 0; k < K_; ++k) {
      const std::int64_t* S = statistics_->rows[k].row(cell[k]) + b;
      const double a = given_->shapes.dirichlet[k];
      for (std::size_t l = 0; l < lanes; ++l) product[l] *= a + to_double(S[l]);
    }
    for (std::size_t l = 0; l < lanes; ++l) {
      product_[b + l] = product[l];
      sums[l] += product[l];
    }
  }
  double total = 0;
  for (const double sum : sums) total += sum;
  if (!(total > 1e-200 && total < 1e200)) return draw_in_logs(cell, uniform);
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
std::size_t Regroup::draw_in_logs(const std::uint32_t* cell, double uniform) {
  double largest = -std::numeric_limits<double>::infinity(), total = 0;
  for (std::size_t r = 0; r < R_; ++r) {
    const Predictive of_weights = predictive(prior_, static_cast<double>(statistics_->tensor[r]));
    double sum = std::log(of_weights.over / of_weights.under);
    for (std::size_t k = 0; k < K_; ++k)
      sum += std::log((given_->shapes.dirichlet[k] + static_cast<double>(statistics_->rows[k].row(cell[k])[r])) /
                      column_factor(k, r));
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
