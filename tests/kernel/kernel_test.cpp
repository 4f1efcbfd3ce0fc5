// Oracle: latent counts and scores of the fast kernel, in every instruction set, against the reference and both against plain loops, over
// awkward shapes and rates that floats do not hold. Parity: the fast kernel against itself, for any number of threads, bit by bit.
// Everything is a function of the seed 7; there is no chance in a run. Components found by way of bounds: bounded_test.cpp.
#include "kernel/kernel.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <vector>

#include "kernel/entry_draw.hpp"
#include "targets.hpp"
#include "worlds.hpp"

namespace ztp::test {
namespace {

constexpr std::uint64_t seed = 7;
constexpr std::size_t some_blocks = 2 * 2048 + 17;  // entries: several blocks and a bit
constexpr unsigned team_sizes[] = {2, 3, 7};

StreamKey key(std::uint32_t what) {
  return world_key(seed, what);
}

struct Case {
  WorldCase world;
  bool tiny = false;
  std::string name() const { return world.name() + (tiny ? ", tiny" : ""); }
  World make() const {
    World result = make_world(world, seed);
    if (tiny) make_rates_tiny(result);
    // Past 32 bits, where there are many.
    for (std::size_t e = 0; e < result.counts.size(); e += 1000)
      if (world.rate > 1) result.counts[e] += std::int64_t{1} << 31;
    return result;
  }
};

// Modes of one row are among the twelve.
std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const std::size_t K : {2, 3, 5, 12})
    for (const std::size_t R : {1, 3, 15, 16, 17, 100})
      for (const std::size_t entries : {std::size_t{1}, some_blocks})
        for (const Kind kind : {Kind::ones, Kind::counts, Kind::missing}) {
          cases.push_back({{K, R, entries, kind}});
          cases.push_back({{K, R, entries, kind}, true});
          // A block and a bit, where entries have ten thousand units each.
          if (K <= 3) cases.push_back({{K, R, std::min(entries, std::size_t{2048 + 17}), kind, 1e4}});
        }
  return cases;
}

Drawn draw(Kernel& kernel, const World& world, bool indexed = false) {
  return allocate(kernel, world, key(5), {.bounded = false, .indexed = indexed});
}

// The rate of each cell, worked out in logs without a kernel.
std::vector<double> plain_rates(const World& world) {
  const std::size_t K = world.u.size();
  std::vector<double> z(world.size(), 0.0);
  for (std::size_t e = 0; e < world.size(); ++e)
    for (std::size_t r = 0; r < world.log_weight.size(); ++r) {
      double log_rate = world.log_weight[r];
      for (std::size_t k = 0; k < K; ++k)
        log_rate += std::log(static_cast<double>(world.u[k].row(world.coords[e * K + k])[r]) /
                             static_cast<double>(world.u[k].rows()));
      z[e] += std::exp(log_rate);
    }
  return z;
}

TEST(Rates, SearchOrderIsAPermutation) {
  for (const std::size_t R : {1u, 15u, 16u, 17u, 100u}) {
    const std::vector<std::size_t> order = search_order(R);
    EXPECT_EQ(order.size(), R);
    EXPECT_EQ(std::set<std::size_t>(order.begin(), order.end()).size(), R);
  }
  EXPECT_EQ(search_order(20)[1], 16u);
}

// ---- oracle ---------------------------------------------------------------------------------------------------------

// The reference adds shares up in double, cpu in float: K products, R / 16 sums in a lane and 16 lanes, each rounded by
// at most 2^-24, put every one of the R - 1 boundaries between components, and z itself, within delta of where they
// should be, relative to the rate. So a unit is expected to land elsewhere, or to appear, with probability at most 2 R delta, and is
// allowed that plus six standard deviations. Where one entry has many units, the binomial that splits them can reject a
// proposal in one kernel and accept it in the other: then all that is left of the entry is drawn anew, and sqrt(y)
// units move at once.
double moves_allowed(const WorldCase& c, const Drawn& reference, const World& world, const std::vector<double>& z) {
  const double R = static_cast<double>(c.R), K = static_cast<double>(c.K);
  const double delta = (K + 1 + std::ceil(R / 16) + 16) * 0x1p-24;
  const double most = world.counts.empty()
                          ? *std::max_element(z.begin(), z.end())
                          : static_cast<double>(*std::max_element(world.counts.begin(), world.counts.end()));
  const double expected = 2 * R * delta * reference.units();
  return expected + 6 * std::sqrt(expected * std::max(1.0, std::sqrt(most)));
}

TEST(Oracle, AllocateGivesTheSameCounts) {
  Pool pool(2);
  const auto cpu = make_kernel("cpu", pool), reference = make_kernel("reference", pool);
  for (const Case& c : all_cases()) {
    const World world = c.make();
    const Drawn slow = draw(*reference, world);
    expect_parts_are_the_sums(slow, world, c.name());
    const std::vector<double> z = plain_rates(world);
    const double allowed = moves_allowed(c.world, slow, world, z);
    double rounding = 1e-5 * std::abs(slow.log_likelihood);
    if (world.missing) {
      // The likelihood of what is missing takes back the rate that all cells are charged for, but for cells whose count is zero for sure:
      // those may be passed over.
      const double rate = std::accumulate(z.begin(), z.end(), 0.0);
      const double passed_over = static_cast<double>(world.size()) * std::exp(log_smallest_mean);
      EXPECT_NEAR(slow.log_likelihood, rate, 1e-9 * rate + passed_over) << c.name();
      rounding += passed_over;
    }
    for_each_target([&](const std::string& target) {
      const std::string name = target + ", " + c.name();
      const Drawn fast = draw(*cpu, world);
      expect_parts_are_the_sums(fast, world, name);
      EXPECT_LE(units_moved(fast, slow), allowed) << name << ", of " << slow.units();
      EXPECT_TRUE(same_counts(fast, draw(*cpu, world, true))) << name;
      EXPECT_NEAR(fast.log_likelihood, slow.log_likelihood, rounding) << name;
    });
  }
}

// Shares that are small integers times a power of two are added up without rounding in float and in double, so that
// both kernels must write the very same parts in the same order. No share is the sum of those after it: there a
// binomial has p = 1/2, where it turns from counting successes to counting failures, and the last bit of p decides.
TEST(Oracle, PartsAreTheSameWhereFloatsAreExact) {
  Pool pool(2);
  const auto cpu = make_kernel("cpu", pool), reference = make_kernel("reference", pool);
  for (const Kind kind : {Kind::ones, Kind::counts, Kind::missing})
    for (const std::size_t R : {3, 17, 100}) {
      const WorldCase c{3, R, some_blocks, kind};
      World world = make_world(c, seed);
      world.log_weight.assign(R, std::log(41.0 * 301) - std::log(150.0) - std::log(static_cast<double>(R) / 10));
      for (std::size_t k = 0; k < c.K; ++k)
        for (std::size_t j = 0; j < world.u[k].rows(); ++j)
          for (std::size_t r = 0; r < R; ++r)
            world.u[k].row(j)[r] = k == 0 ? static_cast<float>(100 + (3 * r + 17 * j) % 100)  // no two are the same
                                          : std::ldexp(1.0f, -static_cast<int>(j % 4));
      const Drawn fast = draw(*cpu, world), slow = draw(*reference, world);
      EXPECT_GT(fast.parts.size(), 1000u) << c.name();
      EXPECT_TRUE(same_parts(fast, slow)) << c.name();
    }
}

// A missing cell that no component can reach is no error, as it would be for a one: its count is zero.
TEST(Oracle, MissingCellsOfRateZeroStayEmpty) {
  Pool pool(2);
  for (const char* name : {"cpu", "reference"}) {
    World world = make_world({3, 17, some_blocks, Kind::missing}, seed);
    const std::uint32_t row = world.coords[3 * 2000];
    std::fill(world.u[0].row(row), world.u[0].row(row) + 17, 0.0f);
    const Drawn result = draw(*make_kernel(name, pool), world);
    std::int64_t there = 0, all = 0;
    for (std::size_t r = 0; r < 17; ++r) {
      there += result.rows[0].row(row)[r];
      all += result.totals[r];
    }
    EXPECT_EQ(there, 0) << name;
    EXPECT_GT(all, 0) << name;
  }
}

// Shares made so that their float sum is rounded up fourteen times: one draw in a million runs past the end of the
// running sum. It must stop at the last component that has a share, never at one that has none.
TEST(Oracle, ShareZeroIsNeverChosen) {
  Pool pool(2);
  const auto cpu = make_kernel("cpu", pool);
  Matrix<float> u(1, 16), one(1, 16);
  for (std::size_t r = 0; r < 16; ++r) {
    u.row(0)[r] = r == 0 ? 1.0f : r < 15 ? 0.6f * 0x1p-23f : 0.0f;
    one.row(0)[r] = 1.0f;
  }
  const Rates rates = make_rates({&u, &one}, std::vector<double>(16, -50.0));
  const std::size_t count = 500'000;
  const std::vector<std::uint32_t> coords(2 * count, 0);
  Matrix<std::int64_t> first(1, 16), second(1, 16);
  std::vector<std::int64_t> totals(16, 0);
  for (std::uint32_t sweep = 0; sweep < 16; ++sweep)
    cpu->allocate({coords.data(), nullptr, count}, rates, key(5), sweep, {{&first, &second}, totals.data()});
  EXPECT_EQ(totals[15], 0);
  EXPECT_EQ(std::accumulate(totals.begin(), totals.end(), std::size_t{0}), 16 * count);
}

TEST(Oracle, Score) {
  Pool pool(2);
  const auto cpu = make_kernel("cpu", pool), reference = make_kernel("reference", pool);
  for (const Case& c : all_cases()) {
    if (c.world.kind != Kind::ones) continue;
    World world = c.make();
    // Cells to be predicted come in any order, and a rate of zero is a legal score.
    for (std::size_t e = 1; e < world.size() / 2; e += 2)
      std::swap_ranges(&world.coords[e * c.world.K], &world.coords[(e + 1) * c.world.K],
                       &world.coords[(world.size() - e) * c.world.K]);
    for (std::size_t r = 0; r < c.world.R; ++r) world.u[0].row(world.coords[0])[r] = 0;
    std::vector<double> fast(world.size()), slow(world.size());
    reference->score(world.coords.data(), world.size(), world.rates(), slow.data());
    const std::vector<double> z = plain_rates(world);
    for (std::size_t e = 0; e < z.size(); ++e) ASSERT_NEAR(slow[e], z[e], 1e-6 * z[e]) << c.name();
    for_each_target([&](const std::string& target) {
      cpu->score(world.coords.data(), world.size(), world.rates(), fast.data());
      EXPECT_EQ(fast[0], 0);
      for (std::size_t e = 0; e < world.size(); ++e)
        ASSERT_NEAR(fast[e], slow[e], 1e-5 * slow[e]) << target << c.name();
    });
  }
}

// ---- parity ---------------------------------------------------------------------------------------------------------

TEST(Parity, AllocateAndScore) {
  Pool one(1);
  const auto alone = make_kernel("cpu", one);
  const Case cases[] = {{{2, 3, some_blocks}},
                        {{3, 17, some_blocks, Kind::ones, 1e4}},
                        {{3, 100, some_blocks, Kind::ones}},
                        {{3, 100, some_blocks, Kind::counts, 1e4}},
                        {{12, 16, some_blocks}, true},
                        {{2, 3, some_blocks, Kind::missing}},
                        {{3, 17, some_blocks, Kind::missing, 1e4}},
                        {{12, 16, some_blocks, Kind::missing}, true}};
  for (const Case& c : cases) {
    const World world = c.make();
    const Drawn expected = draw(*alone, world);
    std::vector<double> z(world.size()), z_expected(world.size());
    alone->score(world.coords.data(), world.size(), world.rates(), z_expected.data());
    for (const unsigned threads : team_sizes) {
      Pool pool(threads);
      const auto team = make_kernel("cpu", pool);
      const Drawn got = draw(*team, world);
      EXPECT_TRUE(same_counts(got, expected)) << c.name();
      EXPECT_TRUE(same_parts(got, expected)) << c.name();
      EXPECT_TRUE(same_bits(got.log_likelihood, expected.log_likelihood)) << c.name();
      team->score(world.coords.data(), world.size(), world.rates(), z.data());
      EXPECT_TRUE(same_bits(z, z_expected)) << c.name();
    }
  }
}

}  // namespace
}  // namespace ztp::test
