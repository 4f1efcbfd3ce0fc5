#include "laws.hpp"

#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/gamma.hpp>

#include "gamma_law.hpp"

namespace ztp::test {

Discrete poisson_law(double mean) {
  return {[=](double k) { return k < 0 ? 0 : boost::math::gamma_q(k + 1, mean); },
          [=](double k) { return k < 0 ? 1 : boost::math::gamma_p(k + 1, mean); }, mean, std::sqrt(mean)};
}

Discrete part_of_a_one_law(double mean, double whole) {
  const double not_zero = -std::expm1(-whole);
  Discrete law = poisson_law(mean);
  law.above = [=](double k) { return k < 0 ? 1 : boost::math::gamma_p(k + 1, mean) / not_zero; };
  law.below = [=, above = law.above](double k) {
    if (k < 0) return 0.0;
    if (k < 1) return std::exp(-mean) * -std::expm1(mean - whole) / not_zero;
    if (mean < 1) return 1 - above(k);
    return (boost::math::gamma_q(k + 1, mean) - std::exp(-whole)) / not_zero;
  };
  return law;
}

Discrete binomial_law(std::int64_t trials, double p) {
  const double n = static_cast<double>(trials);
  if (p >= 1) return {[=](double k) { return k < n ? 0 : 1; }, [=](double k) { return k < n ? 1 : 0; }, n, 0};
  return {[=](double k) { return k < 0    ? 0
                                 : k >= n ? 1
                                          : boost::math::ibetac(k + 1, n - k, p); },
          [=](double k) { return k < 0    ? 1
                                 : k >= n ? 0
                                          : boost::math::ibeta(k + 1, n - k, p); }, n * p,
          std::sqrt(n * p * (1 - p))};
}

Tails log_gamma_law(double shape, double x) {
  if (x < -25) {
    const double below = std::exp(shape * x - std::lgamma(shape + 1)) * (1 - std::exp(x) * shape / (shape + 1));
    return {below, 1 - below};
  }
  return {boost::math::gamma_p(shape, std::exp(x)), boost::math::gamma_q(shape, std::exp(x))};
}

Tails log_odds_law(double a, double b, double x) {
  using boost::math::ibeta, boost::math::ibetac;
  const double log_beta = std::lgamma(a) + std::lgamma(b) - std::lgamma(a + b);
  if (x < -40) {
    const double below = std::exp(a * x - std::log(a) - log_beta);
    return {below, 1 - below};
  }
  if (x > 40) {
    const double above = std::exp(-b * x - std::log(b) - log_beta);
    return {1 - above, above};
  }
  const double p = 1 / (1 + std::exp(-x)), q = 1 / (1 + std::exp(x));
  return p < 0.5 ? Tails{ibeta(a, b, p), ibetac(a, b, p)} : Tails{ibetac(b, a, q), ibeta(b, a, q)};
}

double gamma_below(double shape, double x) {
  using Plain = boost::math::policies::policy<boost::math::policies::promote_double<false>>;
  return x < -25 ? log_gamma_law(shape, x).below : boost::math::gamma_p(shape, std::exp(x), Plain());
}

}  // namespace ztp::test
