// Models whose joint law is restricted to an event: at most so many latent counts in all, and at least so many observed
// ones. At the default prior weights have no mean, so data would be enormous now and then, and empty most of the time.
// A chain has the restricted law if draws are repeated until they are allowed. Parameters are drawn given the counts,
// and their law given these is as before. Moves of counts between components leave the number of counts as it is. Data,
// and counts given data and parameters, are drawn anew.
#pragma once
#include <optional>

#include "tiny_model.hpp"

namespace ztp::test {

// Attempts before a sampler is said never to make allowed counts.
constexpr int most_attempts = 10'000'000;

// Nothing to wait for: of 4 n expected counts no more than n happen with probability exp(-1.6 n) at most.
inline bool is_hopeless(const Model& model, const Parameters& q) {
  return sum(q.lambda) > 4 * static_cast<double>(model.most_counts);
}

// Given that it is not zero, by inversion where zero is likely.
inline std::int64_t zero_truncated_poisson(Generator& generator, double mean) {
  if (mean > 1) {
    std::int64_t y = 0;
    while (y == 0) y = poisson(generator, mean);
    return y;
  }
  double left = std::uniform_real_distribution<double>()(generator) * std::expm1(mean);
  double term = mean;
  std::int64_t y = 1;
  for (; left > term && term > 0; term *= mean / static_cast<double>(y)) {
    left -= term;
    ++y;
  }
  return y;
}

// All counts given parameters, and given that at least fewest_ones observed cells are ones, however improbable: first
// which cells are, each given those before it, then their counts.
inline Data simulate_with_ones(Generator& generator, const Model& model, const Parameters& q) {
  const std::size_t cells = model.cells(), fewest = model.fewest_ones;
  std::vector<double> probability(cells);
  Table enough(cells + 1, std::vector<double>(fewest + 1, 0.0));  // [i][m]: P(m ones or more from cell i on)
  enough[cells][0] = 1;
  for (std::size_t i = cells; i-- > 0;) {
    probability[i] = model.is_observed(i) ? -std::expm1(-model.rate(q, i)) : 0;
    for (std::size_t m = 0; m <= fewest; ++m)
      enough[i][m] = probability[i] * enough[i + 1][m > 0 ? m - 1 : 0] + (1 - probability[i]) * enough[i + 1][m];
  }
  std::uniform_real_distribution<double> uniform;
  Data data = no_data(model);
  for (std::size_t i = 0, wanted = fewest; i < cells; ++i) {
    std::vector<double> rates;
    for (std::size_t r = 0; r < model.R; ++r) rates.push_back(model.rate(q, i, r));
    std::int64_t y = 0;
    if (!model.is_observed(i)) {
      y = poisson(generator, sum(rates));
    } else if (uniform(generator) * enough[i][wanted] < probability[i] * enough[i + 1][wanted > 0 ? wanted - 1 : 0]) {
      y = zero_truncated_poisson(generator, sum(rates));
      if (wanted > 0) --wanted;
    }
    std::discrete_distribution<std::size_t> component(rates.begin(), rates.end());
    for (; y > 0; --y) add_counts(model, q, i, component(generator), 1, data);
  }
  return data;
}

struct JointDraw {
  Parameters q;
  Data data;
};

// Data given parameters, until they are allowed; none, if they hardly ever are, as with a sampler that has a bug.
inline std::optional<Data> simulate_allowed(Generator& generator, const Model& model, const Parameters& q) {
  if (!model.is_restricted()) return simulate(generator, model, q);
  for (int attempt = 0; attempt < most_attempts && !is_hopeless(model, q); ++attempt)
    if (Data data = simulate_with_ones(generator, model, q); model.allows(data)) return data;
  return {};
}

// So many counts in all, each in a component by weight and in a cell by its columns.
inline Data simulate_so_many(Generator& generator, const Model& model, const Parameters& q, std::int64_t total) {
  Data data = no_data(model);
  std::discrete_distribution<std::size_t> component(q.lambda.begin(), q.lambda.end());
  for (; total > 0; --total) {
    const std::size_t r = component(generator);
    std::size_t i = 0;
    for (std::size_t k = 0; k < model.K(); ++k) {
      std::vector<double> column;
      for (const auto& row : q.u[model.matrix(k)]) column.push_back(row[q.column(k, r)]);
      i = i * model.sizes[k] + std::discrete_distribution<std::size_t>(column.begin(), column.end())(generator);
    }
    add_counts(model, q, i, r, 1, data);
  }
  return data;
}

// A draw from the joint law, parameters and all, until it is allowed. The total comes first: it rules most draws out.
inline JointDraw draw_joint(Generator& generator, const Model& model) {
  for (;;) {
    JointDraw draw{draw_prior(generator, model), {}};
    if (!model.is_restricted()) return {draw.q, simulate(generator, model, draw.q)};
    if (is_hopeless(model, draw.q)) continue;
    const std::int64_t total = poisson(generator, sum(draw.q.lambda));
    if (total < static_cast<std::int64_t>(model.fewest_ones) || total > model.most_counts) continue;
    draw.data = simulate_so_many(generator, model, draw.q, total);
    if (model.allows(draw.data)) return draw;
  }
}

// Latent counts at the sampler's parameters, drawn again until they are allowed. t: the number of its last sweep; each
// attempt has one of its own. Returns whether it got there.
template <class Sampler>
bool draw_until_allowed(const Model& model, Sampler& sampler, std::uint32_t& t) {
  for (int attempt = 0; !model.allows(sampler.statistics().tensor); ++attempt) {
    if (attempt == most_attempts || is_hopeless(model, parameters_of(sampler.state()))) return false;
    sampler.restore(++t);
    sampler.draw_counts();
  }
  return true;
}

}  // namespace ztp::test
