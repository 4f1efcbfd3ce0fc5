#include "evaluate/calibration_map.hpp"

#include <algorithm>
#include <cmath>

namespace ztp {
namespace {

constexpr int most_steps = 100;
constexpr double steepest = 1e3;       // a slope beyond it: a threshold separates ones from zeros
constexpr double ones_of_a_bend = 20;  // at least so many are above a knot
constexpr double quantiles[] = {0.5, 0.9, 0.98};
// A weak normal prior about the map that changes nothing, so that few cells cannot ruin predictions.
constexpr double prior_sd_of_intercept = 1, prior_sd_of_slopes = 0.5;

using Terms = CalibrationMap::Terms;
using Square = std::array<Terms, CalibrationMap::most_terms>;

double softplus(double x) {
  return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
}

Terms terms_at(const CalibrationMap& map, double x) {
  Terms terms{1, x};
  for (std::size_t i = 0; i < map.knots; ++i) terms[2 + i] = std::max(0.0, x - map.knot[i]);
  return terms;
}

double product(const Terms& a, const Terms& b, std::size_t n) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

// Of its first n rows, by Gauss-Jordan elimination; nothing, if they are singular. They are positive definite
// otherwise, so there is no pivoting.
std::optional<Square> inverse(Square m, std::size_t n) {
  Square result{};
  for (std::size_t i = 0; i < n; ++i) result[i][i] = 1;
  for (std::size_t i = 0; i < n; ++i) {
    const double pivot = m[i][i];
    if (!(pivot > 0) || !std::isfinite(pivot)) return std::nullopt;
    for (std::size_t j = 0; j < n; ++j) {
      m[i][j] /= pivot;
      result[i][j] /= pivot;
    }
    for (std::size_t r = 0; r < n; ++r) {
      const double factor = m[r][i];
      for (std::size_t j = 0; j < n && r != i; ++j) {
        m[r][j] -= factor * m[i][j];
        result[r][j] -= factor * result[i][j];
      }
    }
  }
  return result;
}

struct Cells {
  std::span<const double> logits;
  std::span<const std::uint8_t> outcomes;
  std::span<const double> weights;
  bool prior = false;
};

struct Sums {
  double loss = 0;
  Terms gradient{};
  Square hessian{}, squares{};  // squares: of the gradients of the cells
};

double square(double x) {
  return x * x;
}

Sums sums_at(const CalibrationMap& map, const Terms& b, const Cells& cells) {
  Sums sums;
  const std::size_t n = map.terms();
  for (std::size_t e = 0; e < cells.logits.size(); ++e) {
    const double w = cells.weights[e];
    if (w == 0) continue;
    const Terms x = terms_at(map, cells.logits[e]);
    const double z = product(b, x, n), p = probability_of_logit(z), one = cells.outcomes[e];
    const double g = w * (one - p), h = w * p * (1 - p);
    sums.loss += w * (softplus(z) - one * z);
    for (std::size_t i = 0; i < n; ++i) {
      sums.gradient[i] += g * x[i];
      for (std::size_t j = 0; j <= i; ++j) {
        sums.hessian[i][j] += h * x[i] * x[j];
        sums.squares[i][j] += g * g * x[i] * x[j];
      }
    }
  }
  for (std::size_t i = 0; i < n && cells.prior; ++i) {
    const double precision = 1 / square(i == 0 ? prior_sd_of_intercept : prior_sd_of_slopes);
    const double from_prior = b[i] - (i == 1 ? 1 : 0);
    sums.loss += 0.5 * precision * square(from_prior);
    sums.gradient[i] -= precision * from_prior;
    sums.hessian[i][i] += precision;
    sums.squares[i][i] += precision;
  }
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = i + 1; j < n; ++j) {
      sums.hessian[i][j] = sums.hessian[j][i];
      sums.squares[i][j] = sums.squares[j][i];
    }
  return sums;
}

// Fits b of a map whose knots are given. False, if there is no finite estimate.
bool regress(CalibrationMap& map, const Cells& cells) {
  const std::size_t n = map.terms();
  map.b = {0, 1};
  Sums now = sums_at(map, map.b, cells);
  for (int step = 0; step < most_steps; ++step) {
    const std::optional<Square> h = inverse(now.hessian, n);
    if (!h) return false;
    Terms by{};
    double size = 0, moved = 0;
    for (std::size_t i = 0; i < n; ++i) {
      if (std::abs(map.b[i]) > steepest && i > 0) return false;
      by[i] = product((*h)[i], now.gradient, n);
      moved += std::abs(by[i]);
      size += std::abs(map.b[i]);
    }
    const auto next_at = [&](double part) {
      Terms next = map.b;
      for (std::size_t i = 0; i < n; ++i) next[i] += part * by[i];
      return next;
    };
    double part = 1;  // the loss is convex: a shorter step always improves it
    Sums next = sums_at(map, next_at(part), cells);
    while (!(next.loss <= now.loss * (1 + 1e-14)) && part > 1e-6) {
      part /= 2;
      next = sums_at(map, next_at(part), cells);
    }
    map.b = next_at(part);
    now = next;
    if (moved > 1e-9 * (1 + size) && part > 1e-6) continue;
    const std::optional<Square> last = inverse(now.hessian, n);
    if (!last) return false;
    map.covariance = {};  // the sandwich: inverse Hessian, squares, inverse Hessian
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        for (std::size_t k = 0; k < n; ++k)
          map.covariance[i][j] += (*last)[i][k] * product(now.squares[k], (*last)[j], n);
    return true;
  }
  return false;
}

bool has_both(const Cells& cells) {
  double ones = 0, zeros = 0;
  for (std::size_t e = 0; e < cells.logits.size(); ++e) (cells.outcomes[e] != 0 ? ones : zeros) += cells.weights[e];
  return ones > 0 && zeros > 0;
}

bool rises(const CalibrationMap& map) {
  double slope = map.b[1];
  if (!(slope > 0)) return false;
  for (std::size_t i = 0; i < map.knots; ++i)
    if (!((slope += map.b[2 + i]) > 0)) return false;
  return true;
}

}  // namespace

double logit_of(double probability) {
  const double p = std::clamp(probability, 1e-12, 1 - 1e-12);
  return std::log(p) - std::log1p(-p);
}

double probability_of_logit(double logit) {
  return logit >= 0 ? 1 / (1 + std::exp(-logit)) : std::exp(logit) / (1 + std::exp(logit));
}

double CalibrationMap::operator()(double probability) const {
  return probability_of_logit(product(b, terms_at(*this, logit_of(probability)), terms()));
}

std::optional<CalibrationMap> fit_line(std::span<const double> logits, std::span<const std::uint8_t> outcomes,
                                       std::span<const double> weights) {
  const Cells cells{logits, outcomes, weights};
  CalibrationMap map;
  return has_both(cells) && regress(map, cells) ? std::optional(map) : std::nullopt;
}

std::optional<CalibrationMap> fit_map(std::span<const double> logits, std::span<const std::uint8_t> outcomes,
                                      std::span<const double> weights) {
  const Cells cells{logits, outcomes, weights, true};
  if (!has_both(cells)) return std::nullopt;
  std::vector<double> of_ones;
  for (std::size_t e = 0; e < logits.size(); ++e)
    if (outcomes[e] != 0 && weights[e] > 0) of_ones.push_back(logits[e]);
  std::sort(of_ones.begin(), of_ones.end());
  CalibrationMap map;
  for (const double quantile : quantiles) {
    const double ones = static_cast<double>(of_ones.size()), knot = of_ones[static_cast<std::size_t>(quantile * ones)];
    const bool apart = map.knots == 0 || knot > map.knot[map.knots - 1];
    if (apart && ones * (1 - quantile) >= ones_of_a_bend) map.knot[map.knots++] = knot;
  }
  for (;; --map.knots) {
    if (regress(map, cells) && rises(map)) return map;
    if (map.knots == 0) return std::nullopt;
    map.knot[map.knots - 1] = 0;
  }
}

std::optional<CrossFittedMap> cross_fit(std::span<const double> logits, std::span<const std::uint8_t> outcomes,
                                        std::span<const double> weights, std::span<const std::uint8_t> fold,
                                        std::size_t folds) {
  CrossFittedMap result;
  for (std::size_t without = 0; without <= folds; ++without) {  // the last leaves nothing out
    std::vector<double> used(weights.begin(), weights.end());
    for (std::size_t e = 0; e < used.size(); ++e)
      if (fold[e] == without) used[e] = 0;
    const std::optional<CalibrationMap> map = fit_map(logits, outcomes, used);
    if (!map) return std::nullopt;
    if (without < folds)
      result.of_fold.push_back(*map);
    else
      result.map = *map;
  }
  return result;
}

CalibrationMap draw_map(const CalibrationMap& map, const std::function<double()>& standard) {
  const std::size_t n = map.terms();
  Square l{};  // Cholesky's factor of the covariance, which may be singular
  CalibrationMap drawn = map;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      const double rest = map.covariance[i][j] - product(l[i], l[j], j);
      if (i == j)
        l[i][i] = rest > 1e-12 * map.covariance[i][i] ? std::sqrt(rest) : 0;
      else
        l[i][j] = l[j][j] > 0 ? rest / l[j][j] : 0;
    }
  for (std::size_t k = 0; k < n; ++k) {
    const double z = standard();
    for (std::size_t i = k; i < n; ++i) drawn.b[i] += l[i][k] * z;
  }
  double of_map = 0, of_drawn = 0;  // slopes: at least a tenth of those of the map, so that it rises
  for (std::size_t i = 1; i < n; ++i) {
    of_map += map.b[i];
    const double slope = std::max(of_drawn + drawn.b[i], 0.1 * of_map);
    drawn.b[i] = slope - of_drawn;
    of_drawn = slope;
  }
  return drawn;
}

}  // namespace ztp
