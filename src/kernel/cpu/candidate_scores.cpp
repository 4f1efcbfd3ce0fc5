#include "kernel/cpu/candidate_scores.hpp"

#include <algorithm>

namespace ztp::cpu {
namespace {

constexpr std::size_t bytes_for_draws = std::size_t{64} << 20;

std::size_t multiple(std::size_t value, std::size_t of) {
  return (value + of - 1) / of * of;
}

}  // namespace

RankingPlan plan_ranking(std::size_t entities, std::size_t columns, std::size_t queries, std::size_t draws,
                         std::size_t memory, bool logits) {
  const std::size_t row = multiple(entities, candidates_per_panel) * sizeof(float),
                    weights = (columns + 1) * sizeof(float);
  RankingPlan plan;
  plan.queries = memory / ((logits ? 2 : 1) * row + weights) / queries_per_tile * queries_per_tile;
  plan.queries = std::clamp(plan.queries, queries_per_tile, multiple(queries, queries_per_tile));
  plan.draws = std::clamp<std::size_t>(bytes_for_draws / (row * columns + plan.queries * weights), 1, draws);
  return plan;
}

CandidateScores::CandidateScores(const FactorLayout& layout, CandidateSettings settings, Pool& pool)
    : n_(layout.size_of_mode(settings.mode).rows),
      P_(layout.size_of_mode(settings.mode).columns),
      chains_(std::move(settings.chains)),
      plan_(plan_ranking(n_, P_, settings.queries, chains_.draws(), settings.memory, chains_.logits)),
      pool_(pool),
      draws_(plan_.draws),
      sums_(plan_.queries, multiple(n_, candidates_per_panel)) {
  if (chains_.logits) logits_ = Matrix<float>(sums_.rows(), sums_.columns());
  for (Draw& draw : draws_) {
    draw.panels = Matrix<float>(sums_.columns() / candidates_per_panel * P_, candidates_per_panel);
    draw.weights.resize(plan_.queries * P_);
    draw.scale.resize(plan_.queries);
  }
}

void CandidateScores::begin(const QueryBatch& batch) {
  batch_ = batch;
  held_ = added_ = chain_ = 0;
  for (Matrix<float>* scores : {&sums_, &logits_})
    for (std::size_t b = 0; b < batch.count && scores->rows() > 0; ++b)
      std::fill(scores->row(b), scores->row(b) + scores->columns(), 0.0f);
}

void CandidateScores::pack_weights(const State& state, OpenRates rates, std::size_t b, Draw& draw) const {
  ColumnRates packed{std::vector<float>(P_, 0.0f), 0};  // of the queries that fill up a tile
  if (b < batch_.count) {
    const std::uint32_t* other = batch_.others + b * (state.layout.modes() - 1);
    std::vector<float> row(state.layout.most_columns());
    for (std::size_t k = 0; k < state.layout.modes(); ++k) {
      if (k == batch_.mode) continue;
      state.of_mode(k).read({*other, *other + 1}, row.data());
      ++other;
      rates.give(k, row.data());
    }
    packed = rates.columns(batch_.mode);
  }
  float* weights = draw.weights.data() + b / queries_per_tile * P_ * queries_per_tile + b % queries_per_tile;
  for (std::size_t q = 0; q < P_; ++q) weights[q * queries_per_tile] = packed.weight[q];
  draw.scale[b] = static_cast<float>(packed.scale);
}

void CandidateScores::add(const State& state) {
  Draw& draw = draws_[held_++];
  const std::size_t panels = sums_.columns() / candidates_per_panel;
  pool_.for_blocks(
      panels, [&](std::size_t panel) { pack_panel(state.of_mode(batch_.mode), panel, draw.panels.row(panel * P_)); });
  const OpenRates rates(state.layout, state.tensor.log_weight);
  const Blocks blocks{multiple(batch_.count, queries_per_tile), 64};
  pool_.for_blocks(blocks.count(), [&](std::size_t block) {
    for (std::size_t b = blocks.begin(block); b < blocks.end(block); ++b) pack_weights(state, rates, b, draw);
  });
  const bool last_of_chain = ++added_ == chains_.end[chain_];
  if (held_ == draws_.size() || last_of_chain) sum_up();
  if (last_of_chain && chains_.logits) end_chain();
  if (last_of_chain) ++chain_;
}

void CandidateScores::end_chain() {
  const std::size_t first = chain_ == 0 ? 0 : chains_.end[chain_ - 1];
  const double draws = static_cast<double>(chains_.end[chain_] - first);
  const Blocks blocks{batch_.count, 16};
  pool_.for_blocks(blocks.count(), [&](std::size_t block) {
    for (std::size_t b = blocks.begin(block); b < blocks.end(block); ++b)
      for (std::size_t j = 0; j < sums_.columns(); ++j) {
        logits_.row(b)[j] += static_cast<float>(logit_of_chain(static_cast<double>(sums_.row(b)[j]) / draws));
        sums_.row(b)[j] = 0;
      }
  });
}

std::vector<std::vector<TiedOnes>> CandidateScores::standings() {
  std::vector<std::vector<TiedOnes>> result(batch_.count);
  const Blocks blocks{batch_.count, 16};
  pool_.for_blocks(blocks.count(), [&](std::size_t block) {
    for (std::size_t b = blocks.begin(block); b < blocks.end(block); ++b)
      result[b] = tied_ones({of(b), n_}, batch_.tests.of(b), batch_.known.of(b));
  });
  return result;
}

void CandidateScores::sum_up() {
  std::vector<CandidateDraw> held;
  for (std::size_t d = 0; d < held_; ++d)
    held.push_back({draws_[d].panels.row(0), draws_[d].weights.data(), draws_[d].scale.data()});
  held_ = 0;
  add_probabilities(pool_, held, P_, multiple(batch_.count, queries_per_tile) / queries_per_tile, sums_);
}

}  // namespace ztp::cpu
