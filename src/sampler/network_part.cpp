#include "sampler/network_part.hpp"

namespace ztp {

NetworkPart::NetworkPart(const Problem& problem, std::size_t m, const LatentCounts& counts, Kernel& kernel)
    : problem_(problem), m_(m), counts_(counts), kernel_(kernel) {}

void NetworkPart::index_edges() {
  const std::size_t n = problem_.tensor->modes[mode()].labels.size();
  by_row_ = index_rows(network().edges.data(), network().size(), {n, n}, true);
}

// 2 beta_r u[i, r] u[j, r] of the pair i < j. All pairs i < j and the diagonal together have half the total of these.      (M11)
Rates NetworkPart::rates(const State& state) const {
  const Matrix<float>& u = state.u[mode()];
  return make_rates({&u, &u}, state.networks[m_].log_weight, 2);
}

// v: a count is added at both ends, and once to the total.                                                     (M12)
Sums NetworkPart::sums(Statistics& statistics) const {
  Matrix<std::int64_t>& rows = statistics.rows[mode()];
  return {{&rows, &rows}, statistics.networks[m_].data()};
}

void NetworkPart::start(Statistics& statistics) const {
  const StreamKey key = counts_.key(Purpose::edge_start, m_);
  for (std::size_t e = 0; e < network().size(); ++e) {
    Stream stream(key, 0, e);
    const std::size_t r = stream.below(problem_.R);
    for (const std::size_t end : {2 * e, 2 * e + 1}) statistics.rows[mode()].row(network().edges[end])[r] += 1;
    statistics.networks[m_][r] += 1;
  }
}

double NetworkPart::draw_counts(const State& state, const How& how, Statistics& statistics) const {
  const Entries edges{
      .coords = network().edges.data(), .count = network().size(), .by_row = by_row_.empty() ? nullptr : &by_row_};
  const double of_edges = draw_counts_of_edges(edges, state, how, statistics);
  // As (M10): every pair adds minus its rate, but for the diagonal and missing pairs, which are not data.
  const double not_data = impute(state, how, statistics);
  return of_edges - (rates(state).total / 2 - not_data);
}

double NetworkPart::draw_counts_of_edges(const Entries& edges, const State& state, const How& how,
                                         Statistics& statistics) const {
  const std::vector<std::int64_t> before = statistics.networks[m_];
  const double log_likelihood =
      counts_.draw(edges, rates(state), counts_.key(Purpose::edge_counts, m_), how, sums(statistics));
  for (std::size_t r = 0; r < problem_.R; ++r) statistics.from_edges[r] += statistics.networks[m_][r] - before[r];
  return log_likelihood;
}

double NetworkPart::impute(const State& state, const How& how, Statistics& statistics) const {
  const Entries missing{.coords = network().missing.data(), .count = network().missing.size() / 2, .missing = true};
  const double pairs =
      counts_.draw(missing, rates(state), counts_.key(Purpose::missing_pairs, m_), how, sums(statistics));
  return pairs + kernel_.impute_diagonal(state.u[mode()], state.networks[m_].log_weight,
                                         counts_.key(Purpose::diagonal, m_), how.t, weighted(sums(statistics), how));
}

double NetworkPart::scaled_log_likelihood(const State& state, double weight, double of_edges, double imputed) const {
  return weight * of_edges - rates(state).total / 2 + imputed;
}

std::int64_t NetworkPart::stored_ends(const Statistics& statistics, std::size_t r) const {
  return 2 * statistics.networks[m_][r];
}

double NetworkPart::ends(const Statistics& statistics, std::size_t r) const {
  return 2 * statistics.scale * static_cast<double>(statistics.networks[m_][r]);
}

}  // namespace ztp
