#include "sampler/network_part.hpp"

namespace ztp {

NetworkPart::NetworkPart(const Problem& problem, std::size_t m, const LatentCounts& counts, Kernel& kernel)
    : problem_(problem), m_(m), counts_(counts), kernel_(kernel) {
  const FactorLayout::Size& size = problem.layout.size(factor_matrix());
  pairs_ = FactorLayout::pairs(size.rows, size.columns);
  missing_ = kernel.upload(
      {.coords = network().missing.data(), .count = network().missing.size() / 2, .missing = true}, pairs_);
}

void NetworkPart::upload_edges() {
  edges_ = kernel_.upload({.coords = network().edges.data(), .count = network().size(), .indexed = true}, pairs_);
}

// 2 beta_q u[i, q] u[j, q] of the pair i < j. All pairs i < j and the diagonal together have half the total of these.
// (M11)
Rates NetworkPart::rates(const State& state) const {
  return make_rates(pairs_, {state.factors[factor_matrix()].get()}, state.networks[m_].log_weight, 2);
}

// v: a count is added at both ends, and once to the total.                                                     (M12)
CountSums NetworkPart::sums(Statistics& statistics) const {
  return {&pairs_, {statistics.rows[factor_matrix()].get()}, statistics.networks[m_].data()};
}

void NetworkPart::start(Statistics& statistics) const {
  kernel_.allocate_at_random(*edges_, counts_.key(Purpose::edge_start, m_), sums(statistics));
}

double NetworkPart::draw_counts(const State& state, const DrawSettings& settings, Statistics& statistics) const {
  const double of_edges = draw_counts_of_edges(*edges_, state, settings, statistics);
  // As (M10): every pair adds minus its rate, but for the diagonal and missing pairs, which are not data.
  const double not_data = impute(state, settings, statistics);
  return of_edges - (rates(state).total / 2 - not_data);
}

double NetworkPart::draw_counts_of_edges(const Ones& edges, const State& state, const DrawSettings& settings,
                                         Statistics& statistics) const {
  const std::vector<std::int64_t> before = statistics.networks[m_];
  const double log_likelihood =
      kernel_.allocate(edges, rates(state), counts_.key(Purpose::edge_counts, m_), settings, sums(statistics));
  for (std::size_t q = 0; q < before.size(); ++q) statistics.from_edges[q] += statistics.networks[m_][q] - before[q];
  return log_likelihood;
}

double NetworkPart::impute(const State& state, const DrawSettings& settings, Statistics& statistics) const {
  const double pairs =
      kernel_.allocate(*missing_, rates(state), counts_.key(Purpose::missing_pairs, m_), settings, sums(statistics));
  return pairs + kernel_.impute_diagonal(*state.factors[factor_matrix()], state.networks[m_].log_weight,
                                         counts_.key(Purpose::diagonal, m_), settings,
                                         *statistics.rows[factor_matrix()], statistics.networks[m_].data());
}

double NetworkPart::scaled_log_likelihood(const State& state, double weight, double of_edges, double imputed) const {
  return weight * of_edges - rates(state).total / 2 + imputed;
}

std::int64_t NetworkPart::stored_ends(const Statistics& statistics, std::size_t q) const {
  return 2 * statistics.networks[m_][q];
}

double NetworkPart::ends(const Statistics& statistics, std::size_t q) const {
  return 2 * statistics.scale * static_cast<double>(statistics.networks[m_][q]);
}

}  // namespace ztp
