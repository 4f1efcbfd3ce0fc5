#include "sampler/guard.hpp"

#include <fmt/format.h>

#include <cmath>

#include "ztp/error.hpp"

namespace ztp {
namespace {

constexpr const char* remedy =
    "fewer components, or --dirichlet and --gamma-shape nearer to their defaults, may help; if they are at their "
    "defaults, please report this";

[[noreturn]] void fail(const StepContext& context, const std::string& what, const char* what_to_do = remedy) {
  throw Error(ErrorKind::numeric, fmt::format("{} {}: {}; {}", context.step, context.t, what, what_to_do));
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

const std::string& StepContext::name_of_matrix(std::size_t f) const {
  std::size_t k = 0;
  while (problem.layout.matrix(k) != f) ++k;
  return problem.tensor->modes[k].name;
}

void check_shapes(const PriorShapes& shapes, double scale, const StepContext& context) {
  const auto check = [&](double value, const std::string& name) {
    if (!positive(value)) fail(context, fmt::format("{} is {}", name, fault(value)));
  };
  for (std::size_t k = 0; k < shapes.dirichlet.size(); ++k)
    check(shapes.dirichlet[k], fmt::format("mode {}: the Dirichlet parameter", context.name_of_matrix(k)));
  check(shapes.tensor, "the gamma shape of the weights");
  for (std::size_t m = 0; m < shapes.networks.size(); ++m)
    check(shapes.networks[m], fmt::format("network {}: the gamma shape of the weights", m + 1));
  check(scale, "the scale of the counts");
}

void check_columns(const std::vector<double>& sums, const Factors& u, std::size_t f, const StepContext& context) {
  for (std::size_t q = 0; q < sums.size(); ++q) {
    if (positive(sums[q])) continue;
    const std::string& mode = context.name_of_matrix(f);
    for_blocks_of_rows(u, [&](Range rows, const float* values) {
      for (std::size_t j = rows.begin; j < rows.end; ++j) {
        const double value = static_cast<double>(values[(j - rows.begin) * u.columns() + q]);
        if (!std::isfinite(value) || value < 0)
          fail(context,
               fmt::format("mode {}, row {}, component {}: the factor is {}", mode, j + 1, q + 1, fault(value)));
      }
    });
    if (sums[q] == 0)
      fail(context,
           fmt::format("mode {}, component {}: the column is empty, its {} rows are all zero", mode, q + 1, u.rows()));
    fail(context, fmt::format("mode {}, component {}: the sum of the column is {}", mode, q + 1, fault(sums[q])));
  }
}

void check_weights(const Weights& weights, int network, const StepContext& context) {
  const auto check = [&](const std::vector<double>& logs, const char* name) {
    for (std::size_t r = 0; r < logs.size(); ++r)
      if (!std::isfinite(logs[r]))
        fail(context,
             fmt::format("{}component {}: the logarithm of {} is {}",
                         network < 0 ? "" : fmt::format("network {}, ", network + 1), r + 1, name, fault(logs[r])));
  };
  check(weights.log_weight, "the weight");
  check(weights.log_p, "p");
}

void check_expected_counts(double observed, double rate, const StepContext& context) {
  if (observed + rate <= most_counts) return;
  fail(context,
       fmt::format("overflow: counts of {:.3g} in total would have to be drawn, in addition to {:.3g} that are "
                   "observed, but a sum of counts cannot exceed 2^62",
                   rate, observed),
       "smaller counts, a smaller --gamma-shape or --network-gamma-shape, or a smaller --beta-mean may help");
}

void check_totals(const Statistics& statistics, const StepContext& context) {
  constexpr std::int64_t most = std::int64_t{3} << 61;
  const auto check = [&](const std::vector<std::int64_t>& totals, const std::string& of) {
    for (std::size_t r = 0; r < totals.size(); ++r)
      if (totals[r] < 0 || totals[r] > most)
        fail(context, fmt::format("overflow: {}component {}: the counts add up to more than 2^62", of, r + 1));
  };
  check(statistics.tensor, "");
  for (std::size_t m = 0; m < statistics.networks.size(); ++m)
    check(statistics.networks[m], fmt::format("network {}, ", m + 1));
}

}  // namespace ztp
