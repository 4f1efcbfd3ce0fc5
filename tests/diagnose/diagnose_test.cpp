// diagnose: the files of a run, real and made up, and what is said of them.
#include "ztp/diagnose.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <functional>

#include "base/file.hpp"
#include "temp_dir.hpp"
#include "ztp/error.hpp"
#include "ztp/fit.hpp"

namespace ztp {
namespace {

using test::TempDir;

// A run directory with this many chains of 400 sweeps, half of them burn-in, whose trace the tests then replace.
std::string make_run(const TempDir& dir, std::int64_t chains, std::size_t order = 2) {
  Dataset data;
  for (std::size_t k = 0; k < order; ++k)
    data.tensor.modes.push_back({"m" + std::to_string(k + 1), LabelTable::numbered(1, 4)});
  for (std::uint32_t e = 0; e < 4; ++e)
    for (std::size_t k = 0; k < order; ++k) data.tensor.coords.push_back(e);
  data.tensor.sort_and_merge();
  FitOptions options;
  options.rank = 2;
  options.sweeps = 400;
  options.chains = chains;
  options.threads = 1;
  fit(std::move(data), options, dir / "run");
  return dir / "run";
}

// The same without the cells that the fit watched: for tests that make up their own, or want none.
std::string make_bare_run(const TempDir& dir, std::int64_t chains) {
  const std::string run = make_run(dir, chains);
  for (const char* name : {"/cells.tsv", "/watched.tsv"}) std::filesystem::remove(run + name);
  return run;
}

using Value = std::function<double(std::size_t chain, std::size_t sweep)>;

// Mean 0, sd 1, and evenly spread in every part of every chain (multiples of the golden ratio, modulo 1): as good as
// draws get.
double even(std::size_t chain, std::size_t sweep, std::size_t what = 0) {
  const double x = 0.6180339887498949 * static_cast<double>(sweep) + 0.13 * static_cast<double>(chain + 3 * what);
  return std::sqrt(12) * (x - std::floor(x) - 0.5);
}

// The same with a wave of 100 sweeps added: a fifth of the variance moves slowly.
double slow(std::size_t chain, std::size_t sweep) {
  return even(chain, sweep) + 0.7 * std::sin(0.0628 * static_cast<double>(sweep + 25 * chain));
}

struct Made {
  Value log_likelihood = [](std::size_t c, std::size_t t) { return -1000 + even(c, t); };
  Value occupied = [](std::size_t c, std::size_t t) { return std::floor(7 + even(c, t, 1)); };
  std::vector<std::size_t> sweeps;  // of each chain
};

// Columns in another order than fit writes them, with two that only some runs have.
void write_trace(const std::string& run, const Made& made) {
  std::string text = "sweep\tchain\toccupied\tdirichlet_m1\tseconds\ttotal_weight\tauc_roc\tlog_likelihood\n";
  for (std::size_t c = 0; c < made.sweeps.size(); ++c)
    for (std::size_t t = 1; t <= made.sweeps[c]; ++t)
      text += fmt::format("{}\t{}\t{}\t{:.6f}\t{:.3f}\t{:.6f}\t\t{:.6f}\n", t, c, made.occupied(c, t),
                          0.1 + 0.01 * even(c, t, 2), 0.01 * static_cast<double>(t), 4 + even(c, t, 3),
                          made.log_likelihood(c, t));
  write_text(run + "/trace.tsv", text);
}

// Every other sweep after burn-in; cell i of chain c is around shift(c, i).
void write_cells(const std::string& run, std::size_t chains, std::size_t cells,
                 const std::function<double(std::size_t chain, std::size_t cell)>& shift) {
  std::string text = "chain\tsweep";
  for (std::size_t i = 0; i < cells; ++i) text += fmt::format("\tc{}", i + 1);
  for (std::size_t c = 0; c < chains; ++c)
    for (std::size_t t = 202; t <= 400; t += 2) {
      text += fmt::format("\n{}\t{}", c, t);
      for (std::size_t i = 0; i < cells; ++i) text += fmt::format("\t{:.6f}", 0.3 + shift(c, i) + 0.01 * even(c, t, i));
    }
  write_text(run + "/cells.tsv", text + "\n");
}

std::string joined(const Diagnosis& diagnosis) {
  std::string text;
  for (const std::string& sentence : diagnosis.sentences) text += sentence + "\n";
  return text;
}

void expect_says(const Diagnosis& diagnosis, const std::string& text) {
  EXPECT_NE(joined(diagnosis).find(text), std::string::npos) << joined(diagnosis);
}

const Quantity& quantity(const Diagnosis& diagnosis, const std::string& name) {
  for (const Quantity& q : diagnosis.quantities)
    if (q.name == name) return q;
  throw std::runtime_error("no quantity " + name);
}

TEST(Diagnose, GoodChains) {
  const TempDir dir;
  const std::string run = make_bare_run(dir, 4);
  write_trace(run, {.sweeps = {400, 400, 400, 400}});
  write_cells(run, 4, 3, [](std::size_t, std::size_t) { return 0; });
  const Diagnosis d = diagnose(run);
  EXPECT_EQ(d.verdict, Verdict::good);
  EXPECT_EQ(joined(d), "The chains agree: predictions and the rank can be used.\n");
  EXPECT_EQ(d.draws, 200u);
  EXPECT_EQ(d.chains.size(), 4u);
  EXPECT_NEAR(d.seconds, 8, 1e-9);
  EXPECT_EQ(d.cells.size(), 3u);
  const Quantity& log_likelihood = quantity(d, "log-likelihood");
  EXPECT_NEAR(log_likelihood.mean, -1000, 0.05);
  EXPECT_NEAR(log_likelihood.sd, 1, 0.05);
  EXPECT_NEAR(log_likelihood.ess_per_second, log_likelihood.ess_bulk / 8, 1e-9);
  EXPECT_EQ(log_likelihood.chain_means.size(), 4u);
  EXPECT_NEAR(quantity(d, "dirichlet_m1").mean, 0.1, 0.001);
  EXPECT_NEAR(quantity(d, "total weight").mean, 4, 0.05);
  EXPECT_EQ(d.quantities.size(), 4u) << "neither seconds nor the held-out AUC";
}

TEST(Diagnose, PredictionsAgreeAndTheRankDoesNot) {
  const TempDir dir;
  const std::string run = make_bare_run(dir, 2);
  Made made{.sweeps = {400, 400}};
  made.occupied = [](std::size_t c, std::size_t t) { return std::floor((c == 0 ? 23.6 : 35.5) + even(c, t)); };
  write_trace(run, made);
  write_cells(run, 2, 3, [](std::size_t, std::size_t) { return 0; });
  const Diagnosis d = diagnose(run);
  EXPECT_EQ(d.verdict, Verdict::usable);
  EXPECT_EQ(d.rank, Verdict::poor);
  expect_says(d, "Predictions agree between chains (worst R-hat ");
  expect_says(d, ", but the occupied rank does not (R-hat ");
  expect_says(d, ": chain means 23.1, 35.0): do not interpret the rank, and run longer.");
  expect_says(d, "Fit again with --sweeps 8000 or more and --chains 4, or lengthen this run with 'ztp resume " + run +
                     " --sweeps 8000' or more.");
}

TEST(Diagnose, TheWorstCellIsNamed) {
  const TempDir dir;
  const std::string run = make_bare_run(dir, 4);
  write_trace(run, {.sweeps = {400, 400, 400, 400}});
  write_cells(run, 4, 5, [](std::size_t c, std::size_t i) { return i == 3 && c == 2 ? 0.2 : 0.0; });
  write_text(run + "/watched.tsv", "#m1\tm2\toutcome\n1\t1\t0\n1\t2\t0\n1\t3\t0\n#a b\t4\t1\n2\t2\t0\n");
  const Diagnosis d = diagnose(run);
  EXPECT_EQ(d.predictions, Verdict::poor);
  EXPECT_EQ(d.verdict, Verdict::poor);
  EXPECT_EQ(d.worst_cell, 3u);
  EXPECT_EQ(d.scarce_cell, 3u);
  EXPECT_NE(d.median_cell, 3u);
  EXPECT_EQ(d.cells[3].labels, (std::vector<std::string>{"#a b", "4"}));
  EXPECT_EQ(d.cells[3].outcome, true);
  EXPECT_EQ(d.cells[4].outcome, false);
  expect_says(d, "Predictions do not agree between chains");
  expect_says(d, "do not use them yet");
}

TEST(Diagnose, OneChain) {
  const TempDir dir;
  const std::string run = make_bare_run(dir, 1);
  write_trace(run, {.sweeps = {400}});
  const Diagnosis d = diagnose(run);
  EXPECT_EQ(d.verdict, Verdict::one_chain);
  expect_says(d,
              "Only one chain: its drift can be judged, but not whether chains from different starts agree. Fit again "
              "with --chains 4.");
  Made drifting{.sweeps = {400}};
  drifting.log_likelihood = [](std::size_t c, std::size_t t) { return even(c, t) + 0.02 * static_cast<double>(t); };
  write_trace(run, drifting);
  EXPECT_EQ(diagnose(run).predictions, Verdict::poor);
  expect_says(diagnose(run), "The log-likelihood drifts within the chain (R-hat ");
}

// Chains agree, but a slow wave makes few draws of many: the remedy is the number of sweeps.
TEST(Diagnose, FewEffectiveDraws) {
  const TempDir dir;
  const std::string run = make_bare_run(dir, 4);
  Made made{.sweeps = {400, 400, 400, 400}};
  made.log_likelihood = slow;
  write_trace(run, made);
  const Diagnosis d = diagnose(run);
  EXPECT_LE(quantity(d, "log-likelihood").ess_bulk, 400);
  EXPECT_NE(d.verdict, Verdict::good);
  expect_says(d, "The log-likelihood is worth only ");
  expect_says(d, "Continue with 'ztp resume " + run + " --sweeps ");
}

// An R-hat of 1.000 with too few effective samples is not called a disagreement.
TEST(Diagnose, WhyAQuantityMustNotBeInterpreted) {
  const TempDir dir;
  const std::string run = make_bare_run(dir, 4);
  Made made{.sweeps = {400, 400, 400, 400}};
  made.log_likelihood = [](std::size_t c, std::size_t t) {
    return std::sin(0.0628 * static_cast<double>(t + 25 * c)) + 1e-3 * even(c, t);
  };
  write_trace(run, made);
  write_cells(run, 4, 3, [](std::size_t, std::size_t) { return 0; });
  const Diagnosis d = diagnose(run);
  const Quantity& q = quantity(d, "log-likelihood");
  ASSERT_LE(q.r_hat, 1.05);
  const double ess = std::min(q.ess_bulk, q.ess_tail);
  ASSERT_LT(ess, 100);
  expect_says(d, fmt::format("Do not interpret yet: log-likelihood (the chains agree, R-hat {:.3f}, but there are too "
                             "few effective samples: {:.0f}, and 100 need {:.1f} times as many sweeps).",
                             std::max(1.0, q.r_hat), ess, std::ceil(1000 / ess) / 10));
  made.log_likelihood = [](std::size_t c, std::size_t t) { return static_cast<double>(c) + even(c, t); };
  write_trace(run, made);
  expect_says(diagnose(run), "Do not interpret yet: log-likelihood (the chains do not agree, R-hat ");
}

TEST(Diagnose, TooShort) {
  const TempDir dir;
  const std::string run = make_bare_run(dir, 2);
  write_trace(run, {.sweeps = {249, 249}});
  EXPECT_EQ(diagnose(run).verdict, Verdict::too_short);
  EXPECT_EQ(diagnose(run).draws, 49u);
  expect_says(diagnose(run),
              "Too few draws to judge (a chain has fewer than 50 sweeps after burn-in): continue with "
              "'ztp resume " +
                  run + " --sweeps 500'.");
  for (const std::size_t sweeps : {0, 1, 200, 201, 202, 203}) {
    write_trace(run, {.sweeps = {sweeps, 0}});
    EXPECT_EQ(diagnose(run).verdict, Verdict::too_short) << sweeps;
  }
}

TEST(Diagnose, ConstantRank) {
  const TempDir dir;
  const std::string run = make_bare_run(dir, 2);
  Made made{.sweeps = {400, 400}};
  made.occupied = [](std::size_t, std::size_t) { return 5; };
  write_trace(run, made);
  Diagnosis d = diagnose(run);
  EXPECT_EQ(d.rank, Verdict::good) << "all equal is perfect agreement";
  EXPECT_TRUE(quantity(d, "occupied rank").constant);
  made.occupied = [](std::size_t c, std::size_t) { return c == 0 ? 5 : 6; };
  write_trace(run, made);
  d = diagnose(run);
  EXPECT_EQ(d.rank, Verdict::poor) << "different constants are the worst disagreement";
  EXPECT_TRUE(std::isinf(quantity(d, "occupied rank").r_hat));
  expect_says(d, "(R-hat infinite: chain means 5.0, 6.0)");
}

// An interrupted run: the last chain has only begun, and its last line is half written.
TEST(Diagnose, InterruptedRun) {
  const TempDir dir;
  const std::string run = make_bare_run(dir, 3);
  write_text(run + "/status.json",
             R"({"status": "interrupted", "sweeps": 400, "draws_planned": 3, "draws": 1, "peak_memory_bytes": 0,
                 "auc_roc": null, "chains": [], "learned": {}, "rank_posterior": []})");
  write_trace(run, {.sweeps = {400, 390, 210}});
  write_text(run + "/trace.tsv", read_text(run + "/trace.tsv") + "211\t2\t5\t0.1");
  const Diagnosis d = diagnose(run);
  EXPECT_EQ(d.chains, (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(d.draws, 190u);
  EXPECT_NEAR(d.seconds, 2 * 1.9, 1e-9);
  expect_says(d, "The run was interrupted ('ztp resume ");
  expect_says(d, "Left out, because not far enough yet: chain 3.");
}

// What fit writes today, also with a single mode, is read without complaint.
TEST(Diagnose, RealRuns) {
  for (const std::size_t order : {std::size_t{1}, std::size_t{2}, std::size_t{4}}) {
    const TempDir dir;
    const Diagnosis d = diagnose(make_run(dir, 2, order));
    EXPECT_EQ(d.draws, 200u);
    EXPECT_TRUE(std::isfinite(quantity(d, "log-likelihood").mean));
    EXPECT_EQ(d.cells.size(),
              4u + 32u);  // all ones of this tensor, and as many cells drawn at random as there would be
    ASSERT_EQ(d.cells.front().labels.size(), order);
    EXPECT_GT(d.seconds, 0);
    EXPECT_FALSE(d.sentences.empty());
  }
}

}  // namespace
}  // namespace ztp
