// Oracle: what is done to whole matrices of counts (counts placed on rows, the diagonal of a network, their
// expectations, shifts, moves and tallies), and the masses of columns, by every kernel against the reference and plain
// loops. Parity: for any number of threads, bit by bit. Everything is a function of the seed 11; there is no chance in
// a run.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "worlds.hpp"

namespace ztp::test {
namespace counts_tests {

constexpr std::uint64_t seed = 11;
constexpr std::size_t row_counts[] = {1, 2, 255, 256, 257, 700};
constexpr std::size_t ranks[] = {1, 3, 16, 17, 100};

StreamKey key(std::uint32_t what) {
  return world_key(seed, what);
}

// The same for every kernel.
Matrix<float> factors(std::size_t rows, std::size_t P) {
  Pool pool(1);
  const auto reference = make_kernel(KernelName::reference, pool);
  const auto S = upload(*reference, sparse_counts(rows, P, seed));
  const auto u = reference->factors(rows, P);
  draw_columns(*reference, {*S, 0.1}, {}, key(6), 1, *u);
  return on_host(*u);
}

Matrix<std::int64_t> filled(std::size_t rows, std::size_t P, std::int64_t value) {
  Matrix<std::int64_t> S(rows, P);
  for (std::size_t j = 0; j < rows; ++j) std::fill_n(S.row(j), P, value);
  return S;
}

Matrix<std::int64_t> times(const Matrix<std::int64_t>& S, std::int64_t unit) {
  Matrix<std::int64_t> result(S.rows(), S.columns());
  std::transform(S.row(0), S.row(S.rows()), result.row(0), [unit](std::int64_t value) { return unit * value; });
  return result;
}

// ---- the diagonal ---------------------------------------------------------------------------------------------------

struct Diagonal {
  Matrix<std::int64_t> S;
  std::vector<std::int64_t> totals;
  double rate;
};

// Weights from hardly any count to millions.
std::vector<double> log_beta(std::size_t P) {
  std::vector<double> result;
  for (std::size_t q = 0; q < P; ++q) result.push_back(4.0 * static_cast<double>(q % 6) - 4);
  return result;
}

Diagonal impute(Kernel& kernel, const Matrix<float>& u, const DrawSettings& settings, bool wide = false) {
  const auto S = kernel.counts(u.rows(), u.columns(), wide);
  Diagonal result{{}, std::vector<std::int64_t>(u.columns(), 0), 0};
  result.rate =
      kernel.impute_diagonal(*upload(kernel, u), log_beta(u.columns()), key(13), settings, *S, result.totals.data());
  result.S = on_host(*S);
  return result;
}

// All kernels work in double on the same numbers, so they give the very same counts, whatever a count is worth. Each
// has two ends.
TEST(Oracle, ImputeDiagonal) {
  Pool pool(2);
  const auto reference = make_kernel(KernelName::reference, pool);
  for (const std::size_t rows : row_counts)
    for (const std::size_t P : ranks) {
      const Matrix<float> u = factors(rows, P);
      const Diagonal slow = impute(*reference, u, {.t = 4});
      const std::vector<double> ends = column_sums(slow.S);
      for (std::size_t q = 0; q < P; ++q) EXPECT_EQ(ends[q], 2 * static_cast<double>(slow.totals[q]));
      for_each_kernel(pool, [&](Kernel& kernel, const std::string& name) {
        for (const bool wide : {false, true}) {
          const Diagonal once = impute(kernel, u, {.t = 4}, wide), many = impute(kernel, u, {.t = 4, .unit = 12345});
          EXPECT_EQ(once.totals, slow.totals) << name << ", " << rows << " rows, P = " << P;
          EXPECT_TRUE(same_bits(once.S, slow.S)) << name << ", " << rows << " rows, P = " << P;
          EXPECT_TRUE(same_bits(many.S, times(slow.S, 12345))) << name;
          EXPECT_NEAR(once.rate, slow.rate, 1e-12 * slow.rate) << name;
          for (std::size_t q = 0; q < P; ++q) EXPECT_EQ(many.totals[q], 12345 * slow.totals[q]) << name;
        }
      });
    }
}

TEST(Oracle, ExpectedDiagonal) {
  Pool pool(2);
  const Matrix<float> u = factors(300, 17);
  const double n = 300, unit = 0x1p30;
  for_each_kernel(pool, [&](Kernel& kernel, const std::string& name) {
    const Diagonal got = impute(kernel, u, {.t = 4, .unit = std::int64_t{1} << 30, .expected = true});
    for (std::size_t q = 0; q < 17; ++q) {
      double total = 0;
      for (std::size_t j = 0; j < u.rows(); ++j) {
        const double share = static_cast<double>(u.row(j)[q]) / n;
        const double mean = unit * std::exp(log_beta(17)[q]) * share * share;
        ASSERT_NEAR(static_cast<double>(got.S.row(j)[q]), 2 * mean, 0.5 + 1e-11 * mean) << name;
        total += mean;
      }
      ASSERT_NEAR(static_cast<double>(got.totals[q]), total, 0.5 + 1e-11 * total) << name;
    }
  });
}

// ---- place, column_mass, spread -------------------------------------------------------------------------------------

// No mask, and one for each value wanted: a third of the rows is marked. Of a single row, one of them wants nothing.
struct Masks {
  std::vector<std::uint8_t> mark;
  explicit Masks(std::size_t rows) {
    for (std::size_t j = 0; j < rows; ++j) mark.push_back(Stream(key(7), 0, j).below(3) == 0 ? 1 : 0);
  }
  std::vector<RowMask> all() const { return {{}, {mark.data(), 1}, {mark.data(), 0}}; }
};

// From none to a billion; a column whose wanted rows have no share at all can have none.
std::vector<std::int64_t> totals_to_place(const Matrix<float>& u, RowMask rows) {
  static constexpr std::int64_t some[] = {1, 0, 9, 2, 1'000'000'000, 8, 300, 5};
  std::vector<std::int64_t> totals;
  for (std::size_t q = 0; q < u.columns(); ++q) {
    double mass = 0;
    for (std::size_t j = 0; j < u.rows(); ++j) mass += rows.contains(j) ? static_cast<double>(u.row(j)[q]) : 0;
    totals.push_back(mass > 0 ? some[q % std::size(some)] : 0);
  }
  return totals;
}

// Onto 7 in each place.
Matrix<std::int64_t> place(Kernel& kernel, const Matrix<float>& u, RowMask rows, std::int64_t unit, bool wide) {
  const auto S = upload(kernel, filled(u.rows(), u.columns(), 7), wide);
  kernel.place(*upload(kernel, u), rows, totals_to_place(u, rows), {key(8), 5}, unit, *S);
  return on_host(*S);
}

// All kernels work in double on the same numbers in the same order, so they give the very same counts.
TEST(Oracle, Place) {
  Pool pool(2);
  const auto reference = make_kernel(KernelName::reference, pool);
  for (const std::size_t n : row_counts)
    for (const std::size_t P : ranks) {
      const Matrix<float> u = factors(n, P);
      const Masks masks(n);
      for (const RowMask& rows : masks.all()) {
        const std::vector<std::int64_t> totals = totals_to_place(u, rows);
        Matrix<std::int64_t> slow = place(*reference, u, rows, 1, true), many(n, P);
        for (std::size_t q = 0; q < P; ++q) {
          std::int64_t column = 0;
          for (std::size_t j = 0; j < n; ++j) {
            const std::int64_t placed = slow.row(j)[q] - 7;
            ASSERT_TRUE(placed == 0 || (placed > 0 && rows.contains(j) && u.row(j)[q] > 0)) << "row " << j;
            many.row(j)[q] = 7 + 12345 * placed;
            column += placed;
          }
          ASSERT_EQ(column, totals[q]) << "column " << q;
        }
        for_each_kernel(pool, [&](Kernel& kernel, const std::string& name) {
          for (const bool wide : {false, true}) {
            EXPECT_TRUE(same_bits(place(kernel, u, rows, 1, wide), slow)) << name << ", " << n << " rows, P = " << P;
            EXPECT_TRUE(same_bits(place(kernel, u, rows, 12345, wide), many))
                << name << ", " << n << " rows, P = " << P;
          }
        });
      }
    }
}

TEST(Oracle, ColumnMassAndSpread) {
  Pool pool(2);
  for (const std::size_t n : row_counts)
    for (const std::size_t P : ranks) {
      const Matrix<float> u = factors(n, P);
      std::vector<double> factor(P);
      for (std::size_t q = 0; q < P; ++q) factor[q] = std::pow(10.0, static_cast<double>(q % 9));
      const Masks masks(n);
      for (const RowMask& rows : masks.all()) {
        std::vector<double> mass(P, 0.0);
        Matrix<std::int64_t> spread[2] = {filled(n, P, 50), filled(n, P, 50)};  // it is added to
        for (std::size_t j = 0; j < n; ++j)
          for (std::size_t q = 0; q < P && (rows.mask == nullptr || rows.mask[j] == rows.wanted); ++q) {
            const double value = static_cast<double>(u.row(j)[q]);
            mass[q] += value / static_cast<double>(n);
            spread[0].row(j)[q] += std::llround(factor[q] * value);
            spread[1].row(j)[q] += std::llround(factor[q] * (value * value));
          }
        for_each_kernel(pool, [&](Kernel& kernel, const std::string& name) {
          const auto on_kernel = upload(kernel, u);
          const std::vector<double> got = kernel.column_mass(*on_kernel, rows);
          ASSERT_EQ(got.size(), P);
          for (std::size_t q = 0; q < P; ++q) ASSERT_NEAR(got[q], mass[q], 1e-12 * mass[q]) << name << ", " << n;
          for (const int power : {1, 2}) {
            const auto S = upload(kernel, filled(n, P, 50));
            kernel.spread(*on_kernel, rows, power, factor, *S);
            EXPECT_TRUE(same_bits(on_host(*S), spread[power - 1])) << name << ", power " << power;
          }
        });
      }
    }
}

// ---- shift, move, tally ---------------------------------------------------------------------------------------------

TEST(Oracle, ShiftRoundsToTheNearest) {
  EXPECT_EQ(shifted(5, -1), 3);  // 2.5, up
  EXPECT_EQ(shifted(5, -2), 1);  // 1.25
  EXPECT_EQ(shifted(6, -2), 2);  // 1.5, up
  EXPECT_EQ(shifted(5, 0), 5);
  EXPECT_EQ(shifted(5, 40), std::int64_t{5} << 40);
  Pool pool(3);
  const Matrix<std::int64_t> before = fine_counts(5001, 3, seed);
  for (const int bits : {-9, -1, 0, 1, 15}) {
    Matrix<std::int64_t> wanted(5001, 3);
    std::transform(before.row(0), before.row(5001), wanted.row(0), [bits](std::int64_t value) {
      return static_cast<std::int64_t>(
          std::floor(std::ldexp(static_cast<long double>(value), bits) + (bits < 0 ? 0.5L : 0)));
    });
    for_each_kernel(pool, [&](Kernel& kernel, const std::string& name) {
      const auto S = upload(kernel, before);
      kernel.shift(bits, *S);
      EXPECT_TRUE(same_bits(on_host(*S), wanted)) << name << ", " << bits << " bits";
    });
  }
}

// Half way from 5 to 8 is 6.5, which goes up; on the way down it goes away from the value, too.
TEST(Oracle, MoveRoundsToTheNearest) {
  EXPECT_EQ(moved(5, 8, 0.5), 7);
  EXPECT_EQ(moved(8, 5, 0.5), 6);
  EXPECT_EQ(moved(5, 8, 0), 5);
  EXPECT_EQ(moved(5, 8, 1), 8);
  EXPECT_EQ(moved(0, 10, 0.04), 0);
  Pool pool(3);
  const Matrix<std::int64_t> from = sparse_counts(5001, 3, seed), towards = fine_counts(5001, 3, seed);
  for (const double part : {0.0, 0.013, 0.5, 1.0}) {
    Matrix<std::int64_t> wanted(5001, 3);
    for (std::size_t j = 0; j < 5001; ++j)
      for (std::size_t q = 0; q < 3; ++q) {
        const double way = part * static_cast<double>(towards.row(j)[q] - from.row(j)[q]);
        const double rounded = way < 0 ? std::ceil(way - 0.5) : std::floor(way + 0.5);  // halves go away from zero
        wanted.row(j)[q] = from.row(j)[q] + static_cast<std::int64_t>(rounded);
      }
    for_each_kernel(pool, [&](Kernel& kernel, const std::string& name) {
      const auto S = upload(kernel, from);
      kernel.move(*upload(kernel, towards), part, *S);
      EXPECT_TRUE(same_bits(on_host(*S), wanted)) << name << ", part " << part;
    });
  }
}

TEST(Oracle, Tally) {
  Pool pool(2);
  for_each_kernel(pool, [&](Kernel& kernel, const std::string& name) {
    EXPECT_TRUE(kernel.tally(*kernel.counts(10, 17, false)).empty()) << name;
    for (const std::size_t n : {1, 2, 4095, 4096, 4097, 9000})
      for (const std::size_t P : {1, 3, 17}) {
        const Matrix<std::int64_t> S = sparse_counts(n, P, seed);
        std::map<std::int64_t, std::int64_t> how_often;
        for (std::size_t j = 0; j < n; ++j)
          for (std::size_t q = 0; q < P; ++q)
            if (S.row(j)[q] > 0) ++how_often[S.row(j)[q]];
        EXPECT_EQ(kernel.tally(*upload(kernel, S)), Tally(how_often.begin(), how_often.end())) << name << ", " << n;
      }
  });
}

// ---- parity ---------------------------------------------------------------------------------------------------------

TEST(Parity, Counts) {
  const Matrix<float> u = factors(1500, 17);
  const Masks masks(1500);
  const auto same = [](const auto& a, const auto& b) { return same_bits(a, b); };
  for (const RowMask& rows : masks.all()) {
    expect_parity(
        "place", [&](Kernel& kernel) { return place(kernel, u, rows, 1, false); }, same);
    expect_parity(
        "mass", [&](Kernel& kernel) { return kernel.column_mass(*upload(kernel, u), rows); }, same);
  }
  expect_parity(
      "diagonal", [&](Kernel& kernel) { return impute(kernel, u, {.t = 4}); },
      [](const Diagonal& a, const Diagonal& b) {
        return same_bits(a.S, b.S) && a.totals == b.totals && same_bits(a.rate, b.rate);
      });
  expect_parity(
      "shift, spread, move",
      [&](Kernel& kernel) {
        const auto S = upload(kernel, fine_counts(1500, 17, seed)),
                   towards = upload(kernel, sparse_counts(1500, 17, seed));
        kernel.spread(*upload(kernel, u), {}, 2, std::vector<double>(17, 1e6), *S);
        kernel.shift(-3, *S);
        kernel.move(*towards, 0.3, *S);
        return on_host(*S);
      },
      same);
  expect_parity(
      "tally", [&](Kernel& kernel) { return kernel.tally(*upload(kernel, sparse_counts(9000, 17, seed))); },
      [](const Tally& a, const Tally& b) { return a == b; });
}

}  // namespace counts_tests
}  // namespace ztp::test
