// Tiny models for the calibration tests: their prior and their data simulated by plain code that shares nothing with
// the sampler, and a copy of the sampler's sweep into which bugs can be planted.
#pragma once
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "kernel/kernel.hpp"
#include "model/draws.hpp"
#include "model/state.hpp"
#include "sampler/chain.hpp"

namespace ztp::test {

using Table = std::vector<std::vector<double>>;  // [row][component]

// u, lambda, p, beta, h as the specification has them: columns sum to one, nothing in logs.
struct Parameters {
  std::vector<Table> u;
  std::vector<double> lambda, p;
  Table beta, h;  // [network][component]
};

// The data of a tiny model, cell by cell and pair by pair, and the latent counts behind them.
struct Data {
  std::vector<std::int64_t> y;               // of every cell, the last mode fastest
  std::vector<std::vector<std::int64_t>> x;  // [network], of every pair i < j
  Statistics statistics;
};

struct Model {
  std::vector<std::uint32_t> sizes;
  std::vector<std::size_t> network_modes;
  bool counts = false;
  std::size_t R = 2;
  Hyperparameters hyper;

  std::size_t K() const { return sizes.size(); }
  std::size_t cells() const {
    std::size_t product = 1;
    for (const std::uint32_t n : sizes) product *= n;
    return product;
  }
  std::vector<std::uint32_t> cell(std::size_t i) const {
    std::vector<std::uint32_t> coords(K());
    for (std::size_t k = K(); k-- > 0; i /= sizes[k]) coords[k] = static_cast<std::uint32_t>(i % sizes[k]);
    return coords;
  }
  // z_ir of cell i.
  double rate(const Parameters& q, std::size_t i, std::size_t r) const {
    double product = q.lambda[r];
    for (std::size_t k = K(); k-- > 0; i /= sizes[k]) product *= q.u[k][i % sizes[k]][r];
    return product;
  }
  double rate(const Parameters& q, std::size_t i) const {
    double sum = 0;
    for (std::size_t r = 0; r < R; ++r) sum += rate(q, i, r);
    return sum;
  }
  double pair_rate(const Parameters& q, std::size_t m, std::size_t i, std::size_t j) const {
    const Table& u = q.u[network_modes[m]];
    double sum = 0;
    for (std::size_t r = 0; r < R; ++r) sum += 2 * q.beta[m][r] * u[i][r] * u[j][r];
    return sum;
  }
};

// ---- simulation -----------------------------------------------------------------------------------------------------

using Generator = std::mt19937_64;

inline double draw_gamma(Generator& generator, double shape) {
  return std::gamma_distribution<double>(shape, 1)(generator);
}

inline void draw_prior_weights(Generator& generator, const WeightPrior& prior, std::size_t R,
                               std::vector<double>& weight, std::vector<double>& p) {
  weight.resize(R);
  p.resize(R);
  for (std::size_t r = 0; r < R; ++r) {
    const double a = draw_gamma(generator, prior.concentration * prior.mean);
    const double b = draw_gamma(generator, prior.concentration * (1 - prior.mean));
    p[r] = a / (a + b);
    weight[r] = draw_gamma(generator, prior.shape) * a / b;
  }
}

inline Parameters draw_prior(Generator& generator, const Model& model) {
  Parameters q;
  for (std::size_t k = 0; k < model.K(); ++k) {
    Table u(model.sizes[k], std::vector<double>(model.R));
    for (std::size_t r = 0; r < model.R; ++r) {
      double sum = 0;
      for (auto& row : u) sum += row[r] = draw_gamma(generator, model.hyper.dirichlet[k]);
      for (auto& row : u) row[r] /= sum;
    }
    q.u.push_back(std::move(u));
  }
  draw_prior_weights(generator, model.hyper.tensor, model.R, q.lambda, q.p);
  q.beta.resize(model.network_modes.size());
  q.h.resize(model.network_modes.size());
  for (std::size_t m = 0; m < q.beta.size(); ++m)
    draw_prior_weights(generator, model.hyper.network, model.R, q.beta[m], q.h[m]);
  return q;
}

inline std::int64_t poisson(Generator& generator, double mean) {
  return mean > 0 ? std::poisson_distribution<std::int64_t>(mean)(generator) : 0;
}

inline Statistics empty_statistics(const Model& model) {
  return make_statistics(model.sizes, model.network_modes.size(), model.R);
}

// Pairs and diagonal of network m, straight from section 3 of the specification.
inline void simulate_network(Generator& generator, const Model& model, const Parameters& q, std::size_t m, Data& data) {
  const std::size_t mode = model.network_modes[m];
  Matrix<std::int64_t>& rows = data.statistics.rows[mode];
  for (std::size_t i = 0; i < model.sizes[mode]; ++i)
    for (std::size_t j = i; j < model.sizes[mode]; ++j) {
      std::int64_t total = 0;
      for (std::size_t r = 0; r < model.R; ++r) {
        const double mean = (i == j ? 1 : 2) * q.beta[m][r] * q.u[mode][i][r] * q.u[mode][j][r];
        const std::int64_t x = poisson(generator, mean);
        rows.row(i)[r] += x;
        rows.row(j)[r] += x;
        data.statistics.networks[m][r] += x;
        total += x;
      }
      if (i != j) data.x[m].push_back(total);
    }
}

inline Data simulate(Generator& generator, const Model& model, const Parameters& q) {
  Data data;
  data.statistics = empty_statistics(model);
  for (std::size_t i = 0; i < model.cells(); ++i) {
    const std::vector<std::uint32_t> cell = model.cell(i);
    data.y.push_back(0);
    for (std::size_t r = 0; r < model.R; ++r) {
      const std::int64_t y = poisson(generator, model.rate(q, i, r));
      for (std::size_t k = 0; k < model.K(); ++k) data.statistics.rows[k].row(cell[k])[r] += y;
      data.statistics.tensor[r] += y;
      data.y.back() += y;
    }
  }
  data.x.resize(model.network_modes.size());
  for (std::size_t m = 0; m < data.x.size(); ++m) simulate_network(generator, model, q, m, data);
  return data;
}

// ---- samplers -------------------------------------------------------------------------------------------------------

// The data as the sampler reads them: the cells and pairs that are not zero.
class Observed {
 public:
  Observed(const Model& model, std::uint64_t seed) : model_(model), networks_(model.network_modes.size()) {
    for (const std::uint32_t n : model.sizes) tensor_.modes.push_back({"mode", LabelTable::numbered(1, n)});
    for (std::size_t m = 0; m < networks_.size(); ++m) networks_[m].mode = model.network_modes[m];
    problem_ = {&tensor_, networks_, model.hyper, model.R, seed};
  }
  Observed(const Observed&) = delete;

  void set(const Data& data) {
    tensor_.coords.resize(0);
    tensor_.counts.resize(0);
    for (std::size_t i = 0; i < data.y.size(); ++i) {
      if (data.y[i] == 0) continue;
      tensor_.coords.append(model_.cell(i).data(), model_.K());
      if (model_.counts) tensor_.counts.push_back(data.y[i]);
    }
    for (std::size_t m = 0; m < networks_.size(); ++m) {
      networks_[m].edges.resize(0);
      std::size_t pair = 0;
      for (std::uint32_t i = 0; i < model_.sizes[networks_[m].mode]; ++i)
        for (std::uint32_t j = i + 1; j < model_.sizes[networks_[m].mode]; ++j) {
          const std::uint32_t ends[] = {i, j};
          if (data.x[m][pair++] > 0) networks_[m].edges.append(ends, 2);
        }
    }
  }
  const Problem& problem() const { return problem_; }

 private:
  const Model& model_;
  SparseTensor tensor_;
  std::vector<Network> networks_;
  Problem problem_;
};

enum class Bug {
  none,
  gamma_scale,      // lambda ~ Gamma(g + s, scale p / (1 - p)): the prior's scale, not the posterior's
  beta_shape,       // p ~ Beta(c eps + s, c (1 - eps)): lambda not integrated out
  totals_plus_one,  // s_r + 1 in p and lambda
  no_truncation,    // a one counts once, never more
  no_diagonal,      // the diagonal of a network taken for observed zeros
  one_end,          // an edge adds to the row of its first end alone, as in the paper's row sums
  ignores_data,     // parameters come from the prior, whatever the data; only pairing the two shows it
};

inline const char* name_of(Bug bug) {
  static constexpr const char* names[] = {"no bug",        "gamma scale", "beta shape", "totals plus one",
                                          "no truncation", "no diagonal", "one end",    "ignores data"};
  return names[static_cast<int>(bug)];
}

// One sweep as Chain does it, from the same pieces and the same random numbers, with a bug in it. `Bug::none` is Chain
// bit by bit, and tested to be: what makes a twin fail is its bug and nothing else.
class Twin {
 public:
  Twin(const Problem& problem, Kernel& kernel, Bug bug) : problem_(problem), kernel_(kernel), bug_(bug) {
    std::vector<std::uint32_t> sizes;
    for (const Mode& mode : problem.tensor->modes) sizes.push_back(mode.labels.size());
    state_ = make_state(sizes, problem.networks.size(), problem.R, problem.hyper);
    statistics_ = make_statistics(sizes, problem.networks.size(), problem.R);
  }

  const State& state() const { return state_; }
  const Statistics& statistics() const { return statistics_; }
  Statistics& statistics() { return statistics_; }

  void sweep() {
    ++t_;
    if (bug_ == Bug::ignores_data) statistics_.clear();
    for (std::size_t k = 0; k < state_.u.size(); ++k)
      kernel_.draw_columns(statistics_.rows[k], problem_.hyper.dirichlet[k], key(Purpose::columns, k), t_, state_.u[k]);
    draw_tensor_weights();
    for (std::size_t m = 0; m < state_.networks.size(); ++m)
      draw_weights(problem_.hyper.network, statistics_.networks[m], problem_.seed, 0, t_, static_cast<int>(m),
                   state_.networks[m]);
    draw_counts();
  }

  void draw_counts() {
    statistics_.clear();
    const SparseTensor& tensor = *problem_.tensor;
    const std::vector<std::int64_t> once(tensor.nnz(), 1);
    const std::int64_t* observed = tensor.counts.empty() ? nullptr : tensor.counts.data();
    if (bug_ == Bug::no_truncation) observed = once.data();
    std::vector<const Matrix<float>*> u;
    Sums sums{{}, statistics_.tensor.data()};
    for (const auto& matrix : state_.u) u.push_back(&matrix);
    for (auto& rows : statistics_.rows) sums.rows.push_back(&rows);
    kernel_.allocate({tensor.coords.data(), observed, tensor.nnz()}, make_rates(u, state_.tensor.log_weight),
                     key(Purpose::counts), t_, sums);
    for (std::size_t m = 0; m < problem_.networks.size(); ++m) draw_network_counts(m);
  }

 private:
  StreamKey key(Purpose purpose, std::size_t mode = 0) const {
    return stream_key(problem_.seed, 0, purpose, static_cast<std::uint32_t>(mode));
  }

  void draw_tensor_weights() {
    WeightPrior prior = problem_.hyper.tensor;
    std::vector<std::int64_t> totals = statistics_.tensor;
    if (bug_ == Bug::totals_plus_one)
      for (std::int64_t& total : totals) ++total;
    if (bug_ != Bug::gamma_scale && bug_ != Bug::beta_shape) {
      draw_weights(prior, totals, problem_.seed, 0, t_, -1, state_.tensor);
      return;
    }
    const double g = bug_ == Bug::beta_shape ? 0 : prior.shape;
    for (std::size_t r = 0; r < totals.size(); ++r) {
      Stream stream(key(Purpose::weights), t_, r);
      const double s = static_cast<double>(totals[r]);
      const LogBeta p =
          draw_log_beta(stream, prior.concentration * prior.mean + s, prior.concentration * (1 - prior.mean) + g);
      state_.tensor.log_p[r] = p.log_p;
      state_.tensor.log_weight[r] = draw_log_gamma(stream, prior.shape + s) + p.log_p;
      if (bug_ == Bug::gamma_scale) state_.tensor.log_weight[r] -= p.log_q;
    }
  }

  void draw_network_counts(std::size_t m) {
    const Network& network = problem_.networks[m];
    const Matrix<float>& u = state_.u[network.mode];
    Matrix<std::int64_t>& rows = statistics_.rows[network.mode];
    Matrix<std::int64_t> nowhere(rows.rows(), rows.columns());
    std::int64_t* totals = statistics_.networks[m].data();
    Matrix<std::int64_t>* second = bug_ == Bug::one_end ? &nowhere : &rows;
    kernel_.allocate({network.edges.data(), nullptr, network.size()},
                     make_rates({&u, &u}, state_.networks[m].log_weight, 2), key(Purpose::edge_counts, m), t_,
                     {{&rows, second}, totals});
    if (bug_ != Bug::no_diagonal)
      kernel_.impute_diagonal(u, state_.networks[m].log_weight, key(Purpose::diagonal, m), t_, rows, totals);
  }

  const Problem& problem_;
  Kernel& kernel_;
  Bug bug_;
  std::uint32_t t_ = 0;
  State state_;
  Statistics statistics_;
};

// The parameters of a sampler's state, in the units of the specification.
inline Parameters parameters_of(const State& state) {
  Parameters q;
  for (const auto& matrix : state.u) {
    Table u(matrix.rows(), std::vector<double>(state.R));
    for (std::size_t j = 0; j < matrix.rows(); ++j)
      for (std::size_t r = 0; r < state.R; ++r)
        u[j][r] = static_cast<double>(matrix.row(j)[r]) / static_cast<double>(matrix.rows());
    q.u.push_back(std::move(u));
  }
  const auto exponential = [](std::vector<double> logs) {
    for (double& value : logs) value = std::exp(value);
    return logs;
  };
  q.lambda = exponential(state.tensor.log_weight);
  q.p = exponential(state.tensor.log_p);
  for (const Weights& network : state.networks) {
    q.beta.push_back(exponential(network.log_weight));
    q.h.push_back(exponential(network.log_p));
  }
  return q;
}

}  // namespace ztp::test
