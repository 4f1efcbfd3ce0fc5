// Oracle: what a sweep does to whole columns (draws, masses, counts placed on rows, the diagonal of a network, tallies) by the fast kernel
// against the reference and both against plain loops. Parity: for any number of threads, bit by bit. Everything is a function of the
// seeds 7 and 11; there is no chance in a run. Columns from real-valued counts: online_columns_test.cpp.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <vector>

#include "kernel/gamma_draw.hpp"
#include "targets.hpp"
#include "worlds.hpp"

namespace ztp::test {
namespace {

constexpr unsigned team_sizes[] = {2, 3, 7};

StreamKey key(std::uint32_t what) {
  return world_key(11, what);
}

// Mostly zero, some of them enormous, and values on both sides of 256.
Matrix<std::int64_t> sparse_counts(std::size_t rows, std::size_t R) {
  Matrix<std::int64_t> S(rows, R);
  for (std::size_t j = 0; j < rows; ++j)
    for (std::size_t r = 0; r < R; ++r) {
      Stream stream(key(5), static_cast<std::uint32_t>(r), j);
      if (r % 5 == 4 || stream.below(3) != 0) continue;
      const std::uint64_t which = stream.below(50);
      S.row(j)[r] = which == 0 ? 10'000'000'000 : static_cast<std::int64_t>(which < 5 ? 252 + which : stream.below(20));
    }
  return S;
}

// The draws are the same numbers in float and in double, but for roundings. Where U^(1/a) is 1e-30 and less it is compared with 1e-30;
// where the cube of Marsaglia and Tsang is nearly zero, its digits are lost, and an acceptance can flip: one in 10^5 may differ.
TEST(Oracle, DrawColumns) {
  Pool pool(2);
  const auto cpu = make_kernel("cpu", pool), reference = make_kernel("reference", pool);
  for_each_target([&](const std::string& target) {
    std::size_t draws = 0, different = 0;
    for (const std::size_t rows : {1, 2, 255, 256, 257, 1000})
      for (const std::size_t R : {1, 3, 15, 16, 17, 20, 25, 100})
        for (const double a : {0.05, 0.5, 3.0}) {
          const Matrix<std::int64_t> S = sparse_counts(rows, R);
          Matrix<float> fast(rows, R), slow(rows, R);
          cpu->draw_columns({S, a}, key(9), 9, fast);
          reference->draw_columns({S, a}, key(9), 9, slow);
          for (std::size_t j = 0; j < rows; ++j) {
            for (std::size_t r = 0; r < R; ++r, ++draws) {
              const double wanted = static_cast<double>(slow.row(j)[r]);
              different += std::abs(static_cast<double>(fast.row(j)[r]) - wanted) > 1.5e-5 * wanted + 1e-30;
            }
            for (std::size_t r = R; r < fast.stride(); ++r) {  // the vector loops run over it
              ASSERT_EQ(fast.row(j)[r], 0) << target << ": padding";
              ASSERT_EQ(slow.row(j)[r], 0) << "reference: padding";
            }
          }
        }
    EXPECT_LE(static_cast<double>(different), 1e-5 * static_cast<double>(draws)) << target;
  });
}

// Shapes so small that every draw of a column underflows: a column still sums to n, and nothing is NaN.
TEST(Oracle, ColumnsOfTinyShapesStayColumns) {
  Pool pool(2);
  for (const char* name : {"cpu", "reference"})
    for (const double a : {1e-6, 1e-3, 0.01}) {
      const std::size_t rows = 300, R = 17;
      const Matrix<std::int64_t> S(rows, R);
      Matrix<float> u(rows, R);
      make_kernel(name, pool)->draw_columns({S, a}, key(10), 1, u);
      for (std::size_t r = 0; r < R; ++r) {
        double column = 0;
        for (std::size_t j = 0; j < rows; ++j) column += static_cast<double>(u.row(j)[r]);
        EXPECT_NEAR(column, 300, 300 * 1e-6) << name << ", a = " << a;
      }
    }
}

// The real kernels say themselves what goes bad: here by shapes that are not numbers, in one row or in all.
TEST(Columns, KernelsReturnTheSumsOfColumns) {
  Pool pool(1);
  for (const char* name : {"cpu", "reference"}) {
    for (const double a : {1e-6, 0.1, 3.0}) {
      Matrix<std::int64_t> S(70, 3);
      for (std::size_t j = 0; j < 70; ++j) S.row(j)[1] = static_cast<std::int64_t>(j * j);
      Matrix<float> u(70, 3);
      const auto kernel = make_kernel(name, pool);
      for (const double sum : kernel->draw_columns({S, a}, stream_key(1, 0, Purpose::columns), 1, u))
        EXPECT_TRUE(sum > 0 && std::isfinite(sum)) << name << " " << a << " " << sum;
      for (std::size_t r = 0; r < 3; ++r) {
        double sum = 0;
        for (std::size_t j = 0; j < 70; ++j) sum += static_cast<double>(u.row(j)[r]);
        EXPECT_NEAR(sum / 70, 1, 1e-5);
      }
    }
  }
  EXPECT_TRUE(
      std::isnan(log_gamma_at({stream_key(1, 0, Purpose::columns), 1}, 1, std::numeric_limits<float>::quiet_NaN())));
  std::vector<double> logs = {-3.0, std::nan(""), -1.0};
  EXPECT_TRUE(std::isnan(normalise_logs(logs, 3)));
  EXPECT_TRUE(std::isfinite(logs[0]) && std::isnan(logs[1]) && std::isfinite(logs[2]));
}

struct Diagonal {
  Matrix<std::int64_t> S;
  std::vector<std::int64_t> v;
  double rate;
};

// The same u for every kernel; weights from hardly any count to millions.
Diagonal impute(Kernel& kernel, std::size_t rows, std::size_t R) {
  Pool pool(1);
  Matrix<float> u(rows, R);
  make_kernel("reference", pool)->draw_columns({sparse_counts(rows, R), 0.1}, key(12), 1, u);
  std::vector<double> log_beta(R);
  for (std::size_t r = 0; r < R; ++r) log_beta[r] = 4.0 * static_cast<double>(r % 6) - 4;
  Diagonal result{Matrix<std::int64_t>(rows, R), std::vector<std::int64_t>(R, 0), 0};
  result.rate = kernel.impute_diagonal(u, log_beta, key(13), 4, {{&result.S}, result.v.data()});
  return result;
}

// Both kernels work in double on the same numbers, so they give the very same counts. Each count has two ends.
TEST(Oracle, ImputeDiagonal) {
  Pool pool(2);
  const auto cpu = make_kernel("cpu", pool), reference = make_kernel("reference", pool);
  for (const std::size_t rows : {1, 2, 256, 700})
    for (const std::size_t R : {1, 3, 16, 17, 100}) {
      const Diagonal fast = impute(*cpu, rows, R), slow = impute(*reference, rows, R);
      EXPECT_EQ(fast.v, slow.v) << rows << " rows, R = " << R;
      EXPECT_EQ(std::memcmp(fast.S.row(0), slow.S.row(0), slow.S.bytes()), 0) << rows << " rows, R = " << R;
      EXPECT_NEAR(fast.rate, slow.rate, 1e-12 * slow.rate);
      for (std::size_t r = 0; r < R; ++r) {
        std::int64_t ends = 0;
        for (std::size_t j = 0; j < rows; ++j) ends += fast.S.row(j)[r];
        EXPECT_EQ(ends, 2 * fast.v[r]);
      }
    }
}

// ---- place, column_mass, tally --------------------------------------------------------------------------------------

Matrix<float> columns(std::size_t rows, std::size_t R) {
  Pool pool(1);
  Matrix<float> u(rows, R);
  make_kernel("reference", pool)->draw_columns({sparse_counts(rows, R), 0.1}, key(6), 1, u);
  return u;
}

// No mask, and one for each value wanted: a third of the rows is marked.
struct Masks {
  std::vector<std::uint8_t> mark;
  explicit Masks(std::size_t rows) {
    for (std::size_t j = 0; j < rows; ++j) mark.push_back(Stream(key(7), 0, j).below(3) == 0 ? 1 : 0);
  }
  std::vector<Rows> all() const { return {{}, {mark.data(), 1}, {mark.data(), 0}}; }
};

// From none to a billion; a component whose wanted rows have no share at all can have none.
std::vector<std::int64_t> totals_to_place(const Matrix<float>& u, Rows rows) {
  static constexpr std::int64_t some[] = {1, 0, 9, 2, 1'000'000'000, 8, 300, 5};
  std::vector<std::int64_t> totals;
  for (std::size_t r = 0; r < u.columns(); ++r) {
    double mass = 0;
    for (std::size_t j = 0; j < u.rows(); ++j) mass += rows.contains(j) ? static_cast<double>(u.row(j)[r]) : 0;
    totals.push_back(mass > 0 ? some[r % std::size(some)] : 0);
  }
  return totals;
}

Matrix<std::int64_t> place(Kernel& kernel, const Matrix<float>& u, Rows rows) {
  Matrix<std::int64_t> S(u.rows(), u.columns());
  for (std::size_t j = 0; j < u.rows(); ++j) std::fill(S.row(j), S.row(j) + u.columns(), 7);  // it adds
  kernel.place(u, rows, totals_to_place(u, rows), {key(8), 5}, {{&S}});
  return S;
}

void expect_placed(const Matrix<std::int64_t>& S, const Matrix<float>& u, Rows rows, const std::string& name) {
  const std::vector<std::int64_t> totals = totals_to_place(u, rows);
  for (std::size_t r = 0; r < u.columns(); ++r) {
    std::int64_t column = 0;
    for (std::size_t j = 0; j < u.rows(); ++j) {
      const bool may_have_some = rows.contains(j) && u.row(j)[r] > 0;
      ASSERT_GE(S.row(j)[r], 7) << name;
      ASSERT_TRUE(may_have_some || S.row(j)[r] == 7) << name << ", row " << j;
      column += S.row(j)[r] - 7;
    }
    ASSERT_EQ(column, totals[r]) << name << ", component " << r;
  }
}

constexpr std::size_t row_counts[] = {1, 2, 255, 256, 257, 700};
constexpr std::size_t ranks[] = {1, 3, 16, 17, 100};

// Both kernels work in double on the same numbers in the same order, so they give the very same counts.
TEST(Oracle, Place) {
  Pool pool(2);
  const auto cpu = make_kernel("cpu", pool), reference = make_kernel("reference", pool);
  for (const std::size_t n : row_counts)
    for (const std::size_t R : ranks) {
      const Matrix<float> u = columns(n, R);
      const Masks masks(n);
      for (const Rows& rows : masks.all()) {
        const std::string name = fmt::format("{} rows, R = {}, {} mask, {} wanted", n, R,
                                             rows.mask == nullptr ? "no" : "a", static_cast<int>(rows.wanted));
        const Matrix<std::int64_t> fast = place(*cpu, u, rows), slow = place(*reference, u, rows);
        expect_placed(fast, u, rows, name);
        EXPECT_TRUE(same_bits(fast, slow)) << name;
      }
    }
}

// A mask that wants no row has no mass and nothing to place.
TEST(Oracle, NoRowsWanted) {
  Pool pool(2);
  for (const char* name : {"cpu", "reference"}) {
    const auto kernel = make_kernel(name, pool);
    const Matrix<float> u = columns(300, 17);
    const std::vector<std::uint8_t> none(300, 0);
    const Rows rows{none.data(), 1};
    EXPECT_EQ(kernel->column_mass(u, rows), std::vector<double>(17, 0.0)) << name;
    const Matrix<std::int64_t> S = place(*kernel, u, rows);
    for (std::size_t j = 0; j < 300; ++j)
      for (std::size_t r = 0; r < 17; ++r) ASSERT_EQ(S.row(j)[r], 7) << name;
  }
}

TEST(Oracle, ColumnMass) {
  Pool pool(2);
  for (const char* name : {"cpu", "reference"}) {
    const auto kernel = make_kernel(name, pool);
    for (const std::size_t n : row_counts)
      for (const std::size_t R : ranks) {
        const Matrix<float> u = columns(n, R);
        const Masks masks(n);
        for (const Rows& rows : masks.all()) {
          const std::vector<double> mass = kernel->column_mass(u, rows);
          ASSERT_EQ(mass.size(), R);
          for (std::size_t r = 0; r < R; ++r) {
            double expected = 0;
            for (std::size_t j = 0; j < n; ++j)
              if (rows.mask == nullptr || rows.mask[j] == rows.wanted) expected += static_cast<double>(u.row(j)[r]);
            expected /= static_cast<double>(n);
            ASSERT_NEAR(mass[r], expected, 1e-12 * expected) << name << ", " << n << " rows, R = " << R;
          }
        }
      }
  }
}

TEST(Oracle, Tally) {
  Pool pool(2);
  for (const char* name : {"cpu", "reference"}) {
    const auto kernel = make_kernel(name, pool);
    EXPECT_TRUE(kernel->tally(Matrix<std::int64_t>(10, 17)).empty()) << name;
    for (const std::size_t n : {1, 2, 4095, 4096, 4097, 9000})
      for (const std::size_t R : {1, 3, 17}) {
        const Matrix<std::int64_t> S = sparse_counts(n, R);
        std::map<std::int64_t, std::int64_t> times;
        for (std::size_t j = 0; j < n; ++j)
          for (std::size_t r = 0; r < R; ++r)
            if (S.row(j)[r] > 0) ++times[S.row(j)[r]];
        EXPECT_EQ(kernel->tally(S), Tally(times.begin(), times.end())) << name << ", " << n << " rows, R = " << R;
      }
  }
}

// ---- parity ---------------------------------------------------------------------------------------------------------

TEST(Parity, ColumnsAndDiagonal) {
  Pool one(1);
  const auto alone = make_kernel("cpu", one);
  const Matrix<std::int64_t> S = sparse_counts(1500, 17);
  Matrix<float> expected(1500, 17), got(1500, 17);
  alone->draw_columns({S, 0.1}, key(9), 9, expected);
  const Diagonal diagonal = impute(*alone, 1500, 17);
  for (const unsigned threads : team_sizes) {
    Pool pool(threads);
    const auto team = make_kernel("cpu", pool);
    team->draw_columns({S, 0.1}, key(9), 9, got);
    EXPECT_TRUE(same_bits(got, expected)) << threads;
    const Diagonal again = impute(*team, 1500, 17);
    EXPECT_TRUE(same_bits(again.S, diagonal.S)) << threads;
    EXPECT_EQ(again.v, diagonal.v) << threads;
    EXPECT_TRUE(same_bits(again.rate, diagonal.rate)) << threads;
  }
}

TEST(Parity, PlaceColumnMassAndTally) {
  Pool one(1);
  const auto alone = make_kernel("cpu", one);
  const Matrix<float> u = columns(1500, 17);
  const Masks masks(1500);
  const Matrix<std::int64_t> S = sparse_counts(9000, 17);
  for (const unsigned threads : team_sizes) {
    Pool pool(threads);
    const auto team = make_kernel("cpu", pool);
    for (const Rows& rows : masks.all()) {
      EXPECT_TRUE(same_bits(place(*team, u, rows), place(*alone, u, rows))) << threads;
      EXPECT_TRUE(same_bits(team->column_mass(u, rows), alone->column_mass(u, rows))) << threads;
    }
    EXPECT_EQ(team->tally(S), alone->tally(S)) << threads;
  }
}

}  // namespace
}  // namespace ztp::test
