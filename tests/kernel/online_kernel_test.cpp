// Oracle: the counts that online chains ask for, weighted or expected, by the fast kernel against the reference and both against sums
// worked out here. Parity: for any number of threads, bit by bit. All is a function of the seed 11; there is no chance in a run.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "targets.hpp"
#include "worlds.hpp"
#include "ztp/error.hpp"

namespace ztp::test {
namespace {

constexpr std::uint64_t seed = 11;
constexpr std::size_t some_blocks = 2 * 2048 + 17;  // entries: several blocks and a bit
constexpr unsigned team_sizes[] = {2, 3, 8};

struct Named {
  std::string name;
  World world;
};

// Every kind of entry, networks, and rates that floats do not hold.
std::vector<Named> worlds(std::size_t R, std::size_t entries) {
  std::vector<Named> result;
  for (const std::size_t K : {2, 3, 5})
    for (const Kind kind : {Kind::ones, Kind::counts, Kind::missing})
      for (const bool tiny : {false, true}) {
        const WorldCase c{K, R, entries, kind};
        result.push_back({c.name() + (tiny ? ", tiny rates" : ""), make_world(c, seed)});
        if (tiny) make_rates_tiny(result.back().world);
      }
  result.push_back({fmt::format("network, R = {}, {} edges", R, entries), make_network_world(R, entries, seed)});
  return result;
}

std::vector<double> z_of(const World& world) {
  Pool pool(1);
  std::vector<double> z(world.size());
  make_kernel("reference", pool)->score(world.coords.data(), world.size(), world.rates(), z.data());
  return z;
}

// E y of an entry, from the formulas of the model.
double expectation(const World& world, std::size_t e, double z) {
  if (world.missing) return z;
  if (!world.counts.empty()) return static_cast<double>(world.counts[e]);
  return z < 1e-300 ? 1 : z / -std::expm1(-z);
}

// ---- weighted counts -------------------------------------------------------------------------------------------------

void expect_multiple(const Drawn& weighted, const Drawn& plain, std::int64_t unit, const std::string& name) {
  for (std::size_t r = 0; r < plain.totals.size(); ++r) ASSERT_EQ(weighted.totals[r], unit * plain.totals[r]) << name;
  for (std::size_t k = 0; k < plain.rows.size(); ++k)
    for (std::size_t j = 0; j < plain.rows[k].rows(); ++j)
      for (std::size_t r = 0; r < plain.totals.size(); ++r)
        ASSERT_EQ(weighted.rows[k].row(j)[r], unit * plain.rows[k].row(j)[r]) << name;
}

// The draws do not depend on what they are worth.
TEST(OnlineOracle, UnitsMultiplyCounts) {
  Pool pool(3);
  for (const char* kernel_name : {"cpu", "reference"}) {
    const auto kernel = make_kernel(kernel_name, pool);
    for (const std::size_t R : {3, 17})
      for (const auto& [name, world] : worlds(R, some_blocks))
        for (const bool bounded : {false, true}) {
          const Drawn plain = allocate(*kernel, world, world_key(seed, 5), {.bounded = bounded});
          EXPECT_GT(plain.units(), 0) << name;
          for (const std::int64_t unit : {std::int64_t{3}, std::int64_t{1} << 20})
            for (const bool indexed : {false, true})
              expect_multiple(
                  allocate(*kernel, world, world_key(seed, 5), {.bounded = bounded, .indexed = indexed, .unit = unit}),
                  plain, unit, fmt::format("{}, {}, unit {}", kernel_name, name, unit));
        }
  }
}

struct Imputed {
  Matrix<std::int64_t> S;
  std::vector<std::int64_t> totals;
};

Imputed impute_diagonal(Kernel& kernel, const World& world, std::int64_t unit, bool expected) {
  Imputed result{Matrix<std::int64_t>(world.u[0].rows(), world.u[0].columns()),
                 std::vector<std::int64_t>(world.u[0].columns(), 0)};
  Sums sums{{&result.S}, result.totals.data()};
  sums.unit = unit;
  sums.expected = expected;
  kernel.impute_diagonal(world.u[0], world.log_weight, world_key(seed, 6), 4, sums);
  return result;
}

TEST(OnlineOracle, UnitsMultiplyImputedCounts) {
  Pool pool(2);
  const World world = make_network_world(17, 5, seed);
  const std::size_t n = world.u[0].rows();
  const std::vector<std::int64_t> totals(17, 1000);
  for (const char* name : {"cpu", "reference"}) {
    const auto kernel = make_kernel(name, pool);
    const Imputed once = impute_diagonal(*kernel, world, 1, false),
                  many = impute_diagonal(*kernel, world, 12345, false);
    Matrix<std::int64_t> placed(n, 17), placed_many(n, 17);
    kernel->place(world.u[0], {}, totals, {world_key(seed, 7), 2}, {.rows = {&placed}});
    kernel->place(world.u[0], {}, totals, {world_key(seed, 7), 2}, {.rows = {&placed_many}, .unit = 12345});
    for (std::size_t r = 0; r < 17; ++r) {
      EXPECT_EQ(many.totals[r], 12345 * once.totals[r]) << name;
      std::int64_t sum = 0;
      for (std::size_t j = 0; j < n; ++j) {
        ASSERT_EQ(many.S.row(j)[r], 12345 * once.S.row(j)[r]) << name;
        ASSERT_EQ(placed_many.row(j)[r], 12345 * placed.row(j)[r]) << name;
        sum += placed.row(j)[r];
      }
      EXPECT_EQ(sum, 1000) << name;
    }
  }
}

// ---- expected counts -------------------------------------------------------------------------------------------------

// How far the sums of cpu may be from those of the reference: a rounding to whole units for each entry, since the two may fall on
// different sides of a half; and what floats lose of a product and of the sum that it is divided by, K + 1 and R / 16 + 16 roundings.
double slack(const World& world, double entries, double units) {
  const double R = static_cast<double>(world.log_weight.size());
  return entries + 2 * (static_cast<double>(world.order()) + 1 + std::ceil(R / 16) + 16) * 0x1p-24 * units;
}

void expect_close(const Drawn& fast, const Drawn& slow, const World& world, const std::string& name) {
  std::vector<std::vector<double>> entries(slow.rows.size());
  for (std::size_t k = 0; k < entries.size(); ++k) entries[k].assign(slow.rows[k].rows(), 0);
  for (std::size_t i = 0; i < world.coords.size(); ++i)
    ++entries[world.network ? 0 : i % world.order()][world.coords[i]];
  for (std::size_t r = 0; r < slow.totals.size(); ++r) {
    const double total = static_cast<double>(slow.totals[r]);
    ASSERT_NEAR(static_cast<double>(fast.totals[r]), total, slack(world, static_cast<double>(world.size()), total))
        << name;
    for (std::size_t k = 0; k < slow.rows.size(); ++k) {
      std::int64_t column = 0;
      for (std::size_t j = 0; j < slow.rows[k].rows(); ++j) {
        const double wanted = static_cast<double>(slow.rows[k].row(j)[r]);
        ASSERT_NEAR(static_cast<double>(fast.rows[k].row(j)[r]), wanted, slack(world, entries[k][j], wanted)) << name;
        column += fast.rows[k].row(j)[r];
      }
      ASSERT_EQ(column, (world.network ? 2 : 1) * fast.totals[r]) << name;
    }
  }
}

TEST(OnlineOracle, ExpectedCounts) {
  Pool pool(2);
  const auto cpu = make_kernel("cpu", pool), reference = make_kernel("reference", pool);
  std::size_t number = 0;
  for (const std::size_t R : {1, 3, 16, 17, 100})
    for (const std::size_t entries : {std::size_t{1}, std::size_t{2048 + 17}})
      for (const auto& [name, world] : worlds(R, entries)) {
        const std::int64_t unit = std::int64_t{1} << (number++ % 3 * 20);
        const How how{.unit = unit, .expected = true};
        const Drawn slow = allocate(*reference, world, world_key(seed, 5), how);
        // What all entries have together is known without a kernel; each part was rounded by half a unit at most.
        const std::vector<double> z = z_of(world);
        double all = 0;
        for (std::size_t e = 0; e < z.size(); ++e) all += expectation(world, e, z[e]) * static_cast<double>(unit);
        EXPECT_NEAR(slow.units(), all, static_cast<double>(R * entries) / 2 + 1e-9 * all) << name;
        for_each_target([&](const std::string& target) {
          const Drawn fast = allocate(*cpu, world, world_key(seed, 5), how);
          expect_close(fast, slow, world, fmt::format("{}, {}, unit {}", target, name, unit));
          // The log-likelihood of an entry moves with log z by its expected count: what floats lose of z, it loses so often.
          EXPECT_NEAR(fast.log_likelihood, slow.log_likelihood,
                      slack(world, 0, all / static_cast<double>(unit)) + 1e-12 * std::abs(slow.log_likelihood))
              << name;
        });
      }
}

// An entry at a time: its parts add up to unit z / (1 - exp(-z)), or unit z, or unit y, within half a unit for each of R roundings.
TEST(OnlineOracle, PartsOfAnEntryAddUpToItsExpectation) {
  Pool pool(1);
  constexpr std::int64_t unit = std::int64_t{1} << 20;
  constexpr std::size_t R = 17;
  for (const char* kernel_name : {"cpu", "reference"}) {
    const auto kernel = make_kernel(kernel_name, pool);
    for (const auto& [name, world] : worlds(R, 40)) {
      const std::vector<double> z = z_of(world);
      for (std::size_t e = 0; e < world.size(); ++e) {
        World alone;
        for (const auto& u : world.u) {
          alone.u.emplace_back(u.rows(), R);
          std::copy_n(u.row(0), u.rows() * u.stride(), alone.u.back().row(0));
        }
        alone.log_weight = world.log_weight;
        alone.missing = world.missing;
        alone.network = world.network;
        alone.coords.assign(&world.coords[e * world.order()], &world.coords[e * world.order()] + world.order());
        if (!world.counts.empty()) alone.counts = {world.counts[e]};
        const Drawn parts = allocate(*kernel, alone, world_key(seed, 5), {.unit = unit, .expected = true});
        const double wanted = expectation(world, e, z[e]) * static_cast<double>(unit);
        ASSERT_NEAR(parts.units(), wanted, slack(world, R / 2.0, wanted)) << kernel_name << ", " << name;
      }
    }
  }
}

// A one in a row that no component has goes to all of them in equal parts; one whose rate is not a number stops the run.
TEST(OnlineOracle, ExpectedCountsOfRateZero) {
  Pool pool(2);
  for (const char* kernel_name : {"cpu", "reference"}) {
    World world = make_world({3, 5, 1}, seed);
    std::fill_n(world.u[0].row(world.coords[0]), 5, 0.0f);
    const auto kernel = make_kernel(kernel_name, pool);
    const Drawn drawn = allocate(*kernel, world, world_key(seed, 5), {.unit = 1000, .expected = true});
    EXPECT_EQ(drawn.totals, std::vector<std::int64_t>(5, 200)) << kernel_name;
    std::fill_n(world.u[0].row(world.coords[0]), 5, std::numeric_limits<float>::quiet_NaN());
    EXPECT_THROW(allocate(*kernel, world, world_key(seed, 5), {.expected = true}), Error) << kernel_name;
  }
}

TEST(OnlineOracle, ExpectedDiagonal) {
  Pool pool(2);
  const World world = make_network_world(17, 5, seed);
  const double n = static_cast<double>(world.u[0].rows()), unit = 0x1p30;
  for (const char* name : {"cpu", "reference"}) {
    const Imputed got = impute_diagonal(*make_kernel(name, pool), world, std::int64_t{1} << 30, true);
    for (std::size_t r = 0; r < 17; ++r) {
      double total = 0;
      for (std::size_t j = 0; j < world.u[0].rows(); ++j) {
        const double share = static_cast<double>(world.u[0].row(j)[r]) / n;
        const double mean = unit * std::exp(world.log_weight[r]) * share * share;
        ASSERT_NEAR(static_cast<double>(got.S.row(j)[r]), 2 * mean, 0.5 + 1e-11 * mean) << name;
        total += mean;
      }
      ASSERT_NEAR(static_cast<double>(got.totals[r]), total, 0.5 + 1e-11 * total) << name;
    }
  }
}

TEST(OnlineOracle, SpreadGivesRowsTheirParts) {
  Pool pool(2);
  const World world = make_world({2, 17, 0}, seed);
  const Matrix<float>& u = world.u[1];
  std::vector<std::uint8_t> mask(u.rows());
  for (std::size_t j = 0; j < mask.size(); j += 3) mask[j] = 1;
  std::vector<double> factor(17);
  for (std::size_t r = 0; r < 17; ++r) factor[r] = std::pow(10.0, static_cast<double>(r % 9));
  for (const char* name : {"cpu", "reference"})
    for (const Rows rows : {Rows{}, Rows{mask.data(), 1}, Rows{mask.data(), 0}})
      for (const int power : {1, 2}) {
        Matrix<std::int64_t> S(u.rows(), 17);
        S.row(0)[0] = S.row(1)[0] = 50;  // it is added to
        make_kernel(name, pool)->spread(u, rows, power, factor, S);
        for (std::size_t j = 0; j < u.rows(); ++j)
          for (std::size_t r = 0; r < 17; ++r) {
            const double value = static_cast<double>(u.row(j)[r]), part = power == 2 ? value * value : value;
            const std::int64_t before = j < 2 && r == 0 ? 50 : 0;
            ASSERT_EQ(S.row(j)[r], before + (rows.contains(j) ? std::llround(factor[r] * part) : 0)) << name;
          }
      }
}

// ---- parity ----------------------------------------------------------------------------------------------------------

TEST(OnlineParity, WeightedAndExpectedCounts) {
  Pool one(1);
  const auto alone = make_kernel("cpu", one);
  for (const auto& [name, world] : worlds(17, some_blocks))
    for (const bool expected : {false, true})
      for (const bool indexed : {false, true}) {
        const How how{.bounded = false, .indexed = indexed, .unit = 1'000'003, .expected = expected};
        const Drawn wanted = allocate(*alone, world, world_key(seed, 5), how);
        for (const unsigned threads : team_sizes) {
          Pool pool(threads);
          const Drawn got = allocate(*make_kernel("cpu", pool), world, world_key(seed, 5), how);
          EXPECT_TRUE(same_counts(got, wanted)) << name << ", " << threads << " threads";
          EXPECT_TRUE(same_bits(got.log_likelihood, wanted.log_likelihood)) << name;
        }
      }
}

}  // namespace
}  // namespace ztp::test
