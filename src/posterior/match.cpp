#include "ztp/match.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "posterior/overlap.hpp"
#include "posterior/posterior_impl.hpp"
#include "ztp/error.hpp"

namespace ztp {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

Matrix<double> all_ones(std::size_t rows, std::size_t columns) {
  Matrix<double> result(rows, columns);
  for (std::size_t r = 0; r < rows; ++r) std::fill_n(result.row(r), columns, 1.0);
  return result;
}

// For each mode of a run the one of the same name of another.
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

// The rows of a factor in the order of other labels; zeros for entities that it does not have.
Matrix<float> rows_in_order_of(const LabelTable& wanted, const Matrix<float>& u, const LabelTable& labels) {
  Matrix<float> result(wanted.size(), u.columns());
  std::string scratch;
  for (std::uint32_t j = 0; j < wanted.size(); ++j)
    if (const auto found = labels.find(wanted.name(j, scratch))) std::copy_n(u.row(*found), u.columns(), result.row(j));
  return result;
}

// Stability (M48) and weights over chains.
std::vector<Matching::Summary> summaries(const std::vector<std::vector<ComponentMatch>>& matches,
                                         const std::vector<double>& weights,
                                         const std::vector<std::vector<double>>& other_weights) {
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

// A mode of a chain: the roots of its mean factor, and which columns of it components use.
struct ModeRoots {
  Matrix<float> u;
  const FactorLayout& layout;
  std::size_t mode;
};

// The factor of one mode in (M46), for all pairs of components.
void multiply_by_overlaps(const ModeRoots& a, const ModeRoots& b, Pool& pool, Matrix<double>& overlap) {
  Matrix<double> of_columns = all_ones(a.u.columns(), b.u.columns());
  multiply_by_overlaps(a.u, b.u, pool, of_columns);
  for (std::size_t r = 0; r < overlap.rows(); ++r)
    for (std::size_t s = 0; s < overlap.columns(); ++s)
      overlap.row(r)[s] *= of_columns.row(a.layout.column(a.mode, r))[b.layout.column(b.mode, s)];
}

// The weights of chains in the average of each column of the reference.                                  (M49)
struct ChainParts {
  std::vector<std::vector<float>> of_component;  // of each other chain: of the partner of each component
  std::vector<float> of_reference;               // of each column: the rest
};

ChainParts parts_of_chains(const Matching& matching, const FactorLayout& layout, std::size_t mode) {
  const std::size_t others = matching.others.size(), R = layout.components();
  std::vector<double> total(layout.size_of_mode(mode).columns, 0.0), rest(total.size(), 1.0);
  for (std::size_t r = 0; others > 0 && r < R; ++r) {
    double& of_column = total[layout.column(mode, r)];
    of_column += matching.matches[0][r].weight_share;
    for (std::size_t c = 0; c < others; ++c) of_column += common_weight(matching.matches[c][r]);
  }
  ChainParts parts{{others, std::vector<float>(R, 0.0f)}, {}};
  for (std::size_t r = 0; r < R; ++r) {
    const std::size_t q = layout.column(mode, r);
    for (std::size_t c = 0; total[q] > 0 && c < others; ++c) {
      const double part = common_weight(matching.matches[c][r]) / total[q];
      parts.of_component[c][r] = static_cast<float>(part);
      rest[q] -= part;
    }
  }
  for (const double part : rest) parts.of_reference.push_back(static_cast<float>(part));
  return parts;
}

// Whether a matching is valid for a run with this many components and chains.
bool fits(const Matching& matching, std::size_t R, std::size_t chains) {
  const auto in_order = [&](const std::vector<ComponentMatch>& matches) {
    return matches.size() == R && std::all_of(matches.begin(), matches.end(), [&](const ComponentMatch& match) {
             return match.partner && *match.partner < R;
           });
  };
  return matching.components.size() == R && matching.reference < chains &&
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
  impl_->require_components("a comparison");
  other.impl_->require_components("a comparison");
  const std::vector<std::size_t> same = same_modes(modes(), other.modes());
  const std::vector<double> weights = mean_weights(chain), other_weights = other.mean_weights(other_chain);
  Matrix<double> overlap = all_ones(weights.size(), other_weights.size());
  for (std::size_t k = 0; k < same.size(); ++k) {
    const std::size_t l = same[k];
    const ModeRoots v{rows_in_order_of(modes()[k].labels, other.impl_->roots(other_chain, l), other.modes()[l].labels),
                      other.impl_->layout, l};
    multiply_by_overlaps({impl_->roots(chain, k), impl_->layout, k}, v, impl_->pool, overlap);
  }
  return match_by_overlap(overlap, weights, other_weights);
}

Matching Posterior::match_chains(std::size_t reference) {
  impl_->require_components("match_chains");
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
    const ModeRoots u{impl_->roots(reference, k), impl_->layout, k};
    for (std::size_t c = 0; c < result.others.size(); ++c)
      multiply_by_overlaps(u, {impl_->roots(result.others[c], k), impl_->layout, k}, impl_->pool, overlaps[c]);
  }
  for (std::size_t c = 0; c < result.others.size(); ++c)
    result.matches.push_back(match_by_overlap(overlaps[c], weights, other_weights[c]));
  result.components = summaries(result.matches, weights, other_weights);
  return result;
}

std::vector<float> Posterior::matched_mean_factor(const Matching& matching, std::size_t mode) {
  const FactorLayout& layout = impl_->layout;
  const std::size_t R = layout.components();
  if (mode >= modes().size())
    throw Error(ErrorKind::usage, fmt::format("{}: mode {} of {} (from 0)", impl_->run_dir, mode, modes().size()));
  if (!fits(matching, R, static_cast<std::size_t>(impl_->info.options.chains)))
    throw Error(ErrorKind::usage,
                fmt::format("{}: the matching has not the chains and components of this run, {} and {}", impl_->run_dir,
                            impl_->info.options.chains, R));
  const ChainParts parts = parts_of_chains(matching, layout, mode);
  const std::size_t P = layout.size_of_mode(mode).columns;
  std::vector<float> mean(layout.size_of_mode(mode).rows * P, 0.0f);
  std::vector<std::size_t> from(R);  // the column of the partner
  for (std::size_t c = 0; c < matching.others.size(); ++c) {
    const Matrix<float> u = impl_->mean_factor(matching.others[c], mode);
    for (std::size_t r = 0; r < R; ++r) from[r] = layout.column(mode, matching.matches[c][r].partner.value());
    for (std::size_t j = 0; j < u.rows(); ++j)
      for (std::size_t r = 0; r < R; ++r)
        mean[j * P + layout.column(mode, r)] += parts.of_component[c][r] * u.row(j)[from[r]];
  }
  const Matrix<float> u = impl_->mean_factor(matching.reference, mode);
  for (std::size_t j = 0; j < u.rows(); ++j)
    for (std::size_t q = 0; q < P; ++q) mean[j * P + q] += parts.of_reference[q] * u.row(j)[q];
  return mean;
}

std::vector<double> Posterior::parts_of_rates(const Matching& matching, const std::uint32_t* coords,
                                              std::size_t count) {
  impl_->require_components("parts_of_rates");
  impl_->check_cells(coords, count);
  const FactorLayout& layout = impl_->layout;
  State& state = impl_->state;
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
