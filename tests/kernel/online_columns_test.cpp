// Oracle: columns from real-valued counts, some rows of a column, and means of columns, by the fast kernel against the reference and
// both against what is known of them. Parity: for any number of threads, bit by bit. All is a function of the seed 12; no chance.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "targets.hpp"
#include "worlds.hpp"

namespace ztp::test {
namespace {

constexpr std::uint64_t seed = 12;
constexpr unsigned team_sizes[] = {2, 3, 8};
constexpr float untouched = -7;
using List = std::vector<std::uint32_t>;

// Counts that are worth 2^-16 each or so: none, fractions of a count, a few, and billions. Every fifth component is empty.
Matrix<std::int64_t> fine_counts(std::size_t rows, std::size_t R) {
  Matrix<std::int64_t> S(rows, R);
  for (std::size_t j = 0; j < rows; ++j)
    for (std::size_t r = 0; r < R; ++r) {
      Stream stream(world_key(seed, 1), static_cast<std::uint32_t>(r), j);
      const std::uint64_t most = std::uint64_t{1} << (1 + 3 * stream.below(stream.below(20) == 0 ? 16 : 7));
      if (r % 5 != 4 && stream.below(3) > 0) S.row(j)[r] = static_cast<std::int64_t>(stream.below(most));
    }
  return S;
}

std::vector<double> totals_of(const Matrix<std::int64_t>& S, double scale) {
  std::vector<double> totals(S.columns(), 0.0);
  for (std::size_t j = 0; j < S.rows(); ++j)
    for (std::size_t r = 0; r < S.columns(); ++r) totals[r] += scale * static_cast<double>(S.row(j)[r]);
  return totals;
}

// Every row whose number leaves this rest, so that the list has runs and gaps, and no row is its own neighbour.
List some_rows(std::size_t n) {
  List rows;
  for (std::uint32_t j = 0; j < n; ++j)
    if (j % 7 == 2 || (j / 300) % 2 == 1) rows.push_back(j);
  if (rows.empty()) rows.push_back(0);
  return rows;
}

Matrix<float> marked(std::size_t rows, std::size_t R) {
  Matrix<float> u(rows, R);
  for (std::size_t j = 0; j < rows; ++j) std::fill_n(u.row(j), R, untouched);
  return u;
}

Matrix<float> draw(Kernel& kernel, const Columns& columns) {
  Matrix<float> u = marked(columns.S.rows(), columns.S.columns());
  kernel.draw_columns(columns, world_key(seed, 2), 9, u);
  return u;
}

// Floats against doubles. In columns_test.cpp 1.5e-5 is allowed for whole counts; here the shape itself is made of four roundings, and
// U^(1/shape), which is compared down to 1e-30 = e^-69, takes them 69-fold: 4 * 69 * 2^-24 more. An acceptance can flip: one in 10^5.
class Differences {
 public:
  void compare(const Matrix<float>& fast, const Matrix<float>& slow, const std::string& name) {
    for (std::size_t j = 0; j < slow.rows(); ++j) {
      for (std::size_t r = 0; r < slow.columns(); ++r, ++draws_) {
        const double wanted = static_cast<double>(slow.row(j)[r]), got = static_cast<double>(fast.row(j)[r]);
        ASSERT_TRUE(std::isfinite(got)) << name;
        different_ += std::abs(got - wanted) > 3.2e-5 * std::abs(wanted) + 1e-30;
      }
      for (std::size_t r = slow.columns(); r < slow.stride(); ++r) ASSERT_EQ(fast.row(j)[r], 0) << name << ": padding";
    }
  }
  ~Differences() { EXPECT_LE(different_, 1e-5 * draws_); }

 private:
  double draws_ = 0, different_ = 0;
};

TEST(OnlineOracle, ColumnsOfRealCounts) {
  Pool pool(2);
  const auto cpu = make_kernel("cpu", pool), reference = make_kernel("reference", pool);
  for_each_target([&](const std::string& target) {
    Differences differences;
    for (const std::size_t rows : {1, 2, 257, 1000})
      for (const std::size_t R : {1, 3, 15, 17, 25, 100})
        for (const double a : {0.05, 0.5, 3.0})
          for (const double scale : {0x1p-16, 0.037}) {
            const Matrix<std::int64_t> S = fine_counts(rows, R);
            differences.compare(draw(*cpu, {S, a, scale}), draw(*reference, {S, a, scale}),
                                fmt::format("{}: {} rows, R = {}, a = {}", target, rows, R, a));
          }
  });
}

// Whole counts are drawn as ever; those that are worth a quarter each, and four times as many, give the same numbers but for rounding.
TEST(OnlineOracle, ScaleOfOneChangesNothing) {
  Pool pool(2);
  const auto cpu = make_kernel("cpu", pool);
  Matrix<std::int64_t> S = fine_counts(300, 17);
  const Matrix<float> plain = draw(*cpu, {S, 0.1});
  const std::vector<double> totals = totals_of(S, 1);
  EXPECT_TRUE(same_bits(draw(*cpu, {S, 0.1, 1, nullptr, &totals}), plain));
  cpu->shift(2, S);
  Differences().compare(draw(*cpu, {S, 0.1, 0.25}), plain, "a quarter");
  // A scale that were forgotten would be seen.
  const Matrix<float> forgotten = draw(*cpu, {S, 0.1});
  int different = 0;
  for (std::size_t j = 0; j < 300; ++j)
    different += std::abs(forgotten.row(j)[0] - plain.row(j)[0]) > 0.01f * plain.row(j)[0];
  EXPECT_GT(different, 50);
}

// ---- some rows -------------------------------------------------------------------------------------------------------

TEST(OnlineOracle, ListedRows) {
  Pool pool(2);
  const auto cpu = make_kernel("cpu", pool), reference = make_kernel("reference", pool);
  for_each_target([&](const std::string& target) {
    Differences differences;
    for (const std::size_t rows : {2, 257, 1000})
      for (const std::size_t R : {1, 3, 17, 100})
        for (const double a : {1e-4, 0.05, 3.0})  // the first is below what floats do
          for (const bool one : {false, true}) {
            const Matrix<std::int64_t> S = fine_counts(rows, R);
            const std::vector<double> totals = totals_of(S, 0x1p-16);
            const List list = one ? List{static_cast<std::uint32_t>(rows / 2)} : some_rows(rows);
            const Columns columns{S, a, 0x1p-16, &list, &totals};
            const Matrix<float> fast = draw(*cpu, columns), slow = draw(*reference, columns);
            const std::string name = fmt::format("{}: {} of {} rows, R = {}, a = {}", target, list.size(), rows, R, a);
            differences.compare(fast, slow, name);
            for (std::size_t j = 0; j < rows; ++j) {
              const bool listed = std::binary_search(list.begin(), list.end(), j);
              for (std::size_t r = 0; r < R; ++r) ASSERT_EQ(fast.row(j)[r] == untouched, !listed) << name;
            }
          }
  });
}

// Nothing is left for a rest then. The sums are added up in another order, and rounded in other places.
TEST(OnlineOracle, AllRowsListedAreAnOrdinaryDraw) {
  Pool pool(2);
  for (const char* name : {"cpu", "reference"})
    for (const double a : {1e-4, 0.1})
      for (const std::size_t rows : {1, 700}) {
        const auto kernel = make_kernel(name, pool);
        const Matrix<std::int64_t> S = fine_counts(rows, 17);
        const std::vector<double> totals = totals_of(S, 0x1p-16);
        List all(rows);
        std::iota(all.begin(), all.end(), 0u);
        const Matrix<float> listed = draw(*kernel, {S, a, 0x1p-16, &all, &totals}),
                            plain = draw(*kernel, {S, a, 0x1p-16});
        for (std::size_t j = 0; j < rows; ++j)
          for (std::size_t r = 0; r < 17; ++r)
            ASSERT_NEAR(static_cast<double>(listed.row(j)[r]), static_cast<double>(plain.row(j)[r]),
                        4 * 0x1p-24 * static_cast<double>(plain.row(j)[r]))
                << name << ", a = " << a;
      }
}

// Where two rows of a thousand equal ones are listed, they have about two thousandths. A draw that forgot the others would give them all.
TEST(OnlineOracle, TheRestHasItsMass) {
  Pool pool(1);
  Matrix<std::int64_t> S(1000, 16);
  for (std::size_t j = 0; j < 1000; ++j) std::fill_n(S.row(j), 16, 500 << 16);
  const std::vector<double> totals = totals_of(S, 0x1p-16), nothing = totals_of(S, 0);
  const List list = {3, 999};
  for (const char* name : {"cpu", "reference"}) {
    const auto kernel = make_kernel(name, pool);
    const Matrix<float> u = draw(*kernel, {S, 0.1, 0x1p-16, &list, &totals});
    const Matrix<float> forgetful = draw(*kernel, {S, 0.1, 0x1p-16, &list, &nothing});
    for (std::size_t r = 0; r < 16; ++r) {
      const float sum = u.row(3)[r] + u.row(999)[r];  // twice the mean of 1000 counts: standard deviation 3 %
      EXPECT_NEAR(static_cast<double>(sum), 2, 0.4) << name;
      EXPECT_GT(static_cast<double>(forgetful.row(3)[r] + forgetful.row(999)[r]), 500) << name;
    }
  }
}

// ---- means -----------------------------------------------------------------------------------------------------------

TEST(OnlineOracle, MeansOfColumns) {
  Pool pool(2);
  const auto cpu = make_kernel("cpu", pool), reference = make_kernel("reference", pool);
  for_each_target([&](const std::string& target) {
    for (const std::size_t rows : {1, 2, 257, 1000})
      for (const std::size_t R : {1, 3, 17, 100})
        for (const double a : {1e-4, 0.1, 3.0}) {
          const Matrix<std::int64_t> S = fine_counts(rows, R);
          const std::vector<double> totals = totals_of(S, 0x1p-16);
          const List list = some_rows(rows);
          const double n = static_cast<double>(rows);
          Matrix<float> fast = marked(rows, R), slow = marked(rows, R), some = marked(rows, R);
          cpu->mean_columns({S, a, 0x1p-16, nullptr, &totals}, fast);
          reference->mean_columns({S, a, 0x1p-16, nullptr, &totals}, slow);
          cpu->mean_columns({S, a, 0x1p-16, &list, &totals}, some);
          const std::string name = fmt::format("{}: {} rows, R = {}, a = {}", target, rows, R, a);
          for (std::size_t r = 0; r < R; ++r) {
            double sum = 0;
            for (std::size_t j = 0; j < rows; ++j) {
              const double wanted = n * (a + 0x1p-16 * static_cast<double>(S.row(j)[r])) / (n * a + totals[r]);
              ASSERT_NEAR(static_cast<double>(slow.row(j)[r]), wanted, 0x1p-23 * wanted) << name;
              ASSERT_NEAR(static_cast<double>(fast.row(j)[r]), wanted, 6 * 0x1p-24 * wanted) << name;
              const bool listed = std::binary_search(list.begin(), list.end(), j);
              ASSERT_EQ(some.row(j)[r], listed ? fast.row(j)[r] : untouched) << name;
              sum += static_cast<double>(fast.row(j)[r]);
            }
            ASSERT_NEAR(sum, n, 6 * 0x1p-24 * n) << name;
          }
          for (std::size_t j = 0; j < rows; ++j)
            for (std::size_t r = R; r < fast.stride(); ++r) ASSERT_EQ(fast.row(j)[r], 0) << name << ": padding";
        }
  });
}

TEST(OnlineOracle, ShiftRoundsToTheNearest) {
  EXPECT_EQ(shifted(5, -1), 3);  // 2.5, up
  EXPECT_EQ(shifted(5, -2), 1);  // 1.25
  EXPECT_EQ(shifted(6, -2), 2);  // 1.5, up
  EXPECT_EQ(shifted(5, 0), 5);
  EXPECT_EQ(shifted(5, 40), std::int64_t{5} << 40);
  Pool pool(3);
  for (const char* name : {"cpu", "reference"})
    for (const int bits : {-9, -1, 0, 1, 20}) {
      Matrix<std::int64_t> S(5001, 3);
      for (std::size_t j = 0; j < 5001; ++j)
        for (std::size_t r = 0; r < 3; ++r) S.row(j)[r] = static_cast<std::int64_t>(j * (r + 1));
      make_kernel(name, pool)->shift(bits, S);
      for (std::size_t j = 0; j < 5001; ++j)
        for (std::size_t r = 0; r < 3; ++r)
          ASSERT_EQ(static_cast<double>(S.row(j)[r]),
                    std::floor(std::ldexp(static_cast<double>(j * (r + 1)), bits) + (bits < 0 ? 0.5 : 0)))
              << name << ", " << bits << " bits";
    }
}

// Half way from 5 to 8 is 6.5, which goes up; on the way down it goes away from the value, too.
TEST(OnlineOracle, MoveRoundsToTheNearest) {
  EXPECT_EQ(moved(5, 8, 0.5), 7);
  EXPECT_EQ(moved(8, 5, 0.5), 6);
  EXPECT_EQ(moved(5, 8, 0), 5);
  EXPECT_EQ(moved(5, 8, 1), 8);
  EXPECT_EQ(moved(0, 10, 0.04), 0);
  Pool pool(3);
  for (const char* name : {"cpu", "reference"})
    for (const double part : {0.0, 0.013, 0.5, 1.0}) {
      const Matrix<std::int64_t> towards = fine_counts(5001, 3);
      Matrix<std::int64_t> S(5001, 3);
      const auto before = [](std::size_t j, std::size_t r) { return static_cast<std::int64_t>(j * j * (r + 1)); };
      for (std::size_t j = 0; j < 5001; ++j)
        for (std::size_t r = 0; r < 3; ++r) S.row(j)[r] = before(j, r);
      make_kernel(name, pool)->move(towards, part, S);
      for (std::size_t j = 0; j < 5001; ++j)
        for (std::size_t r = 0; r < 3; ++r) {
          const double way = part * static_cast<double>(towards.row(j)[r] - before(j, r));
          // Halves go away from zero.
          const double rounded = way < 0 ? std::ceil(way - 0.5) : std::floor(way + 0.5);
          ASSERT_EQ(S.row(j)[r], before(j, r) + static_cast<std::int64_t>(rounded)) << name << ", part " << part;
        }
    }
}

// ---- parity ----------------------------------------------------------------------------------------------------------

TEST(OnlineParity, DrawsAndMeansOfColumns) {
  Pool one(1);
  const auto alone = make_kernel("cpu", one);
  const Matrix<std::int64_t> S = fine_counts(3000, 17);
  const std::vector<double> totals = totals_of(S, 0x1p-16);
  const List list = some_rows(3000);
  for (const double a : {1e-4, 0.1})
    for (const List* rows : {static_cast<const List*>(nullptr), &list}) {
      const Columns columns{S, a, 0x1p-16, rows, &totals};
      const Matrix<float> drawn = draw(*alone, columns);
      Matrix<float> mean = marked(3000, 17);
      alone->mean_columns(columns, mean);
      for (const unsigned threads : team_sizes) {
        Pool pool(threads);
        const auto team = make_kernel("cpu", pool);
        EXPECT_TRUE(same_bits(draw(*team, columns), drawn)) << threads << " threads, a = " << a;
        Matrix<float> again = marked(3000, 17);
        team->mean_columns(columns, again);
        EXPECT_TRUE(same_bits(again, mean)) << threads << " threads, a = " << a;
      }
    }
}

TEST(OnlineParity, ShiftSpreadAndMove) {
  Pool one(1);
  const auto alone = make_kernel("cpu", one);
  const World world = make_world({2, 17, 0}, seed);
  const std::vector<double> factor(17, 1e6);
  Matrix<std::int64_t> towards = fine_counts(301, 17);
  alone->shift(1, towards);
  Matrix<std::int64_t> S = fine_counts(301, 17);
  alone->spread(world.u[1], {}, 2, factor, S);
  alone->shift(-3, S);
  alone->move(towards, 0.3, S);
  for (const unsigned threads : team_sizes) {
    Pool pool(threads);
    const auto team = make_kernel("cpu", pool);
    Matrix<std::int64_t> again = fine_counts(301, 17);
    team->spread(world.u[1], {}, 2, factor, again);
    team->shift(-3, again);
    team->move(towards, 0.3, again);
    EXPECT_TRUE(same_bits(again, S)) << threads << " threads";
  }
}

}  // namespace
}  // namespace ztp::test
