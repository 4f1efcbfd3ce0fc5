#include "rank_band.hpp"

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <cmath>

namespace ztp::test {

RankBand::RankBand(std::size_t N, std::size_t L) : N_(N), L_(L), log_factorial_(N + 1, 0.0), pointwise_(L) {
  for (std::size_t i = 1; i <= N; ++i) log_factorial_[i] = log_factorial_[i - 1] + std::log(static_cast<double>(i));
  for (std::size_t j = 0; j < L; ++j) {
    const boost::math::binomial law(static_cast<double>(N), static_cast<double>(j + 1) / static_cast<double>(L + 1));
    for (std::size_t h = 0; h <= N; ++h) {
      const double below = boost::math::cdf(law, static_cast<double>(h));
      const double above = h == 0 ? 1 : boost::math::cdf(boost::math::complement(law, static_cast<double>(h) - 1));
      pointwise_[j].push_back(std::min(1.0, 2 * std::min(below, above)));
    }
  }
}

double RankBand::smallest_pointwise(const std::vector<std::size_t>& counts) const {
  double smallest = 1;
  for (std::size_t j = 0, h = 0; j < L_; ++j) {
    h += counts[j];
    smallest = std::min(smallest, pointwise_[j][h]);
  }
  return smallest;
}

std::pair<std::size_t, std::size_t> RankBand::limits(std::size_t j, double gamma) const {
  std::size_t low = 0, high = N_;
  while (low < N_ && pointwise_[j][low] <= gamma) ++low;
  while (high > low && pointwise_[j][high] <= gamma) --high;
  return {low, high};
}

double RankBand::simultaneous(double gamma) const {
  std::size_t low = 0;
  std::vector<double> now = {1.0};  // P(H_(j-1) = low + i, within the limits so far), with H_(-1) = 0
  for (std::size_t j = 0; j < L_; ++j) {
    const auto [next_low, next_high] = limits(j, gamma);
    if (pointwise_[j][next_low] <= gamma) return 1;  // nothing is within
    const double hit = 1 / static_cast<double>(L_ + 1 - j), log_hit = std::log(hit), log_not = std::log1p(-hit);
    std::vector<double> next(next_high - next_low + 1, 0.0);
    for (std::size_t i = 0; i < now.size(); ++i) {
      const std::size_t from = low + i, left = N_ - from;
      for (std::size_t to = std::max(from, next_low); to <= next_high; ++to)
        next[to - next_low] +=
            now[i] * std::exp(log_factorial_[left] - log_factorial_[to - from] - log_factorial_[N_ - to] +
                              static_cast<double>(to - from) * log_hit + static_cast<double>(N_ - to) * log_not);
    }
    low = next_low;
    now = std::move(next);
  }
  double inside = 0;
  for (const double p : now) inside += p;
  return std::max(0.0, 1 - inside);
}

double RankBand::gamma_of(double level) const {
  double low = level / static_cast<double>(L_), high = level;
  while (high > 1.01 * low) {
    const double middle = std::sqrt(low * high);
    (simultaneous(middle) <= level ? low : high) = middle;
  }
  return low;
}

}  // namespace ztp::test
