// That the arrays of the kernel "elsewhere" are out of reach (elsewhere_kernel.hpp). Everything is a function of the
// seed 32; there is no chance in a run.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>
#include <typeinfo>

#include "kernel/host_arrays.hpp"
#include "worlds.hpp"

namespace ztp::test {
namespace elsewhere_tests {

constexpr std::uint64_t seed = 32;

// Nothing leads to them, but the list of the process's pages shows that all of theirs are locked.
TEST(Elsewhere, LockedValuesCannotBeTouched) {
  const auto locked_bytes = [] {
    std::ifstream maps("/proc/self/maps");
    std::size_t sum = 0;
    for (std::string line; std::getline(maps, line);) {
      unsigned long begin = 0, end = 0;
      char access[5] = {};
      if (std::sscanf(line.c_str(), "%lx-%lx %4s", &begin, &end, access) == 3 && std::string(access) == "---p")
        sum += end - begin;
    }
    return sum;
  };
  if (!std::ifstream("/proc/self/maps")) GTEST_SKIP() << "no list of pages";
  constexpr std::size_t count = 1 << 20;
  const std::size_t before = locked_bytes();
  LockedValues<float> values(count);
  const float three = 3;
  float got[2] = {};
  values.write(count - 1, 1, &three);
  values.read(count - 1, 1, got);
  EXPECT_EQ(got[0], three);
  EXPECT_EQ(locked_bytes(), before + values.bytes());
  EXPECT_THROW(values.read(count - 1, 2, got), std::out_of_range);
}

TEST(Elsewhere, HandlesAreNotThoseOfAnotherKernel) {
  Pool pool(1);
  const auto cpu = make_kernel(KernelName::cpu, pool), elsewhere = make_test_kernel("elsewhere", pool);
  const auto u = elsewhere->factors(3, 2), other = cpu->factors(3, 2);
  EXPECT_THROW(on_this_host(*u), std::bad_cast);
  EXPECT_THROW(cpu->column_mass(*u, {}), std::bad_cast);
  EXPECT_THROW(elsewhere->column_mass(*other, {}), std::bad_cast);
}

// Cells and counts that are overwritten after the upload make no difference, with an index of rows and without.
TEST(Elsewhere, OnesDoNotReferToTheHost) {
  Pool pool(1);
  const auto cpu = make_kernel(KernelName::cpu, pool), elsewhere = make_test_kernel("elsewhere", pool);
  for (const Kind kind : all_kinds)
    for (const bool indexed : {false, true}) {
      World world = make_world({3, 17, 3000, kind}, seed);
      const Drawn expected = allocate(*cpu, world, world_key(seed, 1), {.indexed = indexed});
      const Loaded loaded(*elsewhere, world, world.cells(indexed));
      std::fill(world.coords.begin(), world.coords.end(), 0xdeadbeef);
      std::fill(world.counts.begin(), world.counts.end(), -1);
      const KernelSums sums(*elsewhere, world);
      elsewhere->allocate(*loaded.ones, loaded.rates, world_key(seed, 1), {.t = 3}, sums.sums());
      EXPECT_TRUE(same_counts(sums.drawn(), expected)) << static_cast<int>(kind) << ", indexed " << indexed;
    }
}

}  // namespace elsewhere_tests
}  // namespace ztp::test
