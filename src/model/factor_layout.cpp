#include "model/factor_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "ztp/error.hpp"

namespace ztp {

FactorLayout::FactorLayout(std::vector<std::size_t> matrix_of_mode, std::vector<Size> sizes, std::size_t components,
                           std::vector<std::vector<std::uint32_t>> column)
    : components_(components),
      matrix_of_mode_(std::move(matrix_of_mode)),
      sizes_(std::move(sizes)),
      column_(std::move(column)) {
  const auto refuse = [](const std::string& what) { throw Error(ErrorKind::config, "factor layout: " + what); };
  if (!column_.empty() && column_.size() != modes()) refuse("not one list of columns for each mode");
  for (std::size_t k = 0; k < modes(); ++k) {
    if (matrix(k) >= matrices()) refuse(fmt::format("mode {} uses matrix {} of {}", k + 1, matrix(k) + 1, matrices()));
    const std::size_t P = size_of_mode(k).columns;
    if (column_.empty() && P != components_)
      refuse(fmt::format("mode {} has {} columns for {} components", k + 1, P, components_));
    if (column_.empty()) continue;
    if (column_[k].size() != components_ ||
        std::any_of(column_[k].begin(), column_[k].end(), [P](std::uint32_t q) { return q >= P; }))
      refuse(fmt::format("mode {}: not one of {} columns for each of {} components", k + 1, P, components_));
  }
  for (std::size_t f = 0; f < matrices(); ++f)
    if (first_mode(f) == modes()) refuse(fmt::format("no mode uses matrix {}", f + 1));
}

FactorLayout FactorLayout::cp(const std::vector<std::uint32_t>& sizes, std::size_t R) {
  std::vector<std::size_t> matrix_of_mode(sizes.size());
  std::iota(matrix_of_mode.begin(), matrix_of_mode.end(), std::size_t{0});
  std::vector<Size> matrices;
  for (const std::uint32_t n : sizes) matrices.push_back({n, R});
  return FactorLayout(std::move(matrix_of_mode), std::move(matrices), R);
}

FactorLayout FactorLayout::pairs(std::size_t rows, std::size_t columns) {
  return FactorLayout({0, 0}, {{rows, columns}}, columns);
}

FactorLayout FactorLayout::with_rows(const std::vector<std::size_t>& rows) const {
  FactorLayout layout = *this;
  for (std::size_t f = 0; f < matrices(); ++f) layout.sizes_[f].rows = rows[f];
  return layout;
}

FactorLayout FactorLayout::untied() const {
  FactorLayout layout = *this;
  layout.sizes_.clear();
  layout.one_hot_.clear();
  for (std::size_t k = 0; k < modes(); ++k) {
    layout.matrix_of_mode_[k] = k;
    layout.sizes_.push_back(size_of_mode(k));
    layout.one_hot_.push_back(is_one_hot(matrix(k)));
  }
  return layout;
}

void FactorLayout::make_one_hot(std::size_t k) {
  const Size& size = size_of_mode(k);
  if (size.rows != size.columns || tied_mode(k) != k || columns_are_components())
    throw Error(ErrorKind::config, fmt::format("factor layout: mode {} cannot be one-hot", k + 1));
  one_hot_.resize(matrices(), false);
  one_hot_[matrix(k)] = true;
}

std::size_t FactorLayout::one_hot_mode() const {
  std::size_t k = 0;
  while (k < modes() && !is_one_hot(matrix(k))) ++k;
  return k;
}

std::size_t FactorLayout::tied_mode(std::size_t k) const {
  for (std::size_t other = 0; other < modes(); ++other)
    if (other != k && matrix(other) == matrix(k)) return other;
  return k;
}

std::size_t FactorLayout::first_mode(std::size_t f) const {
  return static_cast<std::size_t>(std::find(matrix_of_mode_.begin(), matrix_of_mode_.end(), f) -
                                  matrix_of_mode_.begin());
}

std::vector<double> FactorLayout::column_sums(std::size_t k, const std::vector<double>& of_components) const {
  std::vector<double> sums(size_of_mode(k).columns, 0.0);
  for (std::size_t r = 0; r < components_; ++r) sums[column(k, r)] += of_components[r];
  return sums;
}

std::size_t FactorLayout::most_columns() const {
  std::size_t most = 0;
  for (const Size& size : sizes_) most = std::max(most, size.columns);
  return most;
}

}  // namespace ztp
