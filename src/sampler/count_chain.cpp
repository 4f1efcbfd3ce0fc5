#include "sampler/count_chain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "ztp/error.hpp"

namespace ztp {

CountChain::CountChain(const Problem& problem, Kernel& kernel, std::uint32_t number)
    : AnyChain(number), problem_(problem), kernel_(kernel), counts_(problem, kernel, number) {
  const std::vector<std::uint32_t> sizes = problem.tensor->sizes();
  state_ = make_state(sizes, problem.networks.size(), problem.R, problem.hyper);
  statistics_ = make_statistics(sizes, problem.networks.size(), problem.R);
  for (std::size_t m = 0; m < problem.networks.size(); ++m) networks_.emplace_back(problem, m, counts_, kernel);
}

std::vector<Carried> CountChain::carried() {
  std::vector<Carried> result;
  const auto add = [&](std::string name, auto& values) {
    result.push_back({std::move(name), values.data(), values.size() * sizeof(values[0])});
  };
  add("dirichlet", state_.shapes.dirichlet);
  result.push_back({"shape", &state_.shapes.tensor, sizeof(double)});
  add("network_shapes", state_.shapes.networks);
  result.push_back({"scale", &statistics_.scale, sizeof(double)});
  for (const Statistics::Totals& totals : statistics_.totals()) add(totals.name, *totals.counts);
  for (std::size_t k = 0; k < statistics_.rows.size(); ++k)
    result.push_back({fmt::format("rows{}", k), statistics_.rows[k].row(0), statistics_.rows[k].bytes(), true});
  return result;
}

// Counts below zero, or parameters that no prior has, would make draws run on for ever.
void CountChain::restore(std::uint32_t t) {
  AnyChain::restore(t);
  constexpr std::int64_t most = std::int64_t{1} << 62;
  const auto is_count = [](std::int64_t count) { return count >= 0 && count <= most; };
  const auto is_parameter = [](double value) { return value > 0 && std::isfinite(value); };
  const auto counts = [&](const auto& list) { return std::all_of(list.begin(), list.end(), is_count); };
  const auto parameters = [&](const auto& list) { return std::all_of(list.begin(), list.end(), is_parameter); };
  bool sound = is_parameter(statistics_.scale) && is_parameter(state_.shapes.tensor) &&
               parameters(state_.shapes.dirichlet) && parameters(state_.shapes.networks);
  for (const Statistics::Totals& totals : statistics_.totals()) sound = sound && counts(*totals.counts);
  for (const Matrix<std::int64_t>& rows : statistics_.rows)
    sound = sound && std::all_of(rows.row(0), rows.row(0) + rows.rows() * rows.stride(), is_count);
  if (!sound)
    throw Error(ErrorKind::input, fmt::format("the checkpoint is damaged: chain {} carries numbers that cannot be; fit "
                                              "again",
                                              number_ + 1));
}

void CountChain::describe(SweepReport& report) const {
  report.occupied = occupied(statistics_);
  report.network_only = network_only(statistics_);
  report.total_weight = rates().total;
}

void CountChain::probabilities(const std::uint32_t* cells, std::size_t count, double* probability) const {
  kernel_.score(cells, count, rates(), probability);
  for (std::size_t e = 0; e < count; ++e) probability[e] = -std::expm1(-probability[e]);  // (M1)
}

CountChain::Step::Step(CountChain& chain) : chain_(chain), before_(chain.state_.shapes) {
  ++chain_.t_;
}

CountChain::Step::~Step() {
  if (!goes_back_) return;
  --chain_.t_;
  chain_.state_.shapes = before_;
}

void CountChain::Step::begin_counts() {
  goes_back_ = false;
  chain_.whole_ = false;
}

void CountChain::Step::end() {
  check_totals(chain_.statistics_, chain_.place(chain_.t_));
  chain_.whole_ = true;
}

void CountChain::take_parameters(const Wanted& wanted) {
  const double scale = statistics_.scale;
  check_shapes(state_.shapes, scale, place(wanted.t));
  for (std::size_t k = 0; k < state_.u.size(); ++k) take_columns(k, wanted);
  const auto take_weights = [&](const WeightPrior& prior, std::span<const std::int64_t> totals, StreamKey key,
                                Weights& weights) {
    if (wanted.means)
      mean_weights(prior, totals, scale, weights);
    else
      draw_weights(prior, totals, scale, {key, wanted.t}, weights);
  };
  take_weights(problem_.hyper.tensor.with_shape(state_.shapes.tensor), statistics_.tensor,
               stream_key(wanted.seed, number_, Purpose::weights), state_.tensor);
  for (std::size_t m = 0; m < state_.networks.size(); ++m)
    take_weights(problem_.hyper.network.with_shape(state_.shapes.networks[m]), statistics_.networks[m],
                 stream_key(wanted.seed, number_, Purpose::edge_weights, static_cast<std::uint32_t>(m)),
                 state_.networks[m]);
  check_weights_and_rates(wanted.t);
}

// u^(k), or the rows of it that are wanted.                                                             (M5), (M27), (M28)
void CountChain::take_columns(std::size_t k, const Wanted& wanted) {
  const std::vector<double> totals = column_totals(k);
  const Columns columns{statistics_.rows[k], state_.shapes.dirichlet[k], statistics_.scale,
                        wanted.rows == nullptr ? nullptr : &(*wanted.rows)[k], &totals};
  if (wanted.means) return kernel_.mean_columns(columns, state_.u[k]);
  const StreamKey key = stream_key(wanted.seed, number_, Purpose::columns, static_cast<std::uint32_t>(k));
  check_columns(kernel_.draw_columns(columns, key, wanted.t, state_.u[k]), state_.u[k], k, place(wanted.t));
}

std::vector<double> CountChain::column_totals(std::size_t k) const {
  std::vector<double> totals(problem_.R);
  for (std::size_t r = 0; r < problem_.R; ++r) {
    totals[r] = statistics_.scale * static_cast<double>(statistics_.tensor[r]);
    for (const NetworkPart& network : networks_)
      if (network.mode() == k) totals[r] += network.ends(statistics_, r);
  }
  return totals;
}

void CountChain::check_weights_and_rates(std::uint32_t t) const {
  check_weights(state_.tensor, -1, place(t));
  const bool drawn = observed_counts() == 0 || problem_.missing != nullptr;
  double rate = drawn ? rates().total : 0;
  for (std::size_t m = 0; m < networks_.size(); ++m) {
    check_weights(state_.networks[m], static_cast<int>(m), place(t));
    rate += networks_[m].rate_of_ends(state_);
  }
  check_expected_counts(observed_counts(), rate, place(t));
}

}  // namespace ztp
