#include "posterior/candidate_scores.hpp"

#include <algorithm>
#include <cmath>

#include "posterior/posterior_impl.hpp"

namespace ztp {

using cpu::candidates_per_panel, cpu::queries_per_tile;

namespace {

constexpr std::size_t bytes_for_draws = std::size_t{64} << 20;

std::size_t multiple(std::size_t value, std::size_t of) {
  return (value + of - 1) / of * of;
}

}  // namespace

RankingPlan plan_ranking(std::size_t entities, std::size_t R, std::size_t queries, std::size_t draws,
                         std::size_t memory) {
  const std::size_t row = multiple(entities, candidates_per_panel) * sizeof(float), weights = (R + 1) * sizeof(float);
  RankingPlan plan;
  plan.queries = memory / (row + weights) / queries_per_tile * queries_per_tile;
  plan.queries = std::clamp(plan.queries, queries_per_tile, multiple(queries, queries_per_tile));
  plan.draws = std::clamp<std::size_t>(bytes_for_draws / (row * R + plan.queries * weights), 1, draws);
  return plan;
}

CandidateScores::CandidateScores(std::size_t entities, std::size_t R, const RankingPlan& plan, Pool& pool)
    : R_(R),
      pool_(pool),
      draws_(plan.draws),
      sums_(plan.queries, multiple(entities, candidates_per_panel)) {
  for (Draw& draw : draws_) {
    draw.panels = Matrix<float>(sums_.columns() / candidates_per_panel * R, candidates_per_panel);
    draw.weights.resize(plan.queries * R);
    draw.scale.resize(plan.queries);
  }
}

// lambda relative to its largest, and what all rates are multiples of: u is stored as n_k u.
CandidateScores::Base::Base(const State& state) {
  const std::vector<double>& log_weight = state.tensor.log_weight;
  const double largest = *std::max_element(log_weight.begin(), log_weight.end());
  const double shift = std::isfinite(largest) ? largest : 0;  // all weights may be zero
  for (const double value : log_weight) weight.push_back(std::exp(value - shift));
  scale = std::exp(shift);
  for (const auto& u : state.factors) scale /= static_cast<double>(u->rows());
}

void CandidateScores::begin(const Queries& queries, std::size_t first, std::size_t count) {
  queries_ = &queries;
  first_ = first;
  count_ = count;
  held_ = 0;
  for (std::size_t b = 0; b < count; ++b) std::fill(sums_.row(b), sums_.row(b) + sums_.columns(), 0.0f);
}

// The rate of an entity with factors u is scale sum_r weight[r] u[r], and the largest weight one: floats hold what matters.   (M2)
void CandidateScores::pack_weights(const State& state, const Base& base, std::size_t b, Draw& draw) const {
  std::vector<double> weight = b < count_ ? base.weight : std::vector<double>(R_, 0.0);
  const std::uint32_t* other = b < count_ ? queries_->others(first_ + b) : nullptr;
  std::vector<float> row(R_);
  for (std::size_t k = 0; k < state.layout.modes() && other != nullptr; ++k) {
    if (k == queries_->mode()) continue;
    state.of_mode(k).read({*other, *other + 1}, row.data());
    ++other;
    for (std::size_t r = 0; r < R_; ++r) weight[r] *= static_cast<double>(row[r]);
  }
  double largest = 0;
  for (const double value : weight) largest = std::max(largest, std::abs(value));
  float* packed = draw.weights.data() + b / queries_per_tile * R_ * queries_per_tile + b % queries_per_tile;
  for (std::size_t r = 0; r < R_; ++r)
    packed[r * queries_per_tile] = largest > 0 ? static_cast<float>(weight[r] / largest) : 0.0f;
  draw.scale[b] = static_cast<float>(largest * base.scale);
}

void CandidateScores::add(const State& state) {
  Draw& draw = draws_[held_++];
  const std::size_t panels = sums_.columns() / candidates_per_panel;
  pool_.for_blocks(
      panels, [&](std::size_t panel) { cpu::pack_panel(state.of_mode(queries_->mode()), panel, draw.panels.row(panel * R_)); });
  const Base base(state);
  const Blocks blocks{multiple(count_, queries_per_tile), 64};
  pool_.for_blocks(blocks.count(), [&](std::size_t block) {
    for (std::size_t b = blocks.begin(block); b < blocks.end(block); ++b) pack_weights(state, base, b, draw);
  });
  if (held_ == draws_.size()) flush();
}

void CandidateScores::finish() {
  if (held_ > 0) flush();
}

void CandidateScores::flush() {
  std::vector<cpu::CandidateDraw> held;
  for (std::size_t d = 0; d < held_; ++d)
    held.push_back({draws_[d].panels.row(0), draws_[d].weights.data(), draws_[d].scale.data()});
  held_ = 0;
  cpu::add_probabilities(pool_, held, R_, multiple(count_, queries_per_tile) / queries_per_tile, sums_);
}

}  // namespace ztp
