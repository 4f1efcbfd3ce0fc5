// Is the average of several draws of the parameters, which an online chain may use for a minibatch, near their means?
// Seed 20150712.
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

#include "kernels.hpp"
#include "sampler/online_chain.hpp"

namespace ztp::test {
namespace {

constexpr std::uint64_t seed = 20150712;
constexpr std::size_t R = 3;

// 60 different cells of 12 x 8.
SparseTensor random_ones() {
  SparseTensor tensor;
  for (const std::uint32_t n : {12u, 8u}) tensor.modes.push_back({"mode", LabelTable::numbered(1, n)});
  std::set<std::vector<std::uint32_t>> cells;
  for (std::uint64_t i = 0; cells.size() < 60; ++i) {
    Stream stream(stream_key(seed, 21, Purpose::simulate), 0, i);
    const auto first = static_cast<std::uint32_t>(stream.below(12));
    cells.insert({first, static_cast<std::uint32_t>(stream.below(8))});
  }
  for (const auto& cell : cells) tensor.coords.append(cell.data(), cell.size());
  return tensor;
}

// Of 60 values none is further off than six standard errors, which happens with a probability below 1e-6, or some 1e-5,
// since a few of them are skewed. With a single draw, as a twin, many are.
TEST(OnlineChain, InnerDrawsAverageToTheMeans) {
  const SparseTensor tensor = random_ones();
  Problem problem;
  problem.tensor = &tensor;
  problem.hyper = {{0.1, 0.1}, {0.1, 1, 1.0 / R}, {0.1, 1, 1.0 / R}};
  problem.layout = FactorLayout::cp({12, 8}, R);
  problem.seed = seed;
  Pool pool(1);
  const auto kernel = make_kernel(KernelName::cpu, pool);
  MemoryMinibatches ones(tensor.coords, tensor.counts, problem.layout, 1, *kernel);
  for (const std::uint32_t M : {10'000u, 1u}) {
    OnlineChain averaged(problem, {.inner_draws = M}, {ones, {}}, *kernel, 0),
        mean(problem, {.mean_parameters = true}, {ones, {}}, *kernel, 0);
    averaged.start();
    mean.start();
    std::vector<Matrix<double>> spread;  // n standard deviations of u[j, r], from the statistics both start from
    for (std::size_t k = 0; k < 2; ++k) {
      const Matrix<std::int64_t> S = on_host(*mean.statistics().rows[k]);
      const double rows = static_cast<double>(S.rows()), worth = mean.statistics().scale;
      spread.emplace_back(S.rows(), R);
      for (std::size_t j = 0; j < S.rows(); ++j)
        for (std::size_t r = 0; r < R; ++r) {
          const double all = 0.1 * rows + worth * static_cast<double>(mean.statistics().tensor[r]);
          const double part = (0.1 + worth * static_cast<double>(S.row(j)[r])) / all;
          spread[k].row(j)[r] = rows * std::sqrt(part * (1 - part) / (all + 1));
        }
    }
    averaged.step(false);
    mean.step(false);
    int far = 0;
    for (std::size_t k = 0; k < 2; ++k) {
      const Matrix<float> got = on_host(*averaged.state().factors[k]), wanted = on_host(*mean.state().factors[k]);
      for (std::size_t j = 0; j < got.rows(); ++j)
        for (std::size_t r = 0; r < R; ++r)
          far += static_cast<double>(std::abs(got.row(j)[r] - wanted.row(j)[r])) > 6 * spread[k].row(j)[r] / 100;
    }
    // Weights are gammas of some 20 counts times betas, which vary by a quarter, and their average by a four-hundredth:
    // eight of these.
    for (std::size_t r = 0; r < R && M > 1; ++r)
      EXPECT_NEAR(averaged.state().tensor.log_weight[r], mean.state().tensor.log_weight[r], 0.02);
    if (M == 1)
      EXPECT_GT(far, 30);
    else
      EXPECT_EQ(far, 0);
  }
}

}  // namespace
}  // namespace ztp::test
