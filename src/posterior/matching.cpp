#include "posterior/matching.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ztp/error.hpp"
#include "ztp/posterior.hpp"

namespace ztp {

Matrix<double> all_ones(std::size_t rows, std::size_t columns) {
  Matrix<double> result(rows, columns);
  for (std::size_t r = 0; r < rows; ++r) std::fill_n(result.row(r), columns, 1.0);
  return result;
}

std::vector<std::size_t> same_modes(const std::vector<Mode>& modes, const std::vector<Mode>& others) {
  std::vector<std::string> names, other_names;
  for (const Mode& mode : modes) names.push_back(mode.name);
  for (const Mode& mode : others) other_names.push_back(mode.name);
  std::vector<std::size_t> result;
  for (const std::string& name : names)
    result.push_back(
        static_cast<std::size_t>(std::find(other_names.begin(), other_names.end(), name) - other_names.begin()));
  if (names.size() != other_names.size() || std::find(result.begin(), result.end(), others.size()) != result.end())
    throw Error(ErrorKind::config, fmt::format("components of runs with different modes cannot be matched: {} and {}; "
                                               "give the modes the same names",
                                               fmt::join(names, ", "), fmt::join(other_names, ", ")));
  return result;
}

Matrix<float> rows_in_order_of(const LabelTable& wanted, const Matrix<float>& u, const LabelTable& labels) {
  Matrix<float> result(wanted.size(), u.columns());
  std::string scratch;
  for (std::uint32_t j = 0; j < wanted.size(); ++j)
    if (const auto found = labels.find(wanted.name(j, scratch))) std::copy_n(u.row(*found), u.columns(), result.row(j));
  return result;
}

std::vector<Matching::Summary> summaries(const std::vector<std::vector<ComponentMatch>>& matches,
                                         const std::vector<double>& weights,
                                         const std::vector<std::vector<double>>& other_weights) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  std::vector<Matching::Summary> result;
  const double others = static_cast<double>(matches.size());
  for (std::size_t r = 0; r < weights.size(); ++r) {
    std::vector<double> over_chains = {weights[r]};
    double agreement = 0, sum = weights[r], squares = 0;
    for (std::size_t c = 0; c < matches.size(); ++c) {
      over_chains.push_back(other_weights[c][matches[c][r].partner.value()]);
      sum += over_chains.back();
      agreement += matches[c][r].agreement;
    }
    const double mean = sum / (others + 1);
    for (const double weight : over_chains) squares += (weight - mean) * (weight - mean);
    const bool judged = others > 0 && weights[r] >= weight_of_empty;
    result.push_back({judged ? agreement / others : none, mean, others > 0 ? std::sqrt(squares / others) : none});
  }
  return result;
}

}  // namespace ztp
