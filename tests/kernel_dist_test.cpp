// Do the draws of every kernel follow their distributions?
//
// Seed 20150713, a million draws for each setting. At most 3000 p-values are looked at in this file and each fails below
// 1e-3 / 3000: the whole file raises a false alarm with probability at most 1e-3. The seed is fixed and nothing is
// retried.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "kernel/kernel.hpp"
#include "laws.hpp"
#include "model/draws.hpp"
#include "statistics.hpp"

namespace ztp {
namespace {

constexpr std::uint64_t seed = 20150713;
test::Alarms* const alarms = new test::Alarms(1e-3, 3000);
const auto* const registered = testing::AddGlobalTestEnvironment(alarms);

class KernelDraws : public testing::TestWithParam<const char*> {
 protected:
  KernelDraws() : pool_(1), kernel_(make_kernel(GetParam(), pool_)) {}

  Pool pool_;
  std::unique_ptr<Kernel> kernel_;
};

INSTANTIATE_TEST_SUITE_P(Each, KernelDraws, testing::Values("cpu", "reference"),
                         [](const auto& one) { return std::string(one.param); });

StreamKey key(std::uint32_t setting) {
  return stream_key(seed, setting, Purpose::simulate);
}

// ---- draw_columns ---------------------------------------------------------------------------------------------------

// A column holds floats, so that a share below 1e-38 is lost and its log-odds with it. Kolmogorov and Smirnov's distance
// is therefore taken over log-odds in (-80, 80) only, with what lies outside counted on its side: it can only come out
// smaller.
double log_odds_p(std::vector<double> sample, double a, double b) {
  std::sort(sample.begin(), sample.end());
  const double n = static_cast<double>(sample.size());
  double distance = 0;
  for (std::size_t i = 0; i < sample.size(); i += 100) {  // the law is costly
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
                              {1e-3, 0, 0},
                              {0.1, 0, 0},
                              {0.1, 1, 0},
                              {0.5, 3, 40},
                              {1e-6, 1, 1},
                              {0.1, 1000, 5000},
                              {0.1, 1'000'000, 300'000},
                              {0.1, 0, 1'000'000'000},
                              {0.1, 1'000'000'000, 1'000'000},
                              {0.1, 100'000'000, 100'000'000},
                              {0.1, 1'000'000'000, 1'000'000'000}};
  Matrix<std::int64_t> S(2, columns);
  Matrix<float> u(2, columns);
  std::uint32_t number = 0;
  for (const auto& [a, first, second] : settings) {
    std::fill(S.row(0), S.row(0) + columns, first);
    std::fill(S.row(1), S.row(1) + columns, second);
    kernel_->draw_columns(S, a, key(1), number++, u);
    std::vector<double> sample;
    for (std::size_t r = 0; r < columns; ++r)
      sample.push_back(log_odds(static_cast<double>(u.row(0)[r]), static_cast<double>(u.row(1)[r])));
    const double p = a + static_cast<double>(first), q = a + static_cast<double>(second);
    alarms->expect_plausible(log_odds_p(std::move(sample), p, q), fmt::format("{}: beta({}, {})", GetParam(), p, q));
  }
}

}  // namespace
}  // namespace ztp
