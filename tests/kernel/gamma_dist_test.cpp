// Do the gamma draws in lanes follow their law, in every instruction set? As they come, before columns are normalised: what
// kernel_dist_test.cpp sees of them is their ratios, in one instruction set.
//
// Seed 20180611, a million draws for each setting. At most 300 p-values are looked at in this file and each fails below 1e-3 / 300:
// the whole file raises a false alarm with probability at most 1e-3. The seed is fixed and nothing is retried. Every instruction
// set draws from streams of its own.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "gamma_law.hpp"
#include "kernel/cpu/columns.hpp"
#include "laws.hpp"
#include "statistics.hpp"
#include "targets.hpp"

namespace ztp {
namespace {

constexpr std::uint64_t seed = 20180611;
constexpr std::size_t rows = 1000, columns = 1000;
test::Alarms* const alarms = new test::Alarms(1e-3, 300);
const auto* const registered = testing::AddGlobalTestEnvironment(alarms);

// A shape as a chain would have it: a for a row without counts, a + count for others.
struct Setting {
  double a;
  std::int64_t count = 0;
  double shape() const { return a + static_cast<double>(count); }
};

// Sorted logs.
std::vector<double> draw(const Setting& setting, StreamKey key, std::uint32_t number) {
  Pool pool(1);
  Matrix<std::int64_t> S(rows, columns);
  for (std::size_t j = 0; j < rows; ++j) std::fill(S.row(j), S.row(j) + columns, setting.count);
  Matrix<float> u(rows, columns);
  cpu::draw_gammas(pool, {S, setting.a}, {key, number}, u);
  std::vector<float> values;
  for (std::size_t j = 0; j < rows; ++j) values.insert(values.end(), u.row(j), u.row(j) + columns);
  std::sort(values.begin(), values.end());
  std::vector<double> logs;
  for (const float value : values)
    logs.push_back(value > 0 ? std::log(static_cast<double>(value)) : 2 * test::lowest_log);
  return logs;
}

TEST(Gammas, FollowTheirLawInEveryInstructionSet) {
  // With a below one and counts among the rows, with a above, and shapes at which lanes change their way.
  const Setting settings[] = {{0.02},    {0.1}, {0.5},     {0.999},        {1},   {1.1}, {2},
                              {0.02, 1}, {30},  {0.5, 30}, {0.02, 10'000}, {1e4}, {1e8}, {0.1, 100'000'000}};
  std::uint32_t chain = 0;
  test::for_each_target([&](const std::string& target) {
    const StreamKey key = stream_key(seed, chain++, Purpose::simulate);
    std::uint32_t number = 0;
    for (const Setting& setting : settings) {
      const std::vector<double> logs = draw(setting, key, number++);
      const double shape = setting.shape(), n = static_cast<double>(logs.size());
      const std::string name = fmt::format("{}: gamma({} + {})", target, setting.a, setting.count);
      alarms->expect_plausible(test::gamma_distance_p(logs, shape), name);
      alarms->expect_plausible(test::extreme_p(test::log_gamma_law(shape, logs.back()).above, n), name + ", largest");
      if (logs.front() > test::lowest_log)
        alarms->expect_plausible(test::extreme_p(test::log_gamma_law(shape, logs.front()).below, n),
                                 name + ", smallest");
      if (shape < 1) alarms->expect_plausible(test::gamma_tail_p(logs, shape, -2), name + ", lower tail");
    }
  });
}

// What the laws above must tell apart: a shape that is one or two per cent off, a boost that has been left out or made twice, a lower tail
// that has lost what is below e^-40.
TEST(Twins, WrongGammasAreRejected) {
  const StreamKey key = stream_key(seed, 100, Purpose::simulate);
  const std::vector<double> logs = draw({0.1}, key, 0);
  EXPECT_GE(test::gamma_distance_p(logs, 0.1), alarms->level());
  EXPECT_LT(test::gamma_distance_p(logs, 0.102), alarms->level());
  EXPECT_LT(test::gamma_tail_p(logs, 0.102, -2), alarms->level());
  EXPECT_LT(test::gamma_distance_p(draw({1.1}, key, 1), 0.1), alarms->level());
  EXPECT_LT(test::gamma_distance_p(draw({30}, key, 2), 30.1), alarms->level());
  std::vector<double> cut = logs;
  for (double& value : cut) value = std::max(value, -40.0);
  EXPECT_LT(test::gamma_tail_p(cut, 0.1, -2), alarms->level());
}

}  // namespace
}  // namespace ztp
