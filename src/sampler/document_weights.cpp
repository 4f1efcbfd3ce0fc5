#include "sampler/document_weights.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/distributions.hpp"

namespace ztp {
namespace {

void multiply_in_logs(const Matrix<double>& S, const std::vector<double>& sum, double a,
                      const std::vector<RowCount>& document, std::vector<double>& weights) {
  const double na = a * static_cast<double>(S.rows());
  double all = 0, largest = -std::numeric_limits<double>::infinity();
  for (const RowCount& of_row : document) all += static_cast<double>(of_row.count);
  for (std::size_t q = 0; q < weights.size(); ++q) {
    double log_weight = std::log(weights[q]) + log_gamma(na + sum[q]) - log_gamma(na + sum[q] + all);
    for (const RowCount& of_row : document) {
      const double before = a + S.row(of_row.row)[q];
      log_weight += log_gamma(before + static_cast<double>(of_row.count)) - log_gamma(before);
    }
    largest = std::max(largest, weights[q] = log_weight);
  }
  for (double& weight : weights) weight = std::exp(weight - largest);
}

// Unit by unit: a product of ratios (a + S[j, q] + i) / (n a + S_q + i'). Weights are brought back into range
// after every few of them.
void multiply_in_units(const Matrix<double>& S, const std::vector<double>& sum, double a,
                       const std::vector<RowCount>& document, std::vector<double>& weights) {
  constexpr int units_at_once = 8;
  const std::size_t P = weights.size();
  const double na = a * static_cast<double>(S.rows());
  std::vector<double> over(P), under(P);
  double before = 0;  // units so far
  int waiting = 0;
  const auto multiply = [&] {
    double largest = 0;
    for (std::size_t q = 0; q < P; ++q) largest = std::max(largest, weights[q] *= over[q] / under[q]);
    for (std::size_t q = 0; q < P; ++q) weights[q] /= largest;
    waiting = 0;
  };
  for (const RowCount& of_row : document)
    for (std::int64_t unit = 0; unit < of_row.count; ++unit) {
      const double* row = S.row(of_row.row);
      const double above = a + static_cast<double>(unit), below = na + before;
      if (waiting == 0) {
        for (std::size_t q = 0; q < P; ++q) over[q] = above + row[q];
        for (std::size_t q = 0; q < P; ++q) under[q] = below + sum[q];
      } else {
        for (std::size_t q = 0; q < P; ++q) over[q] *= above + row[q];
        for (std::size_t q = 0; q < P; ++q) under[q] *= below + sum[q];
      }
      ++before;
      if (++waiting == units_at_once) multiply();
    }
  if (waiting > 0) multiply();
}

}  // namespace

void multiply_by_document(const Matrix<double>& S, const std::vector<double>& sum, double a,
                          const std::vector<RowCount>& document, std::vector<double>& weights) {
  constexpr std::int64_t many_units = 64;
  const bool many =
      std::any_of(document.begin(), document.end(), [](const RowCount& of_row) { return of_row.count > many_units; });
  (many ? multiply_in_logs : multiply_in_units)(S, sum, a, document, weights);
}

}  // namespace ztp
