// The logistic rival: its sums, its cells, and the same draws for any number of threads and after a restart. Seeds as
// given; no chance in a run. logistic_calibration_test.cpp and logistic_recovery_test.cpp ask whether the draws are
// right.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/random.hpp"
#include "baselines/gram.hpp"
#include "baselines/logistic_chain.hpp"
#include "checkpoint_bytes.hpp"
#include "model/distributions.hpp"
#include "quad_world.hpp"
#include "targets.hpp"
#include "ztp/error.hpp"

namespace ztp::test {
namespace {

TEST(Gram, EqualsTheNaiveSumOnEveryInstructionSet) {
  for (const std::size_t R : {1, 3, 4, 16, 17, 20, 33, 64})
    for (const std::size_t count : {1, 2, 5, 256}) {
      Matrix<float> x(count, R);
      Stream stream(stream_key(1, 0, Purpose::simulate), 0, 100 * R + count);
      for (std::size_t i = 0; i < count; ++i)
        for (std::size_t r = 0; r < R; ++r) x.row(i)[r] = static_cast<float>(draw_normal(stream));
      for_each_target([&](const std::string&) {
        Matrix<float> A(padded(R), R);
        A.row(0)[0] = 7;  // it is added to
        add_gram(x.row(0), count, R, x.stride(), A.row(0));
        for (std::size_t r = 0; r < R; ++r)
          for (std::size_t s = 0; s <= r; ++s) {
            double sum = r + s == 0 ? 7 : 0, size = 1;
            for (std::size_t i = 0; i < count; ++i) {
              const double product = static_cast<double>(x.row(i)[r]) * static_cast<double>(x.row(i)[s]);
              sum += product;
              size += std::abs(product);
            }
            ASSERT_NEAR(A.row(r)[s], sum, 1e-6 * size) << R << " " << count;
          }
      });
    }
}

TEST(TrainingCells, AllAreThereOnceButForMissingOnes) {
  const QuadWorld data = logistic_world({4, 5, 3}, 0, 2);
  Buffer<std::uint32_t> missing;
  std::set<Cell> ones, gone;
  for (std::size_t e = 0; e < data.tensor.nnz(); ++e) ones.emplace(data.tensor.cell(e), data.tensor.cell(e) + 3);
  for (const Cell& cell : data.cells) {
    if (ones.count(cell) != 0 || (cell[0] + cell[1] + cell[2]) % 4 != 0) continue;
    missing.append(cell.data(), 3);
    gone.insert(cell);
  }
  ASSERT_GT(gone.size(), 3u);
  const std::uint64_t zeros = zeros_wanted(data.tensor, &missing, "auto");
  EXPECT_EQ(zeros, 60 - ones.size() - gone.size());
  const TrainingCells cells = training_cells(data.tensor, &missing, zeros, 1);
  ASSERT_EQ(cells.size(), 60 - gone.size());
  EXPECT_EQ(cells.zeros_used, 1);
  std::size_t i = 0;
  for (const Cell& cell : data.cells) {
    if (gone.count(cell) != 0) continue;
    ASSERT_TRUE(std::equal(cell.begin(), cell.end(), cells.coords.data() + 3 * i)) << i;
    ASSERT_EQ(cells.one[i++] != 0, ones.count(cell) != 0);
  }
}

TEST(TrainingCells, SomeZerosAreDrawnAmongZeros) {
  const QuadWorld data = logistic_world({40, 50, 30}, -4, 3);
  const std::uint64_t zeros = zeros_wanted(data.tensor, nullptr, "2.5");
  EXPECT_EQ(zeros, static_cast<std::uint64_t>(std::ceil(2.5 * static_cast<double>(data.tensor.nnz()))));
  const TrainingCells cells = training_cells(data.tensor, nullptr, zeros, 1);
  ASSERT_EQ(cells.size(), data.tensor.nnz() + zeros);
  std::size_t ones = 0;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    ASSERT_EQ(cells.one[i] != 0, data.tensor.contains(cells.coords.data() + 3 * i));
    ones += cells.one[i];
    if (i == 0) continue;
    const std::uint32_t* cell = cells.coords.data() + 3 * i;
    ASSERT_TRUE(std::lexicographical_compare(cell - 3, cell, cell, cell + 3));
  }
  EXPECT_EQ(ones, data.tensor.nnz());
  EXPECT_NEAR(cells.zeros_used, static_cast<double>(zeros) / (60000 - static_cast<double>(ones)), 1e-12);
}

TEST(TrainingCells, SaysWhatIsWrongWithAChoice) {
  const SparseTensor small = logistic_world({4, 5, 3}, 0, 2).tensor;
  for (const char* choice : {"", "none", "-1", "0", "5x", "1e12"})
    EXPECT_THROW(zeros_wanted(small, nullptr, choice), Error) << choice;
  SparseTensor large;
  for (const std::uint32_t n : {10000u, 10000u, 1000u}) large.modes.push_back({"mode", LabelTable::numbered(1, n)});
  large.coords.append(small.coords.data(), 3);
  EXPECT_EQ(zeros_wanted(large, nullptr, "auto"), 10u);
  EXPECT_THROW(zeros_wanted(large, nullptr, "all"), Error);
}

TEST(LogisticChain, AnyNumberOfThreadsAndARestartMakeTheSameDraws) {
  const QuadWorld data = logistic_world({30, 20, 10}, -2, 5);
  const RivalProblem problem = data.problem(5, 9);
  Pool one(1), three(3);
  LogisticChain a(problem, all_zeros(data.tensor), one, 0), b(problem, all_zeros(data.tensor), three, 0);
  a.start();
  b.start();
  std::string half;
  for (int t = 0; t < 6; ++t) {
    ASSERT_EQ(a.step(true), b.step(true));
    ASSERT_EQ(checkpoint_bytes(a), checkpoint_bytes(b)) << t;
    if (t == 2) half = checkpoint_bytes(a);
  }
  LogisticChain c(problem, all_zeros(data.tensor), three, 0);
  c.start();
  restore(c, half, 3);
  for (int t = 3; t < 6; ++t) c.step(true);
  EXPECT_EQ(checkpoint_bytes(c), checkpoint_bytes(a));
}

// An entity without an observed cell has factors from the prior, N(0, 1 / ridge), in every sweep. Their variance over
// 3,000 independent draws has a relative standard error of sqrt(2 / 3000); five of them are allowed.
TEST(LogisticChain, RidgeIsThePrecisionOfTheFactorsPrior) {
  const QuadWorld data = logistic_world({30, 20}, -2, 5);
  Buffer<std::uint32_t> missing;
  SparseTensor tensor;
  tensor.modes = data.tensor.modes;
  for (std::uint32_t j = 0; j < 20; ++j) missing.append(Cell{0, j}.data(), 2);
  for (std::size_t e = 0; e < data.tensor.nnz(); ++e)
    if (data.tensor.cell(e)[0] != 0) tensor.coords.append(data.tensor.cell(e), 2);
  const RivalProblem problem{&tensor, &missing, 5, 9};
  Pool pool(1);
  for (const double ridge : {1.0, 0.1, 4.0}) {
    LogisticChain chain(problem, zeros_wanted(tensor, &missing, "all"), pool, 0, ridge);
    chain.start();
    double sum = 0;
    for (int t = 0; t < 600; ++t) {
      chain.step(false);
      chain.draw_state();
      const Matrix<float>& u = on_this_host(*chain.state().factors[0]).values;
      for (std::size_t r = 0; r < 5; ++r) sum += std::pow(static_cast<double>(u.row(0)[r]) / 30, 2);
    }
    EXPECT_NEAR(sum / 3000 * ridge, 1, 5 * std::sqrt(2.0 / 3000)) << ridge;
  }
}

TEST(RivalChain, ARecordedDrawHasTheLogitsOfTheChain) {
  const QuadWorld data = logistic_world({8, 7, 6}, -1, 7);
  Pool pool(1);
  LogisticChain chain(data.problem(3, 1), all_zeros(data.tensor), pool, 0);
  chain.start();
  for (int t = 0; t < 5; ++t) chain.step(true);
  chain.draw_state();
  const Cell cells = data.coordinates();
  std::vector<double> theta(data.one.size()), p(theta.size());
  logits(pool, recorded_model(chain.state(), chain.learned()[0]), cells.data(), theta.size(), theta.data());
  chain.probabilities(cells.data(), p.size(), p.data());
  for (std::size_t i = 0; i < p.size(); ++i) ASSERT_NEAR(logistic(theta[i]), p[i], 1e-6) << i;
}

}  // namespace
}  // namespace ztp::test
