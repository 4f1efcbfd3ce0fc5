// Unit: the statistics of an online chain with means for everything, step by step, against the formulas of
// docs/model.md, section 8, written out here in doubles for tensors so small that every missing cell can be gone
// through. Everything is a function of the seed 15.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "host_copies.hpp"
#include "online_data.hpp"
#include "tensor/records.hpp"

namespace ztp::test {
namespace online_formulas_tests {

constexpr std::uint64_t seed = 15;
using Table = std::vector<std::vector<double>>;

// All statistics as numbers of counts.
struct RealCounts {
  std::vector<Table> rows;  // S^(k)[j][r]
  std::vector<double> tensor;
  Table networks;

  RealCounts plus(const RealCounts& other, double mine, double theirs) const {
    RealCounts sum = *this;
    const auto add = [&](std::vector<double>& x, const std::vector<double>& y) {
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = mine * x[i] + theirs * y[i];
    };
    for (std::size_t k = 0; k < rows.size(); ++k)
      for (std::size_t j = 0; j < rows[k].size(); ++j) add(sum.rows[k][j], other.rows[k][j]);
    add(sum.tensor, other.tensor);
    for (std::size_t m = 0; m < networks.size(); ++m) add(sum.networks[m], other.networks[m]);
    return sum;
  }
  double largest() const {
    double largest = 0;
    for (const Table& table : rows)
      for (const auto& row : table)
        for (const double value : row) largest = std::max(largest, std::abs(value));
    for (const double value : tensor) largest = std::max(largest, std::abs(value));
    for (const auto& totals : networks)
      for (const double value : totals) largest = std::max(largest, std::abs(value));
    return largest;
  }
  double distance(const RealCounts& other) const { return plus(other, 1, -1).largest(); }
};

RealCounts counts_of(const OnlineChain& chain, const OnlineData& data) {
  const Statistics& statistics = chain.statistics();
  const auto scaled = [&](const std::int64_t* values) {
    std::vector<double> result;
    for (std::size_t r = 0; r < data.problem.layout.components(); ++r)
      result.push_back(statistics.scale * static_cast<double>(values[r]));
    return result;
  };
  RealCounts counts;
  for (const auto& rows : statistics.rows) {
    const Matrix<std::int64_t> S = on_host(*rows);
    counts.rows.emplace_back();
    for (std::size_t j = 0; j < S.rows(); ++j) counts.rows.back().push_back(scaled(S.row(j)));
  }
  counts.tensor = scaled(statistics.tensor.data());
  for (const auto& totals : statistics.networks) counts.networks.push_back(scaled(totals.data()));
  return counts;
}

// ---- the formulas ---------------------------------------------------------------------------------------------------

class ByHand {
 public:
  // scale_imputed: a planted bug.
  ByHand(const OnlineData& data, Kernel& kernel, bool scale_imputed = false)
      : data_(data), minibatches_(data.minibatches(kernel)), scale_imputed_(scale_imputed) {}

  // What step t makes of the statistics before it.
  RealCounts step(const RealCounts& before, std::uint32_t t, const OnlineOptions& options) {
    take_means(before);
    const double rho = t == 1 ? 1 : std::pow(t + options.t0, -options.kappa);
    Minibatches& ones = *minibatches_.ones;
    const std::size_t b = minibatch_of_step(stream_key(seed, 0, Purpose::minibatches), ones.count(), t);
    RealCounts counted = before.plus(before, 1, -1);
    const double weight = 1 / (static_cast<double>(ones.size(b)) / static_cast<double>(ones.total()));
    for (const Cell& cell : ones_of(ones, data_.tensor.order(), b, b)) add_one(cell, weight, counted);
    add_missing_slices(scale_imputed_ ? weight : 1, counted);
    add_listed(t, counted);
    for (std::size_t m = 0; m < data_.networks.size(); ++m) {
      add_edges(m, t, counted);
      add_diagonal(m, scale_imputed_ ? weight : 1, counted);
    }
    contributions.push_back(counted);
    return before.plus(counted, 1 - rho, rho);
  }

  std::vector<RealCounts> contributions;  // of all steps: (nnz / |I|) s(I) and what was imputed

 private:
  // u = (a + S) / (n a + S_r), p = (c eps + s_r) / (c + g + s_r), lambda = (g + s_r) p; a network's weights likewise.
  void take_means(const RealCounts& counts) {
    const auto weights = [](const WeightPrior& prior, const std::vector<double>& s) {
      std::vector<double> lambda;
      for (const double s_r : s)
        lambda.push_back((prior.shape + s_r) * (prior.concentration * prior.mean + s_r) /
                         (prior.concentration + prior.shape + s_r));
      return lambda;
    };
    lambda_ = weights(data_.problem.hyper.tensor, counts.tensor);
    beta_.clear();
    for (const auto& v : counts.networks) beta_.push_back(weights(data_.problem.hyper.network, v));
    u_ = counts.rows;
    for (std::size_t k = 0; k < u_.size(); ++k)
      for (std::size_t r = 0; r < lambda_.size(); ++r) {
        const double a = data_.problem.hyper.dirichlet[k];
        double sum = static_cast<double>(u_[k].size()) * a + counts.tensor[r];
        for (std::size_t m = 0; m < data_.networks.size(); ++m)
          if (data_.networks[m].mode == k) sum += 2 * counts.networks[m][r];
        for (auto& row : u_[k]) row[r] = (a + row[r]) / sum;
      }
  }

  std::vector<double> rates(const Cell& cell) const {
    std::vector<double> z = lambda_;
    for (std::size_t r = 0; r < z.size(); ++r)
      for (std::size_t k = 0; k < u_.size(); ++k) z[r] *= u_[k][cell[k]][r];
    return z;
  }
  void add(const Cell& cell, const std::vector<double>& parts, double factor, RealCounts& counts) const {
    for (std::size_t r = 0; r < parts.size(); ++r) {
      for (std::size_t k = 0; k < u_.size(); ++k) counts.rows[k][cell[k]][r] += factor * parts[r];
      counts.tensor[r] += factor * parts[r];
    }
  }
  // A count that is observed comes behind the coordinates.
  void add_one(const Cell& cell, double weight, RealCounts& counts) const {
    const std::vector<double> z = rates(cell);
    const double sum = std::accumulate(z.begin(), z.end(), 0.0);
    add(cell, z, weight * (cell.size() > u_.size() ? cell.back() / sum : 1 / -std::expm1(-sum)), counts);
  }
  // A minibatch of the listed missing cells.
  void add_listed(std::uint32_t t, RealCounts& counts) const {
    if (data_.missing.cells.empty()) return;
    Minibatches& cells = *minibatches_.missing;
    const auto after_networks = static_cast<std::uint32_t>(1 + data_.networks.size());
    const std::size_t b =
        minibatch_of_step(stream_key(seed, 0, Purpose::minibatches, after_networks), cells.count(), t);
    const std::vector<Cell> part = ones_of(cells, data_.tensor.order(), b, b);
    const double listed = static_cast<double>(data_.missing.cells.size() / data_.tensor.order());
    for (const Cell& cell : part) add(cell, rates(cell), listed / static_cast<double>(part.size()), counts);
  }
  // All cells there are that are in a slice.
  void add_missing_slices(double factor, RealCounts& counts) const {
    if (data_.missing.empty()) return;
    const std::vector<std::uint32_t> sizes = data_.tensor.sizes();
    Cell cell(sizes.size(), 0);
    for (;;) {
      bool missing = false;
      for (std::size_t k = 0; k < sizes.size(); ++k)
        for (const std::uint32_t j : data_.missing.slices[k]) missing |= cell[k] == j;
      if (missing) add(cell, rates(cell), factor, counts);
      std::size_t k = 0;
      while (k < sizes.size() && ++cell[k] == sizes[k]) cell[k++] = 0;
      if (k == sizes.size()) return;
    }
  }
  // v[i, r], v[j, r] and v_r of a pair whose rate is 2 beta_r u[i, r] u[j, r].
  void add_pair(std::size_t m, std::uint32_t i, std::uint32_t j, bool edge, double factor, RealCounts& counts) const {
    const std::size_t k = data_.networks[m].mode;
    double sum = 0;
    for (std::size_t r = 0; r < lambda_.size(); ++r) sum += 2 * beta_[m][r] * u_[k][i][r] * u_[k][j][r];
    for (std::size_t r = 0; r < lambda_.size(); ++r) {
      const double x = factor * 2 * beta_[m][r] * u_[k][i][r] * u_[k][j][r] / (edge ? -std::expm1(-sum) : 1);
      counts.rows[k][i][r] += x;
      counts.rows[k][j][r] += x;
      counts.networks[m][r] += x;
    }
  }
  void add_edges(std::size_t m, std::uint32_t t, RealCounts& counts) const {
    Minibatches& edges = *minibatches_.edges[m];
    const std::size_t b = minibatch_of_step(
        stream_key(seed, 0, Purpose::minibatches, static_cast<std::uint32_t>(m + 1)), edges.count(), t);
    for (const Cell& pair : ones_of(edges, 2, b, b))
      add_pair(m, pair[0], pair[1], true, static_cast<double>(edges.total()) / static_cast<double>(edges.size(b)),
               counts);
  }
  void add_diagonal(std::size_t m, double factor, RealCounts& counts) const {
    const Network& network = data_.networks[m];
    for (std::size_t i = 0; i < network.missing.size(); i += 2)
      add_pair(m, network.missing[i], network.missing[i + 1], false, factor, counts);
    // As a pair of i with itself: both ends, and half the rate.
    for (std::uint32_t i = 0; i < u_[network.mode].size(); ++i) add_pair(m, i, i, false, factor / 2, counts);
  }

  const OnlineData& data_;
  const OwnedMinibatches minibatches_;
  bool scale_imputed_;
  std::vector<Table> u_;
  std::vector<double> lambda_;
  Table beta_;
};

// ---- data -----------------------------------------------------------------------------------------------------------

enum class Shape { two_by_two, counts, everything };

void fill(OnlineData& data, Shape shape) {
  if (shape == Shape::two_by_two) {
    add_modes({2, 2}, data);
    add_ones(3, false, seed, data);
  } else if (shape == Shape::counts) {
    add_modes({4, 5}, data);
    add_ones(11, true, seed, data);
  } else {
    add_modes({4, 3, 3}, data);
    const std::set<Cell> listed = {{0, 0, 0}, {0, 1, 2}, {1, 0, 1}, {1, 1, 0}, {2, 0, 2}};  // minibatches of 2 and 3
    add_ones(9, false, seed, data,
             [&](const Cell& cell) { return cell[0] != 3 && cell[1] != 2 && !listed.contains(cell); });
    data.missing.slices = {{3}, {2}, {}};  // slices that cross: their common cells count once
    for (const Cell& cell : listed) data.missing.cells.append(cell.data(), 3);
    add_network(0, 4, seed, data);
    for (std::uint32_t i = 0; i < 3 && data.networks[0].missing.size() == 0; ++i) {
      const std::uint32_t pair[2] = {i, 3};
      if (find_record(std::as_const(data.networks[0].edges), 2, pair) == 4) data.networks[0].missing.append(pair, 2);
    }
    add_network(2, 2, seed, data);
  }
  data.make_problem(shape == Shape::two_by_two ? 2 : 3, shape == Shape::everything ? 3 : 2, seed);
}

// A step computes with floats: three modes, each with three roundings of u, and as many again in weights and sums,
// twice, since parts are divided by their sum: 2e-6 of what it adds. Parts are rounded to units, of which a count has
// 2^16 at first: 1e-4 for the lot.
double tolerance(const RealCounts& wanted) {
  return 1e-4 + 2e-6 * wanted.largest();
}

// Step by step: each from what the chain has, so that it is one step that is compared. 400 steps: the units run out
// several times.
TEST(OnlineFormulas, EveryStepIsWhatTheFormulasSay) {
  Pool pool(1);
  for (const KernelName kernel_name : {KernelName::cpu, KernelName::reference})
    for (const Shape shape : {Shape::two_by_two, Shape::counts, Shape::everything})
      for (OnlineOptions options : {OnlineOptions{}, OnlineOptions{.kappa = 1}, OnlineOptions{.kappa = 0.7, .t0 = 3}}) {
        options.expected_counts = options.mean_parameters = true;
        OnlineData data;
        fill(data, shape);
        const auto kernel = make_kernel(kernel_name, pool);
        OnlineChain chain = data.chain(options, *kernel);
        ByHand by_hand(data, *kernel);
        chain.start();
        int rescaled = 0;
        for (std::uint32_t t = 1; t <= 400; ++t) {
          const RealCounts wanted = by_hand.step(counts_of(chain, data), t, options);
          const double scale = chain.statistics().scale;
          chain.step(false);
          ASSERT_LT(counts_of(chain, data).distance(wanted), tolerance(wanted))
              << name_of(kernel_name) << ", data " << static_cast<int>(shape) << ", kappa " << options.kappa
              << ", step " << t;
          rescaled += t > 1 && chain.statistics().scale > scale;
        }
        EXPECT_TRUE(rescaled > 0 || options.kappa > 0.5) << "the test has not seen what it is for";
      }
}

// With kappa = 1 the statistics are the plain mean of what all steps have said; with kappa = 1/2 they are not.
TEST(OnlineFormulas, KappaOneIsARunningMean) {
  Pool pool(1);
  const auto kernel = make_kernel(KernelName::cpu, pool);
  for (const double kappa : {1.0, 0.5}) {
    const OnlineOptions options{.kappa = kappa, .expected_counts = true, .mean_parameters = true};
    OnlineData data;
    fill(data, Shape::everything);
    OnlineChain chain = data.chain(options, *kernel);
    ByHand by_hand(data, *kernel);
    chain.start();
    for (std::uint32_t t = 1; t <= 30; ++t) {
      by_hand.step(counts_of(chain, data), t, options);
      chain.step(false);
    }
    RealCounts mean = by_hand.contributions[0].plus(by_hand.contributions[0], 1.0 / 30, 0);
    for (std::size_t t = 1; t < 30; ++t) mean = mean.plus(by_hand.contributions[t], 1, 1.0 / 30);
    const double distance = counts_of(chain, data).distance(mean);
    if (kappa == 1)
      EXPECT_LT(distance, tolerance(mean));
    else
      EXPECT_GT(distance, 100 * tolerance(mean));
  }
}

// The twin: imputed counts that were scaled as those of a minibatch would be noticed in the first step.
TEST(OnlineFormulas, ScaledImputedCountsWouldBeNoticed) {
  Pool pool(1);
  const auto kernel = make_kernel(KernelName::cpu, pool);
  OnlineOptions options{.expected_counts = true, .mean_parameters = true};
  OnlineData data;
  fill(data, Shape::everything);
  OnlineChain chain = data.chain(options, *kernel);
  chain.start();
  const RealCounts wrong = ByHand(data, *kernel, true).step(counts_of(chain, data), 1, options);
  chain.step(false);
  EXPECT_GT(counts_of(chain, data).distance(wrong), 100 * tolerance(wrong));
}

}  // namespace online_formulas_tests
}  // namespace ztp::test
