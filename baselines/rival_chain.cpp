#include "baselines/rival_chain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/random.hpp"
#include "kernel/host_arrays.hpp"
#include "model/distributions.hpp"
#include "sampler/problem.hpp"
#include "ztp/error.hpp"

namespace ztp {
namespace {

constexpr const char* remedy =
    "fewer components may help (quad, pwquad: or a larger --ridge); if not, please report this";
constexpr double least_share = 0.1;  // of the largest effect on logits, for a component to count as occupied

// Of the values in a column.
double root_mean_square(const Matrix<float>& u, std::size_t r) {
  double sum = 0;
  for (std::size_t j = 0; j < u.rows(); ++j) sum += static_cast<double>(u.row(j)[r]) * static_cast<double>(u.row(j)[r]);
  return std::sqrt(sum / static_cast<double>(u.rows()));
}

}  // namespace

RivalChain::RivalChain(const RivalProblem& problem, Pool& pool, std::uint32_t number)
    : Chain(number), problem_(problem), pool_(pool), weight_(problem.R, 1.0), precision_(problem.R, 1.0) {
  const std::vector<std::uint32_t> sizes = problem.tensor->sizes();
  for (const std::uint32_t n : sizes) u_.emplace_back(n, problem.R);
  HostArrays arrays;
  state_ = make_state(FactorLayout::cp(sizes, problem.R), {}, {}, arrays);
}

void RivalChain::start_at_random(double deviation, double log_odds) {
  t_ = 0;
  intercept_ = log_odds;
  std::fill(weight_.begin(), weight_.end(), 1.0);
  std::fill(precision_.begin(), precision_.end(), 1.0);
  for (std::size_t k = 0; k < order(); ++k) {
    const StreamKey key = stream_key(problem_.seed, number_, Purpose::rival_start, static_cast<std::uint32_t>(k));
    for (std::size_t j = 0; j < u_[k].rows(); ++j) {
      Stream stream(key, 0, j);
      for (std::size_t r = 0; r < problem_.R; ++r)
        u_[k].row(j)[r] = static_cast<float>(deviation * draw_normal(stream));
    }
  }
}

void RivalChain::check_factors(std::size_t k, std::uint32_t t) const {
  for (std::size_t j = 0; j < u_[k].rows(); ++j)
    for (std::size_t r = 0; r < problem_.R; ++r)
      if (!std::isfinite(u_[k].row(j)[r]))
        throw Error(ErrorKind::numeric, fmt::format("{} {}: mode {}, row {}, component {}: the factor is {}; {}",
                                                    step_name(), t, problem_.tensor->modes[k].name, j + 1, r + 1,
                                                    std::isnan(u_[k].row(j)[r]) ? "not a number" : "infinite", remedy));
}

void RivalChain::check_weights(std::uint32_t t) const {
  for (std::size_t r = 0; r < problem_.R; ++r)
    if (!std::isfinite(weight_[r]) || !std::isfinite(precision_[r]))
      throw Error(ErrorKind::numeric, fmt::format("{} {}: component {}: the weight or its precision is not finite; {}",
                                                  step_name(), t, r + 1, remedy));
  if (!std::isfinite(intercept_))
    throw Error(ErrorKind::numeric, fmt::format("{} {}: the intercept is not finite; {}", step_name(), t, remedy));
}

LogitModel RivalChain::model(double offset) const {
  LogitModel result{{}, weight_, intercept_ + offset};
  for (const Matrix<float>& matrix : u_) result.u.push_back(&matrix);
  return result;
}

void RivalChain::draw_state() {
  for (std::size_t k = 0; k < order(); ++k) {
    const float n = static_cast<float>(u_[k].rows());
    Matrix<float>& values = on_this_host(*state_.factors[k]).values;
    for (std::size_t j = 0; j < u_[k].rows(); ++j)
      for (std::size_t r = 0; r < problem_.R; ++r)
        values.row(j)[r] = u_[k].row(j)[r] * (k == 0 && weight_[r] < 0 ? -n : n);
  }
  for (std::size_t r = 0; r < problem_.R; ++r) {
    state_.tensor.log_weight[r] = std::log(std::abs(weight_[r]));
    state_.tensor.log_p[r] = std::log(precision_[r]);
  }
}

std::vector<CheckpointField> RivalChain::checkpoint_fields() {
  std::vector<CheckpointField> result = {{"weight", weight_.data(), weight_.size() * sizeof(double)},
                                         {"precision", precision_.data(), precision_.size() * sizeof(double)},
                                         {"intercept", &intercept_, sizeof(double)}};
  for (std::size_t k = 0; k < order(); ++k) result.push_back({fmt::format("u{}", k), u_[k].row(0), u_[k].bytes()});
  return result;
}

void RivalChain::describe(SweepReport& report) const {
  std::vector<double> effects;
  for (std::size_t r = 0; r < problem_.R; ++r) {
    double effect = std::abs(weight_[r]);
    for (const Matrix<float>& u : u_) effect *= root_mean_square(u, r);
    effects.push_back(effect);
  }
  const double least = least_share * *std::max_element(effects.begin(), effects.end());
  report.occupied = 0;
  report.total_weight = 0;
  for (const double effect : effects) {
    report.occupied += effect >= least && effect > 0;
    report.total_weight += effect;
  }
}

void RivalChain::probabilities(const std::uint32_t* cells, std::size_t count, double* probability) const {
  logits(pool_, model(offset_), cells, count, probability);
  for (std::size_t i = 0; i < count; ++i) probability[i] = logistic(probability[i]);
}

}  // namespace ztp
