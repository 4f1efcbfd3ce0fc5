// Do columns follow Dirichlet laws, all their rows or some?
//
// Seed 20150713, a million draws for each setting, 200000 of listed rows, 16384 of long columns. At most 100 p-values
// are looked at in this file and each fails below 1e-3 / 100: the whole file raises a false alarm with probability at
// most 1e-3. The seed is fixed and nothing is retried. Every kernel draws from streams of its own.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/math/special_functions/beta.hpp>
#include <cmath>
#include <vector>

#include "kernel/draw_columns.hpp"
#include "kernels.hpp"
#include "laws.hpp"
#include "statistics.hpp"

namespace ztp::test {
namespace {

constexpr std::uint64_t seed = 20150713;
Alarms* const alarms = new Alarms(1e-3, 100);
const auto* const registered = testing::AddGlobalTestEnvironment(alarms);

INSTANTIATE_TEST_SUITE_P(Each, KernelDraws, testing::ValuesIn(drawing_kernel_names()),
                         [](const auto& one) { return one.param; });

// ---- all rows -------------------------------------------------------------------------------------------------------

// A column holds floats, so that a share below 1e-38 is lost and its log-odds with it. Kolmogorov and Smirnov's
// distance is therefore taken over log-odds in (-80, 80) only, with what lies outside counted on its side: it can only
// come out smaller.
double log_odds_p(std::vector<double> sample, double a, double b) {
  std::sort(sample.begin(), sample.end());
  const double n = static_cast<double>(sample.size());
  double distance = 0;
  for (std::size_t i = 0; i < sample.size(); i += 200) {  // the law is costly
    if (std::abs(sample[i]) >= 80) continue;
    const double u = log_odds_law(a, b, sample[i]).below, rank = static_cast<double>(i);
    distance = std::max({distance, u - rank / n, (rank + 1) / n - u});
  }
  return kolmogorov_p(distance, n);
}

double log_odds(double share, double rest) {
  if (!(share > 0)) return -100;
  if (!(rest > 0)) return 100;
  return std::log(share) - std::log(rest);
}

// The shares of rows in their column: those of a row, or of two together, against the rest are betas.
struct Column {
  double a;
  std::vector<std::int64_t> counts;  // of each row
  std::vector<Range> rows = {{0, 1}};
  std::size_t columns = 1'000'000;
};

TEST_P(KernelDraws, SharesOfColumnsAreBetas) {
  constexpr std::int64_t billion = 1'000'000'000;
  std::vector<Column> settings = {{1e-6, {0, 0}},
                                  {0.1, {0, 0}},
                                  {0.5, {3, 40}},
                                  {1e-6, {1, 1}},
                                  {0.1, {0, billion}},
                                  {0.1, {billion, 1'000'000}},
                                  {0.1, {billion, billion}},
                                  {1e-6, {0, 0, 0, 0}, {{0, 1}, {3, 4}, {0, 2}}},
                                  {0.1, {0, 3, 20, billion}, {{0, 1}, {3, 4}, {0, 2}}}};
  // Rows beyond the first block of 256 belong to the same column.
  settings.push_back({0.1, std::vector<std::int64_t>(258, 0), {{1, 2}, {255, 256}, {256, 257}, {257, 258}}, 1 << 14});
  settings.back().counts[1] = 20;
  settings.back().counts[257] = 30;
  std::uint32_t number = 0;
  for (const auto& [a, counts, ranges, columns] : settings) {
    const std::size_t rows = counts.size();
    Matrix<std::int64_t> S(rows, columns);
    double shapes = 0;
    for (std::size_t j = 0; j < rows; ++j) {
      std::fill_n(S.row(j), columns, counts[j]);
      shapes += a + static_cast<double>(counts[j]);
    }
    const auto factors = kernel_->factors(rows, columns);
    draw_columns(*kernel_, {*upload(*kernel_, S), a}, {}, key(seed, 1), number++, *factors);
    const Matrix<float> u = on_host(*factors);
    for (const Range& range : ranges) {
      double shape = 0;
      for (std::size_t j = range.begin; j < range.end; ++j) shape += a + static_cast<double>(counts[j]);
      std::vector<double> sample;
      for (std::size_t q = 0; q < columns; ++q) {
        double share = 0, rest = 0;
        for (std::size_t j = 0; j < rows; ++j)
          (range.begin <= j && j < range.end ? share : rest) += static_cast<double>(u.row(j)[q]);
        sample.push_back(log_odds(share, rest));
      }
      alarms->expect_plausible(log_odds_p(std::move(sample), shape, shapes - shape),
                               fmt::format("{}: column {}, rows {} to {}", name(), number, range.begin, range.end - 1));
    }
  }
}

// ---- some rows ------------------------------------------------------------------------------------------------------

constexpr std::size_t n = 12;
constexpr double column_a = 0.3;
const std::vector<std::uint32_t> listed = {1, 4, 7};

// Parts of a count to a few counts, and none in some rows.
double count_of(std::size_t j) {
  static constexpr double of_row[n] = {0.25, 0.5, 0, 4.75, 1.125, 0, 2.5, 0, 0.0625, 0, 7.5, 1};
  return of_row[j];
}

// Sorted: of one listed row, of the sum of all listed rows, and the share of one of two.
struct ListedRows {
  std::vector<double> one, sum, share;
};

ListedRows draw_listed(Kernel& kernel, double total, std::uint32_t chain) {
  constexpr std::size_t P = 1000;
  Matrix<std::int64_t> counts(n, P);
  for (std::size_t j = 0; j < n; ++j) std::fill_n(counts.row(j), P, std::llround(0x1p16 * count_of(j)));
  const auto S = upload(kernel, counts);
  const auto factors = kernel.factors(n, P);
  ListedRows result;
  for (std::uint32_t sweep = 0; sweep < 200; ++sweep) {
    draw_columns(kernel, {*S, column_a, 0x1p-16, &listed}, std::vector<double>(P, total),
                 stream_key(seed, chain, Purpose::columns), sweep, *factors);
    const Matrix<float> u = on_host(*factors);
    for (std::size_t q = 0; q < P; ++q) {
      const double x = static_cast<double>(u.row(1)[q]) / n, y = static_cast<double>(u.row(4)[q]) / n;
      result.one.push_back(y);
      result.sum.push_back(x + y + static_cast<double>(u.row(7)[q]) / n);
      result.share.push_back(x / (x + y));
    }
  }
  for (auto* sample : {&result.one, &result.sum, &result.share}) std::sort(sample->begin(), sample->end());
  return result;
}

double beta_p(const std::vector<double>& sample, double alpha, double beta) {
  return kolmogorov_smirnov_p(
      sample, [=](double x) { return boost::math::ibeta(alpha, beta, std::clamp(x, 0.0, 1.0)); }, 100);
}

double total_count() {
  double total = 0;
  for (std::size_t j = 0; j < n; ++j) total += count_of(j);
  return total;
}

// Rows of a Dirichlet, any sum of them, and the shares of some of them in their sum are betas. Not one of these laws
// knows of the others' rows but through their sum.
TEST(Columns, ListedRowsHaveTheLawOfAllRows) {
  Pool pool(1);
  const auto shape = [](std::size_t j) { return column_a + count_of(j); };
  const double all = n * column_a + total_count(), some = shape(1) + shape(4) + shape(7);
  std::uint32_t chain = 0;
  for_each_variant(pool, [&](Kernel& kernel, const std::string& name) {
    const ListedRows drawn = draw_listed(kernel, total_count(), chain++);
    alarms->expect_plausible(beta_p(drawn.one, shape(4), all - shape(4)), name + ": a row");
    alarms->expect_plausible(beta_p(drawn.sum, some, all - some), name + ": the sum");
    alarms->expect_plausible(beta_p(drawn.share, shape(1), shape(4)), name + ": a share");
  });
}

// What the others have is forgotten, or a tenth of it is.
TEST(Twins, ForgottenRestIsRejected) {
  Pool pool(1);
  const auto kernel = make_kernel(KernelName::cpu, pool);
  const double listed_count = count_of(1) + count_of(4) + count_of(7), rest = total_count() - listed_count;
  const double all = n * column_a + total_count(), shape = column_a + count_of(4);
  EXPECT_LT(beta_p(draw_listed(*kernel, listed_count, 100).one, shape, all - shape), alarms->level());
  EXPECT_LT(beta_p(draw_listed(*kernel, listed_count + 0.9 * rest, 101).one, shape, all - shape), alarms->level());
}

}  // namespace
}  // namespace ztp::test
