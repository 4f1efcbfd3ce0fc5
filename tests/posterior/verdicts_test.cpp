// The three verdicts of a run, of real fits and with cells.tsv made up. Data and fits are functions of their seeds:
// deterministic.
#include "ztp/verdicts.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/file.hpp"
#include "errors.hpp"
#include "temp_dir.hpp"
#include "ztp/fit.hpp"
#include "ztp/posterior.hpp"

namespace ztp {
namespace {

using test::holds;
using test::TempDir;

// Six blocks of 5 x 5 ones on the diagonal of a 30 x 30 matrix.
Dataset six_blocks() {
  Dataset data;
  for (const char* mode : {"user", "item"}) data.tensor.modes.push_back({mode, LabelTable::numbered(1, 30)});
  for (std::uint32_t i = 0; i < 30; ++i)
    for (std::uint32_t j = 0; j < 5; ++j) {
      data.tensor.coords.push_back(i);
      data.tensor.coords.push_back(i / 5 * 5 + j);
    }
  data.tensor.sort_and_merge();
  return data;
}

std::vector<RunVerdict> verdicts_of_fit(const std::string& run, std::int64_t rank, std::int64_t chains, double holdout,
                                        std::int64_t sweeps = 200) {
  FitOptions options;
  options.rank = rank;
  options.chains = chains;
  options.holdout = holdout;
  options.sweeps = sweeps;
  options.threads = 1;
  fit(six_blocks(), options, run);
  return Posterior(run, 1).verdicts();
}

TEST(Verdicts, AskThreeQuestions) {
  const TempDir dir;
  const std::vector<RunVerdict> found = verdicts_of_fit(dir / "run", 20, 2, 0.3);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].question, "Have the chains converged?");
  EXPECT_EQ(found[1].question, "Are the probabilities calibrated?");
  EXPECT_EQ(found[2].question, "Is the bound on the rank large enough?");
  EXPECT_EQ(found[2].answer, Answer::yes);
  EXPECT_TRUE(holds(found[2].line(), "large enough? Yes: ")) << found[2].line();
  EXPECT_TRUE(holds(found[2].words, " of 20 components are in use.")) << found[2].words;
}

TEST(Verdicts, ABoundThatIsFull) {
  const TempDir dir;
  const RunVerdict bound = verdicts_of_fit(dir / "run", 3, 2, 0)[2];
  EXPECT_EQ(bound.line(),
            "Is the bound on the rank large enough? No: 3 of 3 components are in use, so there may be more. Fit with "
            "--rank 6.");
}

TEST(Verdicts, WhatCannotBeKnown) {
  const TempDir dir;
  const std::vector<RunVerdict> short_run = verdicts_of_fit(dir / "short", 8, 2, 0, 40);
  EXPECT_EQ(short_run[0].answer, Answer::unknown);
  EXPECT_TRUE(holds(short_run[0].line(), "converged? Not known: too few draws")) << short_run[0].line();
  EXPECT_EQ(short_run[1].line(),
            "Are the probabilities calibrated? Not known: no cells were held out. Fit with --holdout 0.1.");
  const RunVerdict one_chain = verdicts_of_fit(dir / "one", 8, 1, 0)[0];
  EXPECT_TRUE(holds(one_chain.words, "Fit with --chains 4.")) << one_chain.words;
  EXPECT_NE(one_chain.answer, Answer::yes);
}

// Cells at 0.3, in each chain a little elsewhere.
void write_cells(const std::string& run, double difference) {
  std::string text = "chain\tsweep\tc1\tc2";
  for (int c = 0; c < 4; ++c)
    for (int t = 101; t <= 200; ++t) {
      const double even = 0.6180339887498949 * t + 0.13 * c, noise = 0.02 * (even - std::floor(even) - 0.5);
      text += fmt::format("\n{}\t{}\t{:.6f}\t{:.6f}", c, t, 0.3 + difference * c + noise, 0.4 - noise);
    }
  write_text(run + "/cells.tsv", text + "\n");
  std::filesystem::remove(run + "/watched.tsv");
}

TEST(Verdicts, WhetherChainsAgree) {
  const TempDir dir;
  const std::string run = dir / "run";
  verdicts_of_fit(run, 8, 4, 0);
  write_cells(run, 0);
  const RunVerdict same = Posterior(run, 1).verdicts()[0];
  EXPECT_NE(same.answer, Answer::no) << same.line();
  EXPECT_NE(same.answer, Answer::unknown) << same.line();
  write_cells(run, 0.1);  // chain means 0.3, 0.4, 0.5, 0.6: sd 0.129, of their mean 0.065; the other cell has none
  const RunVerdict apart = Posterior(run, 1).verdicts()[0];
  EXPECT_EQ(apart.answer, Answer::no);
  EXPECT_TRUE(holds(apart.words, "the chains do not agree on predictions (worst R-hat ")) << apart.words;
  EXPECT_TRUE(holds(apart.words, "a probability is off by 0.03 on average")) << apart.words;
}

}  // namespace
}  // namespace ztp
