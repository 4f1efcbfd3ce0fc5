// The functions of parameters, data and latent counts whose means the joint tests compare. All are bounded, or logs cut
// off where the law has next to no mass: a mean with an infinite variance has no standard error. Data enter through
// observed cells and pairs alone. Products of parameters with data and with counts are what shows a sampler that draws
// the right marginal laws and the wrong dependence (docs/correctness.md).
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tiny_model.hpp"

namespace ztp::test {

class Functionals {
 public:
  // Names are wanted once, values millions of times.
  explicit Functionals(bool with_names = false) : with_names_(with_names) {}

  const std::vector<double>& values() const { return values_; }
  const std::vector<std::string>& names() const { return names_; }

  void compute(const Model& model, const Parameters& q, const Data& data, const LatentSums& s) {
    values_.clear();
    names_.clear();
    of_ = "";
    double ones = tensor(model, q, data, s);
    components(q, s, ones);
    for (std::size_t f = 0; f < model.matrices(); ++f)
      if (!model.is_one_hot(f)) factors(q, s, f);
    for (std::size_t k = 0; model.shares_columns() && k < model.K(); ++k) shared_columns(model, q, s, ones, k);
    if (model.first_missing() < model.cells()) missing(model, q, s, ones);
    for (std::size_t m = 0; m < data.x.size(); ++m) network(model, q, data, s, m);
    if (model.hyper.learn_dirichlet)
      for (std::size_t f = 0; f < model.matrices(); ++f)
        if (!model.is_one_hot(f)) learned_dirichlet(model, q, s, ones, f);
    if (model.hyper.learn_shapes) learned_shape(model, q, s, ones);
  }

 private:
  void add(const char* name, double value) {
    values_.push_back(value);
    if (with_names_) names_.push_back(of_ + name);
  }
  void speak_of(const char* what, std::size_t number) {
    if (with_names_) of_ = fmt::format("{} {}: ", what, number + 1);
  }
  static double log_of(double x) { return std::log(std::clamp(x, 1e-5, 1e5)); }
  static double log_count(std::int64_t count) { return std::log1p(static_cast<double>(count)); }
  static double probability(double rate) { return -std::expm1(-rate); }
  static double share(double value, double median) { return value / (value + median); }

  // What is seen of cell i: a one, or a count cut off at four; nothing where it is missing.
  static double seen(const Model& model, const Data& data, std::size_t i) {
    if (!model.is_observed(i)) return 0;
    return static_cast<double>(std::min<std::int64_t>(data.y[i], model.counts ? 4 : 1));
  }

  // Returns the sum of what is seen.
  double tensor(const Model& model, const Parameters& q, const Data& data, const LatentSums& s) {
    std::size_t first = 0, last = model.cells() - 1;
    while (!model.is_observed(first)) ++first;
    while (!model.is_observed(last)) --last;
    const std::size_t slice = model.cells() / model.sizes[0];  // cells of one row of mode 1
    double ones = 0, row = 0, explained = 0;
    for (std::size_t i = first; i <= last; ++i) {
      const double one = seen(model, data, i);
      ones += one;
      if (i / slice == first / slice) row += one;
      explained += one * probability(model.rate(q, i));
    }
    const double first_one = seen(model, data, first), last_one = seen(model, data, last);
    const double log_lambda = log_of(sum(q.lambda)), log_s = log_count(s.tensor[0]);
    add("log lambda_1", log_of(q.lambda[0]));
    add("log lambda_2", log_of(q.lambda[1]));
    add("(log sum lambda)^2", log_lambda * log_lambda);
    add("p_1", q.p[0]);
    add("p_2^2", q.p[1] * q.p[1]);
    add("p_1 log lambda_1", q.p[0] * log_of(q.lambda[0]));
    add("P(first)", probability(model.rate(q, first)));
    add("P(last)", probability(model.rate(q, last)));
    add("ones", ones);
    add("ones^2", ones * ones);
    add("first", first_one);
    add("first * last", first_one * last_one);
    add("ones * log sum lambda", ones * log_lambda);
    add("ones * p_1", ones * q.p[0]);
    add("ones * P", explained);
    add("first * P(first)", first_one * probability(model.rate(q, first)));
    add("row of first * its u", row * q.u[0][first / slice][0]);
    add("log(1 + s_1)", log_s);
    add("log(1 + s_1) log lambda_1", log_s * log_of(q.lambda[0]));
    add("log(1 + s_1) ones", log_s * ones);
    add("log(1 + s_2)", log_count(s.tensor[1]));
    return ones;
  }

  // How the counts of the ones are shared out over the components, whatever their labels: what splits and merges
  // change.
  void components(const Parameters& q, const LatentSums& s, double ones) {
    double occupied = 0, largest = 0, squares = 0, products = 0, total = 0;
    for (const std::int64_t count : s.from_ones) {
      const double log_s = log_count(count);
      occupied += count > 0 ? 1 : 0;
      largest = std::max(largest, log_s);
      squares += log_s * log_s;
      products += total * log_s;
      total += log_s;
    }
    const double log_lambda = log_of(sum(q.lambda));
    add("occupied", occupied);
    add("occupied^2", occupied * occupied);
    add("one occupied", occupied == 1 ? 1 : 0);
    add("occupied * ones", occupied * ones);
    add("occupied * log sum lambda", occupied * log_lambda);
    add("largest log(1 + s_r)", largest);
    add("sum of log(1 + s_r)^2", squares);
    add("sum of log(1 + s_r) log(1 + s_r')", products);
    add("largest log(1 + s_r) * ones", largest * ones);
  }

  void factors(const Parameters& q, const LatentSums& s, std::size_t k) {
    const double count = log_count(s.rows[k][0][0]), u = q.u[k][0][0];
    speak_of("mode", k);
    add("u_11", u);
    add("u_11^2", u * u);
    add("u_11 u_12", u * q.u[k][0][1]);
    add("log u_n2", log_of(q.u[k].back()[1]));
    add("log(1 + S_11)", count);
    add("u_11 log(1 + S_11)", count * u);
  }

  // Which components share a column of mode k, and how that goes with counts, parameters and data.
  void shared_columns(const Model& model, const Parameters& q, const LatentSums& s, double ones, std::size_t k) {
    const std::vector<std::uint32_t>& c = q.c[k];
    const double same = c[0] == c[1] ? 1 : 0, both = s.tensor[0] > 0 && s.tensor[1] > 0 ? 1 : 0;
    std::vector<double> used(model.columns_of(model.matrix(k)), 0.0);
    double pairs = 0, weight = 0;
    for (std::size_t r = 0; r < model.R; ++r) {
      if (s.tensor[r] > 0) used[c[r]] = 1;
      for (std::size_t other = 0; other < r; ++other) {
        if (c[r] != c[other]) continue;
        weight += 1;
        pairs += s.tensor[r] > 0 && s.tensor[other] > 0 ? 1 : 0;
      }
    }
    speak_of("columns of mode", k);
    add("c_1 = c_2", same);
    add("c_1 = c_2, both with counts", same * both);
    add("columns used", sum(used));
    add("pairs in one column", weight);
    add("pairs with counts in one column", pairs);
    add("(pairs with counts in one column)^2", pairs * pairs);
    add("pairs with counts in one column * ones", pairs * ones);
    add("pairs with counts in one column * log sum lambda", pairs * log_of(sum(q.lambda)));
    add("c_1 = c_2 * log lambda_1", same * log_of(q.lambda[0]));
    add("c_1 = 1", c[0] == 0 ? 1 : 0);
    add("c_1 = 1 * log(1 + s_1)", (c[0] == 0 ? 1 : 0) * log_count(s.tensor[0]));
    if (k != 1 || !model.tied) return;
    double in_both = 0, with_counts = 0;
    for (std::size_t r = 0; r < model.R; ++r) {
      const double both_modes = c[r] == q.c[0][r] ? 1 : 0;
      in_both += both_modes;
      with_counts += s.tensor[r] > 0 ? both_modes : 0;
    }
    add("components with one column for tied modes", in_both);
    add("the same with counts", with_counts);
    add("the same with counts * ones", with_counts * ones);
  }

  // What the missing cells add to the statistics, and how it goes with the parameters and with the data.
  void missing(const Model& model, const Parameters& q, const LatentSums& s, double ones) {
    const std::size_t i = model.first_missing();
    const double P = probability(model.rate(q, i)), imputed = log_count(s.tensor[0] - s.from_ones[0]);
    of_ = "";
    add("P(missing)", P);
    add("P(missing) ones", P * ones);
    add("log(1 + s_1 from ones)", log_count(s.from_ones[0]));
    add("log(1 + s_1 imputed)", imputed);
    add("log(1 + s_1 imputed) P(missing)", imputed * P);
    add("log(1 + s_1 imputed) ones", imputed * ones);
    add("log(1 + s_1 imputed) log lambda_1", imputed * log_of(q.lambda[0]));
    for (std::size_t k = 0; k < model.missing_slices.size(); ++k) {
      if (model.missing_slices[k].empty() || model.is_one_hot(model.matrix(k))) continue;
      const std::uint32_t j = model.missing_slices[k][0];
      const double count = log_count(s.rows[model.matrix(k)][j][0]), u = q.u[model.matrix(k)][j][0];
      speak_of("missing slice of mode", k);
      add("u", u);
      add("log(1 + S)", count);
      add("u log(1 + S)", u * count);
      add("u ones", u * ones);
    }
  }

  void network(const Model& model, const Parameters& q, const Data& data, const LatentSums& s, std::size_t m) {
    double edges = 0;
    std::size_t first = model.pairs(m), first_missing = model.pairs(m);
    for (std::size_t pair = model.pairs(m); pair-- > 0;) {
      const bool is_observed = model.pair_is_observed(m, pair);
      (is_observed ? first : first_missing) = pair;
      if (is_observed && data.x[m][pair] > 0) edges += 1;
    }
    const double first_edge = data.x[m][first] > 0 ? 1 : 0, log_beta = log_of(sum(q.beta[m]));
    const double log_v = log_count(s.networks[m][0]);
    speak_of("network", m);
    add("log beta_1", log_of(q.beta[m][0]));
    add("(log sum beta)^2", log_beta * log_beta);
    add("h_1", q.h[m][0]);
    add("edges", edges);
    add("edges^2", edges * edges);
    add("edges * log sum beta", edges * log_beta);
    add("first edge * P(first edge)", first_edge * probability(model.pair_rate(q, m, first)));
    add("first edge * u_11", first_edge * q.u[model.matrix(model.network_modes[m])][0][0]);
    add("log(1 + v_1)", log_v);
    add("log(1 + v_1) edges", log_v * edges);
    add("log(1 + v_1) log beta_1", log_v * log_of(q.beta[m][0]));
    if (first_missing < model.pairs(m)) {
      const double P = probability(model.pair_rate(q, m, first_missing));
      add("P(missing pair)", P);
      add("P(missing pair) edges", P * edges);
      add("P(missing pair) log(1 + v_1)", P * log_v);
      add("log(1 + edge counts)", log_count(s.from_edges[0]));
    }
    if (model.hyper.learn_shapes) {
      const double f = share(q.shapes.networks[m], model.hyper.network.shape);
      add("f", f);
      add("f^2", f * f);
      add("f edges", f * edges);
      add("f log beta_1", f * log_of(q.beta[m][0]));
      add("f h_1", f * q.h[m][0]);
      add("f log(1 + v_1)", f * log_v);
    }
  }

  // a stands for a / (a + median), which is between zero and one; likewise g and f.
  void learned_dirichlet(const Model& model, const Parameters& q, const LatentSums& s, double ones, std::size_t k) {
    const double a = share(q.shapes.dirichlet[k], model.hyper.dirichlet[k]), u = q.u[k][0][0];
    speak_of("mode", k);
    add("a", a);
    add("a^2", a * a);
    add("a ones", a * ones);
    add("a u_11^2", a * u * u);
    add("a u_11 u_12", a * u * q.u[k][0][1]);
    add("a log(1 + S_11)", a * log_count(s.rows[k][0][0]));
    add("a log u_n2", a * log_of(q.u[k].back()[1]));
  }
  void learned_shape(const Model& model, const Parameters& q, const LatentSums& s, double ones) {
    const double g = share(q.shapes.tensor, model.hyper.tensor.shape);
    of_ = "";
    add("g", g);
    add("g^2", g * g);
    add("g ones", g * ones);
    add("g log lambda_1", g * log_of(q.lambda[0]));
    add("g p_1", g * q.p[0]);
    add("g log(1 + s_1)", g * log_count(s.tensor[0]));
  }

  bool with_names_;
  std::string of_;  // what the names to come begin with
  std::vector<double> values_;
  std::vector<std::string> names_;
};

}  // namespace ztp::test
