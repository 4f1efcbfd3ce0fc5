#include "sampler/count_chain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ztp/error.hpp"

namespace ztp {
namespace {

WeightPrior with_shape(WeightPrior prior, double shape) {
  prior.shape = shape;
  return prior;
}

}  // namespace

CountChain::CountChain(const Problem& problem, Kernel& kernel, std::uint32_t number)
    : AnyChain(number), problem_(problem), kernel_(kernel), counts_(problem, kernel, number) {
  const std::vector<std::uint32_t> sizes = problem.tensor->sizes();
  state_ = make_state(sizes, problem.networks.size(), problem.R, problem.hyper);
  statistics_ = make_statistics(sizes, problem.networks.size(), problem.R);
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
  add("tensor", statistics_.tensor);
  add("from_ones", statistics_.from_ones);
  add("from_edges", statistics_.from_edges);
  for (std::size_t m = 0; m < statistics_.networks.size(); ++m)
    add(fmt::format("network{}", m), statistics_.networks[m]);
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
               parameters(state_.shapes.dirichlet) && parameters(state_.shapes.networks) &&
               counts(statistics_.tensor) && counts(statistics_.from_ones) && counts(statistics_.from_edges);
  for (const auto& network : statistics_.networks) sound = sound && counts(network);
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
  for (std::size_t e = 0; e < count; ++e) probability[e] = -std::expm1(-probability[e]);
}

WeightPrior CountChain::tensor_prior() const {
  return with_shape(problem_.hyper.tensor, state_.shapes.tensor);
}

WeightPrior CountChain::network_prior(std::size_t m) const {
  return with_shape(problem_.hyper.network, state_.shapes.networks[m]);
}

double CountChain::step_by_halves(const std::function<void()>& parameters, const std::function<double()>& counts) {
  const Shapes shapes = state_.shapes;
  ++t_;
  try {
    parameters();
  } catch (...) {
    --t_;
    state_.shapes = shapes;
    throw;
  }
  whole_ = false;
  const double log_likelihood = counts();
  check_totals(statistics_, place(t_));
  whole_ = true;
  return log_likelihood;
}

void CountChain::draw_parameters(std::uint32_t t) {
  const double scale = statistics_.scale;
  check_shapes(state_.shapes, scale, place(t));
  for (std::size_t k = 0; k < state_.u.size(); ++k)
    check_columns(kernel_.draw_columns({statistics_.rows[k], state_.shapes.dirichlet[k], scale},
                                       counts_.key(Purpose::columns, k), t, state_.u[k]),
                  state_.u[k], k, place(t));
  draw_weights(tensor_prior(), statistics_.tensor, problem_.seed, number_, t, -1, state_.tensor, scale);
  for (std::size_t m = 0; m < state_.networks.size(); ++m)
    draw_weights(network_prior(m), statistics_.networks[m], problem_.seed, number_, t, static_cast<int>(m),
                 state_.networks[m], scale);
  check_weights_and_rates(t);
}

void CountChain::check_weights_and_rates(std::uint32_t t) const {
  check_weights(state_.tensor, -1, place(t));
  const bool drawn = observed_counts() == 0 || problem_.missing != nullptr;
  double rate = drawn ? rates().total : 0;
  for (std::size_t m = 0; m < state_.networks.size(); ++m) {
    check_weights(state_.networks[m], static_cast<int>(m), place(t));
    rate += network_rates(state_, problem_.networks[m], m).total;  // two ends of half of that
  }
  check_expected_counts(observed_counts(), rate, place(t));
}

}  // namespace ztp
