// Which column of one chain is which of another, and through their columns the entries of the core: docs/model.md,
// section 15.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "posterior/matching.hpp"
#include "posterior/overlap.hpp"
#include "posterior/posterior_impl.hpp"
#include "ztp/error.hpp"

namespace ztp {
namespace {

double sum_of(const std::vector<double>& weights) {
  return std::accumulate(weights.begin(), weights.end(), 0.0);
}

// The columns that those of an entry are matched with, and the overlap. A column without partner: none.
CoreMatch match_entry(const CoreEntry& entry, const std::vector<std::vector<ComponentMatch>>& columns,
                      const std::vector<std::size_t>& same) {
  CoreMatch match{entry.columns, std::vector<std::size_t>(same.size()), 1, 0, 0, 0};
  for (std::size_t k = 0; k < same.size(); ++k) {
    const ComponentMatch& of_column = columns[k][entry.columns[k] - 1];
    if (!of_column.partner) return {entry.columns, {}, 0, 0, 0, 0};
    match.partner[same[k]] = *of_column.partner + 1;
    match.overlap *= of_column.overlap;
  }
  return match;
}

}  // namespace

std::vector<double> Posterior::Impl::mean_column_weights(std::size_t chain, std::size_t mode) const {
  std::vector<double> found;
  for (const std::vector<float>& of_column : column_weights(chain, mode))
    found.push_back(std::accumulate(of_column.begin(), of_column.end(), 0.0) / static_cast<double>(of_column.size()));
  return found;
}

std::vector<ComponentMatch> Posterior::match_columns(std::size_t mode, std::size_t chain, Posterior& other,
                                                     std::size_t other_chain) {
  impl_->require_shared_columns("match_columns");
  other.impl_->require_shared_columns("match_columns");
  impl_->require_mode("match_columns", mode);
  const std::size_t l = same_modes(modes(), other.modes())[mode];
  const std::vector<double> weights = impl_->mean_column_weights(chain, mode),
                            other_weights = other.impl_->mean_column_weights(other_chain, l);
  Matrix<double> overlap = all_ones(weights.size(), other_weights.size());
  const Matrix<float> v =
      rows_in_order_of(modes()[mode].labels, other.impl_->roots(other_chain, l), other.modes()[l].labels);
  multiply_by_overlaps(impl_->roots(chain, mode), v, impl_->pool, overlap);
  return match_by_overlap(overlap, weights, other_weights);  // (M57)
}

Matching Posterior::match_columns(std::size_t mode, std::size_t reference) {
  impl_->require_shared_columns("match_columns");
  impl_->require_mode("match_columns", mode);
  Matching result;
  result.reference = reference;
  const std::vector<double> weights = impl_->mean_column_weights(reference, mode);
  std::vector<std::vector<double>> other_weights;
  for (const std::size_t chain : chains()) {
    if (chain == reference) continue;
    result.others.push_back(chain);
    result.matches.push_back(match_columns(mode, reference, *this, chain));
    other_weights.push_back(impl_->mean_column_weights(chain, mode));
  }
  result.components = summaries(result.matches, weights, other_weights);
  return result;
}

std::vector<CoreMatch> Posterior::match_core(std::size_t chain, Posterior& other, std::size_t other_chain) {
  impl_->require_shared_columns("match_core");
  other.impl_->require_shared_columns("match_core");
  const std::vector<std::size_t> same = same_modes(modes(), other.modes());
  std::vector<std::vector<ComponentMatch>> columns;
  for (std::size_t k = 0; k < same.size(); ++k) {
    const std::size_t twin = impl_->layout.tied_mode(k);
    const bool known = twin < k && other.impl_->layout.matrix(same[twin]) == other.impl_->layout.matrix(same[k]);
    columns.push_back(known ? columns[twin] : match_columns(k, chain, other, other_chain));
  }
  const std::vector<CoreEntry> entries = impl_->core_without_stability(chain);
  std::vector<CoreMatch> result;
  CoreWeights weights;
  for (const CoreEntry& entry : entries) {
    result.push_back(match_entry(entry, columns, same));
    if (!result.back().partner.empty()) weights[result.back().partner] = 0;
  }
  other.impl_->find_core_weights(other_chain, weights);
  const double total = sum_of(mean_weights(chain)), other_total = sum_of(other.mean_weights(other_chain));
  for (std::size_t e = 0; e < entries.size(); ++e) {
    CoreMatch& match = result[e];
    match.weight_share = entries[e].weight / total;
    if (match.partner.empty()) continue;
    match.partner_weight_share = weights[match.partner] / other_total;
    match.agreement = 2 * std::sqrt(match.weight_share * match.partner_weight_share) * match.overlap /
                      (match.weight_share + match.partner_weight_share);  // (M58)
  }
  return result;
}

}  // namespace ztp
