// The whole way: fit, resume, predict, evaluate, components, recommend. Data have the seed 5 and fits the seed 1:
// deterministic, no chance in a run. Bounds on what a fit finds say what it was with the seeds 1 to 8, so that draws
// that change for a good reason pass, too.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/file.hpp"
#include "base/random.hpp"
#include "temp_dir.hpp"
#include "ztp/fit.hpp"
#include "ztp/posterior.hpp"

namespace ztp {
namespace run_tests {

using test::TempDir;

// A block-structured tensor: cell (i, j, k) is likely a one where i, j and k are equal modulo 3.
Dataset blocks(std::uint32_t n, std::size_t order, bool counts = false) {
  Dataset data;
  for (std::size_t k = 0; k < order; ++k)
    data.tensor.modes.push_back({"m" + std::to_string(k + 1), LabelTable::numbered(1, n)});
  Stream stream(stream_key(5, 0, Purpose::simulate), 0, order);
  for (std::uint32_t point = 0; point < 60 * n; ++point) {
    const std::uint32_t block = static_cast<std::uint32_t>(stream.below(3));
    for (std::size_t k = 0; k < order; ++k) {
      std::uint32_t j = static_cast<std::uint32_t>(stream.below(n));
      if (stream.uniform() < 0.9) j = std::min(n - 1, j - j % 3 + block);
      data.tensor.coords.push_back(j);
    }
    if (counts) data.tensor.counts.push_back(1);
  }
  data.tensor.sort_and_merge();
  Network ring;
  ring.mode = 0;
  ring.source = "ring";
  for (std::uint32_t j = 0; j + 3 < n; ++j) {
    ring.edges.push_back(j);
    ring.edges.push_back(j + 3);
  }
  data.networks.push_back(std::move(ring));
  return data;
}

FitOptions quick() {
  FitOptions options;
  options.rank = 6;
  options.sweeps = 40;
  options.keep_every = 2;
  options.threads = 1;  // chains one after the other; several at a time: side_by_side_test.cpp
  options.chains = 2;
  options.holdout = 0.1;
  return options;
}

// The trace without its seconds.
std::string trace_of(const std::string& run) {
  std::string text = read_text(run + "/trace.tsv"), result;
  int column = 0;
  for (const char c : text) {
    if (c == '\t' || c == '\n') column = c == '\n' ? 0 : column + 1;
    if (column != 2) result += c;
  }
  return result;
}

std::vector<double> predictions_of(const std::string& run) {
  Posterior posterior(run, 1);
  const std::size_t order = posterior.modes().size();
  std::vector<std::uint32_t> cells;
  for (std::uint32_t i = 0; i < 12; ++i)
    for (std::size_t k = 0; k < order; ++k)
      cells.push_back((i * 5 + static_cast<std::uint32_t>(k)) % posterior.info().modes[k].size);
  std::vector<double> values;
  for (const Prediction& p : posterior.predict(cells.data(), 12))
    values.insert(values.end(), {p.probability, p.sd, p.q05, p.q95});
  return values;
}

// Protects the promise that an interruption changes nothing: stops at several sweeps, in both chains. Goes on with other
// threads.
TEST(Resume, EndsAsIfNeverInterrupted) {
  const TempDir dir;
  ASSERT_EQ(fit(blocks(12, 3), quick(), dir / "whole"), FitOutcome::complete);
  FitCallbacks stop_at;
  for (const int when : {1, 19, 23, 40, 41, 71}) {
    const std::string run = dir / ("stopped" + std::to_string(when));
    int sweeps = 0;
    stop_at.on_sweep = [&](const SweepReport&) { ++sweeps; };
    stop_at.stop_requested = [&] { return sweeps >= when; };
    ASSERT_EQ(fit(blocks(12, 3), quick(), run, stop_at), FitOutcome::interrupted);
    EXPECT_EQ(run_info(run).status, "interrupted");
    ResumeOptions options;
    options.threads = when % 2 == 0 ? 1 : 3;
    ASSERT_EQ(resume(run, {}, options), FitOutcome::complete);
    EXPECT_EQ(predictions_of(run), predictions_of(dir / "whole")) << when;
    EXPECT_EQ(trace_of(run), trace_of(dir / "whole")) << when;
    EXPECT_EQ(run_info(run).auc_roc, run_info(dir / "whole").auc_roc);
    EXPECT_EQ(run_info(run).chains[1].occupied_mean, run_info(dir / "whole").chains[1].occupied_mean);
    EXPECT_FALSE(std::filesystem::exists(run + "/draws.log"));
  }
  EXPECT_EQ(resume(dir / "whole"), FitOutcome::complete);
}

// An interrupted run can already be asked.
TEST(Resume, AnInterruptedRunHasItsDraws) {
  const TempDir dir;
  int sweeps = 0;
  FitCallbacks stop;
  stop.on_sweep = [&](const SweepReport&) { ++sweeps; };
  stop.stop_requested = [&] { return sweeps >= 47; };
  fit(blocks(12, 3), quick(), dir / "run", stop);
  Posterior posterior(dir / "run", 1);
  EXPECT_EQ(posterior.draws(), 10u);             // of the first chain
  EXPECT_GT(posterior.evaluate().auc_roc, 0.5);  // 0.86, standard deviation 0.025
}

TEST(Fit, ReferenceAndCpuKernelAgreeInWhatTheyPredict) {
  const TempDir dir;
  FitOptions options = quick();
  options.sweeps = 400;
  std::vector<double> auc;
  for (const KernelName kernel : {KernelName::cpu, KernelName::reference}) {
    options.kernel = kernel;
    fit(blocks(12, 3), options, dir / name_of(kernel));
    auc.push_back(run_info(dir / name_of(kernel)).auc_roc);
  }
  EXPECT_GT(auc[0], 0.7);  // 0.86, standard deviation 0.027
  EXPECT_NEAR(auc[0], auc[1],
              0.02);  // both are posterior means over the same model; chains part after the first flipped draw
}

// The AUC followed while sampling is that of the posterior mean that evaluate computes from draws.nc.
TEST(Evaluate, AgreesWithTheTrace) {
  const TempDir dir;
  fit(blocks(12, 3), quick(), dir / "run");
  Posterior posterior(dir / "run", 2);
  EXPECT_NEAR(posterior.evaluate().auc_roc, run_info(dir / "run").auc_roc, 1e-4);
  const Metrics again = posterior.evaluate(dir / "run/test.tsv");
  EXPECT_EQ(again.auc_roc, posterior.evaluate().auc_roc);
  EXPECT_EQ(again.ones, run_info(dir / "run").test_ones);
}

TEST(Predict, QuantilesEncloseTheMeanAndReadsFiles) {
  const TempDir dir;
  fit(blocks(12, 3), quick(), dir / "run");
  write_text(dir / "cells.tsv", "1\t2\t3\n12\t12\t12\n");
  Posterior posterior(dir / "run", 1);
  std::size_t cells = 0;
  posterior.predict_file(dir / "cells.tsv", [&](const std::uint32_t* coords, const Prediction* p, std::size_t count) {
    ASSERT_EQ(count, 2u);
    EXPECT_EQ(coords[5], 11u);
    for (std::size_t e = 0; e < count; ++e) {
      EXPECT_LE(p[e].q05, p[e].probability);
      EXPECT_GE(p[e].q95, p[e].probability);
      EXPECT_GT(p[e].sd, 0);
    }
    cells += count;
  });
  EXPECT_EQ(cells, 2u);
}

// Branch and bound against scoring every cell, for every pattern of given modes.
TEST(Recommend, EqualsBruteForce) {
  const TempDir dir;
  Dataset data = blocks(12, 3);
  fit(blocks(12, 3), quick(), dir / "run");
  Posterior posterior(dir / "run", 2);
  const std::size_t top = 15;
  for (int pattern = 0; pattern < 8; ++pattern) {
    std::vector<std::optional<std::uint32_t>> given(3);
    for (std::size_t k = 0; k < 3; ++k)
      if (pattern >> k & 1) given[k] = static_cast<std::uint32_t>(4 + k);
    std::vector<std::uint32_t> cells;
    for (std::uint32_t i = 0; i < 12; ++i)
      for (std::uint32_t j = 0; j < 12; ++j)
        for (std::uint32_t l = 0; l < 12; ++l)
          if (given[0].value_or(i) == i && given[1].value_or(j) == j && given[2].value_or(l) == l)
            cells.insert(cells.end(), {i, j, l});
    std::vector<double> expected;
    const std::vector<Prediction> all = posterior.predict(cells.data(), cells.size() / 3);
    std::vector<Recommendation> found;
    posterior.recommend(given, top, [&](const Recommendation& item) {
      found.push_back(item);
      return true;
    });
    // unseen cells: those that are no training ones; the training ones are those of the data that are not in the test
    // set
    std::set<std::vector<std::uint32_t>> test_ones;
    TestCells test = read_test_cells(dir / "run/test.tsv", posterior.modes());
    for (std::size_t e = 0; e < test.size(); ++e)
      if (test.outcome[e] != 0) test_ones.insert({test.coords[3 * e], test.coords[3 * e + 1], test.coords[3 * e + 2]});
    for (std::size_t e = 0; e < all.size(); ++e) {
      const std::vector<std::uint32_t> cell(cells.begin() + static_cast<std::ptrdiff_t>(3 * e),
                                            cells.begin() + static_cast<std::ptrdiff_t>(3 * e + 3));
      if (!data.tensor.contains(cell.data()) || test_ones.count(cell) != 0) expected.push_back(all[e].probability);
    }
    std::sort(expected.rbegin(), expected.rend());
    ASSERT_EQ(found.size(), std::min(top, expected.size())) << pattern;
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_NEAR(found[i].prediction.probability, expected[i], 1e-5) << pattern << " " << i;
      double share = 0;
      for (const auto& part : found[i].parts) share += part.share;
      EXPECT_GT(share, 0.9);
    }
  }
}

TEST(Components, SharesSumToOneAndWeightsAreOrdered) {
  const TempDir dir;
  fit(blocks(12, 3), quick(), dir / "run");
  Posterior posterior(dir / "run", 1);
  for (const std::size_t chain : {0u, 1u}) {
    const std::vector<Component> components = posterior.components(4, chain);
    ASSERT_EQ(components.size(), 6u);
    double share = 0;
    for (std::size_t i = 0; i < components.size(); ++i) {
      share += components[i].share;
      EXPECT_LE(components[i].weight_q05, components[i].weight_q95);
      if (i > 0) {
        EXPECT_GE(components[i - 1].weight, components[i].weight);
      }
      ASSERT_EQ(components[i].top.size(), 3u);
      EXPECT_EQ(components[i].top[1].size(), 4u);
      EXPECT_GE(components[i].top[1][0].value, components[i].top[1][3].value);
    }
    EXPECT_NEAR(share, 1, 1e-6);
  }
}

TEST(Fit, CountsArePredictedAsRates) {
  const TempDir dir;
  FitOptions options = quick();
  options.likelihood = Likelihood::count;
  options.holdout = 0;
  Dataset data = blocks(12, 3, true);
  double total = 0;
  for (const std::int64_t count : data.tensor.counts) total += static_cast<double>(count);
  fit(std::move(data), options, dir / "run");
  Posterior posterior(dir / "run", 1);
  std::vector<std::uint32_t> cells;
  for (std::uint32_t i = 0; i < 12 * 12 * 12; ++i) cells.insert(cells.end(), {i / 144, i / 12 % 12, i % 12});
  double rate = 0;
  for (const Prediction& p : posterior.predict(cells.data(), cells.size() / 3)) rate += p.rate;
  // The rate of all cells is Gamma with 720 counts behind it, and the mean of 20 draws has a standard deviation of
  // 0.008.
  EXPECT_NEAR(rate / total, 1, 0.05);
}

// What is in the way and no run is refused: tests/bad_inputs.
TEST(Fit, ForceReplacesARun) {
  const TempDir dir;
  FitOptions options = quick();
  fit(blocks(12, 3), options, dir / "run");
  options.rank = 5;
  EXPECT_EQ(fit(blocks(12, 3), options, dir / "run", {}, true), FitOutcome::complete);
  EXPECT_EQ(run_info(dir / "run").options.rank, 5);
}

TEST(Fit, DrawsAreThinnedToTheirNumber) {
  const TempDir dir;
  FitOptions options = quick();
  options.keep_every = -1;
  options.draws = 6;
  fit(blocks(12, 3), options, dir / "run");
  EXPECT_LE(Posterior(dir / "run", 1).draws(), 6u);
  EXPECT_GE(Posterior(dir / "run", 1).draws(), 4u);
}

}  // namespace run_tests
}  // namespace ztp
