// Oracle: scores of all entities of a mode, in every kernel and instruction set, against plain loops; places of test
// ones against those that the same scores give. Parity: for any number of threads, bit by bit. The order in which a GPU
// goes through components, on the host. Everything is a function of the seeds; no chance.
#include <gtest/gtest.h>

#include <cmath>

#include "kernel/cuda/listed_components.hpp"
#include "kernel/host_arrays.hpp"
#include "kernels.hpp"
#include "shared_columns.hpp"

namespace ztp::test {
namespace {

constexpr std::size_t draws = 5;
const ChainDraws one_chain{{draws}, false}, logits_of_two{{2, draws}, true};

struct RankingCase {
  std::string name;
  FactorLayout layout;
};

// The last mode is the identity of 6 entities; 20 components.
FactorLayout one_hot_layout(std::uint32_t rows) {
  std::vector<std::vector<std::uint32_t>> column(3);
  for (std::uint32_t r = 0; r < 20; ++r) {
    column[0].push_back(r * 7 % 5);
    column[1].push_back(r * 3 % 5);
    column[2].push_back(r * r % 6 == 5 ? 0 : r * r % 6);  // entity 5 has no component
  }
  FactorLayout layout({0, 0, 1}, {{rows, 5}, {6, 6}}, 20, column);
  layout.make_one_hot(2);
  return layout;
}

std::vector<RankingCase> ranking_cases() {
  return {{"CP", FactorLayout::cp({13, 5, 4}, 17)},
          {"one component", FactorLayout::cp({40, 3}, 1)},
          {"several tiles", FactorLayout::cp({150, 140}, 33)},
          {"shared columns", shared_layout()},
          {"one-hot", one_hot_layout(9)},
          {"one-hot, more than a tile", one_hot_layout(131)}};
}

State random_draw(const FactorLayout& layout, ArrayMaker& arrays, std::size_t d) {
  State state = random_state(layout, arrays, 30 + d);
  for (double& value : state.tensor.log_weight) value -= 2;  // probabilities of all sizes
  for (std::size_t f = 0; f < layout.matrices(); ++f) {
    const std::size_t n = layout.size(f).rows;
    if (layout.is_one_hot(f))
      write_rows(*state.factors[f], [&](std::size_t j, float* row) {
        std::fill(row, row + n, 0.0f);
        row[j] = static_cast<float>(n);
      });
  }
  return state;
}

// The same on the host, and rates by plain loops.
struct PlainDraw {
  PlainDraw(const FactorLayout& of, std::size_t d) : layout(of) {
    HostArrays host;
    const State state = random_draw(layout, host, d);
    for (const auto& matrix : state.factors) u.push_back(on_host(*matrix));
    log_weight = state.tensor.log_weight;
  }
  double factor(std::size_t k, std::uint32_t j, std::size_t column) const {
    return static_cast<double>(u[layout.matrix(k)].row(j)[column]);
  }
  double rate(const std::uint32_t* cell) const {
    double z = 0;
    for (std::size_t r = 0; r < layout.components(); ++r) {
      double part = std::exp(log_weight[r]);
      for (std::size_t k = 0; k < layout.modes(); ++k)
        part *= factor(k, cell[k], layout.column(k, r)) / static_cast<double>(layout.size_of_mode(k).rows);
      z += part;
    }
    return z;
  }

  FactorLayout layout;
  std::vector<Matrix<float>> u;
  std::vector<double> log_weight;
};

// All settings of the other modes, with test and known entities.
struct AllQueries {
  AllQueries(const FactorLayout& layout, std::size_t of_mode) : mode(of_mode), n(layout.size_of_mode(mode).rows) {
    const std::vector<std::uint32_t> cells = all_cells(layout);
    const std::size_t K = layout.modes();
    for (std::size_t e = 0; e < cells.size(); e += K)
      for (std::size_t k = 0; k < K && cells[e + mode] == 0; ++k)
        if (k != mode) others.push_back(cells[e + k]);
    count = others.size() / (K - 1);
    for (std::size_t b = 0; b < count; ++b) {
      test_begin.push_back(tests.size());
      known_begin.push_back(known.size());
      for (std::uint32_t j = 0; j < n; ++j) {
        if ((b + j) % 4 == 0 || j == b % n) tests.push_back(j);  // each query has one
        if ((b * 5 + j) % 3 == 1) known.push_back(j);
      }
    }
    test_begin.push_back(tests.size());
    known_begin.push_back(known.size());
    K_others = K - 1;
  }
  QueryBatch batch(std::size_t first, std::size_t size) const {
    return {mode,
            size,
            others.data() + first * K_others,
            {test_begin.data() + first, tests.data()},
            {known_begin.data() + first, known.data()}};
  }

  std::size_t mode, n, count, K_others;
  std::vector<std::uint32_t> others, tests, known;
  std::vector<std::size_t> test_begin, known_begin;
};

struct Ranked {
  std::vector<float> scores;  // of each query, its entities
  std::vector<std::vector<TiedOnes>> standings;
};

// With draws in the memory of the kernel.
Ranked rank_all(Kernel& kernel, const FactorLayout& layout, const AllQueries& queries, const ChainDraws& chains) {
  std::vector<State> states;
  for (std::size_t d = 0; d < draws; ++d) states.push_back(random_draw(layout, kernel, d));
  const auto candidates = kernel.candidates(layout, {queries.mode, queries.count, 1 << 14, chains});
  Ranked result;
  for (std::size_t first = 0; first < queries.count; first += candidates->most_queries()) {
    const std::size_t size = std::min(candidates->most_queries(), queries.count - first);
    candidates->begin(queries.batch(first, size));
    for (const State& state : states) candidates->add(state);
    for (std::size_t b = 0; b < size; ++b)
      for (const float score : candidates->scores(b)) result.scores.push_back(score);
    for (auto& of_query : candidates->standings()) result.standings.push_back(std::move(of_query));
  }
  return result;
}

// A float rate is within (P + 5) 2^-24 of itself, and each of five sums rounds once more; a logit of p is that of p
// within the same part of it, divided by 1 - p.
void expect_scores(const Ranked& ranked, const FactorLayout& layout, const AllQueries& queries,
                   const ChainDraws& chains, const std::string& name) {
  std::vector<PlainDraw> plain;
  for (std::size_t d = 0; d < draws; ++d) plain.emplace_back(layout, d);
  const double rounding = 0x1p-24 * static_cast<double>(layout.size_of_mode(queries.mode).columns + 15);
  for (std::size_t q = 0; q < queries.count; ++q) {
    std::vector<std::uint32_t> cell(queries.others.data() + q * queries.K_others,
                                    queries.others.data() + (q + 1) * queries.K_others);
    cell.insert(cell.begin() + static_cast<std::ptrdiff_t>(queries.mode), 0);
    for (std::uint32_t j = 0; j < queries.n; ++j) {
      cell[queries.mode] = j;
      double wanted = 0, tolerance = 0, of_chain = 0;
      for (std::size_t d = 0, chain = 0, first = 0; d < draws; ++d) {
        of_chain -= std::expm1(-plain[d].rate(cell.data()));
        if (d + 1 < chains.end[chain]) continue;
        const double mean = of_chain / static_cast<double>(d + 1 - first);
        wanted += chains.logits ? logit_of_chain(mean) : of_chain;
        tolerance += rounding * (chains.logits ? 30 + 1 / std::max(1 - mean, 1e-5) : of_chain);
        first = chains.end[chain++];
        of_chain = 0;
      }
      ASSERT_NEAR(static_cast<double>(ranked.scores[q * queries.n + j]), wanted, tolerance)
          << name << ", mode " << queries.mode << ", query " << q << ", entity " << j;
    }
  }
}

void expect_standings(const Ranked& ranked, const AllQueries& queries, const std::string& name) {
  const QueryBatch all = queries.batch(0, queries.count);
  for (std::size_t q = 0; q < queries.count; ++q) {
    std::vector<float> scores(ranked.scores.begin() + static_cast<std::ptrdiff_t>(q * queries.n),
                              ranked.scores.begin() + static_cast<std::ptrdiff_t>((q + 1) * queries.n));
    const std::vector<TiedOnes> wanted = tied_ones(scores, all.tests.of(q), all.known.of(q));
    const std::vector<TiedOnes>& found = ranked.standings[q];
    ASSERT_EQ(found.size(), wanted.size()) << name << ", query " << q;
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(found[i].ones, wanted[i].ones) << name << ", query " << q;
      EXPECT_EQ(found[i].above, wanted[i].above) << name << ", query " << q;
      EXPECT_EQ(found[i].equal, wanted[i].equal) << name << ", query " << q;
    }
  }
}

TEST(Oracle, Ranking) {
  Pool pool(2);
  for (const RankingCase& c : ranking_cases())
    for (std::size_t k = 0; k < c.layout.modes(); ++k) {
      const AllQueries queries(c.layout, k);
      for (const ChainDraws& chains : {one_chain, logits_of_two})
        for_each_variant(pool, [&](Kernel& kernel, const std::string& variant) {
          const std::string name = c.name + ", " + variant + (chains.logits ? ", logits" : "");
          const Ranked ranked = rank_all(kernel, c.layout, queries, chains);
          expect_scores(ranked, c.layout, queries, chains, name);
          expect_standings(ranked, queries, name);
        });
    }
}

TEST(Parity, Ranking) {
  for (const RankingCase& c : ranking_cases()) {
    const AllQueries queries(c.layout, 0);
    expect_parity(
        c.name, [&](Kernel& kernel) { return rank_all(kernel, c.layout, queries, logits_of_two).scores; },
        [](const std::vector<float>& a, const std::vector<float>& b) { return a == b; });
  }
}

// Cells that stay where the kernel works are scored as those that are handed over, and so are those of a one-hot mode.
TEST(Oracle, ScoreOfCellsUploaded) {
  Pool pool(2);
  for (const RankingCase& c : ranking_cases()) {
    const std::vector<std::uint32_t> cells = all_cells(c.layout);
    const std::size_t K = c.layout.modes(), count = cells.size() / K;
    const PlainDraw plain(c.layout, 0);
    for_each_variant(pool, [&](Kernel& kernel, const std::string& variant) {
      const State draw = random_draw(c.layout, kernel, 0);
      const auto ones = kernel.upload({.coords = cells.data(), .count = count}, c.layout);
      std::vector<double> z(count), again(count);
      kernel.score(cells.data(), count, tensor_rates(draw), z.data());
      kernel.score(*ones, tensor_rates(draw), again.data());
      EXPECT_TRUE(same_bits(z, again)) << c.name << ", " << variant;
      for (std::size_t e = 0; e < count; ++e) {
        const double wanted = plain.rate(cells.data() + e * K);
        ASSERT_NEAR(z[e], wanted, 1e-5 * wanted) << c.name << ", " << variant;
      }
    });
  }
}

// What a GPU adds up, added up here.
TEST(ListedComponents, HaveTheRatesOfOpenModes) {
  HostArrays host;
  for (const RankingCase& c : ranking_cases()) {
    const FactorLayout& layout = c.layout;
    const State draw = random_draw(layout, host, 1);
    const PlainDraw plain(layout, 1);
    const std::size_t K = layout.modes();
    const std::vector<std::uint32_t> cells = all_cells(layout);
    for (std::size_t open = 0; open <= K; ++open) {
      const cuda::ListedComponents listed = cuda::listed_components(draw, open);
      for (std::size_t e = 0; e < cells.size(); e += K) {
        const std::uint32_t* cell = cells.data() + e;
        const std::size_t g = listed.group_mode < listed.given.size() ? cell[listed.given[listed.group_mode]] : 0;
        double z = 0;
        for (std::uint32_t s = listed.group[g]; s < listed.group[g + 1]; ++s)
          for (std::uint32_t x = listed.segment[s]; x < listed.segment[s + 1]; ++x) {
            double product = listed.scale * listed.weight[x];
            for (std::size_t i = 0; i < listed.given.size(); ++i)
              if (i != listed.group_mode)
                product *= plain.factor(listed.given[i], cell[listed.given[i]],
                                        listed.column[i].empty() ? x : listed.column[i][x]);
            if (open < K) product *= plain.factor(open, cell[open], listed.open_column[s]);
            z += product;
          }
        const double wanted = plain.rate(cell);
        ASSERT_NEAR(z, wanted, 1e-6 * wanted) << c.name << ", open " << open;
      }
    }
  }
}

}  // namespace
}  // namespace ztp::test
