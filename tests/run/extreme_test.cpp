// Data and options at the ends of what is allowed. Every fit ends, with numbers that make sense, or is refused in words
// that help. The chains are deterministic functions of the seed (1); bounds on what they find are wide.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "errors.hpp"
#include "extreme_data.hpp"
#include "temp_dir.hpp"
#include "ztp/fit.hpp"
#include "ztp/posterior.hpp"

namespace ztp::test {
namespace {

struct Way {
  const char* name;
  Method method;
  Sampler sampler;
  SampleOrMean latent, parameters;
};
constexpr Way plain{"plain", Method::batch, Sampler::plain, {}, {}};
constexpr Way collapsed{"collapsed", Method::batch, Sampler::collapsed, {}, {}};
constexpr Way online_draws{"online_draws", Method::online, Sampler::automatic, SampleOrMean::sample,
                           SampleOrMean::sample};
constexpr Way online_means{"online_means", Method::online, Sampler::automatic, SampleOrMean::mean, SampleOrMean::mean};

class Extreme : public testing::TestWithParam<Way> {
 protected:
  FitOptions options() const {
    FitOptions options;
    options.chains = 1;
    options.rank = 4;
    options.sweeps = 60;
    options.threads = 1;
    options.method = GetParam().method;
    options.sampler = GetParam().sampler;
    options.latent = GetParam().latent;
    options.parameters = GetParam().parameters;
    return options;
  }
  bool online() const { return GetParam().method == Method::online; }

  // Fits, and checks what must be so whatever the data are: probabilities are probabilities, columns sum to one,
  // weights and likelihoods are finite, components are not more than there are. Mean probabilities of the cells that
  // are returned.
  std::vector<Prediction> fitted(Dataset data, const FitOptions& options, const std::vector<Cell>& cells) {
    const std::string run = dir_ / std::to_string(++runs_);
    const std::uint64_t ones = data.ones();
    EXPECT_EQ(fit(std::move(data), options, run), FitOutcome::complete);
    Posterior posterior(run, 1);
    EXPECT_EQ(posterior.info().ones, ones);
    EXPECT_GT(posterior.draws(), 0u);
    for (const auto& chain : posterior.info().chains) {
      EXPECT_TRUE(std::isfinite(chain.log_likelihood));
      EXPECT_GE(chain.occupied, 1u);
      EXPECT_LE(chain.occupied, static_cast<std::size_t>(options.rank));
    }
    std::uint32_t largest = 0;
    for (const auto& mode : posterior.info().modes) largest = std::max(largest, mode.size);
    weight_ = 0;
    for (const Component& component : posterior.components(largest)) {
      EXPECT_TRUE(component.weight >= 0 && std::isfinite(component.weight));
      weight_ += component.weight;
      for (const auto& top : component.top) {
        double sum = 0;
        for (const auto& entity : top) {
          EXPECT_TRUE(entity.value >= 0 && entity.value <= 1.00001) << entity.value;
          sum += entity.value;
        }
        EXPECT_NEAR(sum, 1, 1e-4);
      }
    }
    Cell coords;
    for (const Cell& cell : cells) coords.insert(coords.end(), cell.begin(), cell.end());
    const std::vector<Prediction> predictions = posterior.predict(coords.data(), cells.size());
    for (const Prediction& p : predictions) {
      for (const double value : {p.probability, p.q05, p.q95}) EXPECT_TRUE(value >= 0 && value <= 1) << value;
      EXPECT_TRUE(p.sd >= 0 && p.sd <= 1) << p.sd;
      EXPECT_TRUE(p.rate >= 0 && std::isfinite(p.rate)) << p.rate;
    }
    return predictions;
  }
  std::vector<Prediction> fitted(Dataset data, const std::vector<Cell>& cells) {
    return fitted(std::move(data), options(), cells);
  }
  std::vector<Prediction> fitted(Dataset data, const FitOptions& options) {
    const std::vector<std::uint32_t> sizes = sizes_of(data);
    return fitted(std::move(data), options, cells_of(sizes, 7));
  }
  std::vector<Prediction> fitted(Dataset data) { return fitted(std::move(data), options()); }

  std::string refusal(Dataset data, const FitOptions& options) {
    return error_of([&] { fit(std::move(data), options, dir_ / std::to_string(++runs_)); });
  }

  double weight_ = 0;  // of all components, posterior mean
  TempDir dir_;
  int runs_ = 0;
};

// What only some of the ways allow.
class ExtremePlain : public Extreme {};
class ExtremeBatch : public Extreme {};
class ExtremeOnline : public Extreme {};

double mean_probability(const std::vector<Prediction>& predictions) {
  double sum = 0;
  for (const Prediction& p : predictions) sum += p.probability;
  return sum / static_cast<double>(predictions.size());
}

// ---- shapes ---------------------------------------------------------------------------------------------------------

TEST_P(Extreme, ModesOfOneEntity) {
  fitted(random_ones({1, 12, 9}, 40));
  fitted(random_ones({12, 1}, 5));
  fitted(full({1, 1}));
  fitted(full({1, 1, 1, 1}));
  fitted(with_network(random_ones({1, 12}, 6), 0, {}));
}

TEST_P(Extreme, OneOne) {
  Dataset data = dataset({6, 5, 4});
  add(data, {2, 3, 1});
  const auto p = fitted(std::move(data), {{2, 3, 1}, {0, 0, 0}});
  EXPECT_GT(p[0].probability, p[1].probability);
}

TEST_P(Extreme, EveryCellAOne) {
  EXPECT_GT(mean_probability(fitted(full({3, 4, 5}))), 0.7);
  EXPECT_GT(mean_probability(fitted(full({30, 30}))), 0.7);
  EXPECT_GT(mean_probability(fitted(with_network(full({8, 9}), 0, all_pairs(8)))), 0.5);
}

TEST_P(Extreme, EntitiesWithoutOnes) {
  // entities 10 to 19 of the first mode, and all but one slice of the last
  const auto p = fitted(random_ones({20, 10, 6}, 150, [](Cell& cell) { cell[0] %= 10, cell[2] = 3; }),
                        {{0, 0, 3}, {1, 1, 3}, {2, 2, 3}, {15, 0, 3}, {16, 1, 3}, {17, 2, 0}});
  EXPECT_GT(p[0].probability + p[1].probability + p[2].probability,
            5 * (p[3].probability + p[4].probability + p[5].probability));
}

TEST_P(Extreme, OneEntityWithHalfOfAllOnes) {
  int number = 0;
  const auto p = fitted(random_ones({40, 30, 8}, 400,
                                    [&](Cell& cell) {
                                      if (++number % 2 == 0) cell[0] = 7;
                                    }),
                        {{7, 0, 0}, {7, 5, 5}, {7, 29, 7}, {3, 0, 0}, {4, 5, 5}, {30, 29, 7}});
  EXPECT_GT(p[0].probability + p[1].probability + p[2].probability,
            3 * (p[3].probability + p[4].probability + p[5].probability));
}

TEST_P(Extreme, TwoAndTwelveModes) {
  fitted(random_ones({30, 20}, 90));
  const std::vector<std::uint32_t> sizes(12, 50);
  Dataset data = random_ones(sizes, 60);
  std::vector<Cell> cells;
  for (std::size_t e = 0; e < 5; ++e) cells.emplace_back(data.tensor.cell(e), data.tensor.cell(e) + 12);
  cells.push_back(Cell(12, 49));
  const auto p = fitted(std::move(data), cells);
  EXPECT_GT(p[0].probability, p[5].probability);
  fitted(full({2, 2, 2, 2, 2, 2, 2, 2}));
}

TEST_P(Extreme, OneComponentAndMoreThanThereIsData) {
  for (const std::int64_t rank : {1, 60, 700}) {
    FitOptions o = options();
    o.rank = rank;
    o.sweeps = rank > 100 ? 12 : 60;
    fitted(random_ones({9, 8, 7}, 30), o);
    fitted(with_network(random_ones({9, 8, 7}, 30), 1, {{0, 1}, {2, 7}}), o);
  }
}

// ---- networks and what is missing -----------------------------------------------------------------------------------

TEST_P(Extreme, Networks) {
  fitted(with_network(random_ones({9, 8}, 20), 0, all_pairs(9)));
  fitted(with_network(random_ones({9, 8}, 20), 0, {}));
  fitted(with_network(random_ones({9, 8}, 20), 0, {}, all_pairs(9)));
  fitted(with_network(with_network(random_ones({9, 8}, 20), 0, {{0, 1}}), 0, all_pairs(9)));
}

// What is not observed is not a zero: cells of missing entities are given at least twice the probability that they have
// where they are said to be zeros. With the seeds 1 to 12 and such data, all ways give them more than three times as
// much.
TEST_P(Extreme, AllOfAModeMissingButOne) {
  std::vector<Cell> missing;
  for (const Cell& cell : cells_of({8, 9, 6}))
    if (cell[0] != 4) missing.push_back(cell);
  const auto probability = [&](const std::vector<std::vector<std::uint32_t>>& slices) {
    Dataset data = random_ones({8, 9, 6}, 60, [](Cell& cell) { cell[0] = 4; });
    data.missing.slices = slices;
    return mean_probability(fitted(std::move(data), missing));
  };
  EXPECT_GT(probability({{0, 1, 2, 3, 5, 6, 7}, {}, {}}), 2 * probability({}));
}

// ---- counts ---------------------------------------------------------------------------------------------------------

constexpr const char* too_many_to_move =
    "--sampler collapsed moves counts one by one, and here they add up to more than 2^28; use --sampler plain";

TEST_P(Extreme, LargeCounts) {
  FitOptions o = options();
  o.likelihood = Likelihood::count;
  for (const int bits : {31, 40, 50}) {
    Dataset data = dataset({5, 4, 3});
    double total = 0;
    for (std::uint32_t i = 0; i < 4; ++i) {
      add(data, {i, i % 4, i % 3}, (std::int64_t{1} << bits) + i);
      total += std::ldexp(1.0, bits) + i;
    }
    if (o.sampler == Sampler::collapsed) {
      EXPECT_EQ(refusal(std::move(data), o), too_many_to_move);
      continue;
    }
    if (online() && bits == 50) {
      EXPECT_EQ(refusal(std::move(data), o),
                "step 0: counts that add up to 4.5e+15 are too many for online statistics; use --method batch");
      continue;
    }
    const auto p = fitted(std::move(data), o, {{0, 0, 0}, {3, 3, 0}, {4, 0, 0}});
    EXPECT_NEAR(weight_ / total, 1, 1e-3) << bits;
    EXPECT_GT(p[0].rate, std::ldexp(0.05, bits)) << bits;  // less than 1, where ones share a component
    EXPECT_LT(p[2].rate, 10) << bits;                      // an entity without counts
    EXPECT_EQ(p[0].probability, 1) << bits;
  }
}

TEST_P(Extreme, CountsUpToTheEnd) {
  FitOptions o = options();
  o.likelihood = Likelihood::count;
  Dataset data = dataset({5, 4});
  add(data, {0, 0}, std::int64_t{1} << 61);
  add(data, {1, 1}, std::int64_t{1} << 60);
  add(data, {2, 2}, std::int64_t{1} << 60);
  if (o.sampler == Sampler::collapsed) {
    EXPECT_EQ(refusal(std::move(data), o), too_many_to_move);
    return;
  }
  if (online()) {
    EXPECT_EQ(refusal(std::move(data), o),
              "step 0: counts that add up to 4.61e+18 are too many for online statistics; use --method batch");
    return;
  }
  Dataset with_missing = dataset({5, 4});
  with_missing.tensor.coords.append(data.tensor.coords.data(), data.tensor.coords.size());
  with_missing.tensor.counts.append(data.tensor.counts.data(), data.tensor.counts.size());
  with_missing.missing.slices = {{3}, {}};
  fitted(std::move(data), o, {{0, 0}, {1, 1}, {4, 3}});
  EXPECT_NEAR(weight_ / 0x1p62, 1, 1e-3);
  const std::string message = refusal(std::move(with_missing), o);
  EXPECT_TRUE(
      message.starts_with("sweep 1: overflow: counts of 4.61e+18 in total would have to be drawn, in addition "
                          "to 4.61e+18 that are observed, but a sum of counts cannot exceed 2^62; "))
      << message;
}

// With one component and counts there is nothing latent: the posterior is known. lambda has mean (g + s)(c eps + s)/(c
// + g + s), each column the mean (a + s_j)/(n a + s). Relative standard deviations are below 2^-15, and there are 30
// draws: 1e-4 is 15 of them.
TEST_P(ExtremePlain, OneComponentOfCountsIsKnownExactly) {
  FitOptions o = options();
  o.likelihood = Likelihood::count;
  o.rank = 1;
  o.keep_every = 1;
  const double s = 3.0 * 0x1p31, a = 0.1;
  Dataset data = dataset({3, 2});
  add(data, {0, 0}, std::int64_t{1} << 31);
  add(data, {1, 0}, std::int64_t{1} << 31);
  add(data, {1, 1}, std::int64_t{1} << 31);
  const auto p = fitted(std::move(data), o, {{0, 0}, {1, 1}});
  const double lambda = (0.1 + s) * (0.5 + s) / (1.1 + s);
  EXPECT_NEAR(p[0].rate / (lambda * (a + s / 3) / (3 * a + s) * (a + 2 * s / 3) / (2 * a + s)), 1, 1e-4);
  EXPECT_NEAR(p[1].rate / (lambda * (a + 2 * s / 3) / (3 * a + s) * (a + s / 3) / (2 * a + s)), 1, 1e-4);
}

// ---- options --------------------------------------------------------------------------------------------------------

TEST_P(Extreme, PriorsAtBothEnds) {
  const auto with = [&](const std::function<void(FitOptions&)>& change) {
    FitOptions o = options();
    change(o);
    for (const Start start : {Start::allocation, Start::prior}) {
      if (GetParam().name != plain.name && start == Start::prior) continue;
      o.start = start;
      fitted(with_network(random_ones({12, 10, 8}, 60), 1, {{0, 1}, {3, 4}}), o);
    }
  };
  for (const char* a : {"1e-6", "1e9"}) with([&](FitOptions& o) { o.dirichlet = {a}; });
  for (const double g : {1e-6, 1e9}) with([&](FitOptions& o) { o.gamma_shape = o.network_gamma_shape = g; });
  for (const double eps : {1e-12, 1 - 1e-12}) with([&](FitOptions& o) { o.beta_mean = o.network_beta_mean = eps; });
  for (const double c : {1e-6, 1e9})
    with([&](FitOptions& o) { o.beta_concentration = o.network_beta_concentration = c; });
  with([&](FitOptions& o) {
    o.dirichlet = {"1e-6"};
    o.gamma_shape = o.beta_concentration = 1e-6;
    o.beta_mean = 1e-12;
  });
  with([&](FitOptions& o) {
    o.dirichlet = {"1e9"};
    o.gamma_shape = o.beta_concentration = o.network_gamma_shape = o.network_beta_concentration = 1e9;
    o.beta_mean = o.network_beta_mean = 1 - 1e-12;
  });
}

TEST_P(ExtremeBatch, LearnedFromTheEnds) {
  for (const char* a : {"1e-6", "0.1", "1e9"}) {
    FitOptions o = options();
    o.learn = "dirichlet,gamma-shape";
    o.dirichlet = {a};
    o.gamma_shape = o.network_gamma_shape = std::stod(a);
    fitted(with_network(random_ones({12, 10, 8}, 60), 1, {{0, 1}, {3, 4}}), o);
    o.network_gamma_shape = FitOptions().network_gamma_shape;  // without a network it is refused
    fitted(full({3, 4, 5}), o);
    Dataset one = dataset({6, 5, 4});
    add(one, {2, 3, 1});
    fitted(std::move(one), o);
  }
}

TEST_P(ExtremeOnline, Steps) {
  for (const std::int64_t minibatch : {1, 60, 1000000})
    for (const double kappa : {1e-6, 0.5, 1.0})
      for (const double t0 : {0.0, 1e9}) {
        FitOptions o = options();
        o.minibatch = minibatch;
        o.kappa = kappa;
        o.t0 = t0;
        o.sweeps = minibatch == 1 ? 130 : 60;
        Dataset data = random_ones({12, 10, 8}, 60);
        fitted(t0 > 0 ? std::move(data) : with_network(std::move(data), 1, {{0, 1}, {3, 4}}), o);
      }
}

std::string name_of(const testing::TestParamInfo<Way>& way) {
  return way.param.name;
}
INSTANTIATE_TEST_SUITE_P(Ways, Extreme, testing::Values(plain, collapsed, online_draws, online_means), name_of);
INSTANTIATE_TEST_SUITE_P(Ways, ExtremePlain, testing::Values(plain), name_of);
INSTANTIATE_TEST_SUITE_P(Ways, ExtremeBatch, testing::Values(plain, collapsed), name_of);
INSTANTIATE_TEST_SUITE_P(Ways, ExtremeOnline, testing::Values(online_draws, online_means), name_of);

}  // namespace
}  // namespace ztp::test
