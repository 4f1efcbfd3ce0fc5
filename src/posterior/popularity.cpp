#include "posterior/popularity.hpp"

#include <algorithm>
#include <cmath>

#include "io/dataset_ones.hpp"

namespace ztp {

Popularity::Popularity(const Dataset& data) {
  const std::size_t K = data.tensor.order();
  for (const Mode& mode : data.tensor.modes) degrees_.emplace_back(mode.labels.size(), 0.0);
  for_ones(data, [&](const std::uint32_t* cells, const std::int64_t*, std::size_t count) {
    for (std::size_t e = 0; e < count; ++e)
      for (std::size_t k = 0; k < K; ++k) ++degrees_[k][cells[e * K + k]];
    ones_ += static_cast<double>(count);
  });
}

double Popularity::probability(const std::uint32_t* cell) const {
  double rate = ones_;
  for (std::size_t k = 0; k < degrees_.size(); ++k) rate *= degrees_[k][cell[k]] / std::max(ones_, 1.0);
  return -std::expm1(-rate);
}

PopularCandidates::PopularCandidates(const Dataset& data, const Popularity& popularity, const Queries& queries)
    : queries_(queries), of_given_(data.tensor.order() - 1) {
  const std::size_t K = data.tensor.order(), mode = queries.mode();
  for (std::size_t q = 0; q < queries.size(); ++q)
    for (std::size_t i = 0; i + 1 < K; ++i) of_given_[i][queries.others(q)[i]];
  for_ones(data, [&](const std::uint32_t* cells, const std::int64_t*, std::size_t count) {
    for (std::size_t e = 0; e < count; ++e)
      for (std::size_t i = 0; i + 1 < K; ++i) {
        const auto given = of_given_[i].find(cells[e * K + i + (i >= mode ? 1 : 0)]);
        if (given != of_given_[i].end()) given->second.push_back(cells[e * K + mode]);
      }
  });
  const std::size_t entities = data.tensor.modes[mode].labels.size();
  for (std::uint32_t j = 0; j < entities; ++j)
    fraction_.push_back(static_cast<float>(popularity.ones_of(mode, j) / (1 + popularity.ones())));
}

void PopularCandidates::score(std::size_t query, std::span<float> score) const {
  std::copy(fraction_.begin(), fraction_.end(), score.begin());
  for (std::size_t i = 0; i < of_given_.size(); ++i)
    for (const std::uint32_t j : of_given_[i].at(queries_.others(query)[i])) ++score[j];
}

}  // namespace ztp
