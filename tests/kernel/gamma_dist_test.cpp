// Do gamma draws follow their law, in every kernel and instruction set? As they come, before columns are normalised:
// what columns_dist_test.cpp sees of them is their ratios.
//
// Seed 20180611, a million draws for each shape. At most 500 p-values are looked at in this file and each fails below
// 1e-3 / 500: the whole file raises a false alarm with probability at most 1e-3. The seed is fixed and nothing is
// retried. Every instruction set draws from streams of its own.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "gamma_law.hpp"
#include "kernels.hpp"

namespace ztp::test {
namespace {

constexpr std::uint64_t seed = 20180611;
constexpr std::size_t rows = 1000, columns = 1000;
Alarms* const alarms = new Alarms(1e-3, 500);
const auto* const registered = testing::AddGlobalTestEnvironment(alarms);

// Shapes as a chain would have them: a for a row without counts, a + scale count for others.
struct Setting {
  double a;
  std::vector<std::int64_t> counts = {0};
  double scale = 1;
  double shape(std::size_t i) const { return a + scale * static_cast<double>(counts[i]); }
};

// Sorted logs of each count's draws, which are neighbours in a vector.
std::vector<std::vector<double>> draw(Kernel& kernel, const Setting& setting, StreamKey key, std::uint32_t number) {
  const std::size_t kinds = setting.counts.size(), P = columns * kinds;
  Matrix<std::int64_t> counts(rows, P);
  for (std::size_t j = 0; j < rows; ++j)
    for (std::size_t q = 0; q < P; ++q) counts.row(j)[q] = setting.counts[q % kinds];
  const auto u = kernel.factors(rows, P);
  kernel.draw_gammas({*upload(kernel, counts), setting.a, setting.scale}, key, number, *u);
  std::vector<std::vector<float>> values(kinds);
  for_blocks_of_rows(*u, [&](Range range, const float* drawn) {
    for (std::size_t i = 0; i < range.size() * P; ++i) values[i % P % kinds].push_back(drawn[i]);
  });
  std::vector<std::vector<double>> logs(kinds);
  for (std::size_t i = 0; i < kinds; ++i) {
    std::sort(values[i].begin(), values[i].end());
    for (const float value : values[i])
      logs[i].push_back(value > 0 ? std::log(static_cast<double>(value)) : 2 * lowest_log);
  }
  return logs;
}

TEST(Gammas, FollowTheirLawInEveryInstructionSet) {
  // With a below one and counts among the rows, with a above, and shapes at which lanes change their way; the last are
  // of counts that are not whole, 0.13, 0.7, 0.99, 1.01, 1.3 and 17.5.
  const Setting settings[] = {{0.02},
                              {0.1},
                              {0.5},
                              {0.999},
                              {1},
                              {1.1},
                              {2},
                              {0.02, {1}},
                              {30},
                              {0.5, {30}},
                              {0.02, {10'000}},
                              {1e4},
                              {1e8},
                              {0.1, {100'000'000}},
                              {0.05, {8, 65, 94, 96, 125, 1745}, 0.01}};
  std::uint32_t chain = 0;
  Pool pool(1);
  for_each_fast_kernel(pool, [&](Kernel& kernel, const std::string& target) {
    const StreamKey key = stream_key(seed, chain++, Purpose::simulate);
    std::uint32_t number = 0;
    for (const Setting& setting : settings) {
      const auto drawn = draw(kernel, setting, key, number++);
      for (std::size_t i = 0; i < drawn.size(); ++i) {
        const std::vector<double>& logs = drawn[i];
        const double shape = setting.shape(i), n = static_cast<double>(logs.size());
        const std::string name =
            fmt::format("{}: gamma({} + {} {})", target, setting.a, setting.scale, setting.counts[i]);
        alarms->expect_plausible(gamma_distance_p(logs, shape), name);
        alarms->expect_plausible(extreme_p(log_gamma_law(shape, logs.back()).above, n), name + ", largest");
        if (logs.front() > lowest_log)
          alarms->expect_plausible(extreme_p(log_gamma_law(shape, logs.front()).below, n), name + ", smallest");
        if (shape < 1) alarms->expect_plausible(gamma_tail_p(logs, shape, -2), name + ", lower tail");
      }
    }
  });
}

// What the laws above must tell apart: a shape that is one or two per cent off, a boost that has been left out or made
// twice, a lower tail that has lost what is below e^-40.
TEST(Twins, WrongGammasAreRejected) {
  Pool pool(1);
  const auto kernel = make_kernel(KernelName::cpu, pool);
  const StreamKey key = stream_key(seed, 100, Purpose::simulate);
  const std::vector<double> logs = draw(*kernel, {0.1}, key, 0)[0];
  EXPECT_GE(gamma_distance_p(logs, 0.1), alarms->level());
  EXPECT_LT(gamma_distance_p(logs, 0.102), alarms->level());
  EXPECT_LT(gamma_tail_p(logs, 0.102, -2), alarms->level());
  EXPECT_LT(gamma_distance_p(draw(*kernel, {1.1}, key, 1)[0], 0.1), alarms->level());
  EXPECT_LT(gamma_distance_p(draw(*kernel, {30}, key, 2)[0], 30.1), alarms->level());
  std::vector<double> cut = logs;
  for (double& value : cut) value = std::max(value, -40.0);
  EXPECT_LT(gamma_tail_p(cut, 0.1, -2), alarms->level());
  // Of counts that are worth 0.01: two per cent off, and a boost that is left out.
  const Setting right{0.05, {8, 65, 1745}, 0.01};
  const auto real = draw(*kernel, {0.05, {8, 65, 1745}, 0.0102}, key, 3);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_LT(gamma_distance_p(real[i], right.shape(i)), alarms->level()) << i;
  EXPECT_LT(gamma_distance_p(real[0], 1.13), alarms->level());
}

}  // namespace
}  // namespace ztp::test
