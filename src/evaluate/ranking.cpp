#include "evaluate/ranking.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace ztp {
namespace {

constexpr float dropped = -std::numeric_limits<float>::infinity();

constexpr RankingField fields_of_ranking[] = {
    {"ranks", "ranks", 0, &RankingMetrics::ranks},
    {"mrr", "MRR", 4, &RankingMetrics::mrr},
    {"mean_rank", "mean rank", 1, &RankingMetrics::mean_rank},
    {"hits", "Hits", 4, &RankingMetrics::hits},
    {"queries", "queries", 0, &RankingMetrics::queries},
    {"recall", "recall", 4, &RankingMetrics::recall},
    {"ndcg", "NDCG", 4, &RankingMetrics::ndcg},
};

void add_each(std::vector<double>& sums, const std::vector<double>& values) {
  sums.resize(values.size(), 0.0);
  for (std::size_t i = 0; i < values.size(); ++i) sums[i] += values[i];
}

std::vector<double> divided(std::vector<double> sums, std::uint64_t count) {
  for (double& sum : sums) sum /= static_cast<double>(count);
  return sums;
}

}  // namespace

std::span<const RankingField> ranking_fields() {
  return fields_of_ranking;
}

Standings::Standings(std::vector<float> of_tests) : levels_(std::move(of_tests)) {
  for (float& level : levels_) level = std::max(level, smallest_score);
  std::sort(levels_.begin(), levels_.end(), std::greater<>());
  std::size_t distinct = 0;
  for (const float level : levels_) {
    if (distinct == 0 || level != levels_[distinct - 1]) {
      levels_[distinct++] = level;
      groups_.emplace_back();
    }
    ++groups_.back().ones;
  }
  levels_.resize(distinct);
}

void Standings::add(std::span<float> score, std::size_t first, std::span<const std::uint32_t> tests,
                    std::span<const std::uint32_t> known) {
  for (const std::span<const std::uint32_t> list : {tests, known})
    for (auto j = std::lower_bound(list.begin(), list.end(), first); j != list.end() && *j < first + score.size(); ++j)
      score[*j - first] = dropped;
  for (const float of_entity : score) {
    if (of_entity == dropped) continue;
    const float value = std::max(of_entity, smallest_score);
    if (value < levels_.back()) continue;
    const auto level = std::lower_bound(levels_.begin(), levels_.end(), value, std::greater<>());
    TiedOnes& group = groups_[static_cast<std::size_t>(level - levels_.begin())];
    ++(value > *level ? group.above : group.equal);
  }
}

std::vector<TiedOnes> Standings::finish() {
  for (std::size_t i = 1; i < groups_.size(); ++i) groups_[i].above += groups_[i - 1].above + groups_[i - 1].equal;
  return std::move(groups_);
}

std::vector<TiedOnes> tied_ones(std::span<float> score, std::span<const std::uint32_t> tests,
                                std::span<const std::uint32_t> known) {
  std::vector<float> of_tests;
  for (const std::uint32_t j : tests) of_tests.push_back(score[j]);
  Standings standings(std::move(of_tests));
  standings.add(score, 0, tests, known);
  return standings.finish();
}

std::vector<TiedOnes> tied_ones(std::vector<OnePlace> places) {
  std::sort(places.begin(), places.end(), [](const OnePlace& a, const OnePlace& b) { return a.score > b.score; });
  std::vector<TiedOnes> groups;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (i == 0 || places[i].score != places[i - 1].score) groups.push_back({0, places[i].above, places[i].equal});
    ++groups.back().ones;
  }
  return groups;
}

void RankingSums::add(const RankingSums& other) {
  ranks += other.ranks;
  queries += other.queries;
  reciprocal += other.reciprocal;
  rank += other.rank;
  add_each(hits, other.hits);
  add_each(recall, other.recall);
  add_each(ndcg, other.ndcg);
}

RankingMetrics RankingSums::means() const {
  RankingMetrics result;
  result.ranks = ranks;
  result.queries = queries;
  result.mrr = reciprocal / static_cast<double>(ranks);
  result.mean_rank = rank / static_cast<double>(ranks);
  result.hits = divided(hits, ranks);
  result.recall = divided(recall, queries);
  result.ndcg = divided(ndcg, queries);
  return result;
}

RankingMeter::RankingMeter(std::vector<std::uint32_t> at) : at_(std::move(at)), gain_{0.0} {
  const std::uint32_t most = at_.empty() ? 0 : *std::max_element(at_.begin(), at_.end());
  for (std::uint32_t p = 1; p <= most; ++p) gain_.push_back(gain_.back() + 1 / std::log2(1.0 + p));
}

RankingSums RankingMeter::query(std::span<const TiedOnes> groups) const {
  RankingSums sums;
  sums.queries = 1;
  for (std::vector<double>* values : {&sums.hits, &sums.recall, &sums.ndcg}) values->assign(at_.size(), 0.0);
  std::uint64_t better_ones = 0;
  for (const TiedOnes& group : groups) {
    const double ones = static_cast<double>(group.ones);
    const double rank = 1 + static_cast<double>(group.above) + static_cast<double>(group.equal) / 2;  // (M30)
    sums.reciprocal += ones / rank;
    sums.rank += ones * rank;
    const std::uint64_t before = group.above + better_ones, size = group.equal + group.ones;
    for (std::size_t i = 0; i < at_.size(); ++i) {
      const std::uint64_t k = at_[i];
      if (rank <= static_cast<double>(k)) sums.hits[i] += ones;
      // In random order each of these places has a test one with probability ones / size.            (M31)
      const std::uint64_t begin = std::min(before, k), end = std::min(before + size, k);
      const double share = ones / static_cast<double>(size);
      sums.recall[i] += share * static_cast<double>(end - begin);
      sums.ndcg[i] += share * (gain_[end] - gain_[begin]);
    }
    better_ones += group.ones;
  }
  sums.ranks = better_ones;
  for (std::size_t i = 0; i < at_.size(); ++i) {
    sums.recall[i] /= static_cast<double>(better_ones);
    sums.ndcg[i] /= gain_[std::min<std::uint64_t>(at_[i], better_ones)];
  }
  return sums;
}

}  // namespace ztp
