#include "sampler/guard.hpp"

#include <fmt/format.h>

#include <cmath>

#include "ztp/error.hpp"

namespace ztp {
namespace {

constexpr const char* remedy =
    "fewer components, or --dirichlet and --gamma-shape nearer to their defaults, may help; if they are at their "
    "defaults, please report this";

[[noreturn]] void fail(const Place& place, const std::string& what, const char* what_to_do = remedy) {
  throw Error(ErrorKind::numeric, fmt::format("{} {}: {}; {}", place.step, place.t, what, what_to_do));
}

// What is wrong with a value that must be finite and, but for logarithms, positive.
const char* fault(double value) {
  if (std::isnan(value)) return "not a number";
  return std::isinf(value) ? "infinite" : value < 0 ? "negative" : "zero";
}

bool positive(double value) {
  return value > 0 && std::isfinite(value);
}

}  // namespace

void check_shapes(const Shapes& shapes, double scale, const Place& place) {
  const auto check = [&](double value, const std::string& name) {
    if (!positive(value)) fail(place, fmt::format("{} is {}", name, fault(value)));
  };
  for (std::size_t k = 0; k < shapes.dirichlet.size(); ++k)
    check(shapes.dirichlet[k], fmt::format("mode {}: the Dirichlet parameter", place.modes[k].name));
  check(shapes.tensor, "the gamma shape of the weights");
  for (std::size_t m = 0; m < shapes.networks.size(); ++m)
    check(shapes.networks[m], fmt::format("network {}: the gamma shape of the weights", m + 1));
  check(scale, "the scale of the counts");
}

void check_columns(const std::vector<double>& sums, const Matrix<float>& u, std::size_t k, const Place& place) {
  for (std::size_t r = 0; r < sums.size(); ++r) {
    if (positive(sums[r])) continue;
    const std::string& mode = place.modes[k].name;
    for (std::size_t j = 0; j < u.rows(); ++j) {
      const double value = static_cast<double>(u.row(j)[r]);
      if (!std::isfinite(value) || value < 0)
        fail(place, fmt::format("mode {}, row {}, component {}: the factor is {}", mode, j + 1, r + 1, fault(value)));
    }
    if (sums[r] == 0)
      fail(place,
           fmt::format("mode {}, component {}: the column is empty, its {} rows are all zero", mode, r + 1, u.rows()));
    fail(place, fmt::format("mode {}, component {}: the sum of the column is {}", mode, r + 1, fault(sums[r])));
  }
}

void check_weights(const Weights& weights, int network, const Place& place) {
  const auto check = [&](const std::vector<double>& logs, const char* name) {
    for (std::size_t r = 0; r < logs.size(); ++r)
      if (!std::isfinite(logs[r]))
        fail(place,
             fmt::format("{}component {}: the logarithm of {} is {}",
                         network < 0 ? "" : fmt::format("network {}, ", network + 1), r + 1, name, fault(logs[r])));
  };
  check(weights.log_weight, "the weight");
  check(weights.log_p, "p");
}

void check_expected_counts(double observed, double rate, const Place& place) {
  if (observed + rate <= most_counts) return;
  fail(place,
       fmt::format("overflow: counts of {:.3g} in all are to be drawn, beside {:.3g} that are observed, and sums of "
                   "counts go up to 2^62",
                   rate, observed),
       "smaller counts, a smaller --gamma-shape or --network-gamma-shape, or a smaller --beta-mean may help");
}

void check_totals(const Statistics& statistics, const Place& place) {
  constexpr std::int64_t most = std::int64_t{3} << 61;
  const auto check = [&](const std::vector<std::int64_t>& totals, const std::string& of) {
    for (std::size_t r = 0; r < totals.size(); ++r)
      if (totals[r] < 0 || totals[r] > most)
        fail(place, fmt::format("overflow: {}component {}: the counts add up to more than 2^62", of, r + 1));
  };
  check(statistics.tensor, "");
  for (std::size_t m = 0; m < statistics.networks.size(); ++m)
    check(statistics.networks[m], fmt::format("network {}, ", m + 1));
}

}  // namespace ztp
