#include "sampler/split_merge.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ztp {
namespace {

constexpr int launch_scans = 2;  // restricted Gibbs scans before the one whose probability counts
constexpr std::size_t fewest_proposals = 8;
constexpr double tokens_looked_at = 0.5;  // in one run, on average and at most, as a part of all

// A sum of logarithms as a product that is logged only when it leaves a safe range.
class LogProduct {
 public:
  void multiply(double x) {
    if (!(x > 1e-150 && x < 1e150)) {
      sum_ += std::log(x);
      return;
    }
    product_ *= x;
    if (product_ > 1e-150 && product_ < 1e150) return;
    sum_ += std::log(product_);
    product_ = 1;
  }
  double log() const { return sum_ + std::log(product_); }

 private:
  double product_ = 1, sum_ = 0;
};

}  // namespace

SplitMerge::SplitMerge(const SparseTensor& tensor, std::size_t R) : R_(R), K_(tensor.order()), members_(R) {
  for (const Mode& mode : tensor.modes) value_.emplace_back(mode.labels.size());
}

// How many proposals are made, and which are dropped for their size, may depend on the number of tokens and of
// components that there could be, but not on how the tokens are grouped now: it would favour some groupings.
void SplitMerge::run(TokenCounts& counts, const WeightPrior& prior, Stream stream) {
  const Tokens& tokens = counts.tokens;
  if (tokens.size() < 2 || !products_stay_in_range(counts)) return;
  load(tokens);
  const std::size_t proposals = std::max(fewest_proposals, R_);
  const double budget = tokens_looked_at * static_cast<double>(tokens.size()) / static_cast<double>(proposals);
  for (std::size_t p = 0; p < proposals; ++p) propose(counts, prior, stream, budget);
}

// With very many modes a product of (M22) could leave the range of a double. That is judged by what the moves do not
// change.
bool SplitMerge::products_stay_in_range(const TokenCounts& counts) const {
  double log_range = 0;
  for (std::size_t k = 0; k < K_; ++k) {
    double all = 0;
    for (std::size_t r = 0; r < R_; ++r)
      all += static_cast<double>(counts.statistics.tensor[r] + counts.inputs.network_ends[k][r]);
    const double a = counts.inputs.shapes.dirichlet[k];
    log_range += std::log(1 + static_cast<double>(value_[k].size()) * a + all) + std::max(0.0, -std::log(a));
  }
  return log_range < 650;
}

void SplitMerge::load(const Tokens& tokens) {
  for (auto& members : members_) members.clear();
  place_.resize(tokens.size());
  for (std::uint32_t token = 0; token < tokens.size(); ++token) {
    auto& members = members_[tokens.component[token]];
    place_[token] = static_cast<std::uint32_t>(members.size());
    members.push_back(token);
  }
  occupied_ = static_cast<std::size_t>(
      std::count_if(members_.begin(), members_.end(), [](const auto& members) { return !members.empty(); }));
}

// Two different tokens. The second is any; the first is any, or any of a component that is: so that small ones get
// their turn.
std::pair<std::uint32_t, std::uint32_t> SplitMerge::pick(Stream& stream, std::size_t tokens, bool by_component) const {
  std::uint32_t i = 0;
  if (by_component) {
    const auto& members = members_[nth_component(stream.below(occupied_), true)];
    i = members[stream.below(members.size())];
  } else {
    i = static_cast<std::uint32_t>(stream.below(tokens));
  }
  const std::uint32_t j = static_cast<std::uint32_t>(stream.below(tokens - 1));
  return {i, j < i ? j : j + 1};
}

std::size_t SplitMerge::nth_component(std::size_t n, bool with_tokens) const {
  std::size_t r = 0;
  while (members_[r].empty() == with_tokens || n-- > 0) ++r;
  return r;
}

// Two tokens of one component: a split that parts them is proposed; of two: their merger. The launch state depends on
// the two tokens and on the set of the others, never on who is where, so the probability of the last scan is that of
// the proposal.
void SplitMerge::propose(TokenCounts& counts, const WeightPrior& prior, Stream& stream, double budget) {
  const bool by_component = stream.uniform() < 0.5;
  const auto [i, j] = pick(stream, counts.tokens.size(), by_component);
  r_ = counts.tokens.component[i];
  s_ = counts.tokens.component[j];
  const bool split = r_ == s_;
  if (split) {
    if (occupied_ == R_) return;
    s_ = nth_component(stream.below(R_ - occupied_), false);
  }
  // Large components are looked at less often, so that all are looked at equally. The size is the same for the move
  // back.
  const double size = static_cast<double>(members_[r_].size() + members_[s_].size());
  if (stream.uniform() * size > budget) return;
  gather(counts, i, j, stream);
  const std::vector<Side> now = side_;
  fill_factors(counts, prior);
  take_all_out(counts);
  launch(stream);
  const double log_q = scan(stream, split ? nullptr : &now);
  take_all_out(counts);
  // As the split sees it: pi(split) / pi(merged) * P(merger proposed) / P(split proposed), (M23)
  const double occupied_before = static_cast<double>(occupied_ - (split ? 0 : 1));
  SplitTerms terms{log_ratio(), std::log(static_cast<double>(R_) - occupied_before), log_q, 0};
  if (by_component) {
    const double all = static_cast<double>(tokens_.size()), left_size = static_cast<double>(size_[left]);
    terms.pick = std::log(occupied_before * all / ((occupied_before + 1) * left_size));
  }
  const double log_accept = log_acceptance(terms);
  if (!(std::log(stream.uniform()) < (split ? log_accept : -log_accept))) return;
  for (std::size_t t = 0; t < tokens_.size(); ++t)
    if (side_[t] == right) move(counts, tokens_[t], split ? s_ : r_);
}

// tokens_, cells_ and side_: i, j and all others of the two components, shuffled.
void SplitMerge::gather(const TokenCounts& counts, std::uint32_t i, std::uint32_t j, Stream& stream) {
  tokens_.assign({i, j});
  for (const std::size_t component : {r_, s_})
    for (const std::uint32_t token : members_[component])
      if (token != i && token != j) tokens_.push_back(token);
  for (std::size_t t = tokens_.size(); t > 3; --t) std::swap(tokens_[t - 1], tokens_[2 + stream.below(t - 2)]);
  cells_.resize(tokens_.size() * K_);
  side_.resize(tokens_.size());
  for (std::size_t t = 0; t < tokens_.size(); ++t) {
    std::copy_n(counts.cell(tokens_[t]), K_, &cells_[t * K_]);
    side_[t] = counts.tokens.component[tokens_[t]] == s_ ? right : left;
  }
  side_[1] = right;
}

// Takes all tokens out: what stays of r_ and s_ are counts that are not tokens.
void SplitMerge::take_all_out(const TokenCounts& counts) {
  size_ = {0, 0, 0};
  const auto for_each_place = [&](auto body) {
    for (std::size_t t = 0; t < tokens_.size(); ++t)
      for (std::size_t k = 0; k < K_; ++k) body(t, k, cells_[t * K_ + k]);
  };
  if (counts.inputs.only_tokens) {
    for_each_place(
        [&](std::size_t, std::size_t k, std::uint32_t j) { value_[k][j].fill(counts.inputs.shapes.dirichlet[k]); });
    return;
  }
  for_each_place([&](std::size_t, std::size_t k, std::uint32_t j) {
    const double* S = counts.S[k].row(j);
    const double a = counts.inputs.shapes.dirichlet[k], in_r = a + S[r_];
    value_[k][j] = {in_r, a + S[s_], in_r};
  });
  for_each_place([&](std::size_t t, std::size_t k, std::uint32_t j) {
    Values& value = value_[k][j];
    if (counts.tokens.component[tokens_[t]] == s_)
      value[right] -= 1;
    else
      value[left] -= 1, value[joint] -= 1;
  });
}

// (M22), all but the numerators of the product over modes, for each size that a side may have.
void SplitMerge::fill_factors(const TokenCounts& counts, const WeightPrior& prior) {
  for (const Side side : {left, right, joint}) {
    const std::size_t component = side == right ? s_ : r_;
    const double base =
        static_cast<double>(counts.statistics.tensor[component]) - static_cast<double>(members_[component].size());
    factor_[side].resize(tokens_.size() + 1);
    for (std::size_t n = 0; n <= tokens_.size(); ++n) {
      const double s = base + static_cast<double>(n);
      const Predictive of_weights = ztp::predictive(prior, s);
      double denominator = of_weights.under;
      for (std::size_t k = 0; k < K_; ++k)
        denominator *= static_cast<double>(value_[k].size()) * counts.inputs.shapes.dirichlet[k] + s +
                       static_cast<double>(counts.inputs.network_ends[k][component]);
      factor_[side][n] = of_weights.over / denominator;
    }
  }
}

double SplitMerge::predictive(std::size_t t, Side side) const {
  double product = factor_[side][size_[side]];
  for (std::size_t k = 0; k < K_; ++k) product *= value_[k][cells_[t * K_ + k]][side];
  return product;
}

void SplitMerge::put(std::size_t t, Side side) {
  for (std::size_t k = 0; k < K_; ++k) value_[k][cells_[t * K_ + k]][side] += 1;
  ++size_[side];
}

void SplitMerge::take(std::size_t t, Side side) {
  for (std::size_t k = 0; k < K_; ++k) value_[k][cells_[t * K_ + k]][side] -= 1;
  --size_[side];
}

// One token after the other, given those before it, and then some restricted Gibbs scans.
void SplitMerge::launch(Stream& stream) {
  put(0, left);
  put(1, right);
  for (std::size_t t = 2; t < tokens_.size(); ++t) {
    const double in_left = predictive(t, left), in_right = predictive(t, right);
    side_[t] = stream.uniform() * (in_left + in_right) < in_left ? left : right;
    put(t, side_[t]);
  }
  for (int i = 0; i < launch_scans; ++i) scan(stream, nullptr);
}

// One restricted Gibbs scan, free or to a given end. Returns its log-probability.
double SplitMerge::scan(Stream& stream, const std::vector<Side>* forced) {
  LogProduct q;
  for (std::size_t t = 2; t < tokens_.size(); ++t) {
    take(t, side_[t]);
    const double in_left = predictive(t, left), in_right = predictive(t, right), sum = in_left + in_right;
    if (forced != nullptr)
      side_[t] = (*forced)[t];
    else
      side_[t] = stream.uniform() * sum < in_left ? left : right;
    q.multiply((side_[t] == left ? in_left : in_right) / sum);
    put(t, side_[t]);
  }
  return q.log();
}

// log of pi(tokens on two sides) / pi(all on one), adding one token after the other.
double SplitMerge::log_ratio() {
  LogProduct ratio;
  for (std::size_t t = 0; t < tokens_.size(); ++t) {
    ratio.multiply(predictive(t, side_[t]) / predictive(t, joint));
    put(t, side_[t]);
    put(t, joint);
  }
  return ratio.log();
}

void SplitMerge::move(TokenCounts& counts, std::uint32_t token, std::size_t to) {
  const std::size_t from = counts.tokens.component[token];
  if (from == to) return;
  auto &source = members_[from], &target = members_[to];
  place_[source.back()] = place_[token];
  source[place_[token]] = source.back();
  source.pop_back();
  occupied_ = occupied_ + target.empty() - source.empty();
  place_[token] = static_cast<std::uint32_t>(target.size());
  target.push_back(token);
  counts.tokens.component[token] = static_cast<std::uint32_t>(to);
  counts.change(counts.cell(token), from, -1);
  counts.change(counts.cell(token), to, 1);
}

}  // namespace ztp
