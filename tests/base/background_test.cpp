// Jobs in threads of their own: their order, the wait where too many bytes are waiting, and what becomes of a failure.
// There is no chance in a run.
#include "base/background.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <vector>

namespace ztp {
namespace {

TEST(Background, JobsAreDoneInOrderAndAllBeforeItIsGone) {
  std::vector<int> done;
  {
    Background background(1 << 20);
    for (int i = 0; i < 1000; ++i) background.run(1, [&done, i] { done.push_back(i); });
  }
  ASSERT_EQ(done.size(), 1000u);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(done[static_cast<std::size_t>(i)], i);
}

TEST(Background, TheCallerWaitsWhereTooManyBytesAreWaiting) {
  std::atomic<int> given = 0, most_waiting = 0, done = 0;
  Background background(100);
  for (int i = 0; i < 200; ++i) {
    background.run(30, [&] {
      most_waiting = std::max(most_waiting.load(), given.load() - done.load());
      ++done;
    });
    ++given;
  }
  background.wait();
  EXPECT_EQ(done, 200);
  EXPECT_LE(most_waiting, 4);  // three that fit, and the one whose caller has just been let go
}

TEST(Background, AJobLargerThanAllOfTheRoomIsDone) {
  bool done = false;
  Background background(1);
  background.run(1000, [&] { done = true; });
  background.wait();
  EXPECT_TRUE(done);
}

TEST(Background, AFailureIsThrownByTheNextCallAndDropsWhatCameAfterIt) {
  std::atomic<bool> goes_on = false;
  int after = 0;
  Background background(1000);
  background.run(1, [&] {
    while (!goes_on) {
    }
    throw std::runtime_error("full");
  });
  background.run(1, [&] { ++after; });
  goes_on = true;
  EXPECT_THROW(background.wait(), std::runtime_error);
  EXPECT_EQ(after, 0);
  background.run(1, [&] { ++after; });  // it has been told, and the next one is done
  background.wait();
  EXPECT_EQ(after, 1);
}

TEST(Background, SeveralThreadsDoAllJobsAndWorkAtTheSameTime) {
  std::atomic<int> done = 0, together = 0;
  Background background(1 << 20, 3);
  for (int i = 0; i < 3; ++i)
    background.run(1, [&] {
      ++together;
      while (together < 3) {  // for ever, if they were done one after the other
      }
    });
  for (int i = 0; i < 1000; ++i) background.run(1, [&] { ++done; });
  background.wait();
  EXPECT_EQ(done, 1000);
}

TEST(Background, AFailureAmongSeveralThreadsIsThrownOnce) {
  Background background(1 << 20, 3);
  background.run(1, [] { throw std::runtime_error("full"); });
  EXPECT_THROW(background.wait(), std::runtime_error);
  background.wait();
}

}  // namespace
}  // namespace ztp
