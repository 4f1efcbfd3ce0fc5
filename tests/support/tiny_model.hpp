// Tiny models for the calibration tests: their prior and their data simulated by plain code that shares nothing with
// the sampler.
#pragma once
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "model/learn.hpp"
#include "model/state.hpp"
#include "sampler/problem.hpp"

namespace ztp::test {

using Table = std::vector<std::vector<double>>;  // [row][component]

inline double sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

// All unknowns as the specification has them: columns sum to one, nothing in logs.
struct Parameters {
  PriorShapes shapes;    // a, g, f
  std::vector<Table> u;  // of each factor matrix
  std::vector<double> lambda, p;
  Table beta, h;                              // [network][component]
  std::vector<std::vector<std::uint32_t>> c;  // [mode][component]: columns; empty: component r has column r

  std::size_t column(std::size_t k, std::size_t r) const { return c.empty() ? r : c[k][r]; }
};

using CountTable = std::vector<std::vector<std::int64_t>>;

// Latent counts summed up, as the sampler's Statistics have them.
struct LatentSums {
  std::vector<CountTable> rows;  // [matrix][row][column]
  std::vector<std::int64_t> tensor, from_ones, from_edges;
  CountTable networks;
};

// Everything that a model generates, cell by cell and pair by pair, observed or not, and the latent counts behind it.
struct Data {
  std::vector<std::int64_t> y;  // of every cell, the last mode fastest
  CountTable x;                 // [network], of every pair i < j
  LatentSums sums;
};

struct Model {
  std::string name;
  std::vector<std::uint32_t> sizes;
  std::vector<std::size_t> network_modes;
  bool counts = false;
  std::size_t R = 2;
  Hyperparameters hyper;
  std::vector<std::vector<std::uint32_t>> missing_slices;  // by mode
  std::vector<std::size_t> missing_cells;               // cell numbers; those in a slice are missing once all the same
  std::vector<std::vector<std::size_t>> missing_pairs;  // by network, numbers of pairs
  std::function<void(Problem&)> configure;              // sets what else a Problem has, for the sampler under test
  // Where components share columns: how many each matrix has; empty: CP.
  std::vector<std::size_t> columns;
  bool tied = false;  // the first two modes share a matrix
  std::size_t one_hot = no_mode;
  bool self_missing = false;  // cells (i, i) of the first two modes are not data
  static constexpr std::size_t no_mode = 99;
  // The joint law given that there are no more latent counts than this in all, and no fewer observed ones than this:
  // restricted_model.hpp.
  std::int64_t most_counts = std::numeric_limits<std::int64_t>::max();
  std::size_t fewest_ones = 0;

  std::size_t K() const { return sizes.size(); }
  bool shares_columns() const { return !columns.empty(); }
  std::size_t matrix(std::size_t k) const { return tied && k > 0 ? k - 1 : k; }
  std::size_t matrices() const { return K() - (tied ? 1 : 0); }
  std::size_t rows_of(std::size_t f) const { return sizes[tied && f > 0 ? f + 1 : f]; }
  std::size_t columns_of(std::size_t f) const { return shares_columns() ? columns[f] : R; }
  bool is_one_hot(std::size_t f) const { return one_hot != no_mode && matrix(one_hot) == f; }
  FactorLayout layout() const {
    if (!shares_columns()) return FactorLayout::cp(sizes, R);
    std::vector<std::size_t> matrix_of_mode;
    std::vector<FactorLayout::Size> matrix_sizes;
    for (std::size_t k = 0; k < K(); ++k) matrix_of_mode.push_back(matrix(k));
    for (std::size_t f = 0; f < matrices(); ++f) matrix_sizes.push_back({rows_of(f), columns_of(f)});
    FactorLayout result(matrix_of_mode, matrix_sizes, R,
                        std::vector<std::vector<std::uint32_t>>(K(), std::vector<std::uint32_t>(R, 0)));
    if (one_hot != no_mode) result.make_one_hot(one_hot);
    return result;
  }
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
  std::size_t pairs(std::size_t m) const {
    const std::size_t n = sizes[network_modes[m]];
    return n * (n - 1) / 2;
  }
  // The two ends of pair number `pair` of network m.
  std::pair<std::uint32_t, std::uint32_t> ends(std::size_t m, std::size_t pair) const {
    std::uint32_t i = 0;
    for (std::size_t row = sizes[network_modes[m]] - 1; pair >= row; pair -= row--) ++i;
    return {i, static_cast<std::uint32_t>(i + 1 + pair)};
  }

  bool in_missing_slice(std::size_t i) const {
    for (std::size_t k = K(); k-- > 0; i /= sizes[k])
      if (k < missing_slices.size() && contains(missing_slices[k], static_cast<std::uint32_t>(i % sizes[k])))
        return true;
    return false;
  }
  bool is_self(std::size_t i) const {
    const std::vector<std::uint32_t> coords = cell(i);
    return self_missing && coords[0] == coords[1];
  }
  bool is_observed(std::size_t i) const { return !contains(missing_cells, i) && !in_missing_slice(i) && !is_self(i); }
  bool pair_is_observed(std::size_t m, std::size_t pair) const {
    return m >= missing_pairs.size() || !contains(missing_pairs[m], pair);
  }
  bool is_restricted() const { return most_counts < std::numeric_limits<std::int64_t>::max(); }
  bool allows(const std::vector<std::int64_t>& totals) const {
    return std::accumulate(totals.begin(), totals.end(), std::int64_t{0}) <= most_counts;
  }
  bool allows(const Data& data) const {
    std::size_t ones = 0;
    for (std::size_t i = 0; i < data.y.size(); ++i) ones += data.y[i] > 0 && is_observed(i) ? 1 : 0;
    return ones >= fewest_ones && allows(data.sums.tensor);
  }
  std::size_t first_missing() const {  // cells(), if none is
    std::size_t i = 0;
    while (i < cells() && is_observed(i)) ++i;
    return i;
  }

  // z_ir of cell i.
  double rate(const Parameters& q, std::size_t i, std::size_t r) const {
    double product = q.lambda[r];
    for (std::size_t k = K(); k-- > 0; i /= sizes[k]) product *= q.u[matrix(k)][i % sizes[k]][q.column(k, r)];
    return product;
  }
  double rate(const Parameters& q, std::size_t i) const {
    double total = 0;
    for (std::size_t r = 0; r < R; ++r) total += rate(q, i, r);
    return total;
  }
  double pair_rate(const Parameters& q, std::size_t m, std::size_t pair) const {
    const Table& u = q.u[matrix(network_modes[m])];
    const auto [i, j] = ends(m, pair);
    double total = 0;
    for (std::size_t r = 0; r < q.beta[m].size(); ++r) total += 2 * q.beta[m][r] * u[i][r] * u[j][r];
    return total;
  }

 private:
  template <class T>
  static bool contains(const std::vector<T>& list, T value) {
    return std::find(list.begin(), list.end(), value) != list.end();
  }
};

// ---- simulation -----------------------------------------------------------------------------------------------------

using Generator = std::mt19937_64;

// In logs: a learned shape may come out so small that the draw itself underflows.
inline double simulate_log_gamma(Generator& generator, double shape) {
  if (shape >= 1) return std::log(std::gamma_distribution<double>(shape, 1)(generator));
  const double uniform = 1 - std::uniform_real_distribution<double>()(generator);
  return std::log(std::gamma_distribution<double>(shape + 1, 1)(generator)) + std::log(uniform) / shape;
}

inline double draw_prior_shape(Generator& generator, double median, bool learned) {
  return learned ? median * std::exp(log_prior_sd * std::normal_distribution<double>()(generator)) : median;
}

inline void draw_prior_weights(Generator& generator, const WeightPrior& prior, double shape, std::size_t R,
                               std::vector<double>& weight, std::vector<double>& p) {
  weight.resize(R);
  p.resize(R);
  double log_odds = 0;
  for (std::size_t r = 0; r < R; ++r) {
    const double a = simulate_log_gamma(generator, prior.concentration * prior.mean);
    const double b = simulate_log_gamma(generator, prior.concentration * (1 - prior.mean));
    p[r] = 1 / (1 + std::exp(b - a));
    if (prior.shared) p[r] = p[0];
    weight[r] = std::exp(simulate_log_gamma(generator, shape) + (prior.shared && r > 0 ? log_odds : a - b));
    if (r == 0) log_odds = a - b;
  }
}

inline Table draw_prior_columns(Generator& generator, std::size_t n, std::size_t R, double a) {
  Table u(n, std::vector<double>(R));
  for (std::size_t r = 0; r < R; ++r) {
    double largest = -std::numeric_limits<double>::infinity(), total = 0;
    for (auto& row : u) largest = std::max(largest, row[r] = simulate_log_gamma(generator, a));
    for (auto& row : u) total += row[r] = std::exp(row[r] - largest);
    for (auto& row : u) row[r] /= total;
  }
  return u;
}

inline Parameters draw_prior(Generator& generator, const Model& model) {
  const Hyperparameters& hyper = model.hyper;
  Parameters q;
  for (std::size_t f = 0; f < model.matrices(); ++f) {
    const std::size_t n = model.rows_of(f);
    q.shapes.dirichlet.push_back(
        draw_prior_shape(generator, hyper.dirichlet[f], hyper.learn_dirichlet && !model.is_one_hot(f)));
    if (!model.is_one_hot(f)) {
      q.u.push_back(draw_prior_columns(generator, n, model.columns_of(f), q.shapes.dirichlet[f]));
      continue;
    }
    q.u.emplace_back(n, std::vector<double>(n, 0.0));
    for (std::size_t j = 0; j < n; ++j) q.u.back()[j][j] = 1;
  }
  for (std::size_t k = 0; model.shares_columns() && k < model.K(); ++k) {
    // Shares from a uniform law, and each component's column from them.
    const std::size_t P = model.columns_of(model.matrix(k));
    const Table pi = draw_prior_columns(generator, P, 1, 1.0);
    std::vector<double> share;
    for (const auto& row : pi) share.push_back(row[0]);
    std::discrete_distribution<std::uint32_t> law(share.begin(), share.end());
    std::vector<std::uint32_t>& of_mode = q.c.emplace_back();
    for (std::size_t r = 0; r < model.R; ++r) of_mode.push_back(law(generator));
  }
  q.shapes.tensor = draw_prior_shape(generator, hyper.tensor.shape, hyper.learn_shapes);
  draw_prior_weights(generator, hyper.tensor, q.shapes.tensor, model.R, q.lambda, q.p);
  q.beta.resize(model.network_modes.size());
  q.h.resize(model.network_modes.size());
  for (std::size_t m = 0; m < q.beta.size(); ++m) {
    q.shapes.networks.push_back(draw_prior_shape(generator, hyper.network.shape, hyper.learn_shapes));
    draw_prior_weights(generator, hyper.network, q.shapes.networks[m],
                       model.columns_of(model.matrix(model.network_modes[m])), q.beta[m], q.h[m]);
  }
  return q;
}

inline std::int64_t poisson(Generator& generator, double mean) {
  return mean > 0 ? std::poisson_distribution<std::int64_t>(mean)(generator) : 0;
}

// Pairs and diagonal of network m, straight from section 3 of the specification.
inline void simulate_network(Generator& generator, const Model& model, const Parameters& q, std::size_t m, Data& data) {
  const std::size_t mode = model.network_modes[m];
  const std::size_t f = model.matrix(mode);
  CountTable& rows = data.sums.rows[f];
  for (std::size_t i = 0; i < model.sizes[mode]; ++i)
    for (std::size_t j = i; j < model.sizes[mode]; ++j) {
      const bool counted = i != j && model.pair_is_observed(m, data.x[m].size());
      std::int64_t total = 0;
      for (std::size_t r = 0; r < q.beta[m].size(); ++r) {
        const double mean = (i == j ? 1 : 2) * q.beta[m][r] * q.u[f][i][r] * q.u[f][j][r];
        const std::int64_t x = poisson(generator, mean);
        rows[i][r] += x;
        rows[j][r] += x;
        data.sums.networks[m][r] += x;
        if (counted) data.sums.from_edges[r] += x;
        total += x;
      }
      if (i != j) data.x[m].push_back(total);
    }
}

inline Data no_data(const Model& model) {
  Data data;
  data.y.assign(model.cells(), 0);
  const std::vector<std::int64_t> none(model.R, 0);
  for (std::size_t f = 0; f < model.matrices(); ++f) {
    const bool one_hot = model.is_one_hot(f);  // nothing is counted
    data.sums.rows.emplace_back(one_hot ? 1 : model.rows_of(f),
                                std::vector<std::int64_t>(one_hot ? 1 : model.columns_of(f), 0));
  }
  data.sums.tensor = data.sums.from_ones = data.sums.from_edges = none;
  for (const std::size_t mode : model.network_modes) {
    const std::size_t P = model.columns_of(model.matrix(mode));
    data.sums.networks.emplace_back(P, 0);
    data.sums.from_edges.resize(std::max(data.sums.from_edges.size(), P), 0);
  }
  data.x.resize(model.network_modes.size());
  return data;
}

// y counts of component r in cell i.
inline void add_counts(const Model& model, const Parameters& q, std::size_t i, std::size_t r, std::int64_t y,
                       Data& data) {
  if (y == 0) return;
  const std::vector<std::uint32_t> cell = model.cell(i);
  for (std::size_t k = 0; k < model.K(); ++k)
    if (!model.is_one_hot(model.matrix(k))) data.sums.rows[model.matrix(k)][cell[k]][q.column(k, r)] += y;
  data.sums.tensor[r] += y;
  if (model.is_observed(i)) data.sums.from_ones[r] += y;
  data.y[i] += y;
}

// Everything is simulated, missing or not: what is missing has counts like the rest, and is only not shown (Observed).
inline Data simulate(Generator& generator, const Model& model, const Parameters& q) {
  Data data = no_data(model);
  for (std::size_t i = 0; i < model.cells(); ++i)
    for (std::size_t r = 0; r < model.R; ++r) add_counts(model, q, i, r, poisson(generator, model.rate(q, i, r)), data);
  for (std::size_t m = 0; m < data.x.size(); ++m) simulate_network(generator, model, q, m, data);
  return data;
}

// ---- what the sampler sees and says ---------------------------------------------------------------------------------

// The data as the sampler reads them: the observed cells and pairs that are not zero, and what is missing.
class Observed {
 public:
  Observed(const Model& model, std::uint64_t seed) : model_(model), networks_(model.network_modes.size()) {
    for (const std::uint32_t n : model.sizes) tensor_.modes.push_back({"mode", LabelTable::numbered(1, n)});
    for (std::size_t m = 0; m < networks_.size(); ++m) {
      networks_[m].mode = model.network_modes[m];
      for (std::size_t pair = 0; pair < model.pairs(m); ++pair)
        if (!model.pair_is_observed(m, pair)) append_pair(networks_[m].missing, m, pair);
    }
    missing_.slices = missing_twice_.slices = model.missing_slices;
    for (const std::size_t i : model.missing_cells) {
      if (!model.in_missing_slice(i) && !model.is_self(i)) missing_.cells.append(model.cell(i).data(), model.K());
      missing_twice_.cells.append(model.cell(i).data(), model.K());
    }
    problem_.tensor = &tensor_;
    problem_.networks = networks_;
    problem_.hyper = model.hyper;
    problem_.layout = model.layout();
    problem_.self_missing = model.self_missing;
    problem_.seed = seed;
    if (!missing_.empty()) problem_.missing = &missing_;
    if (model.configure) model.configure(problem_);
  }
  Observed(const Observed&) = delete;

  void set(const Data& data) {
    tensor_.coords.resize(0);
    tensor_.counts.resize(0);
    for (std::size_t i = 0; i < data.y.size(); ++i) {
      if (data.y[i] == 0 || !model_.is_observed(i)) continue;
      tensor_.coords.append(model_.cell(i).data(), model_.K());
      if (model_.counts) tensor_.counts.push_back(data.y[i]);
    }
    for (std::size_t m = 0; m < networks_.size(); ++m) {
      networks_[m].edges.resize(0);
      for (std::size_t pair = 0; pair < model_.pairs(m); ++pair)
        if (data.x[m][pair] > 0 && model_.pair_is_observed(m, pair)) append_pair(networks_[m].edges, m, pair);
    }
  }
  const Problem& problem() const { return problem_; }
  // What a reader gives that does not take listed cells out of the list when they lie in a missing slice.
  const Missing& missing_twice() const { return missing_twice_; }

 private:
  void append_pair(Buffer<std::uint32_t>& list, std::size_t m, std::size_t pair) const {
    const auto [i, j] = model_.ends(m, pair);
    list.push_back(i);
    list.push_back(j);
  }

  const Model& model_;
  SparseTensor tensor_;
  std::vector<Network> networks_;
  Missing missing_, missing_twice_;
  Problem problem_;
};

// From and to a sampler.
inline LatentSums sums_of(const Statistics& statistics) {
  LatentSums sums{{}, statistics.tensor, statistics.from_ones, statistics.from_edges, statistics.networks};
  for (const auto& counts : statistics.rows) {
    CountTable& rows = sums.rows.emplace_back(counts->rows(), std::vector<std::int64_t>(counts->columns()));
    for (std::size_t j = 0; j < rows.size(); ++j) counts->read({j, j + 1}, rows[j].data());
  }
  return sums;
}
inline void set(const LatentSums& sums, Statistics& statistics) {
  for (std::size_t k = 0; k < sums.rows.size(); ++k)
    for (std::size_t j = 0; j < sums.rows[k].size(); ++j) statistics.rows[k]->write({j, j + 1}, sums.rows[k][j].data());
  statistics.tensor = sums.tensor;
  statistics.from_ones = sums.from_ones;
  statistics.from_edges = sums.from_edges;
  statistics.networks = sums.networks;
}

// The parameters of a sampler's state, in the units of the specification.
inline Parameters parameters_of(const State& state) {
  Parameters q;
  q.shapes = state.shapes;
  for (const auto& factors : state.factors) {
    Table& u = q.u.emplace_back(factors->rows());
    std::vector<float> row(factors->columns());
    for (std::size_t j = 0; j < u.size(); ++j) {
      factors->read({j, j + 1}, row.data());
      for (const float value : row) u[j].push_back(static_cast<double>(value) / static_cast<double>(u.size()));
    }
  }
  const auto exponential = [](std::vector<double> logs) {
    for (double& value : logs) value = std::exp(value);
    return logs;
  };
  for (std::size_t k = 0; k < state.layout.modes() && !state.layout.columns_are_components(); ++k)
    q.c.emplace_back(state.layout.columns_of_mode(k).begin(), state.layout.columns_of_mode(k).end());
  q.lambda = exponential(state.tensor.log_weight);
  q.p = exponential(state.tensor.log_p);
  for (const Weights& network : state.networks) {
    q.beta.push_back(exponential(network.log_weight));
    q.h.push_back(exponential(network.log_p));
  }
  return q;
}

}  // namespace ztp::test
