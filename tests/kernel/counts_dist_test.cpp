// Do latent counts follow their distributions, in every kernel: those of entries, those placed on rows, those of a
// network's diagonal? Are expected counts the means of drawn ones?
//
// Seed 20150713, a million draws for each setting, tens or hundreds of thousands where a draw is a walk over hundreds
// of rows. At most 4000 p-values are looked at in this file and each fails below 1e-3 / 4000: the whole file raises a
// false alarm with probability at most 1e-3. The seed is fixed and nothing is retried. Every kernel draws from streams
// of its own.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <span>
#include <vector>

#include "laws.hpp"
#include "worlds.hpp"

namespace ztp::test {
namespace {

constexpr std::uint64_t seed = 20150713;
Alarms* const alarms = new Alarms(1e-3, 4000);
const auto* const registered = testing::AddGlobalTestEnvironment(alarms);

INSTANTIATE_TEST_SUITE_P(Each, KernelDraws, testing::ValuesIn(drawing_kernel_names()),
                         [](const auto& one) { return one.param; });

// ---- allocate -------------------------------------------------------------------------------------------------------

constexpr std::size_t entries = 1 << 14;
constexpr std::uint32_t sweeps = 64;  // of so many entries: 2^20 draws

// Shares that add up to one in floats too, whatever the order: at a rate of 1e9 a rounding of 1e-7 would be seen.
const std::vector<double> three = {0.25, 0.5, 0.25};
const std::vector<double> five = {0.5, 0.25, 0.125, 0.0625, 0.0625};
const std::vector<double> twenty = [] {  // more than the 16 lanes
  std::vector<double> p;
  for (int r = 0; r < 20; ++r) p.push_back(r % 5 < 3 ? 1.0 / 16 : 1.0 / 32);
  return p;
}();

// All cells have the same rate and the same shares. Mode 0 has one row for all of them, which holds the shares times
// 2^exponent; mode 1 has a row for each cell, in which the count of that cell and its parts can be seen.
struct Cells {
  double z;
  const std::vector<double>& p;
  int exponent = 0;  // from -100 down, and from 100 up, cpu adds up logs instead of floats
  std::string name() const { return fmt::format("rate {}, R = {}, 2^{}", z, p.size(), exponent); }
};

// Calls add(parts of one cell) for every draw. total: the count of each, if it is observed.
template <class Add>
void for_each_draw(Kernel& kernel, const Cells& cells, Kind kind, std::int64_t total, StreamKey key,
                   std::uint32_t setting, const Add& add) {
  const std::size_t R = cells.p.size();
  World world;
  world.layout = FactorLayout::cp({1, entries}, R);
  world.missing = kind == Kind::missing;
  if (kind == Kind::counts) world.counts.assign(entries, total);
  world.u.emplace_back(1, R);
  world.u.emplace_back(entries, R);
  for (std::size_t r = 0; r < R; ++r) world.u[0].row(0)[r] = static_cast<float>(std::ldexp(cells.p[r], cells.exponent));
  for (std::size_t e = 0; e < entries; ++e) {
    std::fill_n(world.u[1].row(e), R, 1.0f);
    world.coords.insert(world.coords.end(), {0, static_cast<std::uint32_t>(e)});
  }
  const double log_weight = std::log(cells.z) + std::log(static_cast<double>(entries)) - cells.exponent * std::log(2.0);
  world.log_weight.assign(R, log_weight);
  const Loaded loaded(kernel, world, world.cells());
  for (std::uint32_t t = 0; t < sweeps; ++t) {
    const KernelSums sums(kernel, world);
    kernel.allocate(*loaded.ones, loaded.rates, key, {.t = setting * sweeps + t}, sums.sums());
    const Drawn drawn = sums.drawn();
    for (std::size_t e = 0; e < entries; ++e) add(drawn.rows[1].row(e));
  }
}

// The law of a part of the count whose rate is `mean`, given the rate of the whole.
using PartLaw = std::function<Discrete(double mean, double whole)>;

Discrete poisson_part(double mean, double) {
  return poisson_law(mean);
}

// Each part, the whole, and the sum of the first and the last part: how they depend on each other.
class PartCounts {
 public:
  PartCounts(const Cells& cells, const PartLaw& law, const std::string& name) : p_(cells.p) {
    for (std::size_t r = 0; r < p_.size(); ++r)
      counts_.emplace_back(law(cells.z * p_[r], cells.z), fmt::format("{}, part {}", name, r));
    counts_.emplace_back(law(cells.z * (p_.front() + p_.back()), cells.z), name + ", first and last");
    counts_.emplace_back(law(cells.z, cells.z), name + ", whole");
  }
  void add(const std::int64_t* parts) {
    for (std::size_t r = 0; r < p_.size(); ++r) counts_[r].add(parts[r]);
    counts_[p_.size()].add(parts[0] + parts[p_.size() - 1]);
    counts_.back().add(std::accumulate(parts, parts + p_.size(), std::int64_t{0}));
  }
  void expect_plausible() const {
    for (const CellCounts& counts : counts_) counts.expect_plausible(*alarms);
  }
  double smallest_p() const {
    double p = 1;
    for (const CellCounts& counts : counts_) p = std::min(p, counts.chi_squared());
    return p;
  }

 private:
  std::vector<double> p_;
  std::vector<CellCounts> counts_;
};

// Counts of ones are zero-truncated, those of missing cells Poisson.
TEST_P(KernelDraws, CountsOfEntries) {
  const Cells ones[] = {{1e-30, five}, {1e-8, five}, {1e-3, five},        {0.5, twenty},     {12, three},
                        {1e3, three},  {1e9, three}, {1e-30, five, -107}, {0.7, five, -107}, {1e9, three, 107}};
  const Cells missing[] = {{1e-30, five}, {1e-8, five}, {1e-3, five},        {0.5, five},       {9, twenty},
                           {50, three},   {1e9, three}, {1e-16, five, -107}, {0.7, five, -107}, {1e9, three, 107}};
  std::uint32_t number = 0;
  const auto check = [&](const Cells& cells, Kind kind, const PartLaw& law) {
    PartCounts counts(cells, law, fmt::format("{}: kind {}, {}", name(), static_cast<int>(kind), cells.name()));
    for_each_draw(*kernel_, cells, kind, 0, key(seed, 4), number++, [&](const auto* parts) { counts.add(parts); });
    counts.expect_plausible();
  };
  for (const Cells& cells : ones) check(cells, Kind::ones, part_of_a_one_law);
  for (const Cells& cells : missing) check(cells, Kind::missing, poisson_part);
}

TEST_P(KernelDraws, ObservedCountsAreSplit) {
  struct Setting {
    std::int64_t total;
    Cells cells;
  };
  // Up to 128 units are searched for one by one, more are split by binomials.
  const Setting settings[] = {{1, {1e-20, twenty}}, {4, {1, five}},         {8, {1, five}},
                              {9, {1, three}},      {37, {1, twenty}},      {128, {1, five}},
                              {129, {1, five}},     {128, {1, five, -107}}, {1'000'000'000, {1e6, three}},
                              {4, {1, five, -107}}};
  std::uint32_t number = 0;
  for (const auto& [total, cells] : settings) {
    SplitCounts counts(total, cells.p, fmt::format("{}: count {}, {}", name(), total, cells.name()));
    for_each_draw(*kernel_, cells, Kind::counts, total, key(seed, 6), number++,
                  [&](const auto* parts) { counts.add(parts); });
    counts.expect_plausible(*alarms);
  }
}

// What the laws above must tell apart: a count that may be zero from one that may not, a rate that is off by a
// hundredth, and a component that has got its neighbour's share.
TEST(Twin, WrongCountsAreRejected) {
  Pool pool(1);
  const auto kernel = make_kernel(KernelName::cpu, pool);
  const std::vector<double> swapped = {0.5, 0.125, 0.25, 0.0625, 0.0625};
  const Cells cells{1, five}, more{1.01, five}, others{1, swapped};
  const auto smallest_p = [&](const Cells& drawn, Kind kind, const PartLaw& law) {
    PartCounts counts(cells, law, "twin");
    for_each_draw(*kernel, drawn, kind, 0, stream_key(seed, 7, Purpose::simulate), 0,
                  [&](const auto* parts) { counts.add(parts); });
    return counts.smallest_p();
  };
  EXPECT_GE(smallest_p(cells, Kind::ones, part_of_a_one_law), alarms->level());
  EXPECT_LT(smallest_p(cells, Kind::ones, poisson_part), alarms->level());
  EXPECT_LT(smallest_p(cells, Kind::missing, part_of_a_one_law), alarms->level());
  EXPECT_LT(smallest_p(more, Kind::missing, poisson_part), alarms->level());
  EXPECT_LT(smallest_p(others, Kind::ones, part_of_a_one_law), alarms->level());
}

// ---- expected counts ------------------------------------------------------------------------------------------------

// All row sums, one after the other.
std::vector<double> row_sums(const Drawn& drawn) {
  std::vector<double> result;
  for (const auto& rows : drawn.rows)
    for (std::size_t j = 0; j < rows.rows(); ++j)
      result.insert(result.end(), rows.row(j), rows.row(j) + rows.columns());
  return result;
}

// The largest |z| of means of drawn counts against expected ones, over all sums in which at least 2000 units are
// expected: with so many, a sum is normal to far beyond six standard deviations, which one of them passes with a
// probability of 2e-9, or 5e-9 if it is skewed.
double largest_z(Kernel& kernel, const World& drawn_from, const World& expected_from, std::uint32_t chain) {
  constexpr std::uint32_t times = 20'000;
  constexpr std::int64_t unit = std::int64_t{1} << 30;
  const StreamKey key = world_key(seed, chain);
  const auto expected = row_sums(allocate(kernel, expected_from, key, {.expected = true, .unit = unit}));
  std::vector<double> sum(expected.size(), 0.0), squares = sum;
  for (std::uint32_t sweep = 0; sweep < times; ++sweep) {
    const std::vector<double> drawn = row_sums(allocate(kernel, drawn_from, key, {}, sweep));
    for (std::size_t i = 0; i < sum.size(); ++i) {
      sum[i] += drawn[i];
      squares[i] += drawn[i] * drawn[i];
    }
  }
  double largest = 0;
  int compared = 0;
  for (std::size_t i = 0; i < sum.size(); ++i) {
    const double mean = expected[i] / static_cast<double>(unit), drawn = sum[i] / times;
    const double variance = squares[i] / times - drawn * drawn;
    if (mean * times < 2000 || variance < 1e-3 * mean) continue;  // an observed count of one component does not vary
    largest = std::max(largest, std::abs(drawn - mean) / std::sqrt(variance / times));
    ++compared;
  }
  EXPECT_GT(compared, 50) << "the test would see nothing";
  return largest;
}

// Fewer than 2000 sums are compared: false alarm below 1e-5.
TEST(ExpectedCounts, AreTheMeansOfDrawnOnes) {
  Pool pool(1);
  const auto kernel = make_kernel(KernelName::cpu, pool);
  std::uint32_t chain = 0;
  for (const WorldCase& c : {WorldCase{2, 5, 60},
                             {2, 5, 60, Kind::counts},
                             {2, 5, 60, Kind::missing},
                             {2, 5, 60, Kind::ones, 1, Shape::pairs}}) {
    const World world = make_world(c, seed);
    EXPECT_LT(largest_z(*kernel, world, world, ++chain), 6) << c.name();
  }
  // A one is not a missing cell: z instead of z / (1 - exp(-z)).
  EXPECT_GT(
      largest_z(*kernel, make_world({2, 5, 60, Kind::ones}, seed), make_world({2, 5, 60, Kind::missing}, seed), 9), 20);
}

// ---- place ----------------------------------------------------------------------------------------------------------

using Place = std::function<Matrix<std::int64_t>(const Matrix<float>& u, RowMask rows,
                                                 const std::vector<std::int64_t>& totals, std::uint32_t sweep)>;

constexpr std::size_t place_rows = rows_per_place + 2;
constexpr std::array<std::size_t, 5> share_rows = {0, 7, 255, 256, 257};
constexpr std::array<float, 5> share_values = {0.1f, 0.25f, 0.15f, 0.3f, 0.2f};

// Units on five rows in two blocks; the components take turns with the totals, and in every component the shares are
// moved on by one row. With a mask two more rows have large shares and are not wanted.
std::vector<SplitCounts> placed(const Place& place, const std::vector<std::int64_t>& some_totals, int wanted,
                                std::uint32_t setting, std::uint32_t times, const std::string& name) {
  const std::size_t R = 90;  // a power of two would have all rows of a column compete for one place in the cache
  const auto row_of = [](std::size_t i, std::size_t r) { return share_rows[(i + r) % share_rows.size()]; };
  Matrix<float> u(place_rows, R);
  std::vector<std::uint8_t> mask(place_rows, static_cast<std::uint8_t>(wanted));
  std::vector<double> p(share_values.begin(), share_values.end());
  const double sum = std::accumulate(p.begin(), p.end(), 0.0);
  for (double& share : p) share /= sum;
  std::vector<std::int64_t> totals;
  for (std::size_t r = 0; r < R; ++r) {
    totals.push_back(some_totals[r % some_totals.size()]);
    for (std::size_t i = 0; i < share_rows.size(); ++i) u.row(row_of(i, r))[r] = share_values[i];
  }
  RowMask rows;
  if (wanted >= 0) {
    rows = {mask.data(), static_cast<std::uint8_t>(wanted)};
    for (const std::size_t row : {8, 200}) {
      mask[row] = static_cast<std::uint8_t>(1 - wanted);
      std::fill(u.row(row), u.row(row) + R, 1.0f);
    }
  }
  std::vector<SplitCounts> counts;
  for (const std::int64_t total : some_totals)
    counts.emplace_back(total, p, fmt::format("{}: {} places, mask {}", name, total, wanted));
  for (std::uint32_t t = 0; t < times; ++t) {
    const Matrix<std::int64_t> S = place(u, rows, totals, (setting << 16) + t);
    for (std::size_t r = 0; r < R; ++r) {
      std::array<std::int64_t, 5> parts{};
      for (std::size_t i = 0; i < parts.size(); ++i) parts[i] = S.row(row_of(i, r))[r];
      counts[r % counts.size()].add(parts.data());
    }
  }
  return counts;
}

TEST_P(KernelDraws, PlacesAreMultinomial) {
  const auto S = kernel_->counts(place_rows, 90, false);
  const Place place = [&](const Matrix<float>& u, RowMask rows, const std::vector<std::int64_t>& totals,
                          std::uint32_t sweep) {
    S->clear();
    kernel_->place(*upload(*kernel_, u), rows, totals, {key(seed, 8), sweep}, 1, *S);
    return on_host(*S);
  };
  struct Setting {
    std::vector<std::int64_t> totals;
    int wanted = -1;  // no mask
    std::uint32_t times = 2500;
  };
  const Setting settings[] = {{{1, 2, 3, 4, 5, 6, 7, 8, 9}, -1, 4000}, {{1'000'000'000}}, {{3, 9}, 1}, {{50}, 0}};
  std::uint32_t number = 0;
  for (const auto& [totals, wanted, times] : settings)
    for (const SplitCounts& counts : placed(place, totals, wanted, number++, times, name()))
      counts.expect_plausible(*alarms);
}

// Both kernels once drew the rows of a block from its stream anew for every unit that came to it: the units of one
// block all fell on the same row. Every unit alone was right, and so was the sum over many components.
TEST(Twin, UnitsOfABlockOnOneRowAreRejected) {
  const StreamKey key = stream_key(seed, 9, Purpose::simulate);
  const auto twin = [&](bool reopen) {
    return [&, reopen](const Matrix<float>& u, RowMask, const std::vector<std::int64_t>& totals, std::uint32_t sweep) {
      Matrix<std::int64_t> S(u.rows(), u.columns());
      const Blocks blocks{u.rows(), rows_per_place};
      for (std::size_t r = 0; r < u.columns(); ++r) {
        std::vector<double> row_share(u.rows()), block_share(blocks.count(), 0.0);
        for (std::size_t j = 0; j < u.rows(); ++j)
          block_share[j / rows_per_place] += row_share[j] = static_cast<double>(u.row(j)[r]);
        Stream stream(key, sweep, r);
        std::vector<Stream> within;
        for (std::size_t b = 0; b < blocks.count(); ++b) within.emplace_back(key, sweep, ((b + 1) << 32) | r);
        draw_multinomial(stream, totals[r], block_share, [&](std::size_t b, std::int64_t part) {
          Stream again(key, sweep, ((b + 1) << 32) | r);
          const std::span shares(row_share.data() + blocks.begin(b), blocks.end(b) - blocks.begin(b));
          draw_multinomial(reopen ? again : within[b], part, shares,
                           [&](std::size_t i, std::int64_t units) { S.row(blocks.begin(b) + i)[r] += units; });
        });
      }
      return S;
    };
  };
  for (const std::int64_t total : {2, 4, 8}) {
    EXPECT_LT(placed(twin(true), {total}, -1, 0, 200, "twin")[0].smallest_p(), alarms->level()) << total;
    EXPECT_GE(placed(twin(false), {total}, -1, 0, 200, "not a twin")[0].smallest_p(), alarms->level()) << total;
  }
}

// ---- impute_diagonal ------------------------------------------------------------------------------------------------

// Each place of the diagonal has a Poisson count of its own, and each count two ends there.
void expect_diagonals(Kernel& kernel, const std::string& kernel_name, StreamKey key, std::size_t rows,
                      const std::vector<std::size_t>& with_share, double mean, std::uint32_t setting, std::size_t R,
                      std::uint32_t times) {
  const std::vector<double> shares = {4, 1, 1, 0.5, 0.25};  // of u, before it is scaled to add up to `rows`
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0), n = static_cast<double>(rows);
  Matrix<float> u(rows, R);
  std::vector<double> p;
  double squares = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const float value = static_cast<float>(shares[i] / sum * n);
    std::fill_n(u.row(with_share[i]), R, value);
    p.push_back(static_cast<double>(value) * static_cast<double>(value));
    squares += p.back();
  }
  for (double& share : p) share /= squares;
  const std::vector<double> log_beta(R, std::log(mean) - std::log(squares / (n * n)));
  const Cells cells{mean, p};
  PartCounts counts(cells, poisson_part, fmt::format("{}: diagonal of {} rows, mean {}", kernel_name, rows, mean));
  const auto factors = upload(kernel, u);
  const auto on_kernel = kernel.counts(rows, R, false);
  for (std::uint32_t t = 0; t < times; ++t) {
    on_kernel->clear();
    std::vector<std::int64_t> v(R, 0);
    const double rate =
        kernel.impute_diagonal(*factors, log_beta, key, {.t = (setting << 16) + t}, *on_kernel, v.data());
    ASSERT_NEAR(rate, mean * static_cast<double>(R), 1e-9 * rate);
    const Matrix<std::int64_t> S = on_host(*on_kernel);
    for (std::size_t r = 0; r < R; ++r) {
      std::array<std::int64_t, 5> parts{};
      for (std::size_t i = 0; i < parts.size(); ++i) {
        const std::int64_t ends = S.row(with_share[i])[r];
        ASSERT_EQ(ends % 2, 0);
        parts[i] = ends / 2;
      }
      ASSERT_EQ(std::accumulate(parts.begin(), parts.end(), std::int64_t{0}), v[r]);
      counts.add(parts.data());
    }
  }
  counts.expect_plausible();
}

TEST_P(KernelDraws, DiagonalsArePoisson) {
  std::uint32_t number = 0;
  for (const double mean : {1e-30, 0.5, 12.0, 1e9})
    expect_diagonals(*kernel_, name(), key(seed, 10), 5, {0, 1, 2, 3, 4}, mean, number++, 1 << 14, 64);
  expect_diagonals(*kernel_, name(), key(seed, 10), 258, {0, 7, 255, 256, 257}, 3, number++, 80, 3300);
}

}  // namespace
}  // namespace ztp::test
