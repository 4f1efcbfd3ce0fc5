// Do the draws of every kernel follow their distributions?
//
// Seed 20150713, a million draws for each setting, tens or hundreds of thousands where a draw is a walk over hundreds
// of rows. At most 3000 p-values are looked at in this file and each fails below 1e-3 / 3000: the whole file raises a
// false alarm with probability at most 1e-3. The seed is fixed and nothing is retried. The two kernels draw from
// different streams: from the same ones they would make the same draws, and the second would tell nothing new.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "kernel/kernel.hpp"
#include "laws.hpp"
#include "model/distributions.hpp"
#include "statistics.hpp"

namespace ztp {
namespace {

constexpr std::uint64_t seed = 20150713;
test::Alarms* const alarms = new test::Alarms(1e-3, 3000);
const auto* const registered = testing::AddGlobalTestEnvironment(alarms);

class KernelDraws : public testing::TestWithParam<const char*> {
 protected:
  KernelDraws() : pool_(1), kernel_(make_kernel(GetParam(), pool_)) {}

  std::string name() const { return GetParam(); }
  StreamKey key(std::uint32_t test) const { return stream_key(seed, test, Purpose::simulate, name() == "cpu" ? 0 : 1); }

  Pool pool_;
  std::unique_ptr<Kernel> kernel_;
};

INSTANTIATE_TEST_SUITE_P(Each, KernelDraws, testing::Values("cpu", "reference"),
                         [](const auto& one) { return std::string(one.param); });

// ---- draw_columns ---------------------------------------------------------------------------------------------------

// A column holds floats, so that a share below 1e-38 is lost and its log-odds with it. Kolmogorov and Smirnov's
// distance is therefore taken over log-odds in (-80, 80) only, with what lies outside counted on its side: it can only
// come out smaller.
double log_odds_p(std::vector<double> sample, double a, double b) {
  std::sort(sample.begin(), sample.end());
  const double n = static_cast<double>(sample.size());
  double distance = 0;
  for (std::size_t i = 0; i < sample.size(); i += 200) {  // the law is costly
    if (std::abs(sample[i]) >= 80) continue;
    const double u = test::log_odds_law(a, b, sample[i]).below, rank = static_cast<double>(i);
    distance = std::max({distance, u - rank / n, (rank + 1) / n - u});
  }
  return test::kolmogorov_p(distance, n);
}

double log_odds(double share, double rest) {
  if (!(share > 0)) return -100;
  if (!(rest > 0)) return 100;
  return std::log(share) - std::log(rest);
}

constexpr std::size_t columns = 1'000'000;

TEST_P(KernelDraws, ColumnsOfTwoRowsAreBetas) {
  struct Setting {
    double a;
    std::int64_t first, second;
  };
  const Setting settings[] = {{1e-6, 0, 0},
                              {0.1, 0, 0},
                              {0.5, 3, 40},
                              {1e-6, 1, 1},
                              {0.1, 0, 1'000'000'000},
                              {0.1, 1'000'000'000, 1'000'000},
                              {0.1, 1'000'000'000, 1'000'000'000}};
  Matrix<std::int64_t> S(2, columns);
  Matrix<float> u(2, columns);
  std::uint32_t number = 0;
  for (const auto& [a, first, second] : settings) {
    std::fill(S.row(0), S.row(0) + columns, first);
    std::fill(S.row(1), S.row(1) + columns, second);
    kernel_->draw_columns({S, a}, key(1), number++, u);
    std::vector<double> sample;
    for (std::size_t r = 0; r < columns; ++r)
      sample.push_back(log_odds(static_cast<double>(u.row(0)[r]), static_cast<double>(u.row(1)[r])));
    const double p = a + static_cast<double>(first), q = a + static_cast<double>(second);
    alarms->expect_plausible(log_odds_p(std::move(sample), p, q), fmt::format("{}: beta({}, {})", GetParam(), p, q));
  }
}

// A share against all the others, and two shares together against the rest: each is a beta.
struct Column {
  double a;
  std::vector<std::int64_t> counts;
};

TEST_P(KernelDraws, SharesOfAColumnAreBetas) {
  const Column settings[] = {{1e-6, {0, 0, 0, 0}}, {0.1, {0, 3, 20, 1'000'000'000}}};
  std::uint32_t number = 0;
  for (const auto& [a, counts] : settings) {
    const std::size_t rows = counts.size();
    Matrix<std::int64_t> S(rows, columns);
    Matrix<float> u(rows, columns);
    double shapes = 0;
    for (std::size_t j = 0; j < rows; ++j) {
      std::fill(S.row(j), S.row(j) + columns, counts[j]);
      shapes += a + static_cast<double>(counts[j]);
    }
    kernel_->draw_columns({S, a}, key(2), number++, u);
    for (const auto& [first, last] : {std::pair{0u, 0u}, {3u, 3u}, {0u, 1u}}) {
      std::vector<double> sample;
      double shape = 0;
      for (std::size_t j = first; j <= last; ++j) shape += a + static_cast<double>(counts[j]);
      for (std::size_t r = 0; r < columns; ++r) {
        double share = 0, rest = 0;
        for (std::size_t j = 0; j < rows; ++j)
          (first <= j && j <= last ? share : rest) += static_cast<double>(u.row(j)[r]);
        sample.push_back(log_odds(share, rest));
      }
      alarms->expect_plausible(log_odds_p(std::move(sample), shape, shapes - shape),
                               fmt::format("{}: column {}, rows {} to {}", name(), number, first, last));
    }
  }
}

// Rows beyond the first block of 256 belong to the same column.
TEST_P(KernelDraws, SharesOfALongColumnAreBetas) {
  const std::size_t rows = 258, some_columns = 1 << 14;
  const double a = 0.1, shapes = a * static_cast<double>(rows) + 20 + 30;
  Matrix<std::int64_t> S(rows, some_columns);
  Matrix<float> u(rows, some_columns);
  std::fill(S.row(1), S.row(1) + some_columns, 20);
  std::fill(S.row(257), S.row(257) + some_columns, 30);
  kernel_->draw_columns({S, a}, key(3), 0, u);
  for (const std::size_t row : {1, 255, 256, 257}) {
    std::vector<double> sample;
    for (std::size_t r = 0; r < some_columns; ++r) {
      double rest = 0;
      for (std::size_t j = 0; j < rows; ++j) rest += j == row ? 0 : static_cast<double>(u.row(j)[r]);
      sample.push_back(log_odds(static_cast<double>(u.row(row)[r]), rest));
    }
    const double shape = a + static_cast<double>(S.row(row)[0]);
    alarms->expect_plausible(log_odds_p(std::move(sample), shape, shapes - shape),
                             fmt::format("{}: long column, row {}", name(), row));
  }
}

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

// Calls add(parts of one cell) for every draw.
template <class Add>
void for_each_draw(Kernel& kernel, const Cells& cells, Entries kind, StreamKey key, std::uint32_t setting, Add add) {
  const std::size_t R = cells.p.size();
  Matrix<float> shares(1, R), own(entries, R);
  std::vector<std::uint32_t> coords;
  for (std::size_t r = 0; r < R; ++r) shares.row(0)[r] = static_cast<float>(std::ldexp(cells.p[r], cells.exponent));
  for (std::size_t e = 0; e < entries; ++e) {
    std::fill(own.row(e), own.row(e) + R, 1.0f);
    coords.insert(coords.end(), {0, static_cast<std::uint32_t>(e)});
  }
  const double log_weight = std::log(cells.z) + std::log(static_cast<double>(entries)) - cells.exponent * std::log(2.0);
  const Rates rates = make_rates({&shares, &own}, std::vector<double>(R, log_weight));
  kind.coords = coords.data();
  kind.count = entries;
  for (std::uint32_t t = 0; t < sweeps; ++t) {
    Matrix<std::int64_t> all(1, R), rows(entries, R);
    std::vector<std::int64_t> totals(R, 0);
    kernel.allocate(kind, rates, key, setting * sweeps + t, {{&all, &rows}, totals.data()});
    for (std::size_t e = 0; e < entries; ++e) add(rows.row(e));
  }
}

// The law of a part of the count whose rate is `mean`, given the rate of the whole.
using PartLaw = std::function<test::Discrete(double mean, double whole)>;

test::Discrete poisson_part(double mean, double) {
  return test::poisson_law(mean);
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
    std::int64_t whole = 0;
    for (std::size_t r = 0; r < p_.size(); ++r) {
      counts_[r].add(parts[r]);
      whole += parts[r];
    }
    counts_[p_.size()].add(parts[0] + parts[p_.size() - 1]);
    counts_.back().add(whole);
  }
  void expect_plausible() const {
    for (const test::CellCounts& counts : counts_) counts.expect_plausible(*alarms);
  }
  double smallest_p() const {
    double p = 1;
    for (const test::CellCounts& counts : counts_) p = std::min(p, counts.chi_squared());
    return p;
  }

 private:
  std::vector<double> p_;
  std::vector<test::CellCounts> counts_;
};

TEST_P(KernelDraws, CountsOfOnesAreZeroTruncated) {
  const Cells settings[] = {{1e-30, five}, {1e-8, five}, {1e-3, five},        {0.5, twenty},     {12, three},
                            {1e3, three},  {1e9, three}, {1e-30, five, -107}, {0.7, five, -107}, {1e9, three, 107}};
  std::uint32_t number = 0;
  for (const Cells& cells : settings) {
    PartCounts counts(cells, test::part_of_a_one_law, fmt::format("{}: one, {}", name(), cells.name()));
    for_each_draw(*kernel_, cells, {}, key(4), number++, [&](const std::int64_t* parts) { counts.add(parts); });
    counts.expect_plausible();
  }
}

TEST_P(KernelDraws, CountsOfMissingCellsArePoisson) {
  Entries missing;
  missing.missing = true;
  const Cells settings[] = {{1e-30, five}, {1e-8, five}, {1e-3, five},        {0.5, five},       {9, twenty},
                            {50, three},   {1e9, three}, {1e-16, five, -107}, {0.7, five, -107}, {1e9, three, 107}};
  std::uint32_t number = 0;
  for (const Cells& cells : settings) {
    PartCounts counts(cells, poisson_part, fmt::format("{}: missing, {}", name(), cells.name()));
    for_each_draw(*kernel_, cells, missing, key(5), number++, [&](const std::int64_t* parts) { counts.add(parts); });
    counts.expect_plausible();
  }
}

TEST_P(KernelDraws, ObservedCountsAreSplit) {
  struct Setting {
    std::int64_t total;
    Cells cells;
  };
  const Setting settings[] = {{1, {1e-20, twenty}},          {4, {1, five}},      {8, {1, five}}, {9, {1, three}},
                              {1'000'000'000, {1e6, three}}, {4, {1, five, -107}}};
  std::uint32_t number = 0;
  for (const auto& [total, cells] : settings) {
    test::SplitCounts counts(total, cells.p, fmt::format("{}: count {}, {}", name(), total, cells.name()));
    Entries observed;
    const std::vector<std::int64_t> y(entries, total);
    observed.observed = y.data();
    for_each_draw(*kernel_, cells, observed, key(6), number++, [&](const std::int64_t* parts) { counts.add(parts); });
    counts.expect_plausible(*alarms);
  }
}

// What the laws above must tell apart: a count that may be zero from one that may not, a rate that is off by a
// hundredth, and a component that has got its neighbour's share.
TEST(Twin, WrongCountsAreRejected) {
  Pool pool(1);
  const auto kernel = make_kernel("cpu", pool);
  const StreamKey key = stream_key(seed, 7, Purpose::simulate);
  const std::vector<double> swapped = {0.5, 0.125, 0.25, 0.0625, 0.0625};
  const Cells cells{1, five}, more{1.01, five}, others{1, swapped};
  Entries missing;
  missing.missing = true;
  const auto smallest_p = [&](const Cells& drawn, const Entries& kind, const PartLaw& law) {
    PartCounts counts(cells, law, "twin");
    for_each_draw(*kernel, drawn, kind, key, 0, [&](const std::int64_t* parts) { counts.add(parts); });
    return counts.smallest_p();
  };
  EXPECT_GE(smallest_p(cells, {}, test::part_of_a_one_law), alarms->level());
  EXPECT_LT(smallest_p(cells, {}, poisson_part), alarms->level());
  EXPECT_LT(smallest_p(cells, missing, test::part_of_a_one_law), alarms->level());
  EXPECT_LT(smallest_p(more, missing, poisson_part), alarms->level());
  EXPECT_LT(smallest_p(others, {}, test::part_of_a_one_law), alarms->level());
}

// ---- place ----------------------------------------------------------------------------------------------------------

using Place = std::function<void(const Matrix<float>& u, Rows rows, const std::vector<std::int64_t>& totals,
                                 std::uint32_t sweep, Matrix<std::int64_t>& S)>;

constexpr std::size_t place_rows = rows_per_place + 2;
constexpr std::array<std::size_t, 5> share_rows = {0, 7, 255, 256, 257};
constexpr std::array<float, 5> share_values = {0.1f, 0.25f, 0.15f, 0.3f, 0.2f};

// Units on five rows in two blocks; the components take turns with the totals, and in every component the shares are
// moved on by one row. With a mask two more rows have large shares and are not wanted.
std::vector<test::SplitCounts> placed(const Place& place, const std::vector<std::int64_t>& some_totals, int wanted,
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
  Rows rows;
  if (wanted >= 0) {
    rows = {mask.data(), static_cast<std::uint8_t>(wanted)};
    for (const std::size_t row : {8, 200}) {
      mask[row] = static_cast<std::uint8_t>(1 - wanted);
      std::fill(u.row(row), u.row(row) + R, 1.0f);
    }
  }
  std::vector<test::SplitCounts> counts;
  for (const std::int64_t total : some_totals)
    counts.emplace_back(total, p, fmt::format("{}: {} places, mask {}", name, total, wanted));
  Matrix<std::int64_t> S(place_rows, R);
  for (std::uint32_t t = 0; t < times; ++t) {
    S.clear();
    place(u, rows, totals, (setting << 16) + t, S);
    for (std::size_t r = 0; r < R; ++r) {
      std::array<std::int64_t, 5> parts{};
      for (std::size_t i = 0; i < parts.size(); ++i) parts[i] = S.row(row_of(i, r))[r];
      counts[r % counts.size()].add(parts.data());
    }
  }
  return counts;
}

TEST_P(KernelDraws, PlacesAreMultinomial) {
  const Place place = [&](const Matrix<float>& u, Rows rows, const std::vector<std::int64_t>& totals,
                          std::uint32_t sweep,
                          Matrix<std::int64_t>& S) { kernel_->place(u, rows, totals, {key(8), sweep}, {{&S}}); };
  struct Setting {
    std::vector<std::int64_t> totals;
    int wanted = -1;  // no mask
    std::uint32_t times = 2500;
  };
  const Setting settings[] = {{{1, 2, 3, 4, 5, 6, 7, 8, 9}, -1, 4000}, {{1'000'000'000}}, {{3, 9}, 1}, {{50}, 0}};
  std::uint32_t number = 0;
  for (const auto& [totals, wanted, times] : settings)
    for (const test::SplitCounts& counts : placed(place, totals, wanted, number++, times, name()))
      counts.expect_plausible(*alarms);
}

// Both kernels once drew the rows of a block from its stream anew for every unit that came to it: the units of one
// block all fell on the same row. Every unit alone was right, and so was the sum over many components.
TEST(Twin, UnitsOfABlockOnOneRowAreRejected) {
  const StreamKey key = stream_key(seed, 9, Purpose::simulate);
  const auto twin = [&](bool reopen) {
    return [&, reopen](const Matrix<float>& u, Rows, const std::vector<std::int64_t>& totals, std::uint32_t sweep,
                       Matrix<std::int64_t>& S) {
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
    std::fill(u.row(with_share[i]), u.row(with_share[i]) + R, value);
    p.push_back(static_cast<double>(value) * static_cast<double>(value));
    squares += p.back();
  }
  for (double& share : p) share /= squares;
  const std::vector<double> log_beta(R, std::log(mean) - std::log(squares / (n * n)));
  const Cells cells{mean, p};
  PartCounts counts(cells, poisson_part, fmt::format("{}: diagonal of {} rows, mean {}", kernel_name, rows, mean));
  Matrix<std::int64_t> S(rows, R);
  for (std::uint32_t t = 0; t < times; ++t) {
    S.clear();
    std::vector<std::int64_t> v(R, 0);
    const double rate = kernel.impute_diagonal(u, log_beta, key, (setting << 16) + t, {{&S}, v.data()});
    ASSERT_NEAR(rate, mean * static_cast<double>(R), 1e-9 * rate);
    for (std::size_t r = 0; r < R; ++r) {
      std::array<std::int64_t, 5> parts{};
      std::int64_t ends = 0;
      for (std::size_t i = 0; i < parts.size(); ++i) {
        const std::int64_t here = S.row(with_share[i])[r];
        ASSERT_EQ(here % 2, 0);
        ends += here;
        parts[i] = here / 2;
      }
      ASSERT_EQ(ends, 2 * v[r]);
      counts.add(parts.data());
    }
  }
  counts.expect_plausible();
}

TEST_P(KernelDraws, DiagonalsArePoisson) {
  std::uint32_t number = 0;
  for (const double mean : {1e-30, 0.5, 12.0, 1e9})
    expect_diagonals(*kernel_, name(), key(10), 5, {0, 1, 2, 3, 4}, mean, number++, 1 << 14, 64);
  expect_diagonals(*kernel_, name(), key(10), 258, {0, 7, 255, 256, 257}, 3, number++, 80, 3300);
}

}  // namespace
}  // namespace ztp
