#include "sampler/poisson_chain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "kernel/draw_columns.hpp"

namespace ztp {

PoissonChain::PoissonChain(const Problem& problem, Kernel& kernel, std::uint32_t number, bool wide)
    : Chain(number), problem_(problem), kernel_(kernel), counts_(problem, kernel, number) {
  const std::vector<std::size_t> networks = problem.network_matrices();
  state_ = make_state(problem.layout, networks, problem.hyper, kernel);
  statistics_ = make_statistics(problem.layout, networks, wide, kernel);
  for (std::size_t m = 0; m < networks.size(); ++m) networks_.emplace_back(problem, m, counts_, kernel);
}

std::vector<CheckpointField> PoissonChain::checkpoint_fields() {
  std::vector<CheckpointField> result;
  const auto add = [&](std::string name, auto& values) {
    result.push_back({std::move(name), values.data(), values.size() * sizeof(values[0])});
  };
  add("dirichlet", state_.shapes.dirichlet);
  result.push_back({"shape", &state_.shapes.tensor, sizeof(double)});
  add("network_shapes", state_.shapes.networks);
  result.push_back({"scale", &statistics_.scale, sizeof(double)});
  for (const Statistics::Totals& totals : statistics_.totals()) add(totals.name, *totals.counts);
  for (std::size_t f = 0; f < statistics_.rows.size(); ++f)
    result.push_back({.name = fmt::format("rows{}", f), .rows = statistics_.rows[f].get()});
  return result;
}

// Counts below zero, or parameters that no prior has, would make draws run on for ever.
void PoissonChain::restore(std::uint32_t t) {
  Chain::restore(t);
  constexpr std::int64_t most = std::int64_t{1} << 62;
  const auto is_count = [](std::int64_t count) { return count >= 0 && count <= most; };
  const auto is_parameter = [](double value) { return value > 0 && std::isfinite(value); };
  const auto counts = [&](const auto& list) { return std::all_of(list.begin(), list.end(), is_count); };
  const auto parameters = [&](const auto& list) { return std::all_of(list.begin(), list.end(), is_parameter); };
  bool sound = is_parameter(statistics_.scale) && is_parameter(state_.shapes.tensor) &&
               parameters(state_.shapes.dirichlet) && parameters(state_.shapes.networks);
  for (const Statistics::Totals& totals : statistics_.totals()) sound = sound && counts(*totals.counts);
  for (const auto& of_matrix : statistics_.rows)
    collect_blocks_of_rows(*of_matrix, [&](Range rows, const std::int64_t* values) {
      sound = sound && std::all_of(values, values + rows.size() * of_matrix->columns(), is_count);
    });
  if (!sound) throw damaged_checkpoint();
}

Error PoissonChain::damaged_checkpoint() const {
  return Error(ErrorKind::input,
               fmt::format("the checkpoint is damaged: chain {} has invalid numbers; fit again", number_ + 1));
}

void PoissonChain::describe(SweepReport& report) const {
  report.occupied = occupied(statistics_);
  report.network_only = state_.layout.columns_are_components() ? network_only(statistics_) : 0;
  report.total_weight = rates().total;
}

void PoissonChain::probabilities(const std::uint32_t* cells, std::size_t count, double* probability) const {
  kernel_.score(cells, count, rates(), probability);
  for (std::size_t e = 0; e < count; ++e) probability[e] = -std::expm1(-probability[e]);  // (M1)
}

PoissonChain::Step::Step(PoissonChain& chain) : chain_(chain), before_(chain.state_.shapes) {
  ++chain_.t_;
}

PoissonChain::Step::~Step() {
  if (!goes_back_) return;
  --chain_.t_;
  chain_.state_.shapes = before_;
}

void PoissonChain::Step::begin_counts() {
  goes_back_ = false;
  chain_.whole_ = false;
}

void PoissonChain::Step::end() {
  check_totals(chain_.statistics_, chain_.context(chain_.t_));
  chain_.whole_ = true;
}

void PoissonChain::set_parameters(const ParameterRequest& request) {
  const double scale = statistics_.scale;
  check_shapes(state_.shapes, scale, context(request.t));
  std::vector<std::pair<std::size_t, ColumnDraw>> drawn;  // weights are drawn meanwhile
  for (std::size_t f = 0; f < state_.factors.size(); ++f)
    if (!state_.layout.is_one_hot(f)) set_columns(f, request, drawn);
  kernel_.start_columns();
  const auto set_weights = [&](const WeightPrior& prior, std::span<const std::int64_t> totals, StreamKey key,
                               Weights& weights) {
    if (request.means)
      mean_weights(prior, totals, scale, weights);
    else
      draw_weights(prior, totals, scale, {key, request.t}, weights);
  };
  set_weights(problem_.hyper.tensor.with_shape(state_.shapes.tensor), statistics_.tensor,
              key(Purpose::weights, 0, request), state_.tensor);
  for (std::size_t m = 0; m < state_.networks.size(); ++m)
    set_weights(problem_.hyper.network.with_shape(state_.shapes.networks[m]), statistics_.networks[m],
                key(Purpose::edge_weights, m, request), state_.networks[m]);
  for (auto& [f, columns] : drawn) check_columns(columns.sums(), *state_.factors[f], f, context(request.t));
  check_weights_and_rates(request.t);
}

StreamKey PoissonChain::key(Purpose purpose, std::size_t index, const ParameterRequest& request) const {
  return stream_key(problem_.seed, number_, purpose, static_cast<std::uint32_t>(index),
                    {problem_.update, request.draw});
}

// The columns of matrix f, or the rows of it that are asked for.                                   (M5), (M27), (M28)
void PoissonChain::set_columns(std::size_t f, const ParameterRequest& request,
                               std::vector<std::pair<std::size_t, ColumnDraw>>& drawn) {
  const std::vector<double> totals = column_totals(f);
  const Columns columns{*statistics_.rows[f], state_.shapes.dirichlet[f], statistics_.scale,
                        request.rows == nullptr ? nullptr : &(*request.rows)[f]};
  Factors& u = *state_.factors[f];
  if (request.means) return mean_columns(kernel_, columns, totals, u);
  drawn.emplace_back(f, ColumnDraw(kernel_, columns, totals, key(Purpose::columns, f, request), request.t, u));
}

std::vector<std::int64_t> PoissonChain::stored_network_ends(std::size_t f) const {
  std::vector<std::int64_t> ends(problem_.layout.size(f).columns, 0);
  for (const NetworkPart& network : networks_)
    for (std::size_t q = 0; network.factor_matrix() == f && q < ends.size(); ++q)
      ends[q] += network.stored_ends(statistics_, q);
  return ends;
}

std::vector<std::int64_t> PoissonChain::stored_column_totals(std::size_t f) const {
  const FactorLayout& layout = layout_of_counts();
  std::vector<std::int64_t> totals = stored_network_ends(f);
  for (std::size_t k = 0; k < layout.modes(); ++k)
    for (std::size_t r = 0; layout.matrix(k) == f && r < layout.components(); ++r)
      totals[layout.column(k, r)] += statistics_.tensor[r];
  return totals;
}

std::vector<double> PoissonChain::column_totals(std::size_t f) const {
  std::vector<double> totals;
  for (const std::int64_t total : stored_column_totals(f))
    totals.push_back(statistics_.scale * static_cast<double>(total));
  return totals;
}

void PoissonChain::check_weights_and_rates(std::uint32_t t) const {
  check_weights(state_.tensor, -1, context(t));
  const bool drawn = observed_counts() == 0 || problem_.missing != nullptr;
  double rate = drawn ? rates().total : 0;
  for (std::size_t m = 0; m < networks_.size(); ++m) {
    check_weights(state_.networks[m], static_cast<int>(m), context(t));
    rate += networks_[m].rate_of_ends(state_);
  }
  check_expected_counts(observed_counts(), rate, context(t));
}

}  // namespace ztp
