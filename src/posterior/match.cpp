#include "ztp/match.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "posterior/matching.hpp"
#include "posterior/overlap.hpp"
#include "posterior/posterior_impl.hpp"
#include "ztp/error.hpp"

namespace ztp {
namespace {

// The weights of chains in the average of each column of the reference.                                  (M49)
struct ChainParts {
  std::vector<std::vector<float>> of_partner;  // of each other chain
  std::vector<float> of_reference;             // the rest
};

ChainParts parts_of_chains(const Matching& matching, std::size_t P) {
  const std::size_t others = matching.others.size();
  ChainParts parts{{others, std::vector<float>(P, 0.0f)}, {}};
  for (std::size_t q = 0; q < P; ++q) {
    double total = others > 0 ? matching.matches[0][q].weight_share : 0, rest = 1;
    for (std::size_t c = 0; c < others; ++c) total += common_weight(matching.matches[c][q]);
    for (std::size_t c = 0; total > 0 && c < others; ++c) {
      const double part = common_weight(matching.matches[c][q]) / total;
      parts.of_partner[c][q] = static_cast<float>(part);
      rest -= part;
    }
    parts.of_reference.push_back(static_cast<float>(rest));
  }
  return parts;
}

// Whether a matching is valid for a run with this many columns (of components or of a mode) and chains.
bool fits(const Matching& matching, std::size_t P, std::size_t chains) {
  const auto in_order = [&](const std::vector<ComponentMatch>& matches) {
    return matches.size() == P && std::all_of(matches.begin(), matches.end(), [&](const ComponentMatch& match) {
             return match.partner && *match.partner < P;
           });
  };
  return matching.components.size() == P && matching.reference < chains &&
         matching.matches.size() == matching.others.size() &&
         std::all_of(matching.others.begin(), matching.others.end(), [&](std::size_t c) { return c < chains; }) &&
         std::all_of(matching.matches.begin(), matching.matches.end(), in_order);
}

}  // namespace

Matrix<float> Posterior::Impl::roots(std::size_t chain, std::size_t k) {
  Matrix<float> u = mean_factor(chain, k);
  take_square_roots(u, pool);
  return u;
}

std::vector<ComponentMatch> Posterior::match_components(std::size_t chain, Posterior& other, std::size_t other_chain) {
  impl_->require_components("match_components", "match_columns and match_core are for it");
  other.impl_->require_components("match_components", "match_columns and match_core are for two such runs");
  const std::vector<std::size_t> same = same_modes(modes(), other.modes());
  const std::vector<double> weights = mean_weights(chain), other_weights = other.mean_weights(other_chain);
  Matrix<double> overlap = all_ones(weights.size(), other_weights.size());
  for (std::size_t k = 0; k < same.size(); ++k) {
    const std::size_t l = same[k];
    const Matrix<float> v =
        rows_in_order_of(modes()[k].labels, other.impl_->roots(other_chain, l), other.modes()[l].labels);
    multiply_by_overlaps(impl_->roots(chain, k), v, impl_->pool, overlap);
  }
  return match_by_overlap(overlap, weights, other_weights);
}

Matching Posterior::match_chains(std::size_t reference) {
  impl_->require_components("match_chains", "match_columns and match_core are for it");
  Matching result;
  result.reference = reference;
  const std::vector<double> weights = mean_weights(reference);
  std::vector<std::vector<double>> other_weights;
  std::vector<Matrix<double>> overlaps;
  for (const std::size_t chain : chains()) {
    if (chain == reference) continue;
    result.others.push_back(chain);
    other_weights.push_back(mean_weights(chain));
    overlaps.push_back(all_ones(weights.size(), weights.size()));
  }
  for (std::size_t k = 0; !result.others.empty() && k < modes().size(); ++k) {
    const Matrix<float> u = impl_->roots(reference, k);
    for (std::size_t c = 0; c < result.others.size(); ++c)
      multiply_by_overlaps(u, impl_->roots(result.others[c], k), impl_->pool, overlaps[c]);
  }
  for (std::size_t c = 0; c < result.others.size(); ++c)
    result.matches.push_back(match_by_overlap(overlaps[c], weights, other_weights[c]));
  result.components = summaries(result.matches, weights, other_weights);
  return result;
}

std::vector<float> Posterior::matched_mean_factor(const Matching& matching, std::size_t mode) {
  if (mode >= modes().size())
    throw Error(ErrorKind::usage, fmt::format("{}: mode {} of {} (from 0)", impl_->run_dir, mode, modes().size()));
  const std::size_t P = impl_->layout.size_of_mode(mode).columns;
  if (!fits(matching, P, static_cast<std::size_t>(impl_->info.options.chains)))
    throw Error(ErrorKind::usage,
                fmt::format("{}: the matching has not the chains and {} of this run, {} and {}", impl_->run_dir,
                            impl_->layout.columns_are_components() ? "components" : "columns of the mode",
                            impl_->info.options.chains, P));
  const ChainParts parts = parts_of_chains(matching, P);
  std::vector<float> mean(impl_->layout.size_of_mode(mode).rows * P, 0.0f);
  for (std::size_t c = 0; c < matching.others.size(); ++c) {
    const Matrix<float> u = impl_->mean_factor(matching.others[c], mode);
    for (std::size_t j = 0; j < u.rows(); ++j)
      for (std::size_t q = 0; q < P; ++q)
        mean[j * P + q] += parts.of_partner[c][q] * u.row(j)[matching.matches[c][q].partner.value()];
  }
  const Matrix<float> u = impl_->mean_factor(matching.reference, mode);
  for (std::size_t j = 0; j < u.rows(); ++j)
    for (std::size_t q = 0; q < P; ++q) mean[j * P + q] += parts.of_reference[q] * u.row(j)[q];
  return mean;
}

std::vector<double> Posterior::parts_of_rates(const Matching& matching, const std::uint32_t* coords,
                                              std::size_t count) {
  impl_->require_components("parts_of_rates", "explain tells the parts of the entries of its core");
  impl_->check_cells(coords, count);
  const FactorLayout& layout = impl_->layout;
  State& state = impl_->whole_draw();
  for (std::size_t f = 0; f < layout.matrices(); ++f) {
    std::vector<float> u = matched_mean_factor(matching, layout.first_mode(f));
    const Range rows{0, layout.size(f).rows};
    for (float& value : u) value *= static_cast<float>(rows.end);
    state.factors[f]->write(rows, u.data());
  }
  for (std::size_t r = 0; r < layout.components(); ++r)
    state.tensor.log_weight[r] = std::log(matching.components[r].weight_mean);
  std::vector<double> parts(count * layout.components());
  impl_->kernel->score_parts(coords, count, tensor_rates(state), parts.data());
  return parts;
}

}  // namespace ztp
