// Exact posteriors of tiny models of ones and zeros whose components share columns; some cells may be missing.
//
// Given U and p components are independent. With lambda integrated out, cells of total share q in the product of the
// columns of a component all have no counts of it with probability (1 + o q)^(-g), o = p / (1 - p), and it has none
// at all with probability e = (1 + o)^(-g). Ones are multiplied out into a signed sum over sets of cells, as in
// exact_posterior.hpp. What is left is an integral over U and p, of seven dimensions at most.
#pragma once
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "exact_arrangements.hpp"
#include "exact_posterior.hpp"
#include "tiny_model.hpp"

namespace ztp::test {

// Dirichlet(1/2, ..., 1/2) over two or three entities, by Gauss rules that are exact for polynomials of a degree below
// twice the order: Chebyshev's for Beta(1/2, 1/2); for Beta(1/2, 1) a square u = x^2, and the positive half of
// Legendre's.
template <unsigned order>
std::vector<Node> half_dirichlet_nodes(std::size_t n) {
  std::vector<Node> two, three;
  for (unsigned i = 0; i < order; ++i) {
    const double sine = std::sin((2 * i + 1) * std::numbers::pi / (4 * order));
    two.push_back({{sine * sine, 1 - sine * sine}, 1.0 / order});
  }
  if (n == 2) return two;
  using Rule = boost::math::quadrature::gauss<double, 2 * order>;
  for (std::size_t i = 0; i < order; ++i) {
    const double first = Rule::abscissa()[i] * Rule::abscissa()[i];
    for (const Node& rest : two)
      three.push_back(
          {{first, (1 - first) * rest.value[0], (1 - first) * rest.value[1]}, Rule::weights()[i] * rest.weight});
  }
  return three;
}

class ExactOnes {
 public:
  double evidence = 0, p = 0;       // P(observed data), posterior mean of p
  std::vector<double> arrangement;  // the probability of each
  std::vector<double> zero;         // P(cell = 0) of the cells that were asked for
  double laplace = 0;               // E exp(-sum lambda / 2)

  // order: of the rule for each dimension of U.
  template <unsigned order>
  static ExactOnes of(const Model& model, const Arrangements& arrangements, const std::vector<std::int64_t>& y,
                      const std::vector<std::size_t>& cells) {
    ExactOnes exact(model, arrangements, y, cells, order);
    std::vector<std::vector<Pair>> pairs;
    for (std::size_t f = 0; f < model.matrices(); ++f) pairs.push_back(exact.pairs_of<order>(f));
    exact.integrate(pairs, {}, 1.0);
    for (double* value : {&exact.p, &exact.laplace}) *value /= exact.evidence;
    for (auto* list : {&exact.arrangement, &exact.zero})
      for (double& value : *list) value /= exact.evidence;
    return exact;
  }

 private:
  // Two columns of a matrix. They are alike, so of (u, v) and (v, u) one is enough.
  struct Pair {
    std::array<std::vector<double>, exact_P> column;
    double weight;
  };
  static constexpr std::size_t ways = 8;  // to choose columns: three modes
  using Values = std::array<double, ways>;

  ExactOnes(const Model& model, const Arrangements& arrangements, const std::vector<std::int64_t>& y,
            const std::vector<std::size_t>& cells, double order)
      : arrangement(arrangements.size(), 0.0),
        zero(cells.size(), 0.0),
        model_(model),
        y_(y),
        wanted_(cells),
        share_(model.cells()) {
    for (std::size_t i = 0; i < arrangements.size(); ++i)
      terms_.push_back({arrangements.shorter(i), arrangements[i].size(), i == 0 ? 0 : arrangements[i].back(),
                        arrangements.prior(i)});
    // The trapezoidal rule over log odds.
    const WeightPrior& prior = model.hyper.tensor;
    const double over = prior.concentration * prior.mean, under = prior.concentration - over, step = 3.5 / order;
    for (double x = -6; x < 5; x += step) {
      odds_.push_back(std::exp(x));
      odds_weight_.push_back(step * std::pow(odds_.back(), over) * std::pow(1 + odds_.back(), -over - under) /
                             std::beta(over, under));
    }
  }

  template <unsigned order>
  std::vector<Pair> pairs_of(std::size_t f) const {
    if (model_.is_one_hot(f)) return {{{{{1, 0}, {0, 1}}}, 1}};
    const std::vector<Node> nodes = half_dirichlet_nodes<order>(model_.rows_of(f));
    std::vector<Pair> pairs;
    for (std::size_t i = 0; i < nodes.size(); ++i)
      for (std::size_t j = 0; j <= i; ++j)
        pairs.push_back({{nodes[i].value, nodes[j].value}, (i == j ? 1 : 2) * nodes[i].weight * nodes[j].weight});
    return pairs;
  }

  void integrate(const std::vector<std::vector<Pair>>& pairs, std::vector<const Pair*> u, double weight) {
    if (u.size() == pairs.size()) return add_point(u, weight);
    u.push_back(nullptr);
    for (const Pair& pair : pairs[u.size() - 1]) {
      u.back() = &pair;
      integrate(pairs, u, weight * pair.weight);
    }
  }

  void add_point(const std::vector<const Pair*>& u, double weight) {
    Values zeros{};
    std::vector<std::size_t> ones;
    for (std::size_t i = 0; i < share_.size(); ++i) {
      const std::vector<std::uint32_t> cell = model_.cell(i);
      for (std::size_t t = 0; t < ways; ++t) {
        share_[i][t] = 1;
        for (std::size_t k = 0; k < 3; ++k) share_[i][t] *= u[model_.matrix(k)]->column[column_of(t, k)][cell[k]];
      }
      if (!model_.is_observed(i)) continue;
      if (y_[i] > 0) ones.push_back(i);
      for (std::size_t t = 0; t < ways && y_[i] == 0; ++t) zeros[t] += share_[i][t];
    }
    for (std::size_t set = 0; set < std::size_t{1} << ones.size(); ++set) {
      Values q = zeros;
      double sign = 1;
      for (std::size_t one = 0; one < ones.size(); ++one) {
        if ((set >> one & 1) == 0) continue;
        sign = -sign;
        for (std::size_t t = 0; t < ways; ++t) q[t] += share_[ones[one]][t];
      }
      for (std::size_t i = 0; i < odds_.size(); ++i) add_set(q, odds_[i], sign * weight * odds_weight_[i]);
    }
  }

  void add_set(const Values& q, double odds, double weight) {
    static const Values nowhere{};
    const double e = transform(odds);
    Values with_counts = transforms(odds, q, nowhere, 0);
    const double all = weight * mean(with_counts);
    for (double& value : with_counts) value -= e;
    // Of m components with counts: which these are, and that no other has any.
    const double empty[exact_R + 1] = {weight * e * e * e, 3 * weight * e * e, 3 * weight * e, weight};
    products_.resize(terms_.size(), 1.0);
    arrangement[0] += empty[0];
    for (std::size_t i = 1; i < terms_.size(); ++i) {
      products_[i] = products_[terms_[i].shorter] * with_counts[terms_[i].last];
      arrangement[i] += empty[terms_[i].size] * terms_[i].prior * products_[i];
    }
    evidence += all;
    p += all * odds / (1 + odds);
    laplace += weight * mean(transforms(odds, q, nowhere, 0.5));
    for (std::size_t i = 0; i < wanted_.size(); ++i)
      zero[i] += weight * mean(transforms(odds, q, share_[wanted_[i]], 0));
  }

  // Components are independent given pi: the mean over pi of (sum_t pi(t) w(t))^3, which is cubic in the share of a
  // column of each mode, so that two nodes for each are exact.
  static double mean(Values w) {
    static const double high = 0.5 + std::sqrt(1.0 / 12), low = 1 - high;
    for (std::size_t bit = 1; bit < ways; bit *= 2)
      for (std::size_t t = 0; t < ways; ++t) {
        if ((t & bit) != 0) continue;
        const double first = w[t], second = w[t | bit];
        w[t] = low * first + high * second;
        w[t | bit] = high * first + low * second;
      }
    double total = 0;
    for (const double value : w) total += value * value * value;
    return total / ways;
  }
  static Values transforms(double odds, const Values& q, const Values& more, double lambda) {
    Values w;
    for (std::size_t t = 0; t < ways; ++t) w[t] = transform(odds * (q[t] + more[t] + lambda));
    return w;
  }
  static double transform(double x) { return 1 / std::sqrt(1 + x); }  // g = 1/2

  struct Term {
    std::size_t shorter, size;
    Columns3 last;
    double prior;
  };

  const Model& model_;
  std::vector<Term> terms_;  // of each arrangement
  std::vector<double> products_;
  std::vector<std::int64_t> y_;
  std::vector<std::size_t> wanted_;
  std::vector<double> odds_, odds_weight_;
  std::vector<Values> share_;  // of each cell in each product of columns, at the point at hand
};

}  // namespace ztp::test
