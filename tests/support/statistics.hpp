// Goodness-of-fit tests as p-values: each is uniform on (0, 1), or larger, if the draws follow the stated distribution.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace ztp::test {

// P(chi^2 >= observed), with neighbouring cells pooled until each expects at least ten. With one cell left there is
// nothing to compare, and the answer is one.
double chi_squared_p(std::span<const double> expected, std::span<const double> observed);
// The same for a statistic that was computed already.
double chi_squared_tail(double statistic, double degrees_of_freedom);

// P(D >= distance) of the one-sample Kolmogorov-Smirnov test with n draws.
inline double kolmogorov_p(double distance, double n) {
  const double x = (std::sqrt(n) + 0.12 + 0.11 / std::sqrt(n)) * distance;  // Stephens (1970)
  if (x < 0.3) return 1;
  double p = 0;
  for (int k = 1; k <= 100; ++k) p += (k % 2 == 1 ? 2 : -2) * std::exp(-2.0 * k * k * x * x);
  return std::clamp(p, 0.0, 1.0);
}

// The same for a sample. `sample` is sorted, `law` its distribution function. For
// a costly law every stride-th order statistic will do: D can only come out smaller, by at most stride / n.
template <class Law>
double kolmogorov_smirnov_p(std::span<const double> sample, Law law, std::size_t stride = 1) {
  const double n = static_cast<double>(sample.size());
  double distance = 0;
  for (std::size_t i = 0; i < sample.size(); i += stride) {
    const double u = law(sample[i]), rank = static_cast<double>(i);
    distance = std::max({distance, u - rank / n, (rank + 1) / n - u});
  }
  return kolmogorov_p(distance, n);
}

// P(at least one of `draws` draws is as far out as one whose tail has this probability).
inline double extreme_p(double tail, double draws) {
  return tail >= 1 ? 1 : -std::expm1(draws * std::log1p(-tail));
}

// Two-sided p-value of a standard normal.
inline double normal_p(double z) {
  return std::erfc(std::abs(z) / std::sqrt(2.0));
}

// Mean of a stationary series and the standard error of that mean from batches, which must be long against its
// autocorrelation. (mean - truth) / error is Student's t with batches - 1 degrees of freedom.
class BatchMeans {
 public:
  BatchMeans(std::size_t length, std::size_t batches) : per_batch_(length / batches) {}

  void add(double value) {
    sum_ += value;
    if (++held_ < per_batch_) return;
    means_.push_back(sum_ / static_cast<double>(held_));
    sum_ = 0;
    held_ = 0;
  }
  double mean() const {
    return std::accumulate(means_.begin(), means_.end(), 0.0) / static_cast<double>(means_.size());
  }
  double error() const {
    const double n = static_cast<double>(means_.size()), center = mean();
    double squares = 0;
    for (const double m : means_) squares += (m - center) * (m - center);
    return std::sqrt(squares / (n - 1) / n);
  }

 private:
  std::size_t per_batch_;
  std::size_t held_ = 0;
  double sum_ = 0;
  std::vector<double> means_;
};

// The limit that |t| passes with probability `level`, with so many batches.
double two_sided_limit(double level, std::size_t batches);

double normal_quantile_of(double p);

}  // namespace ztp::test
