#include "sampler/split_merge.hpp"

#include <algorithm>
#include <cmath>

namespace ztp {
namespace {

constexpr int launch_scans = 3;  // restricted Gibbs scans before the one whose probability counts

}  // namespace

SplitMerge::SplitMerge(const SparseTensor& tensor, const Hyperparameters& hyper, std::size_t R)
    : tensor_(tensor), hyper_(hyper), R_(R), K_(tensor.order()), members_(R) {
  for (const Mode& mode : tensor.modes) value_.emplace_back(mode.labels.size());
  for (Sizes& sizes : sizes_) sizes.columns.resize(K_);
}

SplitMerge::Outcome SplitMerge::run(const Allocation& allocation, const Shapes& shapes, std::size_t proposals,
                                    StreamKey key, std::uint32_t sweep, bool only_tokens, Statistics& statistics,
                                    const std::vector<std::vector<std::int64_t>>& network_ends) {
  shapes_ = &shapes;
  statistics_ = &statistics;
  network_ends_ = &network_ends;
  only_tokens_ = only_tokens;
  load(allocation);
  Outcome outcome;
  if (entry_.size() < 2) return outcome;
  Stream stream(key, sweep, 0);
  for (std::size_t p = 0; p < proposals; ++p) {
    const std::size_t before = occupied_;
    propose(stream);
    outcome.splits += occupied_ > before;
    outcome.merges += occupied_ < before;
  }
  return outcome;
}

void SplitMerge::load(const Allocation& allocation) {
  entry_.clear();
  component_.clear();
  place_.clear();
  for (auto& members : members_) members.clear();
  for (const auto& block : allocation)
    for (const Part& part : block)
      for (std::uint32_t unit = 0; unit < part.count; ++unit) {
        place_.push_back(static_cast<std::uint32_t>(members_[part.component].size()));
        members_[part.component].push_back(static_cast<std::uint32_t>(entry_.size()));
        entry_.push_back(part.entry);
        component_.push_back(part.component);
      }
  occupied_ = static_cast<std::size_t>(
      std::count_if(members_.begin(), members_.end(), [](const auto& members) { return !members.empty(); }));
}

// Two tokens at random: of one component, a split that parts them is proposed; of two, their merger. The launch state depends on
// the two tokens and the set of the others alone, never on who is where, so the last scan's probability is that of the proposal.
bool SplitMerge::propose(Stream& stream) {
  const std::uint32_t i = static_cast<std::uint32_t>(stream.below(entry_.size()));
  std::uint32_t j = static_cast<std::uint32_t>(stream.below(entry_.size() - 1));
  if (j >= i) ++j;
  const std::size_t r = component_[i];
  const bool split = component_[j] == r;
  std::size_t s = component_[j];
  if (split) {
    if (occupied_ == R_) return false;
    std::size_t skip = stream.below(R_ - occupied_);  // the new component is any of those without tokens
    for (s = 0;; ++s)
      if (members_[s].empty() && skip-- == 0) break;
  }
  gather(i, j, r, s, stream);
  std::vector<std::uint8_t> actual;
  if (!split)
    for (const std::uint32_t token : tokens_) actual.push_back(component_[token] == s ? right : left);
  reset(r, s);
  put(i, left, 1);
  put(j, right, 1);
  launch(stream);
  const double log_q = scan(stream, split ? nullptr : &actual);
  reset(r, s);
  const double empties = static_cast<double>(R_ - occupied_ + (split ? 0 : 1));  // as seen by the split
  const double log_split = log_ratio(i, j) + std::log(empties) - log_q;
  if (std::log(stream.uniform()) >= (split ? log_split : -log_split)) return false;
  if (split) {
    move(j, s);
    for (std::size_t t = 0; t < tokens_.size(); ++t)
      if (side_[t] == right) move(tokens_[t], s);
  } else {
    move(j, r);
    for (std::size_t t = 0; t < tokens_.size(); ++t)
      if (side_[t] == right) move(tokens_[t], r);
  }
  return true;
}

// tokens_: those of components r and s without i and j, shuffled: their order does not tell where they are.
void SplitMerge::gather(std::uint32_t i, std::uint32_t j, std::size_t r, std::size_t s, Stream& stream) {
  tokens_.clear();
  for (const std::size_t component : {r, s})
    for (const std::uint32_t token : members_[component])
      if (token != i && token != j) tokens_.push_back(token);
  for (std::size_t t = tokens_.size(); t > 1; --t) std::swap(tokens_[t - 1], tokens_[stream.below(t)]);
  side_.assign(tokens_.size(), left);
}

// Takes all tokens of the proposal out: what is left of components r (left, joint) and s (right) are counts that are not tokens.
void SplitMerge::reset(std::size_t r, std::size_t s) {
  const auto base = [&](std::size_t component) {
    return static_cast<double>(statistics_->tensor[component] - static_cast<std::int64_t>(members_[component].size()));
  };
  for (std::size_t side = left; side <= joint; ++side) {
    const std::size_t component = side == right ? s : r;
    Sizes& sizes = sizes_[side];
    sizes.tokens = 0;
    sizes.base = base(component);
    for (std::size_t k = 0; k < K_; ++k)
      sizes.columns[k] = static_cast<double>(value_[k].size()) * shapes_->dirichlet[k] + sizes.base +
                         static_cast<double>((*network_ends_)[k][component]);
  }
  const auto for_each_place = [&](auto body) {
    for (const std::size_t component : {r, s})
      for (const std::uint32_t token : members_[component])
        for (std::size_t k = 0; k < K_; ++k) body(k, tensor_.cell(entry_[token])[k], component);
  };
  if (only_tokens_) {
    for_each_place([&](std::size_t k, std::uint32_t row, std::size_t) { value_[k][row].fill(shapes_->dirichlet[k]); });
    return;
  }
  for_each_place([&](std::size_t k, std::uint32_t row, std::size_t) {
    const std::int64_t* S = statistics_->rows[k].row(row);
    const double a = shapes_->dirichlet[k];
    value_[k][row] = {a + static_cast<double>(S[r]), a + static_cast<double>(S[s]), a + static_cast<double>(S[r])};
  });
  for_each_place([&](std::size_t k, std::uint32_t row, std::size_t component) {
    if (component == s) value_[k][row][right] -= 1;
    if (component == r) value_[k][row][left] -= 1, value_[k][row][joint] -= 1;
  });
}

// What all tokens share of the probability that the next one belongs to this side.
double SplitMerge::factor(int side) const {
  const Sizes& sizes = sizes_[static_cast<std::size_t>(side)];
  const WeightPrior& prior = hyper_.tensor;
  const double count = sizes.base + sizes.tokens;
  double denominator = prior.concentration + shapes_->tensor + count;
  for (std::size_t k = 0; k < K_; ++k) denominator *= sizes.columns[k] + sizes.tokens;
  return (shapes_->tensor + count) * (prior.concentration * prior.mean + count) / denominator;
}

double SplitMerge::predictive(std::uint32_t token, int side) const {
  double product = factor(side);
  const std::uint32_t* cell = tensor_.cell(entry_[token]);
  for (std::size_t k = 0; k < K_; ++k) product *= value_[k][cell[k]][static_cast<std::size_t>(side)];
  return product;
}

void SplitMerge::put(std::uint32_t token, int side, double count) {
  const std::uint32_t* cell = tensor_.cell(entry_[token]);
  for (std::size_t k = 0; k < K_; ++k) value_[k][cell[k]][static_cast<std::size_t>(side)] += count;
  sizes_[static_cast<std::size_t>(side)].tokens += count;
}

void SplitMerge::launch(Stream& stream) {
  for (std::size_t t = 0; t < tokens_.size(); ++t) {
    const double a = predictive(tokens_[t], left), b = predictive(tokens_[t], right);
    side_[t] = stream.uniform() * (a + b) < a ? left : right;
    put(tokens_[t], side_[t], 1);
  }
  for (int i = 0; i < launch_scans; ++i) scan(stream, nullptr);
}

// One restricted Gibbs scan, free or to a given end. Returns its log-probability.
double SplitMerge::scan(Stream& stream, const std::vector<std::uint8_t>* forced) {
  double log_q = 0;
  for (std::size_t t = 0; t < tokens_.size(); ++t) {
    put(tokens_[t], side_[t], -1);
    const double a = predictive(tokens_[t], left), b = predictive(tokens_[t], right);
    if (forced != nullptr)
      side_[t] = (*forced)[t];
    else
      side_[t] = stream.uniform() * (a + b) < a ? left : right;
    log_q += std::log((side_[t] == left ? a : b) / (a + b));
    put(tokens_[t], side_[t], 1);
  }
  return log_q;
}

// log of (probability of the tokens on two sides / all on one), adding one token after the other.
double SplitMerge::log_ratio(std::uint32_t i, std::uint32_t j) {
  double sum = 0;
  const auto add = [&](std::uint32_t token, int side) {
    sum += std::log(predictive(token, side) / predictive(token, joint));
    put(token, side, 1);
    put(token, joint, 1);
  };
  add(i, left);
  add(j, right);
  for (std::size_t t = 0; t < tokens_.size(); ++t) add(tokens_[t], side_[t]);
  return sum;
}

void SplitMerge::move(std::uint32_t token, std::size_t to) {
  const std::size_t from = component_[token];
  if (from == to) return;
  const std::uint32_t last = members_[from].back();
  members_[from][place_[token]] = last;
  place_[last] = place_[token];
  members_[from].pop_back();
  occupied_ -= members_[from].empty();
  occupied_ += members_[to].empty();
  place_[token] = static_cast<std::uint32_t>(members_[to].size());
  members_[to].push_back(token);
  component_[token] = static_cast<std::uint32_t>(to);
  const std::uint32_t* cell = tensor_.cell(entry_[token]);
  for (std::size_t k = 0; k < K_; ++k) {
    --statistics_->rows[k].row(cell[k])[from];
    ++statistics_->rows[k].row(cell[k])[to];
  }
  --statistics_->tensor[from];
  ++statistics_->tensor[to];
  --statistics_->from_ones[from];
  ++statistics_->from_ones[to];
}

}  // namespace ztp
