#include "base/pool.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

namespace ztp {
namespace {

// Calls follow each other faster than threads wake up: some of these are late for a call and see the next one.
TEST(Pool, EveryBlockOnceWhateverTheThreads) {
  for (const unsigned threads : {1u, 2u, 7u}) {
    Pool pool(threads);
    for (std::size_t call = 0; call < 2000; ++call) {
      std::vector<int> times(call % 40, 0);
      pool.for_blocks(times.size(), [&](std::size_t block) { ++times[block]; });
      ASSERT_EQ(times, std::vector<int>(call % 40, 1)) << threads << " threads, call " << call;
    }
  }
}

TEST(Pool, ASingleBlockStaysOnItsThread) {
  Pool pool(4);
  std::thread::id thread;
  pool.for_blocks(1, [&](std::size_t) { thread = std::this_thread::get_id(); });
  EXPECT_EQ(thread, std::this_thread::get_id());
}

// So a block may wait for those before it.
TEST(Pool, BlocksAreBegunInOrder) {
  for (const unsigned threads : {1u, 2u, 7u}) {
    Pool pool(threads);
    for (int call = 0; call < 200; ++call) {
      std::atomic<std::size_t> begun = 0;
      pool.for_blocks(40, [&](std::size_t block) {
        while (begun != block) std::this_thread::yield();
        ++begun;
      });
      ASSERT_EQ(begun, 40u);
    }
  }
}

TEST(Pool, AFailureIsRethrownAndTheNextCallWorks) {
  Pool pool(3);
  for (int call = 0; call < 100; ++call) {
    EXPECT_THROW(pool.for_blocks(50, [](std::size_t block) { if (block == 20) throw std::runtime_error("block"); }),
                 std::runtime_error);
    std::atomic<int> done = 0;
    pool.for_blocks(50, [&](std::size_t) { ++done; });
    ASSERT_EQ(done, 50);
  }
}

TEST(AvailableCores, AreAtLeastOne) {
  EXPECT_GE(available_cores(), 1u);
}

}  // namespace
}  // namespace ztp
