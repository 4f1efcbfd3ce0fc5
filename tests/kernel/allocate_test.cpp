// Oracle: latent counts of every kernel against the reference and both against plain loops, over awkward shapes,
// layouts that are not CP and rates that floats do not hold; drawn or expected, and worth any unit. Parity: for any
// number of threads, bit by bit. Everything is a function of the seed 7; there is no chance in a run. Components found
// by way of bounds: bounded_test.cpp.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <vector>

#include "errors.hpp"
#include "base/exact_sum.hpp"
#include "kernel/entry_draw.hpp"
#include "worlds.hpp"

namespace ztp::test {
namespace {

constexpr std::uint64_t seed = 7;
constexpr std::size_t some_blocks = 2 * 2048 + 17;  // entries: several blocks and a bit

StreamKey key(std::uint32_t what) {
  return world_key(seed, what);
}

// Modes of one row are among the twelve.
std::vector<WorldCase> all_cases() {
  std::vector<WorldCase> cases;
  for (const std::size_t K : {2, 3, 5, 12})
    for (const std::size_t R : {1, 3, 15, 16, 17, 100})
      for (const std::size_t entries : {std::size_t{1}, some_blocks})
        for (const Kind kind : all_kinds) {
          cases.push_back({K, R, entries, kind});
          cases.push_back({K, R, entries, kind, 1, Shape::cp, true});
          // A block and a bit, where entries have ten thousand units each.
          if (K <= 3) cases.push_back({K, R, std::min(entries, std::size_t{2048 + 17}), kind, 1e4});
        }
  for (const std::size_t R : {1, 3, 17, 100})
    for (WorldCase c : shape_cases(R, some_blocks)) {
      cases.push_back(c);
      c.tiny = true;
      if (R == 17) cases.push_back(c);
    }
  // Too many to copy each column for every component that uses it: factors are gathered.
  for (const Kind kind : all_kinds)
    for (const Shape shape : {Shape::shared, Shape::tied_shared})
      cases.push_back({3, 300, some_blocks, kind, 1, shape});
  return cases;
}

// ---- drawn counts ---------------------------------------------------------------------------------------------------

// The reference adds shares up in double, others may in float: K products, R / 16 sums in a lane and 16 lanes, each
// rounded by at most 2^-24, put every one of the R - 1 boundaries between components, and z itself, within delta of
// where they should be, relative to the rate. So a unit is expected to land elsewhere, or to appear, with probability
// at most 2 R delta, and is allowed that plus six standard deviations. Where one entry has many units, the binomial
// that splits them can reject a proposal in one kernel and accept it in the other: then all that is left of the entry
// is drawn anew, and sqrt(y) units move at once.
double moves_allowed(const WorldCase& c, const Drawn& reference, const World& world, const std::vector<double>& log_z) {
  const double R = static_cast<double>(c.R), K = static_cast<double>(c.K);
  const double delta = (K + 1 + std::ceil(R / 16) + 16) * 0x1p-24;
  const double most = world.counts.empty()
                          ? std::exp(*std::max_element(log_z.begin(), log_z.end()))
                          : static_cast<double>(*std::max_element(world.counts.begin(), world.counts.end()));
  const double expected = 2 * R * delta * reference.units();
  return expected + 6 * std::sqrt(expected * std::max(1.0, std::sqrt(most)));
}

// The log-likelihood of the entries, without the part that all cells share. That of what is missing takes back the rate
// that all cells are charged for, but for cells whose count is zero for sure: those may be passed over.           (M10)
double plain_log_likelihood(const World& world, const std::vector<double>& log_z) {
  double sum = 0;
  for (std::size_t e = 0; e < log_z.size(); ++e) {
    const double z = std::exp(log_z[e]), y = world.counts.empty() ? 1 : static_cast<double>(world.counts[e]);
    if (world.missing)
      sum += z;
    else if (!world.counts.empty())
      sum += y * log_z[e] - std::lgamma(y + 1);
    else
      sum += z < 1e-6 ? log_z[e] + z / 2 : z > 30 ? z : std::log(std::expm1(z));
  }
  return sum;
}

TEST(Oracle, AllocateGivesTheSameCounts) {
  Pool pool(2);
  const auto reference = make_kernel(KernelName::reference, pool);
  std::map<std::string, double> moved;
  double units = 0;
  for (const WorldCase& c : all_cases()) {
    const World world = make_world(c, seed);
    const Drawn slow = allocate(*reference, world, key(5));
    if (c.rate < 1e4) units += slow.units();
    expect_parts_are_the_sums(slow, world, c.name());
    const std::vector<double> log_z = plain_log_z(world);
    const double allowed = moves_allowed(c, slow, world, log_z);
    const double passed_over = world.missing ? static_cast<double>(world.size()) * std::exp(log_smallest_mean) : 0;
    const double expected = plain_log_likelihood(world, log_z), rounding = 1e-5 * std::abs(expected) + passed_over;
    const double rounded = static_cast<double>(world.size()) * ExactSum::unit;  // each term
    EXPECT_NEAR(slow.log_likelihood, expected, 1e-9 * std::abs(expected) + passed_over + rounded) << c.name();
    for_each_fast_kernel(pool, [&](Kernel& kernel, const std::string& target) {
      const std::string name = target + ", " + c.name();
      const Drawn fast = allocate(kernel, world, key(5));
      expect_parts_are_the_sums(fast, world, name);
      const double moves = units_moved(fast, slow);
      EXPECT_LE(moves, allowed) << name << ", of " << slow.units();
      if (c.rate < 1e4) moved[target] += moves;
      EXPECT_NEAR(fast.log_likelihood, slow.log_likelihood, rounding) << name;
      for (const AllocateCase& same : {AllocateCase{.indexed = true, .fresh = true}, {.fresh = true}, {.wide = true}})
        EXPECT_TRUE(same_counts(fast, allocate(kernel, world, key(5), same))) << name << same.indexed << same.fresh;
    });
  }
  // The bound above is for the worst of roundings; this is for all cases together.
  for (const auto& [target, of_target] : moved) EXPECT_LE(of_target, 1e-5 * units) << target;
}

// Shares that are small integers times a power of two are added up without rounding in float and in double, so that all
// kernels must write the very same parts in the same order. No share is the sum of those after it: there a binomial has
// p = 1/2, where it turns from counting successes to counting failures, and the last bit of p decides.
TEST(Oracle, PartsAreTheSameWhereFloatsAreExact) {
  Pool pool(2);
  const auto reference = make_kernel(KernelName::reference, pool);
  for (const Kind kind : all_kinds)
    for (const std::size_t R : {3, 17, 100}) {
      const WorldCase c{3, R, some_blocks, kind};
      World world = make_world(c, seed);
      // Up to the largest that are searched for unit by unit. No larger ones: with these shares 52 of 150 units meet a
      // mean of exactly 10, where a binomial changes its method, and again the last bit of p decides.
      for (std::size_t e = 0; e < world.counts.size(); e += 7)
        world.counts[e] = most_searched - static_cast<std::int64_t>(e % 30);
      world.log_weight.assign(R, std::log(41.0 * 301) - std::log(150.0) - std::log(static_cast<double>(R) / 10));
      for (std::size_t k = 0; k < c.K; ++k)
        for (std::size_t j = 0; j < world.u[k].rows(); ++j)
          for (std::size_t r = 0; r < R; ++r)
            world.u[k].row(j)[r] = k == 0 ? static_cast<float>(100 + (3 * r + 17 * j) % 100)  // no two are the same
                                          : std::ldexp(1.0f, -static_cast<int>(j % 4));
      const Drawn slow = allocate(*reference, world, key(5));
      EXPECT_GT(slow.parts.size(), 1000u) << c.name();
      for_each_fast_kernel(pool, [&](Kernel& kernel, const std::string& name) {
        EXPECT_TRUE(same_parts(allocate(kernel, world, key(5)), slow)) << name << ", " << c.name();
      });
    }
}

// Shares made so that their float sum is rounded up fourteen times: one draw in a million runs past the end of the
// running sum. It must stop at the last component that has a share, never at one that has none.
TEST(Oracle, ShareZeroIsNeverChosen) {
  World world;
  world.layout = FactorLayout::cp({1, 1}, 16);
  for (int k = 0; k < 2; ++k) world.u.emplace_back(1, 16);
  for (std::size_t r = 0; r < 16; ++r) {
    world.u[0].row(0)[r] = r == 0 ? 1.0f : r < 15 ? 0.6f * 0x1p-23f : 0.0f;
    world.u[1].row(0)[r] = 1.0f;
  }
  world.log_weight.assign(16, -50.0);
  world.coords.assign(2 * 500'000, 0);
  Pool pool(2);
  for_each_fast_kernel(pool, [&](Kernel& kernel, const std::string& name) {
    for (std::uint32_t sweep = 0; sweep < 8; ++sweep) {
      const Drawn drawn = allocate(kernel, world, key(5), {}, sweep);
      EXPECT_EQ(drawn.totals[15], 0) << name;
      EXPECT_EQ(drawn.units(), static_cast<double>(world.size())) << name;
    }
  });
}

// A one that no component can explain, or a factor that is not a number, stops the run and names the sweep.
TEST(Oracle, RateZeroIsAnError) {
  using Limits = std::numeric_limits<float>;
  for (const unsigned threads : {1u, 3u}) {
    Pool pool(threads);
    for (const std::size_t R : {3, 17, 100, 300})
      for (const float bad : {0.0f, Limits::quiet_NaN(), -Limits::quiet_NaN(), Limits::infinity()}) {
        World world = make_world({3, R, 500}, seed);
        const std::uint32_t row = world.coords[3 * 250];
        // All of the row, or one component that is not among the first.
        for (std::size_t r = bad == 0 ? 0 : R - 1; r < R; ++r) world.u[0].row(row)[r] = bad;
        for_each_kernel(pool, [&](Kernel& kernel, const std::string& name) {
          for (const bool bounded : {false, true})
            EXPECT_TRUE(
                holds(error_of([&] { allocate(kernel, world, key(4), {.bounded = bounded}); }, ErrorKind::numeric),
                      "sweep 3"))
                << name << ", R = " << R << ", " << bad << ", bounded " << bounded;
        });
      }
  }
}

// Not an error in a chain's first sweep, nor for a missing cell: the one goes anywhere, the cell stays empty. Neither
// adds anything to the log-likelihood.
TEST(Oracle, RateZeroWhereItIsAllowed) {
  Pool pool(2);
  for (const Kind kind : all_kinds)
    for (const std::size_t R : {3, 17, 100})
      for (const bool bounded : {false, true}) {
        World world = make_world({3, R, 500, kind}, seed);
        const std::uint32_t row = world.coords[3 * 250];
        std::fill(world.u[0].row(row), world.u[0].row(row) + R, 0.0f);
        std::int64_t there = 0;
        for (std::size_t e = 0; e < world.size(); ++e)
          if (world.coords[3 * e] == row) there += kind == Kind::counts ? world.counts[e] : kind == Kind::ones ? 1 : 0;
        std::vector<double> log_likelihood;
        for_each_kernel(pool, [&](Kernel& kernel, const std::string& name) {
          const Drawn drawn = allocate(kernel, world, key(4), {.bounded = bounded, .anywhere = kind != Kind::missing});
          EXPECT_EQ(std::accumulate(drawn.rows[0].row(row), drawn.rows[0].row(row) + R, std::int64_t{0}), there)
              << name;
          EXPECT_GT(drawn.units(), static_cast<double>(there)) << name;
          EXPECT_TRUE(std::isfinite(drawn.log_likelihood)) << name << ", kind " << static_cast<int>(kind);
          log_likelihood.push_back(drawn.log_likelihood);
        });
        for (const double value : log_likelihood)
          EXPECT_NEAR(value, log_likelihood[0], 1e-5 * std::abs(value)) << static_cast<int>(kind);
      }
}

// The draws do not depend on what they are worth.
TEST(Oracle, UnitsMultiplyCounts) {
  Pool pool(3);
  for_each_kernel(pool, [&](Kernel& kernel, const std::string& kernel_name) {
    for (const WorldCase& c : few_cases(17, some_blocks))
      for (const bool bounded : {false, true}) {
        const World world = make_world(c, seed);
        const Drawn plain = allocate(kernel, world, key(5), {.bounded = bounded});
        EXPECT_GT(plain.units(), 0) << c.name();
        for (const std::int64_t unit : {std::int64_t{3}, std::int64_t{1} << 20}) {
          const AllocateCase weighted{.bounded = bounded, .indexed = unit == 3, .unit = unit};
          EXPECT_TRUE(same_counts(allocate(kernel, world, key(5), weighted), times(unit, plain)))
              << kernel_name << ", " << c.name() << ", unit " << unit;
        }
      }
  });
}

// Groups of ones that add to the same rows draw what all of them would in one: in parallel, and in 32 or 64 bits.
TEST(Oracle, GroupsDrawWhatTheWholeWould) {
  Pool pool(3);
  for_each_kernel(pool, [&](Kernel& kernel, const std::string& name) {
    for (const WorldCase& c : few_cases(17, some_blocks))
      for (const bool wide : {false, true}) {
        const World world = make_world(c, seed);
        const Drawn whole = allocate(kernel, world, key(5), {.wide = wide});
        const KernelSums together(kernel, world, wide);
        std::vector<Loaded> loaded;
        std::vector<CountGroup> groups;
        constexpr std::size_t ends[] = {0, 5, 5, 2048, some_blocks};  // one of them is empty
        for (std::size_t g = 0; g + 1 < std::size(ends); ++g) {
          HostCells cells = world.cells();
          cells.coords += ends[g] * world.modes();
          if (cells.observed != nullptr) cells.observed += ends[g];
          cells.first = ends[g];
          cells.count = ends[g + 1] - ends[g];
          const Loaded& now = loaded.emplace_back(kernel, world, cells);
          groups.push_back({now.ones.get(), now.rates, together.sums()});
        }
        kernel.allocate_groups(groups, key(5), {.t = 3});
        Drawn sum = together.drawn();
        for (std::size_t g = 0; g < groups.size(); ++g) {
          sum.log_likelihood += groups[g].log_likelihood;
          for (const auto& block : groups[g].parts)
            for (Part part : block) {
              part.entry += static_cast<std::uint32_t>(ends[g]);
              sum.parts.push_back(part);
            }
        }
        EXPECT_GT(whole.units(), 0) << c.name();
        EXPECT_TRUE(same_counts(sum, whole) && same_parts(sum, whole)) << name << ", " << c.name();
        EXPECT_NEAR(sum.log_likelihood, whole.log_likelihood, 1e-9 * std::abs(whole.log_likelihood)) << c.name();
      }
  });
}

// Where a chain starts: all of an entry in one component, that its own stream says.
TEST(Oracle, AllocateAtRandom) {
  Pool pool(3);
  std::vector<WorldCase> cases = few_cases(17, some_blocks);
  cases.push_back({2, 1, 1, Kind::counts, 1e4});
  cases.push_back({3, 100, some_blocks, Kind::counts, 1e4});  // beyond 32 bits
  for (const WorldCase& c : cases) {
    const World world = make_world(c, seed);
    Drawn wanted = nothing_drawn(world);
    for (std::size_t e = 0; e < world.size(); ++e)
      add_plainly(world, e, Stream(key(6), 0, e).below(world.R()), world.counts.empty() ? 1 : world.counts[e], wanted);
    for_each_kernel(pool, [&](Kernel& kernel, const std::string& name) {
      for (const bool indexed : {false, true})
        for (const bool wide : {false, true}) {
          const KernelSums sums(kernel, world, wide);
          kernel.allocate_at_random(*kernel.upload(world.cells(indexed), world.layout), key(6), sums.sums());
          EXPECT_TRUE(same_counts(sums.drawn(), wanted)) << name << ", " << c.name();
        }
    });
  }
}

// ---- expected counts ------------------------------------------------------------------------------------------------

// Sums of expectations in plain loops, and how many parts each of them is made of.
struct Expected {
  Drawn sums, parts;
  double all = 0;  // units
};

// E y = z / (1 - exp(-z)) of a one, z of a missing cell, y of an observed count.                                  (M26)
Expected expect_plainly(const World& world, std::int64_t unit) {
  Expected result{nothing_drawn(world), nothing_drawn(world)};
  for (std::size_t e = 0; e < world.size(); ++e) {
    const std::vector<double> log_rates = plain_log_rates(world, e);
    const double log_z = log_sum(log_rates), z = std::exp(log_z);
    double count = world.missing ? z : z < 1e-300 ? 1 : z / -std::expm1(-z);
    if (!world.counts.empty()) count = static_cast<double>(world.counts[e]);
    for (std::size_t r = 0; r < world.R(); ++r) {
      const double share = std::exp(log_rates[r] - log_z);
      const std::int64_t units = std::llround(count * static_cast<double>(unit) * share);
      add_plainly(world, e, r, units, result.sums);
      add_plainly(world, e, r, 1, result.parts);
    }
    result.all += count * static_cast<double>(unit);
  }
  return result;
}

// How far sums of so many parts may be off: a rounding to whole units for each part, since two kernels may fall on
// different sides of a half; and what floats lose of a product and of the sum that it is divided by, K + 1 and R / 16 +
// 16 roundings.
double slack(const World& world, double parts, double units) {
  const double R = static_cast<double>(world.R());
  return parts + 2 * (static_cast<double>(world.modes()) + 1 + std::ceil(R / 16) + 16) * 0x1p-24 * units;
}

void expect_close(const Drawn& got, const Expected& wanted, const World& world, const std::string& name) {
  for (std::size_t r = 0; r < world.R(); ++r) {
    const double total = static_cast<double>(wanted.sums.totals[r]);
    ASSERT_NEAR(static_cast<double>(got.totals[r]), total, slack(world, static_cast<double>(world.size()), total))
        << name;
  }
  for (std::size_t f = 0; f < got.rows.size(); ++f)
    for (std::size_t j = 0; j < got.rows[f].rows(); ++j)
      for (std::size_t q = 0; q < got.rows[f].columns(); ++q) {
        const double units = static_cast<double>(wanted.sums.rows[f].row(j)[q]);
        ASSERT_NEAR(static_cast<double>(got.rows[f].row(j)[q]), units,
                    slack(world, static_cast<double>(wanted.parts.rows[f].row(j)[q]), units))
            << name;
      }
  // A column has the totals of the components that use it, once for each mode.
  std::vector<std::vector<double>> columns;
  for (const auto& rows : got.rows) columns.emplace_back(rows.columns(), 0.0);
  for (std::size_t k = 0; k < world.modes(); ++k)
    for (std::size_t r = 0; r < world.R(); ++r)
      columns[world.layout.matrix(k)][world.layout.column(k, r)] += static_cast<double>(got.totals[r]);
  for (std::size_t f = 0; f < columns.size(); ++f) ASSERT_EQ(column_sums(got.rows[f]), columns[f]) << name;
}

TEST(Oracle, ExpectedCounts) {
  Pool pool(2);
  std::size_t number = 0;
  for (const std::size_t R : {1, 3, 16, 17, 100})
    for (const std::size_t entries : {std::size_t{1}, std::size_t{2048 + 17}})
      for (const WorldCase& c : few_cases(R, entries)) {
        const World world = make_world(c, seed);
        const std::int64_t unit = std::int64_t{1} << (number++ % 3 * 20);
        const Expected wanted = expect_plainly(world, unit);
        const double log_likelihood = plain_log_likelihood(world, plain_log_z(world));
        // The log-likelihood of an entry moves with log z by its expected count: what floats lose of z, it loses so
        // often.
        const double lost = slack(world, 0, wanted.all / static_cast<double>(unit)) + 1e-9 * std::abs(log_likelihood) +
                            static_cast<double>(world.size()) * ExactSum::unit;  // each term is rounded
        for_each_variant(pool, [&](Kernel& kernel, const std::string& name) {
          const AllocateCase how{.indexed = number % 2 == 0, .fresh = number % 4 < 2, .expected = true, .unit = unit};
          const Drawn drawn = allocate(kernel, world, key(5), how);
          expect_close(drawn, wanted, world, fmt::format("{}, {}, unit {}", name, c.name(), unit));
          EXPECT_NEAR(drawn.log_likelihood, log_likelihood, lost) << name << ", " << c.name();
        });
      }
}

// A one in a row that no component has goes to all of them in equal parts; one whose rate is not a number stops the
// run.
TEST(Oracle, ExpectedCountsOfRateZero) {
  Pool pool(2);
  for_each_kernel(pool, [&](Kernel& kernel, const std::string& name) {
    World world = make_world({3, 5, 1}, seed);
    std::fill_n(world.u[0].row(world.coords[0]), 5, 0.0f);
    const Drawn drawn = allocate(kernel, world, key(5), {.expected = true, .unit = 1000});
    EXPECT_EQ(drawn.totals, std::vector<std::int64_t>(5, 200)) << name;
    std::fill_n(world.u[0].row(world.coords[0]), 5, std::numeric_limits<float>::quiet_NaN());
    EXPECT_THROW(allocate(kernel, world, key(5), {.expected = true}), Error) << name;
  });
}

// ---- parity ---------------------------------------------------------------------------------------------------------

TEST(Parity, Allocate) {
  std::vector<WorldCase> cases = few_cases(17, some_blocks);
  for (const WorldCase& c : {WorldCase{3, 17, some_blocks, Kind::ones, 1e4},
                             {3, 100, some_blocks, Kind::counts, 1e4},
                             {3, 17, some_blocks, Kind::missing, 1e4},
                             {12, 16, some_blocks, Kind::missing, 1, Shape::cp, true}})
    cases.push_back(c);
  for (const WorldCase& c : cases) {
    const World world = make_world(c, seed);
    for (const bool expected : {false, true})
      for (const bool indexed : {false, true}) {
        const AllocateCase how{.indexed = indexed, .expected = expected, .unit = indexed ? 1'000'003 : 1};
        expect_parity(
            c.name(), [&](Kernel& kernel) { return allocate(kernel, world, key(5), how); },
            [](const Drawn& a, const Drawn& b) {
              return same_counts(a, b) && same_parts(a, b) && same_bits(a.log_likelihood, b.log_likelihood);
            });
      }
  }
}

}  // namespace
}  // namespace ztp::test
