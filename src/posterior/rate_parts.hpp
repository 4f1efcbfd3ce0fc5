// The parts of components in a rate, summed over draws; where components share columns, those of entries of the core.
#pragma once
#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "model/factor_layout.hpp"
#include "ztp/posterior.hpp"

namespace ztp {

class RateParts {
 public:
  // Smaller parts of a rate at one draw are not added to entries of the core, since there may be any number of these.
  static constexpr double negligible = 1e-9;

  // z_r of component r at a draw with this layout.
  void add(const FactorLayout& layout, std::size_t r, double part) {
    total_ += part;
    if (layout.columns_are_components()) {
      by_component_.resize(layout.components());
      by_component_[r] += part;
      return;
    }
    std::vector<std::size_t> columns;
    for (std::size_t k = 0; k < layout.modes(); ++k) columns.push_back(layout.column(k, r) + 1);
    by_entry_[columns] += part;
  }
  // z_r of all components, times a sign.
  void add_all(const FactorLayout& layout, const double* parts, double sign) {
    double sum = 0;
    for (std::size_t r = 0; r < layout.components(); ++r) sum += parts[r];
    for (std::size_t r = 0; r < layout.components(); ++r)
      if (layout.columns_are_components() || std::abs(parts[r]) > negligible * sum) add(layout, r, sign * parts[r]);
  }
  // Those with at least a hundredth of the rate, largest first.
  std::vector<Recommendation::Part> largest() const {
    constexpr double least_share = 0.01;
    std::vector<Recommendation::Part> parts;
    if (total_ <= 0) return parts;
    for (std::size_t r = 0; r < by_component_.size(); ++r)
      if (by_component_[r] > least_share * total_) parts.push_back({r + 1, by_component_[r] / total_});
    for (const auto& [columns, part] : by_entry_)
      if (part > least_share * total_) parts.push_back({0, part / total_, columns});
    std::sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.share > b.share; });
    return parts;
  }

 private:
  double total_ = 0;
  std::vector<double> by_component_;
  std::map<std::vector<std::size_t>, double> by_entry_;
};

}  // namespace ztp
