// Recalibration: a monotone map from probabilities to probabilities, fitted to cells whose outcomes are known.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace ztp {

// log(p / (1 - p)), for p between 1e-12 and 1 - 1e-12; beyond them, that of the nearer end.
double logit_of(double probability);
double probability_of_logit(double logit);

// On the logit scale a line with at most three bends: logit q = b0 + b1 x + sum_i b_(2+i) max(0, x - knot_i), where x
// is the logit of p. It rises everywhere.                                                                        (M59)
struct CalibrationMap {
  static constexpr std::size_t most_knots = 3, most_terms = most_knots + 2;
  using Terms = std::array<double, most_terms>;

  std::uint64_t knots = 0;                     // how many
  std::array<double, most_knots> knot{};       // ascending
  Terms b{0, 1};                               // those of absent knots are 0
  std::array<Terms, most_terms> covariance{};  // of the estimates b

  std::size_t terms() const { return knots + 2; }
  double intercept() const { return b[0]; }
  double slope() const { return b[1]; }  // before the first knot
  double operator()(double probability) const;
};

// Both by weighted logistic regression of outcomes (0 or 1), with Newton's method. Variances are those of the sandwich
// estimator, since weights are not counts. Nothing without ones or without zeros.
// The straight line, whose slope may be negative. Nothing also, if a threshold separates ones from zeros.
std::optional<CalibrationMap> fit_line(std::span<const double> logits, std::span<const std::uint8_t> outcomes,
                                       std::span<const double> weights);
// The map above, with a weak prior centred on the identity map, and with knots at quantiles of the logits of the ones:
// a bend for the upper half, for the highest tenth and for the highest fiftieth, as far as there are enough ones. Bends
// are left out, the last first, until the map rises everywhere. Nothing, if the straight line does not rise either.
std::optional<CalibrationMap> fit_map(std::span<const double> logits, std::span<const std::uint8_t> outcomes,
                                      std::span<const double> weights);

// Cross-fitting: a map for all cells, and for each fold one that is fitted to the cells of all other folds.
struct CrossFittedMap {
  CalibrationMap map;
  std::vector<CalibrationMap> of_fold;
};
// Nothing, if one of them cannot be fitted.
std::optional<CrossFittedMap> cross_fit(std::span<const double> logits, std::span<const std::uint8_t> outcomes,
                                        std::span<const double> weights, std::span<const std::uint8_t> fold,
                                        std::size_t folds);

// A map from the normal distribution of the estimates; standard() gives a standard normal number.
CalibrationMap draw_map(const CalibrationMap& map, const std::function<double()>& standard);

}  // namespace ztp
