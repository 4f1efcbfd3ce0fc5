// Callbacks that throw end a run as an interruption does, and their caller gets what they threw.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/file.hpp"
#include "temp_dir.hpp"
#include "ztp/arrays.hpp"
#include "ztp/error.hpp"
#include "ztp/fit.hpp"
#include "ztp/rivals.hpp"
#include "ztp/run_info.hpp"
#include "ztp/update.hpp"

namespace ztp {
namespace {

namespace fs = std::filesystem;

struct Thrown {
  int sweeps;
};

// Users and items of the same parity; the last user, if there is one more, is new to a run of the others.
Arrays ones_of(std::uint32_t first, std::uint32_t last) {
  Arrays arrays;
  arrays.modes = {{"user", LabelTable::numbered(1, last)}, {"item", LabelTable::numbered(1, 10)}};
  for (std::uint32_t u = first; u < last; ++u)
    for (std::uint32_t i = u % 2; i < 10; i += 2) {
      const std::uint32_t cell[] = {u, i};
      arrays.coords.append(cell, 2);
    }
  return arrays;
}

class CallbacksTest : public testing::TestWithParam<const char*> {
 protected:
  static FitOptions options() {
    FitOptions options;
    options.rank = 3;
    options.sweeps = 30;
    options.chains = 2;
    options.threads = 1;
    const std::string way = GetParam();
    if (way == "online") {
      options.method = Method::online;
      options.minibatch = 20;
    }
    if (way == "logistic") {
      add_rivals();
      options.model = Model::logistic;
    }
    return options;
  }
  FitOutcome fitted(const std::string& name, const FitCallbacks& callbacks = {}) {
    return fit(make_dataset(ones_of(0, 12)), options(), dir_ / name, callbacks);
  }
  // Calls the body, and returns after how many sweeps the callback threw; -1, if it did not.
  template <class Body>
  static int thrown_by(const Body& body) {
    try {
      body();
    } catch (const Thrown& thrown) {
      return thrown.sweeps;
    }
    return -1;
  }
  // The run goes on where the exception was thrown, to the draws of one that was never interrupted.
  void expect_resumes(const std::string& run, int done) {
    EXPECT_EQ(run_info(run).status, "interrupted");
    int more = 0;
    FitCallbacks count;
    count.on_sweep = [&](const SweepReport&) { ++more; };
    EXPECT_EQ(resume(run, count), FitOutcome::complete);
    EXPECT_EQ(done + more, 60) << "no sweep is lost";
    EXPECT_TRUE(read_text(run + "/draws.nc") == read_text(dir_ / "whole/draws.nc")) << done;
  }
  const test::TempDir dir_;
};

TEST_P(CallbacksTest, AfterASweep) {
  ASSERT_EQ(fitted("whole"), FitOutcome::complete);
  for (const int when : {1, 17, 30, 31, 59}) {
    int sweeps = 0, later = 0;
    FitCallbacks callbacks;
    callbacks.on_sweep = [&](const SweepReport&) {
      if (++sweeps == when) throw Thrown{sweeps};
    };
    callbacks.stop_requested = [&] {
      later += sweeps >= when;
      return false;
    };
    const std::string run = "run" + std::to_string(when);
    EXPECT_EQ(thrown_by([&] { fitted(run, callbacks); }), when);
    EXPECT_EQ(later, 0) << "nothing is called again";
    expect_resumes(dir_ / run, when);
  }
}

TEST_P(CallbacksTest, WhenAskedWhetherToStop) {
  ASSERT_EQ(fitted("whole"), FitOutcome::complete);
  for (const int when : {0, 1, 17, 30, 31}) {
    int sweeps = 0;
    FitCallbacks callbacks;
    callbacks.on_sweep = [&](const SweepReport&) { ++sweeps; };
    callbacks.stop_requested = [&] { return sweeps >= when ? throw Thrown{sweeps} : false; };
    const std::string run = "run" + std::to_string(when);
    EXPECT_EQ(thrown_by([&] { fitted(run, callbacks); }), when);
    expect_resumes(dir_ / run, when);
  }
}

TEST_P(CallbacksTest, AStopThatIsRequestedInASweepLosesNone) {
  ASSERT_EQ(fitted("whole"), FitOutcome::complete);
  for (const int when : {1, 17, 30, 31}) {
    int sweeps = 0;
    FitCallbacks callbacks;
    callbacks.on_sweep = [&](const SweepReport&) { ++sweeps; };
    callbacks.stop_requested = [&] { return sweeps >= when; };
    const std::string run = "run" + std::to_string(when);
    EXPECT_EQ(fitted(run, callbacks), FitOutcome::interrupted);
    expect_resumes(dir_ / run, when);
  }
}

TEST_P(CallbacksTest, AfterTheLastSweepTheRunIsComplete) {
  ASSERT_EQ(fitted("whole"), FitOutcome::complete);
  int sweeps = 0;
  FitCallbacks callbacks;
  callbacks.on_sweep = [&](const SweepReport&) {
    if (++sweeps == 60) throw Thrown{sweeps};
  };
  EXPECT_EQ(thrown_by([&] { fitted("run", callbacks); }), 60);
  EXPECT_EQ(run_info(dir_ / "run").status, "complete");
  EXPECT_TRUE(read_text(dir_ / "run/draws.nc") == read_text(dir_ / "whole/draws.nc"));
}

TEST_P(CallbacksTest, AResumedRunIsInterruptedOnceMore) {
  ASSERT_EQ(fitted("whole"), FitOutcome::complete);
  int sweeps = 0;
  FitCallbacks callbacks;
  callbacks.on_sweep = [&](const SweepReport&) {
    if (++sweeps % 20 == 0) throw Thrown{sweeps};
  };
  EXPECT_EQ(thrown_by([&] { fitted("run", callbacks); }), 20);
  EXPECT_EQ(thrown_by([&] { resume(dir_ / "run", callbacks); }), 40);
  fs::copy(dir_ / "run", dir_ / "again", fs::copy_options::recursive);
  write_text(dir_ / "again/checkpoint-1-a.bin", "nonsense");  // which a warning tells of
  callbacks.on_warning = [](const std::string&) { throw Thrown{-2}; };
  EXPECT_EQ(thrown_by([&] { resume(dir_ / "again", callbacks); }), -2);
  EXPECT_EQ(run_info(dir_ / "again").status, "interrupted");
  EXPECT_EQ(resume(dir_ / "again"), FitOutcome::complete);
  expect_resumes(dir_ / "run", 40);
}

// Every file of a folder, with what is in it.
std::string contents(const std::string& folder) {
  std::vector<std::string> paths;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  std::string all;
  for (const std::string& path : paths) all += path + "\n" + read_text(path);
  return all;
}

// A rival cannot be updated.
class UpdateCallbacksTest : public CallbacksTest {};

TEST_P(UpdateCallbacksTest, AnUpdateLeavesTheRun) {
  ASSERT_EQ(fitted("run"), FitOutcome::complete);
  const std::string before = contents(dir_.path());
  for (const int when : {1, 9, 40}) {  // 40: the last
    int sweeps = 0;
    FitCallbacks callbacks;
    callbacks.on_sweep = [&](const SweepReport&) {
      if (++sweeps == when) throw Thrown{sweeps};
    };
    UpdateOptions options;
    options.sweeps = 20;
    EXPECT_EQ(thrown_by([&] { update(dir_ / "run", ones_of(12, 13), options, callbacks); }), when);
    EXPECT_TRUE(contents(dir_.path()) == before) << "nothing changed, nothing beside it";
  }
  EXPECT_EQ(update(dir_ / "run", ones_of(12, 13), {}).ones, 5u);
}

std::string name_of(const testing::TestParamInfo<const char*>& way) {
  return way.param;
}
INSTANTIATE_TEST_SUITE_P(Ways, CallbacksTest, testing::Values("batch", "online", "logistic"), name_of);
INSTANTIATE_TEST_SUITE_P(Ways, UpdateCallbacksTest, testing::Values("batch", "online"), name_of);

}  // namespace
}  // namespace ztp
