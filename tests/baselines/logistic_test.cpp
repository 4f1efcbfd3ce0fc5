// The logistic rival: its sums, its cells, its sampler against its own prior, and the same draws for any number of threads.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <set>

#include "base/random.hpp"
#include "baselines/gram.hpp"
#include "baselines/logistic_chain.hpp"
#include "model/distributions.hpp"
#include "statistics.hpp"
#include "targets.hpp"
#include "ztp/error.hpp"
#include "ztp/metrics.hpp"

namespace ztp {
namespace {

using Cell = std::vector<std::uint32_t>;

SparseTensor box(const std::vector<std::uint32_t>& sizes) {
  SparseTensor tensor;
  for (std::size_t k = 0; k < sizes.size(); ++k)
    tensor.modes.push_back({fmt::format("mode{}", k + 1), LabelTable::numbered(1, sizes[k])});
  return tensor;
}

// Calls see(cell) for every cell, in order.
void for_cells(const SparseTensor& tensor, const std::function<void(const Cell&)>& see) {
  Cell cell(tensor.order(), 0);
  while (true) {
    see(cell);
    std::size_t k = tensor.order();
    while (k-- > 0 && ++cell[k] == tensor.modes[k].labels.size()) cell[k] = 0;
    if (k == static_cast<std::size_t>(-1)) return;
  }
}

// A tensor whose logits have rank 2, and their probabilities.
struct Planted {
  SparseTensor tensor;
  Buffer<std::uint32_t> cells;
  std::vector<double> probability;
  std::vector<std::uint8_t> one;
};

Planted planted(const std::vector<std::uint32_t>& sizes, double intercept, std::uint32_t seed) {
  Planted result{box(sizes), {}, {}, {}};
  Stream stream(stream_key(seed, 0, Purpose::simulate), 0, 0);
  std::vector<std::vector<double>> u;
  for (const std::uint32_t n : sizes)
    for (std::uint32_t j = 0; j < 2 * n; ++j) {
      if (j == 0) u.emplace_back();
      u.back().push_back(1.3 * draw_normal(stream));
    }
  for_cells(result.tensor, [&](const Cell& cell) {
    double theta = intercept;
    for (std::size_t r = 0; r < 2; ++r) {
      double product = 1;
      for (std::size_t k = 0; k < cell.size(); ++k) product *= u[k][2 * cell[k] + r];
      theta += product;
    }
    const bool one = stream.uniform() < logistic(theta);
    result.cells.append(cell.data(), cell.size());
    result.probability.push_back(logistic(theta));
    result.one.push_back(one);
    if (one) result.tensor.coords.append(cell.data(), cell.size());
  });
  return result;
}

std::uint64_t all_zeros(const SparseTensor& tensor) {
  return zeros_wanted(tensor, nullptr, "all");
}

// The bytes of all that the chain carries.
std::string carried_bytes(AnyChain& chain) {
  std::string bytes;
  for (const Carried& part : chain.carried()) bytes.append(static_cast<const char*>(part.data), part.bytes);
  return bytes;
}

TEST(Gram, EqualsTheNaiveSumOnEveryInstructionSet) {
  for (const std::size_t R : {1, 3, 4, 16, 17, 20, 33, 64})
    for (const std::size_t count : {1, 2, 5, 256}) {
      Matrix<float> x(count, R);
      Stream stream(stream_key(1, 0, Purpose::simulate), 0, 100 * R + count);
      for (std::size_t i = 0; i < count; ++i)
        for (std::size_t r = 0; r < R; ++r) x.row(i)[r] = static_cast<float>(draw_normal(stream));
      test::for_each_target([&](const std::string&) {
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
  Planted data = planted({4, 5, 3}, 0, 2);
  Buffer<std::uint32_t> missing;
  std::set<Cell> ones, gone;
  for (std::size_t e = 0; e < data.tensor.nnz(); ++e) ones.emplace(data.tensor.cell(e), data.tensor.cell(e) + 3);
  for_cells(data.tensor, [&](const Cell& cell) {
    if (ones.count(cell) != 0 || (cell[0] + cell[1] + cell[2]) % 4 != 0) return;
    missing.append(cell.data(), 3);
    gone.insert(cell);
  });
  ASSERT_GT(gone.size(), 3u);
  const std::uint64_t zeros = zeros_wanted(data.tensor, &missing, "auto");
  EXPECT_EQ(zeros, 60 - ones.size() - gone.size());
  const TrainingCells cells = training_cells(data.tensor, &missing, zeros, 1);
  ASSERT_EQ(cells.size(), 60 - gone.size());
  EXPECT_EQ(cells.zeros_used, 1);
  std::size_t i = 0;
  for_cells(data.tensor, [&](const Cell& cell) {
    if (gone.count(cell) != 0) return;
    ASSERT_TRUE(std::equal(cell.begin(), cell.end(), cells.coords.data() + 3 * i)) << i;
    ASSERT_EQ(cells.one[i++] != 0, ones.count(cell) != 0);
  });
}

TEST(TrainingCells, SomeZerosAreDrawnAmongZeros) {
  Planted data = planted({40, 50, 30}, -4, 3);
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
  const SparseTensor small = planted({4, 5, 3}, 0, 2).tensor;
  for (const char* choice : {"", "none", "-1", "0", "5x", "1e12"})
    EXPECT_THROW(zeros_wanted(small, nullptr, choice), Error) << choice;
  SparseTensor large = box({10000, 10000, 1000});
  large.coords.append(small.coords.data(), 3);
  EXPECT_EQ(zeros_wanted(large, nullptr, "auto"), 10u);
  EXPECT_THROW(zeros_wanted(large, nullptr, "all"), Error);
}

// What the joint law of parameters and data is looked at through: bounded, so that heavy tails of the prior do no harm.
constexpr std::size_t functionals = 8;
std::vector<double> look(const std::vector<Carried>& parts, double ones) {
  const auto values = [&](std::size_t i) { return static_cast<const double*>(parts[i].data); };
  const auto bounded = [](double x) { return x * x / (1 + x * x); };
  const float* u = static_cast<const float*>(parts[3].data);  // of the first mode, row 0; rows are 16 floats
  return {bounded(values(0)[0]),
          bounded(values(0)[1]),
          bounded(values(1)[1]),
          std::tanh(values(2)[0] / 10),
          bounded(static_cast<double>(u[0])),
          std::tanh(static_cast<double>(u[0]) * values(0)[0] * 3),
          bounded(values(2)[0] / 10),
          ones};
}

// delta, tau, w, b and u from their prior, b with this precision.
void draw_prior(Stream& stream, const std::vector<Carried>& parts, double precision) {
  const auto values = [&](std::size_t i) { return static_cast<double*>(parts[i].data); };
  double tau = 1;
  for (std::size_t r = 0; r < 2; ++r) {
    double& delta = static_cast<double*>(parts.back().data)[r];
    delta = std::exp(draw_log_gamma(stream, r == 0 ? 2.0 : 3.0));
    values(1)[r] = tau *= delta;
    values(0)[r] = draw_normal(stream) / std::sqrt(tau);
  }
  values(2)[0] = draw_normal(stream) / std::sqrt(precision);
  for (std::size_t part = 3; part + 1 < parts.size(); ++part)
    for (std::size_t j = 0; j < parts[part].bytes / 64; ++j)
      for (std::size_t r = 0; r < 2; ++r)
        static_cast<float*>(parts[part].data)[16 * j + r] = static_cast<float>(draw_normal(stream));
}

// Ones drawn at the parameters that the chain carries; returns their share.
double draw_data(Stream& stream, RivalChain& chain, SparseTensor& tensor) {
  tensor.coords.resize(0);
  double cells = 0;
  for_cells(tensor, [&](const Cell& cell) {
    double p = 0;
    chain.probabilities(cell.data(), 1, &p);
    if (stream.uniform() < p) tensor.coords.append(cell.data(), cell.size());
    ++cells;
  });
  return static_cast<double>(tensor.nnz()) / cells;
}

// Geweke (2004): parameters and data drawn from the joint law, and by turns of the sampler and new data, have the same means. The smallest
// p-value over the functionals. 2 x 3 x 2 cells, R = 2; seed as given, batches of 1000 steps.
double smallest_p(double simulated_precision, std::size_t length, std::uint32_t seed) {
  Pool pool(1);
  SparseTensor tensor = box({2, 3, 2});
  tensor.coords.append(Cell{0, 0, 0}.data(), 3);
  const std::size_t batches = length / 1000;
  std::vector<test::BatchMeans> joint(functionals, {length, batches}), turns(functionals, {length, batches});
  Stream stream(stream_key(seed, 0, Purpose::simulate), 0, 0);
  LogisticChain parameters({&tensor, nullptr, 2, 1}, all_zeros(tensor), pool, 0);
  for (std::size_t t = 0; t < length; ++t) {
    draw_prior(stream, parameters.carried(), simulated_precision);
    const std::vector<double> values = look(parameters.carried(), draw_data(stream, parameters, tensor));
    for (std::size_t i = 0; i < functionals; ++i) joint[i].add(values[i]);
  }
  for (std::size_t t = 0; t < length; ++t) {
    const double ones = draw_data(stream, parameters, tensor);
    const std::vector<double> values = look(parameters.carried(), ones);
    for (std::size_t i = 0; i < functionals; ++i) turns[i].add(values[i]);
    LogisticChain chain({&tensor, nullptr, 2, seed * 1000000ull + t}, all_zeros(tensor), pool, 0);
    const std::vector<Carried> from = parameters.carried(), to = chain.carried();
    for (std::size_t i = 0; i < from.size(); ++i) std::memcpy(to[i].data, from[i].data, from[i].bytes);
    chain.restore(0);
    chain.step(true);
    for (std::size_t i = 0; i < from.size(); ++i) std::memcpy(from[i].data, to[i].data, from[i].bytes);
  }
  double smallest = 1;
  for (std::size_t i = 0; i < functionals; ++i) {
    const double error = std::hypot(joint[i].error(), turns[i].error());
    smallest = std::min(smallest, test::normal_p((joint[i].mean() - turns[i].mean()) / error));
  }
  return smallest;
}

// 8 p-values, each of which fails below 1e-3 / 8. Batch means have 59 degrees of freedom, for which the normal law is near enough: the false
// alarm is at most 2e-3.
TEST(LogisticChain, AgreesWithItsPrior) {
  EXPECT_GT(smallest_p(0.01, 60000, 1), 1e-3 / functionals);
}

TEST(LogisticChain, DisagreesWithAnotherPrior) {
  EXPECT_LT(smallest_p(0.04, 60000, 1), 1e-3 / functionals);
}

TEST(LogisticChain, AnyNumberOfThreadsAndARestartMakeTheSameDraws) {
  const Planted data = planted({30, 20, 10}, -2, 5);
  const RivalProblem problem{&data.tensor, nullptr, 5, 9};
  Pool one(1), three(3);
  LogisticChain a(problem, all_zeros(data.tensor), one, 0), b(problem, all_zeros(data.tensor), three, 0);
  a.start();
  b.start();
  std::string half;
  for (int t = 0; t < 6; ++t) {
    ASSERT_EQ(a.step(true), b.step(true));
    ASSERT_EQ(carried_bytes(a), carried_bytes(b)) << t;
    if (t == 2) half = carried_bytes(a);
  }
  LogisticChain c(problem, all_zeros(data.tensor), three, 0);
  c.start();
  const char* at = half.data();
  for (const Carried& part : c.carried()) {
    std::memcpy(part.data, at, part.bytes);
    at += part.bytes;
  }
  c.restore(3);
  for (int t = 3; t < 6; ++t) c.step(true);
  EXPECT_EQ(carried_bytes(c), carried_bytes(a));
}

// Seed 6, deterministic. The mean over draws ranks the cells nearly as well as the truth does; with a sample of zeros the probabilities still
// add up to the number of ones.
TEST(LogisticChain, FindsAPlantedTensorFromAllZerosOrSome) {
  const Planted data = planted({30, 25, 20}, -3, 6);
  Pool pool(2);
  MetricsCollector truth;
  for (std::size_t i = 0; i < data.one.size(); ++i) truth.add(data.probability[i], data.one[i] != 0);
  for (const char* zeros : {"all", "3"}) {
    LogisticChain chain({&data.tensor, nullptr, 4, 1}, zeros_wanted(data.tensor, nullptr, zeros), pool, 0);
    chain.start();
    std::vector<double> now(data.one.size()), mean(now.size(), 0);
    for (int t = 0; t < 200; ++t) {
      chain.step(true);
      if (t < 100) continue;
      chain.probabilities(data.cells.data(), now.size(), now.data());
      for (std::size_t i = 0; i < now.size(); ++i) mean[i] += now[i] / 100;
    }
    MetricsCollector fitted;
    double expected = 0;
    for (std::size_t i = 0; i < now.size(); ++i) {
      fitted.add(mean[i], data.one[i] != 0);
      expected += mean[i];
    }
    EXPECT_GT(fitted.finish().auc_roc, truth.finish().auc_roc - 0.01) << zeros;
    EXPECT_NEAR(expected, static_cast<double>(data.tensor.nnz()), 0.1 * static_cast<double>(data.tensor.nnz()))
        << zeros;
  }
}

// Seed 6, deterministic: of 12 components, two are needed, and the prior leaves few of the others.
TEST(LogisticChain, EmptiesComponentsThatAreNotNeeded) {
  const Planted data = planted({30, 25, 20}, -1, 6);
  Pool pool(2);
  LogisticChain chain({&data.tensor, nullptr, 12, 1}, all_zeros(data.tensor), pool, 0);
  chain.start();
  double occupied = 0;
  for (int t = 0; t < 400; ++t) {
    chain.step(true);
    SweepReport report;
    chain.describe(report);
    if (t >= 300) occupied += static_cast<double>(report.occupied) / 100;
  }
  EXPECT_GE(occupied, 2);
  EXPECT_LT(occupied, 6);
}

TEST(RivalChain, ARecordedDrawHasTheLogitsOfTheChain) {
  const Planted data = planted({8, 7, 6}, -1, 7);
  Pool pool(1);
  LogisticChain chain({&data.tensor, nullptr, 3, 1}, all_zeros(data.tensor), pool, 0);
  chain.start();
  for (int t = 0; t < 5; ++t) chain.step(true);
  chain.draw_state();
  std::vector<double> theta(data.one.size()), p(theta.size());
  logits(pool, recorded_model(chain.state(), chain.learned()[0]), data.cells.data(), theta.size(), theta.data());
  chain.probabilities(data.cells.data(), p.size(), p.data());
  for (std::size_t i = 0; i < p.size(); ++i) ASSERT_NEAR(logistic(theta[i]), p[i], 1e-6) << i;
}

}  // namespace
}  // namespace ztp
