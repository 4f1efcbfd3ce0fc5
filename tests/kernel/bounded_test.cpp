// Components found by way of bounds (kernel/bounded_draw.hpp). Oracle: every kernel and instruction set against the
// reference. Parity: for any number of threads, bit by bit. Everything is a function of the seed 17; there is no chance
// in a run. What the draws are distributed like: bounded_dist_test.cpp. Rates of zero: allocate_test.cpp.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <vector>

#include "kernel/bounded_draw.hpp"
#include "sampler/batch_chain.hpp"
#include "worlds.hpp"

namespace ztp::test {
namespace bounded_tests {

constexpr std::uint64_t seed = 17;
constexpr std::size_t some_blocks = 4096 + 17;  // entries: a block and a bit

StreamKey key(std::uint32_t what) {
  return world_key(seed, what);
}

// Rates for which there is mostly one candidate, for which there are some, and for which there would be more than
// bounds are for.
constexpr double few = 0.01, some = 0.7, many = 40;

std::vector<WorldCase> all_cases() {
  std::vector<WorldCase> cases;
  for (const std::size_t K : {2, 3, 5})
    for (const std::size_t R : {1, 3, 16, 17, 100, 300, 1000})
      for (const Kind kind : all_kinds)
        for (const double rate : {few, some, many}) {
          if (rate == many && R > 100) continue;  // the plain way is the same for all R
          const std::size_t entries = R > 300 || rate == many ? 200 : R > 100 || K != 3 ? 1000 : some_blocks;
          cases.push_back({K, R, entries, kind, rate});
        }
  for (const std::size_t R : {3, 100})
    for (const WorldCase& c : shape_cases(R, some_blocks, some)) cases.push_back(c);
  return cases;
}

// ---- oracle ---------------------------------------------------------------------------------------------------------

// An entry makes draws by its bounds: a count, and for each candidate a block and a place in it. A norm in float is
// some 30 roundings of 2^-24 and roots of weights good to 1e-6 off (bounded_draw.hpp), a bound K times that, and sums
// over blocks add a few more: within delta of what the reference has in double. So a decision falls elsewhere with
// probability at most 2 (blocks + 16) delta, and there are at most 1 + 2 * 8 in the mean, as bounds that add up to more
// than 8 are not used. Then there are near ties of bounds that are to be replaced by the truth, which are seen at 23 -
// log2(blocks) bits: other blocks then are, and all of the entry's draws may differ. Logs of the largest bounds are
// spread over more than 1 / blocks each, so this is expected of blocks 2^-(23 - log2 blocks) of the entries at most.
// What is drawn the plain way is as in allocate_test.cpp. Six standard deviations; eight units move at once.
double moves_allowed(const WorldCase& c, const Drawn& reference) {
  const double R = static_cast<double>(c.R), K = static_cast<double>(c.K), entries = static_cast<double>(c.entries);
  const double blocks = std::ceil(R / 16), eps = 0x1p-24;
  const double delta = (K * (30 + 1e-6 / eps) + blocks / 16 + 16) * eps;
  const double by_bounds = 2 * (blocks + 16) * delta * 17 * entries;
  const double ties = blocks * std::max(blocks, 16.0) * 0x1p-23 * entries;
  const double plain = 2 * R * (K + 1 + blocks + 16) * eps * reference.units();
  const double expected = by_bounds + ties + plain;
  return expected + 6 * std::sqrt(8 * expected);
}

TEST(Oracle, BoundedDrawsAreTheSame) {
  Pool pool(2);
  const auto reference = make_kernel(KernelName::reference, pool);
  std::map<std::string, double> moved;
  double units = 0;
  for (const WorldCase& c : all_cases()) {
    const World world = make_world(c, seed);
    const Drawn slow = allocate(*reference, world, key(4), {.bounded = true});
    expect_parts_are_the_sums(slow, world, "reference, " + c.name());
    if (c.rate != many) units += slow.units();
    for_each_bounding_kernel(pool, [&](Kernel& kernel, const std::string& target) {
      const std::string name = target + ", " + c.name();
      const Drawn fast = allocate(kernel, world, key(4), {.bounded = true});
      expect_parts_are_the_sums(fast, world, name);
      EXPECT_LE(units_moved(fast, slow), moves_allowed(c, slow)) << name << ", of " << slow.units();
      if (c.rate != many) moved[target] += units_moved(fast, slow);
      for (const AllocateCase& same : {AllocateCase{.bounded = true, .indexed = true, .fresh = true},
                                       {.bounded = true, .fresh = true, .wide = true}})
        EXPECT_TRUE(same_counts(fast, allocate(kernel, world, key(4), same))) << name;
      EXPECT_NEAR(fast.log_likelihood, slow.log_likelihood, 1e-5 * std::abs(slow.log_likelihood) + 1e-9) << name;
    });
  }
  // The bound above is for the worst of roundings; this is for all cases with bounds together. A draw that is made in
  // another order, or from other numbers of the stream, moves units by percents.
  for (const auto& [target, of_target] : moved) {
    fmt::print("  {}: {} of {} units moved\n", target, of_target, units);
    EXPECT_LE(of_target, 1e-5 * units) << target;
  }
}

// The flag does something, in every kernel, and only to draws: the likelihood is that of the same rates.
TEST(Oracle, BoundedDrawsAreOtherDraws) {
  Pool pool(1);
  const World world = make_world({3, 100, some_blocks}, seed);
  for_each_bounding_kernel(pool, [&](Kernel& kernel, const std::string& name) {
    const Drawn bounded = allocate(kernel, world, key(4), {.bounded = true}), plain = allocate(kernel, world, key(4));
    EXPECT_GT(units_moved(bounded, plain), 0.1 * plain.units()) << name;
    EXPECT_NEAR(bounded.log_likelihood, plain.log_likelihood, 1e-6 * std::abs(plain.log_likelihood)) << name;
  });
}

// Where all bounds together are more than largest_bounded_rate the entry is drawn as without bounds.
TEST(Oracle, LargeRatesAreDrawnThePlainWay) {
  Pool pool(1);
  const auto reference = make_kernel(KernelName::reference, pool);
  for (const Kind kind : {Kind::ones, Kind::missing}) {
    World world = make_world({2, 100, 1000, kind, 20}, seed);
    for (auto& u : world.u)
      for (std::size_t j = 0; j < u.rows(); ++j) std::fill(u.row(j), u.row(j) + 100, 1.0f);
    const Drawn plain = allocate(*reference, world, key(4));
    EXPECT_TRUE(same_counts(plain, allocate(*reference, world, key(4), {.bounded = true})));
    for_each_bounding_kernel(pool, [&](Kernel& kernel, const std::string& name) {
      EXPECT_TRUE(same_counts(plain, allocate(kernel, world, key(4), {.bounded = true}))) << name;
    });
  }
}

// 128 modes of 2^9 rows have 10^346 cells: neither the rate of a cell nor its likelihood may underflow with 1 / volume.
TEST(Oracle, VolumesPastTheLargestDouble) {
  World world;
  world.layout = FactorLayout(std::vector<std::size_t>(128, 0), {{1u << 9, 1}}, 1);
  world.u.emplace_back(1u << 9, 1);
  for (std::size_t j = 0; j < world.u[0].rows(); ++j) world.u[0].row(j)[0] = 1.0f;
  world.log_weight = {std::log(5.0)};
  world.coords.assign(128 * 3, 11);
  const double expected = 3 * (std::log(5.0) - 128 * 9 * std::log(2.0));
  Pool pool(1);
  for_each_kernel(pool, [&](Kernel& kernel, const std::string& name) {
    if (name == "cuda") return;  // takes fewer modes
    for (const bool bounded : {false, true}) {
      const Drawn drawn = allocate(kernel, world, key(4), {.bounded = bounded}, 1);
      EXPECT_NEAR(drawn.log_likelihood, expected, 1e-9 * std::abs(expected)) << name;
      EXPECT_EQ(drawn.totals[0], 3) << name;
      EXPECT_EQ(drawn.rows[0].row(11)[0], 3 * 128) << name;
    }
  });
}

// ---- parity ---------------------------------------------------------------------------------------------------------

// For any number of threads, with and without an index of rows; and whether the likelihood is asked for changes no
// draw.
TEST(Parity, BoundedDraws) {
  for (const std::size_t R : {3, 100, 300})
    for (const Kind kind : all_kinds) {
      const WorldCase c{3, R, 2 * 4096 + 5, kind, R < 300 ? some : few};
      const World world = make_world(c, seed);
      Pool pool(1);
      for_each_kernel(pool, [&](Kernel& kernel, const std::string& name) {
        if (name == "reference" || name == "cuda") return;
        const Drawn with = allocate(kernel, world, key(4), {.bounded = true}),
                    without = allocate(kernel, world, key(4), {.bounded = true, .likelihood = false});
        EXPECT_TRUE(same_counts(with, without) && std::isnan(without.log_likelihood)) << c.name();
        EXPECT_TRUE(std::isfinite(with.log_likelihood)) << c.name();
      });
      for (const bool indexed : {false, true})
        expect_parity(
            c.name(),
            [&](Kernel& kernel) {
              return allocate(kernel, world, key(4), {.bounded = true, .indexed = indexed, .fresh = true});
            },
            [](const Drawn& a, const Drawn& b) {
              return same_counts(a, b) && same_bits(a.log_likelihood, b.log_likelihood);
            });
    }
}

// A chain that is asked for its likelihood now and then is the chain that is asked each time.
TEST(Parity, BoundedChainsDoNotDependOnTheLikelihood) {
  SparseTensor tensor;
  for (const std::uint32_t n : {41u, 301u, 9u}) tensor.modes.push_back({"mode", LabelTable::numbered(1, n)});
  const World world = make_world({3, 1, 2000}, seed);
  tensor.coords.append(world.coords.data(), world.coords.size());
  tensor.sort_and_merge();
  Problem problem;
  problem.tensor = &tensor;
  problem.hyper = {{0.1, 0.1, 0.1}, {0.1, 1, 0.02}, {0.1, 1, 0.02}};
  problem.layout = FactorLayout::cp({41, 301, 9}, 50);
  problem.seed = seed;
  problem.bounded = true;
  Pool one(1), three(3);
  const auto alone = make_kernel(KernelName::cpu, one), team = make_kernel(KernelName::cpu, three);
  BatchChain always(problem, *alone, 0), seldom(problem, *team, 0);
  always.start();
  seldom.start();
  for (int t = 1; t <= 20; ++t) {
    const double expected = always.sweep(), got = seldom.sweep(t % 10 == 0);
    if (t % 10 == 0) {
      EXPECT_TRUE(same_bits(expected, got)) << t;
    }
  }
  EXPECT_EQ(always.statistics().tensor, seldom.statistics().tensor);
  for (std::size_t f = 0; f < 3; ++f) {
    EXPECT_TRUE(same_bits(*always.state().factors[f], *seldom.state().factors[f])) << f;
    EXPECT_TRUE(same_bits(*always.statistics().rows[f], *seldom.statistics().rows[f])) << f;
  }
}

}  // namespace bounded_tests
}  // namespace ztp::test
