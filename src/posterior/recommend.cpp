#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <unordered_map>

#include "posterior/cell_filter.hpp"
#include "posterior/open_candidates.hpp"
#include "posterior/posterior_impl.hpp"
#include "posterior/top_search.hpp"
#include "ztp/error.hpp"

namespace ztp {
namespace {

constexpr int most_rounds = 6;
constexpr std::size_t cells_explained = 1000;

// The score that `top` cells are known to reach: the top-th best of those that count, or nothing if there are too few.
// With a distinct mode, each of its entities counts once, with its best cell.
double score_reached(const std::vector<double>& score, const Buffer<std::uint32_t>& cells, std::size_t order,
                     std::size_t top, std::optional<std::size_t> distinct,
                     const std::function<bool(const std::uint32_t*)>& skip) {
  std::vector<double> unseen;
  std::unordered_map<std::uint32_t, std::size_t> place;  // of the entities of the distinct mode
  for (std::size_t i = 0; i < score.size(); ++i) {
    const std::uint32_t* cell = cells.data() + i * order;
    if (skip(cell)) continue;
    const std::uint32_t entity = distinct ? cell[*distinct] : static_cast<std::uint32_t>(i);
    const auto [known, is_new] = place.try_emplace(entity, unseen.size());
    if (is_new)
      unseen.push_back(score[i]);
    else
      unseen[known->second] = std::max(unseen[known->second], score[i]);
  }
  if (unseen.size() < top) return 0;
  std::nth_element(unseen.begin(), unseen.begin() + static_cast<std::ptrdiff_t>(top - 1), unseen.end(),
                   std::greater<>());
  return unseen[top - 1];
}

void check_question(const GivenEntities& given, const std::vector<Mode>& modes, std::size_t top) {
  const auto refuse = [](const std::string& what) { throw Error(ErrorKind::usage, "recommend: " + what); };
  if (given.size() != modes.size())
    refuse(fmt::format("{} modes are given or left open, but there are {}", given.size(), modes.size()));
  for (std::size_t k = 0; k < modes.size(); ++k)
    if (given[k] && *given[k] >= modes[k].labels.size())
      refuse(
          fmt::format("the id {} of mode {}, which has {} entities", *given[k], modes[k].name, modes[k].labels.size()));
  if (top == 0) refuse("ask for one cell or more");
}

}  // namespace

std::vector<ScoredCell> Posterior::Impl::top_cells(const TopQuestion& question, const Skip& skip) {
  OpenCandidates candidates(draws, chain_draws, question.given, question.excluded, room(), pool);
  if (candidates.no_cells()) return {};
  double reached = 0;
  for (int round = 0; round < most_rounds && !candidates.none_open(); ++round) {
    const Buffer<std::uint32_t> tried = candidates.promising_cells();
    const std::vector<double> scores = combined_probabilities(tried.data(), tried.size() / modes.size());
    reached = std::max(reached, score_reached(scores, tried, modes.size(), question.top, question.distinct, skip));
    if (!candidates.prune(reached)) break;
  }
  return TopSearch(candidates.take(reached), question.top, pool, question.distinct).run(skip);
}

void Posterior::recommend(const GivenEntities& given, std::size_t top,
                          const std::function<bool(const Recommendation&)>& yield, const RecommendOptions& options) {
  impl_->require_rates("recommend");
  check_question(given, impl_->modes, top);
  const std::size_t order = impl_->modes.size();
  const CellFilter filter(impl_->run_dir, impl_->info, impl_->layout, impl_->modes, given, options);
  const std::vector<ScoredCell> found = impl_->top_cells({given, top, filter.excluded(), options.distinct},
                                                         [&](const std::uint32_t* cell) { return filter.skips(cell); });
  // In portions, so that memory stays bounded however many are asked for.
  for (std::size_t first = 0; first < found.size(); first += cells_explained) {
    const std::size_t count = std::min(cells_explained, found.size() - first);
    Buffer<std::uint32_t> coords;
    for (std::size_t e = 0; e < count; ++e) coords.append(found[first + e].cell.data(), order);
    const std::vector<Prediction> predictions = predict(coords.data(), count);
    const std::vector<std::vector<Recommendation::Part>> parts = explain(coords.data(), count);
    for (std::size_t e = 0; e < count; ++e) {
      const std::vector<std::uint32_t>& cell = found[first + e].cell;
      if (!yield({cell, predictions[e], parts[e], filter.is_missing(cell.data())})) return;
    }
  }
}

std::vector<EntityRecommendation> Posterior::recommend_entities(std::size_t mode, const GivenEntities& given,
                                                                std::size_t top, const RecommendOptions& options) {
  impl_->require_rates("recommend");
  check_question(given, impl_->modes, top);
  impl_->require_mode("recommend", mode);
  const auto refuse = [](const std::string& what) { throw Error(ErrorKind::usage, "recommend: " + what); };
  if (given[mode])
    refuse(fmt::format("an entity of {} is given; only a mode that is left open can be ranked", modes()[mode].name));
  if (options.distinct) refuse("--distinct is for cells; a ranking of entities has each entity once");
  const bool sums = std::count(given.begin(), given.end(), std::nullopt) > 1;
  if (sums && impl_->options.listed < 1)
    refuse(fmt::format("--listed works for single cells only, but here each {0} has several; use --distinct {0}",
                       modes()[mode].name));
  if (sums)
    return impl_->rank_entities(mode, top,
                                CellFilter(impl_->run_dir, impl_->info, impl_->layout, impl_->modes, given, options));
  std::vector<EntityRecommendation> result;  // an entity stands for one cell
  recommend(
      given, top,
      [&](const Recommendation& item) {
        result.push_back({item.cell[mode], item.prediction, 0, 1, item.missing, item.parts});
        return true;
      },
      options);
  return result;
}

}  // namespace ztp
