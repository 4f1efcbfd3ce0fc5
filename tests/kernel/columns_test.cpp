// Oracle: columns drawn from whole and from real-valued counts, all their rows or some, their sums and their means, by
// every kernel against the reference and plain loops. Parity: for any number of threads, bit by bit. All is a function
// of the seed 12; no chance.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "kernel/gamma_draw.hpp"
#include "kernel/host_arrays.hpp"
#include "worlds.hpp"

namespace ztp::test {
namespace columns_tests {

constexpr std::uint64_t seed = 12;
constexpr float untouched = -7;
using List = std::vector<std::uint32_t>;

// Runs and gaps; no row is its own neighbour.
List some_rows(std::size_t n) {
  List rows;
  for (std::uint32_t j = 0; j < n; ++j)
    if (j % 7 == 2 || (j / 300) % 2 == 1) rows.push_back(j);
  if (rows.empty()) rows.push_back(0);
  return rows;
}

bool contains(const List* rows, std::size_t j) {
  return rows == nullptr || std::binary_search(rows->begin(), rows->end(), j);
}

Matrix<float> marked(std::size_t rows, std::size_t P) {
  Matrix<float> u(rows, P);
  for (std::size_t j = 0; j < rows; ++j) std::fill_n(u.row(j), P, untouched);
  return u;
}

std::vector<double> scaled(std::vector<double> values, double scale) {
  for (double& value : values) value *= scale;
  return values;
}

// On the host rows are padded, and vector loops run over the padding.
void expect_padding_is_zero(const Factors& u) {
  const auto* host = dynamic_cast<const HostFactors*>(&u);
  for (std::size_t j = 0; host != nullptr && j < u.rows(); ++j)
    for (std::size_t q = u.columns(); q < host->values.stride(); ++q) ASSERT_EQ(host->values.row(j)[q], 0);
}

struct Source {
  const Matrix<std::int64_t>& S;
  double a;
  double scale = 1;
  const List* rows = nullptr;
  std::vector<double> totals() const { return scaled(column_sums(S), scale); }
};

Matrix<float> draw(Kernel& kernel, const Source& from) {
  const auto S = upload(kernel, from.S);
  const auto u = upload(kernel, marked(from.S.rows(), from.S.columns()));
  for (const double sum :
       draw_columns(kernel, {*S, from.a, from.scale, from.rows}, from.totals(), world_key(seed, 2), 9, *u))
    EXPECT_TRUE(sum > 0 && std::isfinite(sum)) << sum;
  expect_padding_is_zero(*u);
  return on_host(*u);
}

Matrix<float> mean(Kernel& kernel, const Source& from) {
  const auto S = upload(kernel, from.S);
  const auto u = upload(kernel, marked(from.S.rows(), from.S.columns()));
  mean_columns(kernel, {*S, from.a, from.scale, from.rows}, from.totals(), *u);
  expect_padding_is_zero(*u);
  return on_host(*u);
}

// The draws are the same numbers in float and in double, but for roundings: 1.5e-5. Where U^(1/a) is 1e-30 and less it
// is compared with 1e-30; where the cube of Marsaglia and Tsang is nearly zero, its digits are lost, and an acceptance
// can flip: one in 10^5 may differ. The shape of counts that are not whole is made of four roundings, and U^(1/shape),
// which is compared down to 1e-30 = e^-69, takes them 69-fold: 4 * 69 * 2^-24 more.
class Differences {
 public:
  void compare(const Matrix<float>& fast, const Matrix<float>& slow, double scale, const std::string& name) {
    for (std::size_t j = 0; j < slow.rows(); ++j)
      for (std::size_t q = 0; q < slow.columns(); ++q, ++draws_) {
        const double wanted = static_cast<double>(slow.row(j)[q]), got = static_cast<double>(fast.row(j)[q]);
        ASSERT_TRUE(std::isfinite(got)) << name;
        different_ += std::abs(got - wanted) > (scale == 1 ? 1.5e-5 : 3.2e-5) * std::abs(wanted) + 1e-30;
      }
  }
  ~Differences() { EXPECT_LE(different_, 1e-5 * draws_); }

 private:
  double draws_ = 0, different_ = 0;
};

enum class Listed { all, one, some };

TEST(Oracle, DrawColumns) {
  Pool pool(2);
  const auto reference = make_kernel(KernelName::reference, pool);
  std::map<std::string, Differences> differences;
  for (const std::size_t rows : {1, 2, 255, 256, 257, 1000})
    for (const std::size_t P : {1, 3, 15, 16, 17, 20, 25, 100}) {
      const Matrix<std::int64_t> whole = sparse_counts(rows, P, seed), fine = fine_counts(rows, P, seed);
      for (const double a : {1e-4, 0.05, 0.5, 3.0})  // the first is below what floats do
        for (const auto& [scale, listed] : {std::pair{1.0, Listed::all},
                                            {0x1p-16, Listed::all},
                                            {0.037, Listed::some},
                                            {0x1p-16, Listed::one},
                                            {1.0, Listed::some}}) {
          const List list = listed == Listed::one ? List{static_cast<std::uint32_t>(rows / 2)} : some_rows(rows);
          const Source from{scale == 1 ? whole : fine, a, scale, listed == Listed::all ? nullptr : &list};
          const Matrix<float> slow = draw(*reference, from);
          for_each_fast_kernel(pool, [&](Kernel& kernel, const std::string& target) {
            const std::string name = fmt::format("{}: {} rows, P = {}, a = {}, scale {}", target, rows, P, a, scale);
            const Matrix<float> fast = draw(kernel, from);
            differences[target].compare(fast, slow, scale, name);
            for (std::size_t j = 0; j < rows; ++j)
              for (std::size_t q = 0; q < P; ++q)
                ASSERT_EQ(fast.row(j)[q] == untouched, !contains(from.rows, j)) << name;
          });
        }
    }
}

// Nothing is left for a rest then. The sums are added up in another order, and rounded in other places.
TEST(Oracle, AllRowsListedAreAnOrdinaryDraw) {
  Pool pool(2);
  for_each_kernel(pool, [&](Kernel& kernel, const std::string& name) {
    for (const double a : {1e-4, 0.1})
      for (const std::size_t rows : {1, 700}) {
        const Matrix<std::int64_t> S = fine_counts(rows, 17, seed);
        List all(rows);
        std::iota(all.begin(), all.end(), 0u);
        const Matrix<float> listed = draw(kernel, {S, a, 0x1p-16, &all}), plain = draw(kernel, {S, a, 0x1p-16});
        for (std::size_t j = 0; j < rows; ++j)
          for (std::size_t q = 0; q < 17; ++q)
            ASSERT_NEAR(static_cast<double>(listed.row(j)[q]), static_cast<double>(plain.row(j)[q]),
                        4 * 0x1p-24 * static_cast<double>(plain.row(j)[q]))
                << name << ", a = " << a;
      }
  });
}

// Even where shapes are so small that every draw of a column underflows, a column adds up to n.
TEST(Oracle, ColumnsAddUp) {
  Pool pool(2);
  Matrix<std::int64_t> S(300, 17);
  for (std::size_t j = 0; j < 300; ++j) S.row(j)[1] = static_cast<std::int64_t>(j * j);
  for_each_kernel(pool, [&](Kernel& kernel, const std::string& name) {
    for (const double a : {1e-6, 1e-3, 0.01, 0.1, 3.0})
      for (const double sum : column_sums(draw(kernel, {S, a}))) EXPECT_NEAR(sum, 300, 300 * 1e-6) << name << " " << a;
  });
}

// What a column adds up to says whether a draw in it has gone bad.
TEST(Columns, BadDrawsAreSeen) {
  EXPECT_TRUE(
      std::isnan(log_gamma_at({stream_key(1, 0, Purpose::columns), 1}, 1, std::numeric_limits<float>::quiet_NaN())));
  std::vector<double> logs = {-3.0, std::nan(""), -1.0};
  EXPECT_TRUE(std::isnan(normalise_logs(logs, 3)));
  EXPECT_TRUE(std::isfinite(logs[0]) && std::isnan(logs[1]) && std::isfinite(logs[2]));
}

// The steps that draw_columns is made of, one by one, over all rows or those listed: whichever were drawn last.
TEST(Oracle, DrawSumAndScale) {
  Pool pool(2);
  const std::size_t rows = 700, P = 17;
  const Matrix<std::int64_t> counts = sparse_counts(rows, P, seed);
  const List list = some_rows(rows);
  const auto reference = make_kernel(KernelName::reference, pool);
  for (const List* drawn : {static_cast<const List*>(nullptr), &list}) {
    const auto gammas = [&](Kernel& kernel) {
      auto u = upload(kernel, marked(rows, P));
      kernel.draw_gammas({*upload(kernel, counts), 0.1, 1, drawn}, world_key(seed, 2), 9, *u);
      return u;
    };
    const Matrix<float> slow = on_host(*gammas(*reference));
    for_each_variant(pool, [&](Kernel& kernel, const std::string& name) {
      for (const List* summed : {static_cast<const List*>(nullptr), &list}) {
        const auto S = upload(kernel, counts);
        const Columns columns{*S, 0.1, 1, summed};
        const auto u = gammas(kernel);
        const Matrix<float> before = on_host(*u);
        Differences().compare(before, slow, 1, name);
        const std::vector<double> sums = kernel.sum_columns(columns, *u);
        const std::vector<std::int64_t> sums_of_counts = kernel.sum_counts(columns);
        write_at_once(before, *u);
        EXPECT_TRUE(same_bits(kernel.sum_columns(columns, *u), sums)) << name;
        std::vector<float> factor(P);
        std::iota(factor.begin(), factor.end(), 1.0f);
        kernel.scale_columns(columns, factor, *u);
        const Matrix<float> after = on_host(*u);
        for (std::size_t q = 0; q < P; ++q) {
          double sum = 0;
          std::int64_t sum_of_counts = 0;
          for (std::size_t j = 0; j < rows; ++j) {
            const bool written = contains(summed, j);
            if (written) sum += static_cast<double>(before.row(j)[q]);
            if (written) sum_of_counts += counts.row(j)[q];
            ASSERT_EQ(before.row(j)[q] == untouched, !contains(drawn, j)) << name;
            ASSERT_NEAR(after.row(j)[q], written ? factor[q] * before.row(j)[q] : before.row(j)[q], 1e-37f) << name;
          }
          EXPECT_NEAR(sums[q], sum, 1e-12 * std::abs(sum)) << name;
          EXPECT_EQ(sums_of_counts[q], sum_of_counts) << name;
        }
      }
    });
  }
}

TEST(Oracle, MeansOfColumns) {
  Pool pool(2);
  for (const std::size_t rows : {1, 2, 257, 1000})
    for (const std::size_t P : {1, 3, 17, 100})
      for (const double a : {1e-4, 0.1, 3.0}) {
        const Matrix<std::int64_t> S = fine_counts(rows, P, seed);
        const List list = some_rows(rows);
        const Source from{S, a, 0x1p-16}, of_list{S, a, 0x1p-16, &list};
        const std::vector<double> totals = from.totals();
        const double n = static_cast<double>(rows);
        for_each_variant(pool, [&](Kernel& kernel, const std::string& target) {
          const Matrix<float> all = mean(kernel, from), some = mean(kernel, of_list);
          const std::string name = fmt::format("{}: {} rows, P = {}, a = {}", target, rows, P, a);
          for (std::size_t q = 0; q < P; ++q)
            for (std::size_t j = 0; j < rows; ++j) {
              const double wanted = n * (a + 0x1p-16 * static_cast<double>(S.row(j)[q])) / (n * a + totals[q]);
              const double roundings = target == "reference" ? 2 : 6;
              ASSERT_NEAR(static_cast<double>(all.row(j)[q]), wanted, roundings * 0x1p-24 * wanted) << name;
              ASSERT_EQ(some.row(j)[q], contains(&list, j) ? all.row(j)[q] : untouched) << name;
            }
          for (const double sum : column_sums(all)) ASSERT_NEAR(sum, n, 6 * 0x1p-24 * n) << name;
        });
      }
}

TEST(Parity, DrawsAndMeansOfColumns) {
  const Matrix<std::int64_t> whole = sparse_counts(3000, 17, seed), fine = fine_counts(3000, 17, seed);
  const List list = some_rows(3000);
  const auto same = [](const Matrix<float>& a, const Matrix<float>& b) { return same_bits(a, b); };
  for (const double a : {1e-4, 0.1})
    for (const double scale : {1.0, 0x1p-16})
      for (const List* rows : {static_cast<const List*>(nullptr), &list}) {
        const Source from{scale == 1 ? whole : fine, a, scale, rows};
        const std::string name = fmt::format("a = {}, scale {}", a, scale);
        expect_parity(
            name, [&](Kernel& kernel) { return draw(kernel, from); }, same);
        expect_parity(
            name, [&](Kernel& kernel) { return mean(kernel, from); }, same);
      }
}

}  // namespace columns_tests
}  // namespace ztp::test
