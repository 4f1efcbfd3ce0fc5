// Components found by way of bounds (kernel/bounded_draw.hpp). Oracle: cpu, in every instruction set, against the reference. Parity:
// cpu against itself, for any number of threads, bit by bit. Everything is a function of the seed 17; there is no chance in a
// run. What the draws are distributed like: bounded_dist_test.cpp.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "errors.hpp"
#include "kernel/bounded_draw.hpp"
#include "sampler/chain.hpp"
#include "targets.hpp"
#include "worlds.hpp"

namespace ztp::test {
namespace {

constexpr std::uint64_t seed = 17;
constexpr std::size_t some_blocks = 4096 + 17;  // entries: a block and a bit

StreamKey key(std::uint32_t what) {
  return world_key(seed, what);
}

// Rates for which there is mostly one candidate, for which there are some, and for which there would be more than bounds are for.
constexpr double few = 0.01, some = 0.7, many = 40;

std::vector<WorldCase> all_cases() {
  std::vector<WorldCase> cases;
  for (const std::size_t K : {2, 3, 5})
    for (const std::size_t R : {1, 3, 16, 17, 100, 300, 1000})
      for (const Kind kind : {Kind::ones, Kind::counts, Kind::missing})
        for (const double rate : {few, some, many}) {
          if (rate == many && R > 100) continue;  // the plain way is the same for all R
          const std::size_t entries = R > 300 || rate == many ? 200 : R > 100 || K != 3 ? 1000 : some_blocks;
          cases.push_back({K, R, entries, kind, rate});
        }
  return cases;
}

// ---- oracle ---------------------------------------------------------------------------------------------------------

// An entry makes draws by its bounds: a count, and for each candidate a block and a place in it. A norm in float is some 30 roundings
// of 2^-24 and roots of weights good to 1e-6 off (bounded_draw.hpp), a bound K times that, and sums over blocks add a few more: within delta of
// what the reference has in double. So a decision falls elsewhere with probability at most 2 (blocks + 16) delta, and there are at
// most 1 + 2 * 8 in the mean, as bounds that add up to more than 8 are not used. Then there are near ties of bounds that are
// to be replaced by the truth, which are seen at 23 - log2(blocks) bits: other blocks then are, and all of the entry's draws may
// differ. Logs of the largest bounds are spread over more than 1 / blocks each, so this is expected of blocks 2^-(23 - log2 blocks)
// of the entries at most. What is drawn the plain way is as in kernel_test.cpp. Six standard deviations; eight units move at once.
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
  const auto cpu = make_kernel("cpu", pool), reference = make_kernel("reference", pool);
  double moved = 0, units = 0;
  for (const WorldCase& c : all_cases()) {
    const World world = make_world(c, seed);
    const Drawn slow = allocate(*reference, world, key(4));
    expect_parts_are_the_sums(slow, world, "reference, " + c.name());
    for_each_target([&](const std::string& target) {
      const std::string name = target + ", " + c.name();
      const Drawn fast = allocate(*cpu, world, key(4));
      expect_parts_are_the_sums(fast, world, name);
      EXPECT_LE(units_moved(fast, slow), moves_allowed(c, slow)) << name << ", of " << slow.units();
      if (c.rate != many) moved += units_moved(fast, slow), units += slow.units();
      EXPECT_TRUE(same_counts(fast, allocate(*cpu, world, key(4), {.indexed = true}))) << name;
      EXPECT_NEAR(fast.log_likelihood, slow.log_likelihood, 1e-5 * std::abs(slow.log_likelihood) + 1e-9) << name;
    });
  }
  // The bound above is for the worst of roundings; this is for all cases with bounds together, and as little as between instruction
  // sets (lanes_test.cpp). A draw that is made in another order, or from other numbers of the stream, moves units by percents.
  fmt::print("  {} of {} units moved\n", moved, units);
  EXPECT_LE(moved, 1e-5 * units);
}

// The flag does something, in both kernels, and only to draws: the likelihood is that of the same rates.
TEST(Oracle, BoundedDrawsAreOtherDraws) {
  Pool pool(1);
  const World world = make_world({3, 100, some_blocks}, seed);
  for (const char* name : {"cpu", "reference"}) {
    const auto kernel = make_kernel(name, pool);
    const Drawn bounded = allocate(*kernel, world, key(4)),
                plain = allocate(*kernel, world, key(4), {.bounded = false});
    EXPECT_GT(units_moved(bounded, plain), 0.1 * plain.units()) << name;
    EXPECT_NEAR(bounded.log_likelihood, plain.log_likelihood, 1e-6 * std::abs(plain.log_likelihood)) << name;
  }
}

// Where all bounds together are more than largest_bounded_rate the entry is drawn as without bounds: bit by bit in the reference.
TEST(Oracle, LargeRatesAreDrawnThePlainWay) {
  Pool pool(1);
  const auto cpu = make_kernel("cpu", pool), reference = make_kernel("reference", pool);
  for (const Kind kind : {Kind::ones, Kind::missing}) {
    World world = make_world({2, 100, 1000, kind, 20}, seed);
    for (auto& u : world.u)
      for (std::size_t j = 0; j < u.rows(); ++j) std::fill(u.row(j), u.row(j) + 100, 1.0f);
    const Drawn plain = allocate(*reference, world, key(4), {.bounded = false});
    EXPECT_TRUE(same_counts(plain, allocate(*reference, world, key(4))));
    for_each_target(
        [&](const std::string& target) { EXPECT_TRUE(same_counts(plain, allocate(*cpu, world, key(4)))) << target; });
  }
}

// A network's two ends are rows of one matrix, and bounds are made for it once.
TEST(Oracle, Edges) {
  Pool pool(2);
  const auto cpu = make_kernel("cpu", pool), reference = make_kernel("reference", pool);
  for (const std::size_t R : {3, 100})
    for (const bool bounded : {false, true}) {
      const World world = make_network_world(R, some_blocks, seed);
      const Drawn slow = allocate(*reference, world, key(4), {.bounded = bounded});
      expect_parts_are_the_sums(slow, world, "reference");
      for_each_target([&](const std::string& target) {
        const std::string name = fmt::format("{}, R = {}, bounded {}", target, R, bounded);
        const Drawn fast = allocate(*cpu, world, key(4), {.bounded = bounded});
        expect_parts_are_the_sums(fast, world, name);
        EXPECT_LE(units_moved(fast, slow), moves_allowed({2, R, some_blocks}, slow)) << name << ", of " << slow.units();
        EXPECT_NEAR(fast.log_likelihood, slow.log_likelihood, 1e-5 * std::abs(slow.log_likelihood)) << name;
        EXPECT_TRUE(same_counts(fast, allocate(*cpu, world, key(4), {.bounded = bounded, .indexed = true}))) << name;
      });
    }
}

// A one that no component can explain, or a factor that is not a number, stops the run and names the sweep.
TEST(Oracle, RateZeroIsAnError) {
  for (const unsigned threads : {1u, 3u}) {
    Pool pool(threads);
    for (const char* name : {"cpu", "reference"})
      for (const std::size_t R : {3, 17, 100, 300})
        for (const float bad : {0.0f, std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::quiet_NaN(),
                                std::numeric_limits<float>::infinity()}) {
          World world = make_world({3, R, 500}, seed);
          const std::uint32_t row = world.coords[3 * 250];
          // All of the row, or one component that is not among the first.
          for (std::size_t r = bad == 0 ? 0 : R - 1; r < R; ++r) world.u[0].row(row)[r] = bad;
          for (const bool bounded : {false, true})
            EXPECT_TRUE(holds(error_of([&] { allocate(*make_kernel(name, pool), world, key(4), {.bounded = bounded}); },
                                       ErrorKind::numeric),
                              "sweep 3"))
                << name << ", R = " << R << ", " << bad << ", bounded " << bounded;
        }
  }
}

// Not an error in a chain's first sweep, nor for a missing cell: the one goes anywhere, the cell stays empty. Neither adds anything to
// the log-likelihood.
TEST(Oracle, BoundedRateZeroWhereItIsAllowed) {
  Pool pool(2);
  for (const Kind kind : {Kind::ones, Kind::counts, Kind::missing})
    for (const std::size_t R : {3, 100}) {
      World world = make_world({3, R, 500, kind}, seed);
      const std::uint32_t row = world.coords[3 * 250];
      std::fill(world.u[0].row(row), world.u[0].row(row) + R, 0.0f);
      std::int64_t there = 0;
      for (std::size_t e = 0; e < world.size(); ++e)
        if (world.coords[3 * e] == row) there += kind == Kind::counts ? world.counts[e] : kind == Kind::ones ? 1 : 0;
      std::vector<Drawn> drawn;
      for (const char* name : {"cpu", "reference"}) {
        drawn.push_back(allocate(*make_kernel(name, pool), world, key(4), {.anywhere = true}));
        std::int64_t sum = 0;
        for (std::size_t r = 0; r < R; ++r) sum += drawn.back().rows[0].row(row)[r];
        EXPECT_EQ(sum, there) << name << ", kind " << static_cast<int>(kind);
        EXPECT_TRUE(std::isfinite(drawn.back().log_likelihood)) << name << ", kind " << static_cast<int>(kind);
      }
      const double expected = drawn[1].log_likelihood;
      EXPECT_NEAR(drawn[0].log_likelihood, expected, 1e-5 * std::abs(expected)) << static_cast<int>(kind);
    }
}

// 128 modes of 2^9 rows have 10^346 cells: neither the rate of a cell nor its likelihood may underflow with 1 / volume.
TEST(Oracle, VolumesPastTheLargestDouble) {
  Pool pool(1);
  Matrix<float> u(1u << 9, 1);
  for (std::size_t j = 0; j < u.rows(); ++j) u.row(j)[0] = 1.0f;
  const Rates rates = make_rates(std::vector<const Matrix<float>*>(128, &u), {std::log(5.0)});
  const std::vector<std::uint32_t> coords(128 * 3, 11);
  const double expected = 3 * (std::log(5.0) - 128 * 9 * std::log(2.0));
  for (const char* name : {"cpu", "reference"})
    for (const bool bounded : {false, true}) {
      Matrix<std::int64_t> rows(u.rows(), 1);
      std::int64_t total = 0;
      Entries ones{coords.data(), nullptr, 3};
      ones.bounded = bounded;
      const Sums sums{std::vector<Matrix<std::int64_t>*>(128, &rows), &total};
      EXPECT_NEAR(make_kernel(name, pool)->allocate(ones, rates, key(4), 1, sums), expected, 1e-9 * std::abs(expected))
          << name;
      EXPECT_EQ(total, 3) << name;
    }
}

// ---- parity ---------------------------------------------------------------------------------------------------------

// Bit by bit, for any number of threads, with and without an index of rows; and whether the likelihood is asked for changes no draw.
TEST(Parity, BoundedDraws) {
  Pool one(1);
  const auto alone = make_kernel("cpu", one);
  for (const std::size_t R : {3, 100, 300})
    for (const Kind kind : {Kind::ones, Kind::counts, Kind::missing}) {
      const WorldCase c{3, R, 2 * 4096 + 5, kind, R < 300 ? some : few};
      const World world = make_world(c, seed);
      const Drawn expected = allocate(*alone, world, key(4));
      EXPECT_TRUE(std::isfinite(expected.log_likelihood)) << c.name();
      for (const unsigned threads : {1u, 2u, 3u, 7u}) {
        Pool pool(threads);
        const auto team = make_kernel("cpu", pool);
        for (const bool indexed : {false, true})
          for (const bool likelihood : {false, true}) {
            const Drawn got = allocate(*team, world, key(4), {.indexed = indexed, .likelihood = likelihood});
            EXPECT_TRUE(same_counts(got, expected)) << threads << ", " << c.name();
            if (likelihood)
              EXPECT_TRUE(same_bits(got.log_likelihood, expected.log_likelihood)) << threads << ", " << c.name();
            else
              EXPECT_TRUE(std::isnan(got.log_likelihood)) << threads << ", " << c.name();
          }
      }
    }
}

// A chain that is asked for its likelihood now and then is the chain that is asked each time.
TEST(Parity, BoundedChainsDoNotDependOnTheLikelihood) {
  SparseTensor tensor;
  for (const std::uint32_t n : {41u, 301u, 9u}) tensor.modes.push_back({"mode", LabelTable::numbered(1, n)});
  const World world = make_world({3, 1, 2000}, seed);
  tensor.coords.append(world.coords.data(), world.coords.size());
  tensor.sort_and_merge();
  Problem problem{&tensor, {}, {{0.1, 0.1, 0.1}, {0.1, 1, 0.02}, {0.1, 1, 0.02}}, 50, seed};
  problem.bounded = true;
  Pool one(1), three(3);
  const auto alone = make_kernel("cpu", one), team = make_kernel("cpu", three);
  Chain always(problem, *alone, 0), seldom(problem, *team, 0);
  always.start();
  seldom.start();
  for (int t = 1; t <= 20; ++t) {
    const double expected = always.sweep(), got = seldom.sweep(t % 10 == 0);
    if (t % 10 == 0) {
      EXPECT_TRUE(same_bits(expected, got)) << t;
    }
  }
  EXPECT_EQ(always.statistics().tensor, seldom.statistics().tensor);
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_TRUE(same_bits(always.state().u[k], seldom.state().u[k])) << k;
    EXPECT_TRUE(same_bits(always.statistics().rows[k], seldom.statistics().rows[k])) << k;
  }
}

}  // namespace
}  // namespace ztp::test
