// Splits and merges by themselves. A few tokens can be shared out among three components in so few ways that the
// probability of each is known, u, lambda and p integrated out. Tokens that are shared out by this law must be so
// after any number of moves: no other step of a sweep is there to hide a mistake in the acceptance of a move.
//
// Seeds: 1 for all. False alarms: each p-value is compared with 1e-5; there are four of them.
#include "sampler/split_merge.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "kernels.hpp"
#include "statistics.hpp"
#include "twin.hpp"

namespace ztp::test {
namespace split_merge_tests {

constexpr std::size_t draws = 20'000;
constexpr int runs = 20;  // from one state; a run changes it in a fraction of cases
constexpr double level = 1e-5;
constexpr std::size_t R = 3, K = 2;

// Tokens of four cells of a 3x3 matrix, and other counts, which stay where they are.
struct Situation {
  const char* name;
  double a;
  WeightPrior prior;
  bool others;  // counts of missing cells and of a network over mode 1
};
const std::vector<Situation> situations = {
    {"any prior", 0.7, {1.2, 8, 0.5}, false},
    {"any prior, other counts", 0.7, {1.2, 8, 0.5}, true},
    {"the default prior", 0.1, {0.1, 1, 1.0 / R}, false},
    {"the default prior, other counts", 0.1, {0.1, 1, 1.0 / R}, true},
};
const std::vector<std::uint32_t> cells = {0, 0, 0, 1, 1, 2, 2, 2};  // four of them
const std::vector<std::uint32_t> entries = {0, 0, 1, 2, 3, 3};      // of each token
constexpr std::size_t states = 729;                                 // R ^ tokens
// Missing cells: component and cell. A network's counts: rows of mode 1 by components, each count at two ends.
const std::vector<std::array<std::uint32_t, 3>> missing = {{0, 1, 0}, {0, 1, 0}, {2, 0, 2}};
constexpr std::int64_t network[3][R] = {{0, 2, 0}, {0, 1, 1}, {2, 1, 1}};

std::uint32_t component_of(std::size_t state, std::size_t token) {
  for (; token > 0; --token) state /= R;
  return static_cast<std::uint32_t>(state % R);
}

SparseTensor tensor() {
  SparseTensor result;
  for (std::size_t k = 0; k < K; ++k) result.modes.push_back({"mode", LabelTable::numbered(1, 3)});
  for (const std::uint32_t j : cells) result.coords.push_back(j);
  return result;
}

// All counts when the tokens are shared out as `state` says.
struct Counts {
  std::vector<Matrix<double>> S;
  std::vector<std::int64_t> totals = std::vector<std::int64_t>(R, 0), from_ones = totals;
  std::vector<std::vector<std::int64_t>> network_ends{K, std::vector<std::int64_t>(R, 0)};

  Counts(const Situation& situation, std::size_t state) {
    for (std::size_t k = 0; k < K; ++k) S.emplace_back(3, R);
    const auto add = [&](const std::uint32_t* cell, std::size_t r) {
      for (std::size_t k = 0; k < K; ++k) S[k].row(cell[k])[r] += 1;
      ++totals[r];
    };
    for (std::size_t token = 0; token < entries.size(); ++token) {
      const std::uint32_t r = component_of(state, token);
      add(&cells[entries[token] * K], r);
      ++from_ones[r];
    }
    if (!situation.others) return;
    for (const auto& [r, i, j] : missing) {
      const std::uint32_t cell[] = {i, j};
      add(cell, r);
    }
    for (std::size_t j = 0; j < 3; ++j)
      for (std::size_t r = 0; r < R; ++r) {
        S[0].row(j)[r] += static_cast<double>(network[j][r]);
        network_ends[0][r] += network[j][r];
      }
  }
};

// The probability of all counts, but for a factor that they share: (M22) is a ratio of two of these.
double weight(const Situation& situation, std::size_t state) {
  const Counts counts(situation, state);
  const auto& [g, c, eps, shared] = situation.prior;
  double sum = 0;
  for (std::size_t r = 0; r < R; ++r) {
    const double s = static_cast<double>(counts.totals[r]);
    sum += std::lgamma(g + s) + std::lgamma(c * eps + s) - std::lgamma(c + g + s);
    for (std::size_t k = 0; k < K; ++k) {
      double all = 3 * situation.a;
      for (std::size_t j = 0; j < 3; ++j) {
        const double S = counts.S[k].row(j)[r];
        sum += std::lgamma(situation.a + S);
        all += S;
      }
      sum -= std::lgamma(all);
    }
  }
  return std::exp(sum);
}

struct Outcome {
  double p;      // that the law after the moves is the one before
  double moved;  // share of the draws that they changed
};

Outcome look(const Situation& situation, Bug bug) {
  std::vector<double> law, seen(states, 0.0);
  for (std::size_t state = 0; state < states; ++state) law.push_back(weight(situation, state));
  std::mt19937_64 generator(1);
  std::discrete_distribution<std::size_t> start(law.begin(), law.end());
  Pool pool(1);
  const auto kernel = make_kernel(KernelName::reference, pool);
  const SparseTensor ones = tensor();
  Statistics statistics = make_statistics(FactorLayout::cp({3, 3}, R), {}, false, *kernel);
  FaultySplitMerge split_merge(ones, R, bug);
  double moved = 0;
  for (std::size_t draw = 0; draw < draws; ++draw) {
    const std::size_t before = start(generator);
    Counts counts(situation, before);
    statistics.tensor = counts.totals;
    statistics.from_ones = counts.from_ones;
    Tokens tokens{entries, {}};
    for (std::size_t token = 0; token < entries.size(); ++token)
      tokens.component.push_back(component_of(before, token));
    const PriorShapes shapes{std::vector<double>(K, situation.a), situation.prior.shape, {}};
    const CollapsedInputs inputs{shapes, counts.network_ends, !situation.others};
    TokenCounts token_counts{ones, inputs, tokens, counts.S, statistics};
    for (int run = 0; run < runs; ++run)
      split_merge.run(token_counts, situation.prior,
                      Stream(stream_key(1, 0, Purpose::collapsed), static_cast<std::uint32_t>(draw),
                             static_cast<std::uint64_t>(run)));
    std::size_t after = 0;
    for (std::size_t token = entries.size(); token-- > 0;) after = after * R + tokens.component[token];
    const Counts expected(situation, after);
    EXPECT_EQ(statistics.tensor, expected.totals);
    EXPECT_EQ(statistics.from_ones, expected.from_ones);
    seen[after] += 1;
    moved += before != after;
  }
  const double all = std::accumulate(law.begin(), law.end(), 0.0);
  std::vector<std::size_t> order(states);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return law[a] > law[b]; });
  std::vector<double> expected, observed;
  for (const std::size_t state : order) {
    expected.push_back(law[state] / all * static_cast<double>(draws));
    observed.push_back(seen[state]);
  }
  return {chi_squared_p(expected, observed), moved / static_cast<double>(draws)};
}

TEST(SplitMerge, KeepsTheLawOfTheTokens) {
  for (const Situation& situation : situations) {
    const Outcome outcome = look(situation, Bug::none);
    fmt::print("  {}: p {:.2g}, {:.0f} % moved\n", situation.name, outcome.p, 100 * outcome.moved);
    EXPECT_GT(outcome.p, level) << situation.name;
    EXPECT_GT(outcome.moved, 0.2) << situation.name;
  }
}

TEST(SplitMerge, BugsInTheAcceptanceAreSeen) {
  for (const Situation& situation : {situations.front(), situations.back()})
    for (const Bug bug : {Bug::split_without_q, Bug::split_without_places, Bug::split_without_pick}) {
      const Outcome outcome = look(situation, bug);
      fmt::print("  {}, {}: p {:.2g}\n", situation.name, name_of(bug), outcome.p);
      EXPECT_LT(outcome.p, level) << situation.name << ": " << name_of(bug);
    }
}

}  // namespace split_merge_tests
}  // namespace ztp::test
