#include "sampler/online_chain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ztp/error.hpp"

namespace ztp {
namespace {

constexpr double finest_scale = 0x1p-16;    // of a count: what a stored one stands for at first
constexpr double units_of_weight = 0x1p10;  // at least so many make up what a count adds, or it would be rounded
constexpr double most_units = 0x1p60;       // of one component in all rows together

// The rows of u that are listed, or all.
template <class Body>
void for_rows(const Matrix<float>& u, const std::vector<std::uint32_t>* rows, const Body& body) {
  for (std::size_t i = 0; i < (rows == nullptr ? u.rows() : rows->size()); ++i) body(rows == nullptr ? i : (*rows)[i]);
}

}  // namespace

OnlineChain::OnlineChain(const Problem& problem, const OnlineOptions& options, Minibatches& ones,
                         const std::vector<Minibatches*>& edges, Kernel& kernel, std::uint32_t number)
    : CountChain(problem, kernel, number), options_(options), ones_(ones), edges_(edges) {
  if (options.inner_draws > 1)
    sum_ = make_state(problem.tensor->sizes(), problem.networks.size(), problem.R, problem.hyper);
  counts_.reserve(ones.largest_chunk());
  met_.resize(state_.u.size());
  for (std::size_t k = 0; touches_few(0) && k < met_.size(); ++k) met_[k].assign(state_.u[k].rows(), 0);
}

std::size_t OnlineChain::minibatch(std::uint32_t t) const {
  return minibatch_of_step(counts_.key(Purpose::minibatches), ones_.count(), t);
}

std::size_t OnlineChain::edge_minibatch(std::size_t m, std::uint32_t t) const {
  return minibatch_of_step(counts_.key(Purpose::minibatches, m + 1), edges_[m]->count(), t);
}

void OnlineChain::start() {
  t_ = 0;
  statistics_.clear();
  statistics_.scale = finest_scale;
  const std::size_t b = minibatch(1);
  // Without counts the means of all components are alike; with weights so small every one counts once.
  for (std::size_t k = 0; k < state_.u.size(); ++k) {
    const std::vector<double> totals = column_totals(k);
    kernel_.mean_columns({.S = statistics_.rows[k], .a = state_.shapes.dirichlet[k], .totals = &totals}, state_.u[k]);
  }
  std::fill(state_.tensor.log_weight.begin(), state_.tensor.log_weight.end(), -100.0);
  for (Weights& weights : state_.networks) std::fill(weights.log_weight.begin(), weights.log_weight.end(), -100.0);
  const double weight = weight_of(ones_, b);
  fit_scale(weight);
  add_ones(b, b, weight, {.t = 0, .anywhere = true});
  for (std::size_t m = 0; m < edges_.size(); ++m) {
    const std::size_t part = edge_minibatch(m, 1);
    add_edges(m, part, weight_of(*edges_[m], part), {.t = 0, .anywhere = true});
  }
}

// (M25), (M26), (M27): O(minibatch R K), and O(R sum_k n_k) unless it touches few rows.
double OnlineChain::step(bool likelihood) {
  const std::size_t b = minibatch(t_ + 1);
  bool few = false;
  return step_by_halves([&] { few = set_parameters_for(b); }, [&] { return move_statistics(b, few, likelihood); });
}

double OnlineChain::move_statistics(std::size_t b, bool few, bool likelihood) {
  const std::size_t next = minibatch(t_ + 1);
  const double rho = t_ == 1 ? 1 : std::pow(t_ + options_.t0, -options_.kappa);
  decay(rho);
  fit_scale(rho);
  const LatentCounts::How how{.t = t_,
                              .expected = options_.expected_counts,
                              .likelihood = likelihood,
                              .bounded = problem_.bounded && !few && !options_.expected_counts,
                              .anywhere = true};
  const double ones = weight_of(ones_, b);
  double log_likelihood = ones * add_ones(b, next, rho * ones, how) - rates().total;
  LatentCounts::How imputed = how;  // complete in every step, and so not scaled
  imputed.unit = units(rho);
  log_likelihood += counts_.impute_missing(state_, imputed, statistics_);
  for (std::size_t m = 0; m < edges_.size(); ++m) {
    const std::size_t part = edge_minibatch(m, t_);
    const double edges = weight_of(*edges_[m], part);
    log_likelihood += edges * add_edges(m, part, rho * edges, how) -
                      network_rates(state_, problem_.networks[m], m).total / 2 +
                      counts_.impute_pairs(m, state_, imputed, statistics_);
  }
  return log_likelihood;
}

double OnlineChain::weight_of(const Minibatches& minibatches, std::size_t b) {
  if (minibatches.size(b) == 0) return 1;
  return static_cast<double>(minibatches.total()) / static_cast<double>(minibatches.size(b));
}

double OnlineChain::add_ones(std::size_t b, std::size_t next, double weight, LatentCounts::How how) {
  how.unit = units(weight);
  double log_likelihood = 0;
  ones_.read(b, next, [&](const Entries& chunk) {
    log_likelihood += counts_.draw_ones(chunk, state_, how, statistics_);
    ++how.chunk;
  });
  return log_likelihood;
}

double OnlineChain::add_edges(std::size_t m, std::size_t b, double weight, LatentCounts::How how) {
  how.unit = units(weight);
  double log_likelihood = 0;
  edges_[m]->read(
      b, b, [&](const Entries& edges) { log_likelihood += counts_.draw_edges(m, edges, state_, how, statistics_); });
  return log_likelihood;
}

// ---- parameters ------------------------------------------------------------------------------------------------------

void OnlineChain::set_parameters(const RowLists* rows, std::uint32_t part) {
  const auto seed = [&](std::uint32_t draw) {
    return problem_.seed + (std::uint64_t{part} * options_.inner_draws + draw) * 0x9e3779b97f4a7c15ull;
  };
  take_parameters(seed(0), rows);
  if (options_.mean_parameters || options_.inner_draws == 1) return;
  const auto rows_of = [&](std::size_t k) { return rows == nullptr ? nullptr : &(*rows)[k]; };
  const auto add = [&](std::uint32_t draw, const std::vector<double>& log_weight, std::vector<double>& log_sum) {
    for (std::size_t r = 0; r < log_sum.size(); ++r)
      log_sum[r] = std::log((draw == 0 ? 0 : std::exp(log_sum[r])) + std::exp(log_weight[r]));
  };
  const double M = options_.inner_draws;
  for (std::uint32_t draw = 0; draw < options_.inner_draws; ++draw) {
    if (draw > 0) take_parameters(seed(draw), rows);
    for (std::size_t k = 0; k < state_.u.size(); ++k)
      for_rows(state_.u[k], rows_of(k), [&](std::size_t j) {
        float* sum = sum_.u[k].row(j);
        for (std::size_t r = 0; r < state_.R; ++r) sum[r] = (draw == 0 ? 0 : sum[r]) + state_.u[k].row(j)[r];
      });
    add(draw, state_.tensor.log_weight, sum_.tensor.log_weight);
    for (std::size_t m = 0; m < edges_.size(); ++m)
      add(draw, state_.networks[m].log_weight, sum_.networks[m].log_weight);
  }
  for (std::size_t k = 0; k < state_.u.size(); ++k)
    for_rows(state_.u[k], rows_of(k), [&](std::size_t j) {
      for (std::size_t r = 0; r < state_.R; ++r) state_.u[k].row(j)[r] = sum_.u[k].row(j)[r] / static_cast<float>(M);
    });
  for (std::size_t r = 0; r < state_.R; ++r) {
    state_.tensor.log_weight[r] = sum_.tensor.log_weight[r] - std::log(M);
    for (std::size_t m = 0; m < edges_.size(); ++m)
      state_.networks[m].log_weight[r] = sum_.networks[m].log_weight[r] - std::log(M);
  }
}

bool OnlineChain::set_parameters_for(std::size_t b, std::uint32_t part) {
  const bool few = touches_few(b);
  if (few) {
    const RowLists rows = touched_rows(b);
    set_parameters(&rows, part);
  } else {
    set_parameters(nullptr, part);
  }
  return few;
}

void OnlineChain::take_parameters(std::uint64_t seed, const RowLists* rows) {
  const double scale = statistics_.scale;
  check_shapes(state_.shapes, scale, place(t_));
  for (std::size_t k = 0; k < state_.u.size(); ++k) {
    const std::vector<double> totals = column_totals(k);
    const Columns columns{statistics_.rows[k], state_.shapes.dirichlet[k], scale,
                          rows == nullptr ? nullptr : &(*rows)[k], &totals};
    if (options_.mean_parameters)
      kernel_.mean_columns(columns, state_.u[k]);
    else
      check_columns(
          kernel_.draw_columns(columns, stream_key(seed, number_, Purpose::columns, static_cast<std::uint32_t>(k)), t_,
                               state_.u[k]),
          state_.u[k], k, place(t_));
  }
  if (options_.mean_parameters) {
    mean_weights(tensor_prior(), statistics_.tensor, scale, state_.tensor);
    for (std::size_t m = 0; m < edges_.size(); ++m)
      mean_weights(network_prior(m), statistics_.networks[m], scale, state_.networks[m]);
    return check_weights_and_rates(t_);
  }
  draw_weights(tensor_prior(), statistics_.tensor, seed, number_, t_, -1, state_.tensor, scale);
  for (std::size_t m = 0; m < edges_.size(); ++m)
    draw_weights(network_prior(m), statistics_.networks[m], seed, number_, t_, static_cast<int>(m), state_.networks[m],
                 scale);
  check_weights_and_rates(t_);
}

// The sums of the columns of S^(k): what ones have, and both ends of edges.
std::vector<double> OnlineChain::column_totals(std::size_t k) const {
  std::vector<double> totals(problem_.R);
  for (std::size_t r = 0; r < problem_.R; ++r) {
    totals[r] = statistics_.scale * static_cast<double>(statistics_.tensor[r]);
    for (std::size_t m = 0; m < problem_.networks.size(); ++m)
      if (problem_.networks[m].mode == k)
        totals[r] += 2 * statistics_.scale * static_cast<double>(statistics_.networks[m][r]);
  }
  return totals;
}

// ---- rows that a minibatch touches -----------------------------------------------------------------------------------

// Imputed counts can fall anywhere, and a minibatch in chunks would have to be read twice.
bool OnlineChain::touches_few(std::size_t b) const {
  if (!ones_.whole() || problem_.missing != nullptr || !problem_.networks.empty()) return false;
  std::uint64_t rows = 0;
  for (const auto& u : state_.u) rows += u.rows();
  return ones_.size(b) * state_.u.size() < rows / 2;
}

OnlineChain::RowLists OnlineChain::touched_rows(std::size_t b) {
  const std::size_t K = state_.u.size();
  ++seen_;
  RowLists rows(K);
  ones_.read(b, b, [&](const Entries& ones) {
    for (std::size_t k = 0; k < K; ++k) {
      if (met_[k].empty()) met_[k].assign(state_.u[k].rows(), 0);
      for (std::size_t e = 0; e < ones.count; ++e) {
        const std::uint32_t j = ones.coords[e * K + k];
        if (met_[k][j] == seen_) continue;
        met_[k][j] = seen_;
        rows[k].push_back(j);
      }
      std::sort(rows[k].begin(), rows[k].end());
    }
  });
  return rows;
}

// ---- statistics in whole numbers -------------------------------------------------------------------------------------

std::int64_t OnlineChain::units(double counts) const {
  return std::llround(counts / statistics_.scale);
}

// What is stored stays; what it stands for shrinks.
void OnlineChain::decay(double rho) {
  if (rho < 1) {
    statistics_.scale *= 1 - rho;
    return;
  }
  statistics_.clear();
  statistics_.scale = finest_scale;
}

void OnlineChain::fit_scale(double smallest_weight) {
  std::int64_t largest = 0;
  for (std::size_t k = 0; k < state_.u.size(); ++k)
    for (const double total : column_totals(k))
      largest = std::max(largest, static_cast<std::int64_t>(total / statistics_.scale));
  // What a step may add: all counts, several times over, since those of ones are latent.
  double coming = static_cast<double>(ones_.total_count());
  for (const Minibatches* edges : edges_) coming += 2 * static_cast<double>(edges->total());
  double rate = rates().total;  // and those of all cells may be more still
  for (std::size_t m = 0; m < edges_.size(); ++m) rate += network_rates(state_, problem_.networks[m], m).total;
  const double most = std::max(16 * coming, 2 * rate) / statistics_.scale + static_cast<double>(largest);
  const int too_fine = most > most_units ? static_cast<int>(std::ceil(std::log2(most / most_units))) + 8 : 0;
  const double least = smallest_weight / units_of_weight;
  if (too_fine > 0) {
    rescale(-too_fine);
  } else if (statistics_.scale > least) {
    const int room = static_cast<int>(std::floor(std::log2(most_units / most)));
    const int wanted = static_cast<int>(std::ceil(std::log2(statistics_.scale / least))) + 4;
    if (std::min(room, wanted) > 0) rescale(std::min(room, wanted));
  }
  if (units(smallest_weight) == 0 && too_fine > 0)
    throw Error(ErrorKind::numeric, fmt::format("step {}: counts that add up to {:.3g} are too many for online "
                                                "statistics; use --method batch",
                                                t_, coming));
  if (units(smallest_weight) == 0)
    throw Error(ErrorKind::numeric,
                fmt::format("step {}: a minibatch moves the statistics by less than can be stored; a smaller --kappa "
                            "or a smaller --t0 moves them more, and smaller counts leave more room",
                            t_));
}

void OnlineChain::rescale(int bits) {
  for (auto& rows : statistics_.rows) kernel_.shift(bits, rows);
  const auto shift = [bits](std::vector<std::int64_t>& totals) {
    for (std::int64_t& total : totals) total = shifted(total, bits);
  };
  shift(statistics_.tensor);
  for (auto& totals : statistics_.networks) shift(totals);
  shift(statistics_.from_ones);
  shift(statistics_.from_edges);
  statistics_.scale = std::ldexp(statistics_.scale, -bits);
}

}  // namespace ztp
