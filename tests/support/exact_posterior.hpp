// Exact posterior means of tiny binary models, by multiplying out the likelihood and by numerical integration.
//
// With b_i = 1(y_i >= 1), the likelihood of ones O and zeros Z is prod_Z e^(-z_i) prod_O (1 - e^(-z_i)), which
// multiplied out is a signed sum of exp(-sum_A z_i) over sets A. Under the prior each of these is a product over the
// components, which are independent and alike: phi(A)^R. phi is an integral over the factors of one component, with
// lambda and p integrated out beforehand:  psi(q) = E exp(-lambda q) = E (1 + q p / (1 - p))^(-g).  Links of a network
// are cells like any other. A missing cell or pair is in neither product: its factor is one.
#pragma once
#include <algorithm>
#include <boost/math/quadrature/gauss.hpp>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "tiny_model.hpp"

namespace ztp::test {

struct Node {
  std::vector<double> value;  // a point of the simplex
  double weight;
};

// Gauss-Legendre in theta, u = sin^2 theta, for Beta(a, b): smooth if 2a and 2b are integers.
template <unsigned order>
std::vector<std::pair<double, double>> beta_nodes(double a, double b) {
  using Rule = boost::math::quadrature::gauss<double, order>;
  std::vector<std::pair<double, double>> nodes;
  for (std::size_t i = 0; i < order / 2; ++i)
    for (const double sign : {-1.0, 1.0}) {
      const double theta = std::numbers::pi / 4 * (1 + sign * Rule::abscissa()[i]);
      const double sine = std::sin(theta), cosine = std::cos(theta);
      nodes.push_back({sine * sine, std::numbers::pi / 4 * Rule::weights()[i] * 2 * std::pow(sine, 2 * a - 1) *
                                        std::pow(cosine, 2 * b - 1) / std::beta(a, b)});
    }
  return nodes;
}

// Dirichlet(a, ..., a) over n entities, broken from a stick.
template <unsigned order>
std::vector<Node> dirichlet_nodes(std::size_t n, double a) {
  if (n == 1) return {{{1.0}, 1.0}};
  std::vector<Node> nodes;
  for (const auto& [first, weight] : beta_nodes<order>(a, a * static_cast<double>(n - 1)))
    for (const Node& rest : dirichlet_nodes<order>(n - 1, a)) {
      Node node{{first}, weight * rest.weight};
      for (const double value : rest.value) node.value.push_back((1 - first) * value);
      nodes.push_back(std::move(node));
    }
  return nodes;
}

// psi(q), by the trapezoidal rule over log(p / (1 - p)), whose error here is below 1e-10 for every q. It is wanted
// millions of times, so it is tabulated over log q with its derivative, and interpolated by cubics.
class LaplaceTransform {
 public:
  explicit LaplaceTransform(const WeightPrior& prior) : shape_(prior.shape) {
    const double a = prior.concentration * prior.mean, b = prior.concentration * (1 - prior.mean), step = 0.8;
    for (int i = -18; i <= 18; ++i) {
      odds_.push_back(std::exp(step * i));
      weight_.push_back(step * std::pow(odds_.back(), a) * std::pow(1 + odds_.back(), -a - b) /
                        std::beta(a, b));
    }
    for (double x = smallest; x < largest; x += spacing) table_.push_back(direct(std::exp(x)));
  }

  double operator()(double q) const {
    const double place = (std::log(std::max(q, std::exp(smallest))) - smallest) / spacing;
    const std::size_t i = std::min(static_cast<std::size_t>(place), table_.size() - 2);
    const double t = place - static_cast<double>(i), s = 1 - t;
    const auto& [y0, d0] = table_[i];
    const auto& [y1, d1] = table_[i + 1];
    return y0 * s * s * (1 + 2 * t) + y1 * t * t * (1 + 2 * s) + spacing * t * s * (d0 * s - d1 * t);
  }

  // psi and its derivative by log q.
  std::pair<double, double> direct(double q) const {
    double value = 0, derivative = 0;
    for (std::size_t i = 0; i < odds_.size(); ++i) {
      const double power = weight_[i] * std::pow(1 + q * odds_[i], -shape_);
      value += power;
      derivative -= power * shape_ * odds_[i] * q / (1 + q * odds_[i]);
    }
    return {value, derivative};
  }

 private:
  static constexpr double spacing = 1.0 / 128, smallest = -32, largest = 11;
  double shape_;
  std::vector<double> odds_, weight_;
  std::vector<std::pair<double, double>> table_;
};

// Multiples in an exponent: of z of every cell, of the rate of every pair, of sum lambda and of sum beta.
struct Exponent {
  std::vector<double> cells, pairs;
  double lambda = 0, beta = 0;
};

// Posterior expectations of exp(-exponent) for a binary model with at most one network.
class ExactPosterior {
 public:
  template <unsigned order = 12>
  static ExactPosterior of(const Model& model, const Data& data) {
    ExactPosterior posterior(model, data);
    posterior.add_points<order>(0, {}, 1.0);
    posterior.evidence_ = posterior.joint(posterior.nothing());
    return posterior;
  }

  Exponent nothing() const { return {std::vector<double>(y_.size(), 0), std::vector<double>(x_.size(), 0)}; }

  // P(observed data).
  double evidence() const { return evidence_; }
  // E exp(-exponent) 1(observed data).
  double joint(const Exponent& exponent) const {
    Exponent total = exponent;
    std::vector<double*> ones;
    for (std::size_t i = 0; i < y_.size(); ++i)
      if (model_.is_observed(i)) y_[i] > 0 ? ones.push_back(&total.cells[i]) : void(total.cells[i] += 1);
    for (std::size_t i = 0; i < x_.size(); ++i)
      if (model_.pair_is_observed(0, i)) x_[i] > 0 ? ones.push_back(&total.pairs[i]) : void(total.pairs[i] += 1);
    return signed_sum(total, ones, 0);
  }
  double mean(const Exponent& exponent) const { return joint(exponent) / evidence_; }

  // E log S = integral over t of (e^-t - E e^(-tS)) / t, for S = sum lambda.
  double mean_log_lambda() const {
    const double step = 0.5;
    double sum = 0;
    for (double x = -16; x <= 10; x += step) {
      Exponent exponent = nothing();
      exponent.lambda = std::exp(x);
      sum += step * (std::exp(-exponent.lambda) - mean(exponent));
    }
    return sum;
  }

 private:
  struct Point {
    std::vector<double> cells, pairs;  // prod_k u, and 2 u_i u_j
    double weight;
  };

  ExactPosterior(const Model& model, const Data& data)
      : model_(model), y_(data.y), tensor_(model.hyper.tensor), network_(model.hyper.network) {
    if (!data.x.empty()) x_ = data.x[0];
  }

  template <unsigned order>
  void add_points(std::size_t k, std::vector<std::vector<double>> u, double weight) {
    if (k == model_.K()) return add_point(u, weight);
    for (const Node& node : dirichlet_nodes<order>(model_.sizes[k], model_.hyper.dirichlet[k])) {
      std::vector<std::vector<double>> longer = u;
      longer.push_back(node.value);
      add_points<order>(k + 1, longer, weight * node.weight);
    }
  }
  void add_point(const std::vector<std::vector<double>>& u, double weight) {
    Point point{{}, {}, weight};
    for (std::size_t i = 0; i < y_.size(); ++i) {
      point.cells.push_back(1);
      for (std::size_t k = 0; k < model_.K(); ++k) point.cells.back() *= u[k][model_.cell(i)[k]];
    }
    for (std::size_t pair = 0; pair < x_.size(); ++pair) {
      const std::vector<double>& v = u[model_.network_modes[0]];
      const auto [i, j] = model_.ends(0, pair);
      point.pairs.push_back(2 * v[i] * v[j]);
    }
    points_.push_back(std::move(point));
  }

  double phi(const Exponent& exponent) const {
    double sum = 0;
    for (const Point& point : points_) {
      double q = exponent.lambda, network_q = exponent.beta;
      for (std::size_t i = 0; i < y_.size(); ++i) q += exponent.cells[i] * point.cells[i];
      for (std::size_t i = 0; i < x_.size(); ++i) network_q += exponent.pairs[i] * point.pairs[i];
      sum += point.weight * tensor_(q) * (x_.empty() ? 1 : network_(network_q));
    }
    return sum;
  }
  double signed_sum(Exponent& exponent, const std::vector<double*>& ones, std::size_t next) const {
    if (next == ones.size()) return std::pow(phi(exponent), static_cast<double>(model_.R));
    const double without = signed_sum(exponent, ones, next + 1);
    *ones[next] += 1;
    const double with = signed_sum(exponent, ones, next + 1);
    *ones[next] -= 1;
    return without - with;
  }

  const Model& model_;
  std::vector<std::int64_t> y_, x_;
  LaplaceTransform tensor_, network_;
  std::vector<Point> points_;
  double evidence_ = 0;
};

}  // namespace ztp::test
