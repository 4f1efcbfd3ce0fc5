// More sweeps than at first, asked for or until the chains agree: the run of a fit of that many, byte for byte. Data have
// the seed 5 and fits the seed 1: deterministic, but for how far a limited time lets them go.
#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.hpp"
#include "base/random.hpp"
#include "errors.hpp"
#include "temp_dir.hpp"
#include "ztp/diagnose.hpp"
#include "ztp/error.hpp"
#include "ztp/fit.hpp"
#include "ztp/posterior.hpp"
#include "ztp/rivals.hpp"
#include "ztp/run_info.hpp"

namespace ztp::test {
namespace {

namespace fs = std::filesystem;

// Two blocks, which chains soon agree on, or noise with far more components than it needs, which takes them long.
Dataset data_of(bool easy) {
  Dataset data;
  const std::uint32_t n = easy ? 10 : 40;
  for (const char* name : {"user", "item", "week"}) data.tensor.modes.push_back({name, LabelTable::numbered(1, n)});
  Stream stream(stream_key(5, 0, Purpose::simulate), 0, 0);
  for (int point = 0; point < (easy ? 300 : 1500); ++point) {
    const std::uint64_t block = stream.below(2);
    for (int k = 0; k < 3; ++k)
      data.tensor.coords.push_back(static_cast<std::uint32_t>(easy ? 2 * stream.below(5) + block : stream.below(n)));
  }
  data.tensor.sort_and_merge();
  return data;
}

FitOptions options_of(std::int64_t sweeps) {
  FitOptions options;
  options.rank = 3;
  options.sweeps = sweeps;
  options.chains = 2;
  options.threads = 2;
  options.holdout = 0.1;
  return options;
}

FitOptions until_converged(const std::string& at_most = "1h") {
  FitOptions options = options_of(200);
  options.until = Until::converged;
  options.at_most = at_most;
  return options;
}

void expect_same(const std::string& run, const std::string& other) {
  for (const char* file : {"/draws.nc", "/means.nc", "/cells.tsv"})
    EXPECT_TRUE(read_text(run + file) == read_text(other + file)) << run << file;
  const RunInfo a = run_info(run), b = run_info(other);
  EXPECT_NEAR(a.auc_roc, b.auc_roc, 1e-4);
  EXPECT_EQ(a.draws, b.draws);
  EXPECT_EQ(a.draws, a.draws_planned);
  EXPECT_EQ(a.options.burn_in, b.options.burn_in);
  EXPECT_EQ(a.keep_every, b.keep_every);
}

ResumeOptions more_sweeps(std::int64_t sweeps, unsigned threads = 0) {
  ResumeOptions options;
  options.sweeps = sweeps;
  options.threads = threads;
  return options;
}

// The run that asks for these sweeps at first.
void fit_plain(const std::string& run, std::int64_t sweeps, bool easy) {
  ASSERT_EQ(fit(data_of(easy), options_of(sweeps), run), FitOutcome::complete);
}

struct MoreSweeps : testing::Test {
  using Change = std::function<void(FitOptions&)>;
  // A fit of the first number, asked for the others one after the other, is a fit of the last.
  void expect_extends(const std::vector<std::int64_t>& sweeps, const Change& change = {}) {
    const TempDir dir;
    const auto fitted = [&](const std::string& name, std::int64_t of_each) {
      FitOptions options = options_of(of_each);
      if (change) change(options);
      ASSERT_EQ(fit(data_of(true), options, dir / name), FitOutcome::complete);
    };
    fitted("whole", sweeps.back());
    fitted("more", sweeps.front());
    for (const std::int64_t more : sweeps) ASSERT_EQ(resume(dir / "more", {}, more_sweeps(more)), FitOutcome::complete);
    expect_same(dir / "more", dir / "whole");
    EXPECT_NEAR(Posterior(dir / "more", 1).evaluate().auc_roc, run_info(dir / "more").auc_roc, 1e-4);
  }
};

TEST_F(MoreSweeps, AreThoseOfAFitOfAsMany) {
  expect_extends({40, 41, 57, 130});
}

TEST_F(MoreSweeps, WithDrawsThinnedMoreAndMore) {
  expect_extends({40, 57, 90, 333}, [](FitOptions& o) { o.draws = 12; });
}

TEST_F(MoreSweeps, WithABurnInThatWasGiven) {
  expect_extends({40, 77, 120}, [](FitOptions& o) { o.burn_in = 25; });
}

TEST_F(MoreSweeps, WithKeepEveryThatWasGiven) {
  expect_extends({40, 77, 120}, [](FitOptions& o) { o.keep_every = 3; });
}

TEST_F(MoreSweeps, Online) {
  expect_extends({40, 77, 130}, [](FitOptions& o) {
    o.method = Method::online;
    o.minibatch = 30;
  });
}

TEST_F(MoreSweeps, OfALogisticModel) {
  add_rivals();
  expect_extends({20, 31, 60}, [](FitOptions& o) { o.model = Model::logistic; });
}

TEST_F(MoreSweeps, WithColumnsThatAreShared) {
  expect_extends({30, 51}, [](FitOptions& o) {
    o.columns = {"3"};
    o.rank = 20;
  });
}

TEST_F(MoreSweeps, WithWhatIsLearnedFromTheSameSweepOn) {
  expect_extends({200, 250}, [](FitOptions& o) { o.learn = "dirichlet"; });
  const TempDir dir;
  FitOptions options = options_of(40);
  options.learn = "dirichlet";
  fit(data_of(true), options, dir / "run");
  const std::string message = error_of([&] { resume(dir / "run", {}, more_sweeps(400)); }, ErrorKind::config);
  EXPECT_TRUE(holds(message, "has only 40 sweeps, so a part of the sampler started earlier")) << message;
  EXPECT_EQ(run_info(dir / "run").status, "complete");
}

// A run that goes on to more sweeps, and is stopped before it has as many draws as it had, can be asked for the old
// ones.
TEST_F(MoreSweeps, StoppedEarlyLeavesTheDrawsThatWereThere) {
  const TempDir dir;
  fit_plain(dir / "run", 100, true);
  fit_plain(dir / "whole", 400, true);
  int sweeps = 0;
  FitCallbacks stop;
  stop.on_sweep = [&](const SweepReport&) { ++sweeps; };
  stop.stop_requested = [&] { return sweeps >= 3; };
  ASSERT_EQ(resume(dir / "run", stop, more_sweeps(400, 1)), FitOutcome::interrupted);
  EXPECT_EQ(Posterior(dir / "run", 1).draws(), 100u);
  EXPECT_EQ(run_info(dir / "run").draws, 0u);
  ASSERT_EQ(resume(dir / "run"), FitOutcome::complete);
  expect_same(dir / "run", dir / "whole");
}

// ---- until converged ------------------------------------------------------------------------------------------------

TEST(UntilConverged, StopsWhenTheChainsAgreeAndIsAFitOfAsManySweeps) {
  const TempDir dir;
  ASSERT_EQ(fit(data_of(true), until_converged(), dir / "run"), FitOutcome::complete);
  const RunInfo info = run_info(dir / "run");
  EXPECT_EQ(info.ended, "converged");
  EXPECT_LE(diagnose(dir / "run").predictions, Verdict::usable);
  EXPECT_EQ(info.options.sweeps % 200, 0);
  fit_plain(dir / "plain", info.options.sweeps, true);
  expect_same(dir / "run", dir / "plain");
  EXPECT_EQ(resume(dir / "run"), FitOutcome::complete) << "nothing to do";
  EXPECT_EQ(run_info(dir / "run").options.sweeps, info.options.sweeps);
}

TEST(UntilConverged, StopsWhenTheTimeIsUp) {
  const TempDir dir;
  FitOptions options = until_converged("0.05s");
  options.rank = 30;
  ASSERT_EQ(fit(data_of(false), options, dir / "run"), FitOutcome::complete);
  const RunInfo info = run_info(dir / "run");
  EXPECT_EQ(info.ended, "time");
  EXPECT_EQ(diagnose(dir / "run").predictions, Verdict::poor);
  EXPECT_GE(info.options.sweeps, 200);
  EXPECT_GT(info.seconds, 0);
}

// However many sweeps fit into the time, the draws are those of a fit of as many.
TEST(UntilConverged, WithALimitedTimeIsAFitOfAsManySweeps) {
  const TempDir dir;
  FitOptions options = until_converged("0.7s");
  options.sweeps = 100000;
  ASSERT_EQ(fit(data_of(true), options, dir / "run"), FitOutcome::complete);
  const RunInfo info = run_info(dir / "run");
  EXPECT_LT(info.options.sweeps, 100000);
  fit_plain(dir / "plain", info.options.sweeps, true);
  expect_same(dir / "run", dir / "plain");
}

TEST(UntilConverged, GoesOnAfterAnInterruption) {
  const TempDir dir;
  ASSERT_EQ(fit(data_of(true), until_converged(), dir / "whole"), FitOutcome::complete);
  const std::int64_t sweeps = run_info(dir / "whole").options.sweeps;
  ASSERT_GT(sweeps, 200) << "more than one round";
  for (const std::uint64_t when : {150, 399, 400, 500}) {  // 400: after the first round
    const std::string run = dir / std::to_string(when);
    std::uint64_t told = 0;
    FitCallbacks stop;
    stop.on_sweep = [&](const SweepReport&) { ++told; };
    stop.stop_requested = [&] { return told >= when; };
    FitOptions options = until_converged();
    options.threads = 1;
    ASSERT_EQ(fit(data_of(true), options, run, stop), FitOutcome::interrupted) << when;
    const double before = run_info(run).seconds;
    EXPECT_GT(before, 0);
    ASSERT_EQ(resume(run), FitOutcome::complete);
    EXPECT_GT(run_info(run).seconds, before);
    EXPECT_EQ(run_info(run).options.sweeps, sweeps);
    EXPECT_EQ(run_info(run).ended, "converged");
    expect_same(run, dir / "whole");
  }
}

// As a kill leaves it: copies of the run directory at several moments.
TEST(UntilConverged, GoesOnAfterAKill) {
  const TempDir dir;
  int asked = 0, copies = 0;
  FitCallbacks callbacks;
  callbacks.stop_requested = [&] {
    if (++asked % 401 == 0 && copies < 4)
      fs::copy(dir / "run", dir / std::to_string(copies++), fs::copy_options::recursive);
    return false;
  };
  FitOptions options = until_converged();
  options.checkpoint = "30";
  options.threads = 1;
  ASSERT_EQ(fit(data_of(true), options, dir / "run", callbacks), FitOutcome::complete);
  ASSERT_EQ(copies, 4);
  for (int i = 0; i < copies; ++i) {
    ASSERT_EQ(resume(dir / std::to_string(i)), FitOutcome::complete);
    expect_same(dir / std::to_string(i), dir / "run");
  }
}

struct Thrown {};

TEST(UntilConverged, ACallbackThatThrowsStopsItAlsoAtTheEndOfARound) {
  const TempDir dir;
  ASSERT_EQ(fit(data_of(true), until_converged(), dir / "whole"), FitOutcome::complete);
  std::uint64_t told = 0;
  FitCallbacks callbacks;
  callbacks.on_sweep = [&](const SweepReport&) {
    if (++told == 400) throw Thrown{};
  };
  FitOptions options = until_converged();
  options.threads = 1;
  EXPECT_THROW(fit(data_of(true), options, dir / "run", callbacks), Thrown);
  EXPECT_EQ(run_info(dir / "run").status, "interrupted");
  ASSERT_EQ(resume(dir / "run"), FitOutcome::complete);
  expect_same(dir / "run", dir / "whole");
}

TEST(UntilConverged, MoreSweepsCanBeAskedForAfterwards) {
  const TempDir dir;
  ASSERT_EQ(fit(data_of(true), until_converged(), dir / "run"), FitOutcome::complete);
  const std::int64_t more = run_info(dir / "run").options.sweeps + 123;
  ASSERT_EQ(resume(dir / "run", {}, more_sweeps(more)), FitOutcome::complete);
  EXPECT_EQ(run_info(dir / "run").ended, "");
  fit_plain(dir / "plain", more, true);
  expect_same(dir / "run", dir / "plain");
}

}  // namespace
}  // namespace ztp::test
