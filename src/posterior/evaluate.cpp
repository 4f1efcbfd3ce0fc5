#include <algorithm>
#include <cmath>
#include <numeric>

#include "evaluate/test_design.hpp"
#include "io/read.hpp"
#include "posterior/calibration.hpp"
#include "posterior/popularity.hpp"
#include "posterior/posterior_impl.hpp"
#include "store/data.hpp"

namespace ztp {
namespace {

constexpr std::size_t cells_for_means = std::size_t{8} << 20;

// Logarithm of the Poisson probability of y at rate z.
double log_poisson(double y, double z) {
  if (z <= 0) return y > 0 ? -INFINITY : 0;
  return y * std::log(z) - z - std::lgamma(y + 1);
}

double deviance(double y, double m) {
  const double safe = std::max(m, 1e-12);
  return 2 * ((y > 0 ? y * std::log(y / safe) : 0) - y + safe);
}

}  // namespace

CountScores Posterior::Impl::score_counts(const TestCells& cells, double zero_weight) {
  const std::size_t count = cells.size(), D = draws.draws().size();
  std::vector<double> z(count), rate(count, 0.0), largest(count, -INFINITY), sum(count, 0.0);
  for_scorers(cells.coords.data(), count, [&](Scorer& scorer, std::size_t first) {
    for (std::size_t d = 0; d < D; ++d) {
      scorer.score(d, z.data() + first);
      for (std::size_t e = first; e < first + scorer.cells(); ++e) {  // log of the sum, by the largest so far
        rate[e] += z[e] / static_cast<double>(D);
        const double log_p = log_poisson(static_cast<double>(cells.counts[e]), z[e]);
        if (log_p > largest[e]) {
          sum[e] = std::isinf(largest[e]) ? 1 : sum[e] * std::exp(largest[e] - log_p) + 1;
          largest[e] = log_p;
        } else if (!std::isinf(log_p)) {
          sum[e] += std::exp(log_p - largest[e]);
        }
      }
    }
  });
  CountScores result;
  double weight = 0;
  for (std::size_t e = 0; e < count; ++e) {
    const double w = cells.counts[e] > 0 ? 1 : zero_weight, y = static_cast<double>(cells.counts[e]);
    const double log_p = std::max(largest[e] + std::log(sum[e] / static_cast<double>(D)), std::log(1e-300));
    result.log_score -= w * log_p;
    result.deviance += w * deviance(y, rate[e]);
    weight += w;
  }
  result.log_score /= weight;
  result.deviance /= weight;
  return result;
}

TestScores Posterior::Impl::score_cells(const TestCells& cells, bool own) {
  TestScores scores;
  scores.calibrated = uses_map();
  const Popularity popularity(mapped_data());
  const std::size_t K = modes.size();
  std::uint64_t ones = 0;
  for (std::size_t first = 0; first < cells.size(); first += cells_for_means) {
    const std::size_t count = std::min(cells_for_means, cells.size() - first);
    const std::uint32_t* coords = cells.coords.data() + first * K;
    const std::vector<double> combined = combined_probabilities(coords, count);
    for (std::size_t e = 0; e < count; ++e) {
      const bool one = cells.outcome[first + e] != 0;
      scores.model.add(uses_map() ? (*calibration->map)(combined[e]) : combined[e], one);
      scores.popularity.add(popularity.probability(coords + e * K), one);
      ones += one;
    }
  }
  const TestDesign design = design_of(info, own, ones, cells.size() - ones);
  scores.model.weigh_zeros(design.zero_stands_for);
  scores.popularity.weigh_zeros(design.zero_stands_for);
  if (has_counts(info.options) && !rival && cells.counts.size() == cells.size() && cells.size() > 0)
    scores.counts = score_counts(cells, design.zero_stands_for);
  return scores;
}

TestScores Posterior::Impl::score_sample() {
  const RunCalibration& sample = *calibration;
  const std::size_t K = modes.size(), cells = sample.size();
  const Popularity popularity(mapped_data());
  std::vector<double> logits(cells);
  for (std::size_t e = 0; e < cells; ++e) logits[e] = logit_of(popularity.probability(sample.coords.data() + e * K));
  std::optional<CrossFittedMap> of_popularity;
  if (uses_map())
    of_popularity = cross_fit(logits, {sample.outcome.data(), cells}, {sample.weight.data(), cells},
                              {sample.fold.data(), cells}, calibration_folds);
  TestScores scores;
  scores.calibrated = uses_map();
  const std::vector<double> combined = combined_probabilities(sample.coords.data(), cells);
  for (std::size_t e = 0; e < cells; ++e) {
    const double popular = probability_of_logit(logits[e]);
    const bool one = sample.outcome[e] != 0, tested = e < sample.tested;
    const std::size_t fold = sample.fold[e];
    scores.model.add(uses_map() ? sample.of_fold[fold](combined[e]) : combined[e], one, sample.weight[e], tested);
    scores.popularity.add(of_popularity ? of_popularity->of_fold[fold](popular) : popular, one, sample.weight[e],
                          tested);
  }
  if (has_counts(info.options)) {
    const TestCells held_out = load_test_cells(run_dir, info, modes, 0);
    const std::uint64_t ones =
        static_cast<std::uint64_t>(std::accumulate(held_out.outcome.begin(), held_out.outcome.end(), std::uint64_t{0}));
    const TestDesign design = design_of(info, true, ones, held_out.size() - ones);
    if (held_out.size() > 0) scores.counts = score_counts(held_out, design.zero_stands_for);
  }
  return scores;
}

TestScores Posterior::score_test(const std::string& file) {
  if (file.empty() && impl_->calibration) return impl_->score_sample();
  const bool counts = has_counts(impl_->info.options);
  const std::string path = file.empty() ? stored_test_file(impl_->run_dir, impl_->info) : file;
  TestCells cells;
  impl_->read_file(test_table(path, impl_->modes, counts),
                   [&](const CellBlock& block) { append_cells(block, counts, cells); });
  impl_->require_cells(path, cells.size());
  return impl_->score_cells(cells, file.empty());
}

Evaluation Posterior::evaluate(const std::string& file) {
  return Calibration(*this, score_test(file), file.empty()).metrics;
}

Evaluation Posterior::evaluate(const TestCells& cells) {
  impl_->check_cells(cells);
  return Calibration(*this, impl_->score_cells(cells, false), false).metrics;
}

}  // namespace ztp
