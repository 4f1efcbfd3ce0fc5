// Every instruction set has the known random words, and makes the same draws from the same state, but for roundings: pairs of them, over
// a million draws and more. Everything is a function of the seed 23; there is no chance in a run.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kernel/cpu/targets.hpp"  // before Highway
#include "known_answers.hpp"
#include "targets.hpp"
#include "worlds.hpp"

// This file, from a folder that is searched for headers: it is compiled once for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "../kernel/lanes_test.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include "kernel/cpu/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ztp::cpu::HWY_NAMESPACE {
namespace {

// Words [stream][word] of 3 x width streams whose indices are `index` + 0, 1, 2, ..., as the kernels draw them.
void draw_words(const test::PhiloxAnswer& of, std::vector<std::array<std::uint32_t, 4>>& drawn) {
  const U32 d;
  const auto low = static_cast<std::uint32_t>(of.index), high = static_cast<std::uint32_t>(of.index >> 32);
  Words index[3], words[3][4];
  for (std::uint32_t v = 0; v < 3; ++v) index[v] = hn::Iota(d, low + v * static_cast<std::uint32_t>(width));
  random_words<3>(RoundKeys({of.key, of.sweep}), index, hn::Set(d, high), of.block, words);
  drawn.assign(3 * width, {});
  for (std::size_t v = 0; v < 3; ++v)
    for (std::size_t i = 0; i < 4; ++i) {
      alignas(64) std::uint32_t lane[width];
      hn::Store(words[v][i], d, lane);
      for (std::size_t l = 0; l < width; ++l) drawn[v * width + l][i] = lane[l];
    }
}

}  // namespace
}  // namespace ztp::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ztp::cpu {
namespace {
HWY_EXPORT(draw_words);
void draw_words_here(const test::PhiloxAnswer& of, std::vector<std::array<std::uint32_t, 4>>& drawn) {
  HWY_DYNAMIC_DISPATCH(draw_words)(of, drawn);
}
}  // namespace
}  // namespace ztp::cpu

namespace ztp::test {
namespace {

constexpr std::uint64_t seed = 23;
constexpr double may_differ =
    1e-5;  // of all draws: a rounding that flips an acceptance, or a boundary between components

// Mostly zero, as the counts of many components are.
Matrix<std::int64_t> sparse_counts(std::size_t rows, std::size_t R) {
  Matrix<std::int64_t> S(rows, R);
  for (std::size_t j = 0; j < rows; ++j)
    for (std::size_t r = 0; r < R; ++r) {
      Stream stream(world_key(seed, 1), static_cast<std::uint32_t>(r), j);
      if (stream.below(20) == 0)
        S.row(j)[r] = static_cast<std::int64_t>(1 + stream.below(stream.below(10) == 0 ? 1000 : 5));
    }
  return S;
}

// In the first lane the published answers; in the others, whose indices are larger by one each, what the scalar code gives.
TEST(Lanes, PhiloxKnownAnswers) {
  for_each_target([](const std::string& target) {
    for (const PhiloxAnswer& answer : philox_answers) {
      std::vector<std::array<std::uint32_t, 4>> drawn;
      cpu::draw_words_here(answer, drawn);
      ASSERT_GE(drawn.size(), 12u) << target;
      EXPECT_EQ(drawn[0], answer.words) << target;
      for (std::uint32_t l = 1; l < drawn.size(); ++l) {
        const std::uint64_t index =  // the upper half stays
            (answer.index & ~std::uint64_t{0xffffffff}) | (static_cast<std::uint32_t>(answer.index) + l);
        EXPECT_EQ(drawn[l], random_block(answer.key, answer.sweep, index, answer.block)) << target << ", lane " << l;
      }
    }
  });
}

TEST(Lanes, ColumnsAreTheSameInEveryInstructionSet) {
  const std::size_t rows = 1500, R = 250;  // the last vector of a row is not full
  const Matrix<std::int64_t> S = sparse_counts(rows, R);
  Pool pool(1);
  const auto cpu = make_kernel("cpu", pool);
  std::vector<std::string> names;
  std::vector<std::vector<Matrix<float>>> drawn;  // [target][a]
  for_each_target([&](const std::string& target) {
    names.push_back(target);
    std::vector<Matrix<float>>& of_target = drawn.emplace_back();
    for (const double a : {0.1, 0.5, 1.1})
      cpu->draw_columns({S, a}, world_key(seed, 2), 5, of_target.emplace_back(rows, R));
  });
  const std::size_t draws = 3 * rows * R;
  ASSERT_GE(draws, 1'000'000u);
  for (std::size_t s = 0; s < names.size(); ++s)
    for (std::size_t t = s + 1; t < names.size(); ++t) {
      std::size_t different = 0;
      for (std::size_t a = 0; a < 3; ++a)
        for (std::size_t j = 0; j < rows; ++j)
          for (std::size_t r = 0; r < R; ++r) {
            const double x = static_cast<double>(drawn[s][a].row(j)[r]), y = static_cast<double>(drawn[t][a].row(j)[r]);
            different += std::max(x, y) > 1e-30 && !(std::abs(x - y) <= 1e-5 * std::max(x, y));
          }
      fmt::print("  {} and {}: {} of {} differ\n", names[s], names[t], different, draws);
      EXPECT_LE(static_cast<double>(different), may_differ * static_cast<double>(draws)) << names[s] << names[t];
    }
}

// Of all worlds together, for each pair: units that are not where the other has them.
void expect_same_units(bool bounded) {
  Pool pool(1);
  const auto cpu = make_kernel("cpu", pool);
  std::vector<std::string> names;
  for_each_target([&](const std::string& target) { names.push_back(target); });
  Matrix<double> moved(names.size(), names.size());
  double units = 0;
  const WorldCase cases[] = {{3, 100, 400'000, Kind::ones, 0.3}, {2, 40, 200'000, Kind::ones, 2},
                             {3, 100, 200'000, Kind::missing},   {4, 17, 100'000, Kind::counts},
                             {3, 1000, 15'000, Kind::ones, 0.1}, {5, 300, 30'000, Kind::ones, 0.5}};
  for (const WorldCase& c : cases) {
    const World world = make_world(c, seed);
    std::vector<Drawn> drawn;
    for_each_target(
        [&](const std::string&) { drawn.push_back(allocate(*cpu, world, world_key(seed, 4), {.bounded = bounded})); });
    units += drawn[0].units();
    for (std::size_t s = 0; s < names.size(); ++s)
      for (std::size_t t = s + 1; t < names.size(); ++t) moved.row(s)[t] += units_moved(drawn[s], drawn[t]);
  }
  ASSERT_GE(units, 1e6);
  for (std::size_t s = 0; s < names.size(); ++s)
    for (std::size_t t = s + 1; t < names.size(); ++t) {
      fmt::print("  {} and {}: {} of {} units differ\n", names[s], names[t], moved.row(s)[t], units);
      EXPECT_LE(moved.row(s)[t], may_differ * units) << names[s] << " and " << names[t];
    }
}

TEST(Lanes, UnitsAreTheSameInEveryInstructionSet) {
  expect_same_units(false);
}

TEST(Lanes, BoundedUnitsAreTheSameInEveryInstructionSet) {
  expect_same_units(true);
}

}  // namespace
}  // namespace ztp::test
#endif
