#include "statistics.hpp"

#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>

namespace ztp::test {

double chi_squared_tail(double statistic, double degrees_of_freedom) {
  return boost::math::cdf(boost::math::complement(boost::math::chi_squared(degrees_of_freedom), statistic));
}

double chi_squared_p(std::span<const double> expected, std::span<const double> observed) {
  double statistic = 0, expects = 0, holds = 0, last_expects = 0, last_holds = 0;
  int cells = 0;
  const auto add = [&](double e, double o, double sign) { statistic += sign * (o - e) * (o - e) / e; };
  for (std::size_t i = 0; i < expected.size(); ++i) {
    expects += expected[i];
    holds += observed[i];
    if (expects < 10) continue;
    add(expects, holds, 1);
    ++cells;
    last_expects = expects;
    last_holds = holds;
    expects = holds = 0;
  }
  if (cells > 0 && expects + holds > 0) {  // what is left over joins the last full cell
    add(last_expects, last_holds, -1);
    add(last_expects + expects, last_holds + holds, 1);
  }
  if (cells < 2) return 1;
  return chi_squared_tail(std::max(statistic, 0.0), cells - 1);
}

double two_sided_limit(double level, std::size_t batches) {
  return boost::math::quantile(
      boost::math::complement(boost::math::students_t(static_cast<double>(batches - 1)), level / 2));
}

double normal_quantile_of(double p) {
  return boost::math::quantile(boost::math::normal(), p);
}

}  // namespace ztp::test
