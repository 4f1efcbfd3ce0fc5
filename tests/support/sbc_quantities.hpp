// The label-free functions of parameters, data and counts whose ranks simulation-based calibration looks at. Values are
// cut off where the sampler's float32 factors end; ties are broken at random. The log-likelihood depends on the data,
// too, which shows a sampler that takes them for something else and whose parameters all have their right marginal
// laws.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tiny_model.hpp"

namespace ztp::test {

using ColumnLists = std::vector<std::vector<std::uint32_t>>;  // [mode][component]

class RankedQuantities {
 public:
  const std::vector<double>& values() const { return values_; }
  const std::vector<std::string>& names() const { return names_; }

  // c: the columns of components that the counts are in, where they share columns; the parameters may have others.
  void compute(const Model& model, const Parameters& q, const Data& data, const LatentSums& s, const ColumnLists& c) {
    values_.clear();
    named_ = names_.size();
    tensor(model, q, data);
    counts(model, s);
    if (model.shares_columns()) shared_columns(model, q, s, c);
    if (model.first_missing() < model.cells()) missing(model, q, s);
    for (std::size_t m = 0; m < data.x.size(); ++m) network(model, q, data, m);
    for (std::size_t f = 0; model.hyper.learn_dirichlet && f < model.matrices(); ++f)
      if (!model.is_one_hot(f)) add(fmt::format("a_{}", f + 1), q.shapes.dirichlet[f]);
    if (!model.hyper.learn_shapes) return;
    add("g", q.shapes.tensor);
    for (std::size_t m = 0; m < data.x.size(); ++m) add(fmt::format("f_{}", m + 1), q.shapes.networks[m]);
  }

 private:
  void add(const std::string& name, double value) {
    values_.push_back(value);
    if (values_.size() > named_) names_.push_back(name);
  }
  static double probability(double rate) { return std::max(-std::expm1(-rate), 1e-9); }
  static double log_of_one(double rate) { return std::log(probability(rate)); }

  void tensor(const Model& model, const Parameters& q, const Data& data) {
    std::size_t first = 0, last = model.cells() - 1;
    while (!model.is_observed(first)) ++first;
    while (!model.is_observed(last)) --last;
    double squares = 0, log_likelihood = 0, heaviest = 0, concentration = 0;
    for (std::size_t i = 0; i < model.cells(); ++i) {
      const double z = model.rate(q, i);
      squares += z * z;
      if (!model.is_observed(i)) continue;
      if (model.counts)
        log_likelihood += static_cast<double>(data.y[i]) * std::log(std::max(z, 1e-9)) - z;
      else
        log_likelihood += data.y[i] > 0 ? log_of_one(z) : -z;
    }
    for (std::size_t r = 0; r < model.R; ++r) {
      heaviest = std::max(heaviest, q.lambda[r]);
      for (const auto& row : q.u[0]) concentration += q.lambda[r] * row[q.column(0, r)] * row[q.column(0, r)];
    }
    const double total = sum(q.lambda);
    add("sum lambda", total);
    add("largest lambda / sum lambda", heaviest / total);
    add("sum of z^2", squares);
    add("sum of lambda u^2, mode 1", concentration);
    add("P(first)", probability(model.rate(q, first)));
    add("P(last)", probability(model.rate(q, last)));
    add("log-likelihood of the tensor", log_likelihood);
  }

  void counts(const Model& model, const LatentSums& s) {
    double ones = 0, largest = 0, occupied = 0;
    for (const std::int64_t count : s.from_ones) {
      occupied += count > 0 ? 1 : 0;
      ones += static_cast<double>(count);
      largest = std::max(largest, static_cast<double>(count));
    }
    add("occupied", occupied);
    if (!model.counts) add("latent counts of the ones", ones);  // else they are data
    add("largest component's counts", largest);
  }

  // Which components share columns: by their weights, and those with counts. For each mode, and for two modes at once.
  void shared_columns(const Model& model, const Parameters& q, const LatentSums& s, const ColumnLists& c) {
    add("p", q.p[0]);
    for (std::size_t k = 0; k < model.K(); ++k) {
      const std::string of_mode = fmt::format(" of mode {}", k + 1);
      double weight = 0, pairs = 0;
      std::vector<double> used(model.columns_of(model.matrix(k)), 0.0);
      for (std::size_t r = 0; r < model.R; ++r) {
        if (s.tensor[r] > 0) used[c[k][r]] = 1;
        for (std::size_t other = 0; other < r; ++other) {
          if (q.c[k][r] == q.c[k][other]) weight += q.lambda[r] * q.lambda[other];
          if (c[k][r] == c[k][other] && s.tensor[r] > 0 && s.tensor[other] > 0) pairs += 1;
        }
      }
      add("weight of pairs in one column" + of_mode, weight);
      add("pairs with counts in one column" + of_mode, pairs);
      add("columns used" + of_mode, sum(used));
    }
    double together = 0;
    for (std::size_t r = 0; model.tied && r < model.R; ++r) together += s.tensor[r] > 0 && c[0][r] == c[1][r] ? 1 : 0;
    if (model.tied) add("components with one column for tied modes", together);
  }

  void missing(const Model& model, const Parameters& q, const LatentSums& s) {
    double imputed = 0;
    for (std::size_t r = 0; r < model.R; ++r) imputed += static_cast<double>(s.tensor[r] - s.from_ones[r]);
    add("P(missing)", probability(model.rate(q, model.first_missing())));
    add("imputed counts", imputed);
  }

  void network(const Model& model, const Parameters& q, const Data& data, std::size_t m) {
    const std::string of = fmt::format("network {}: ", m + 1);
    const Table& u = q.u[model.matrix(model.network_modes[m])];
    double log_likelihood = 0, diagonal = 0;
    std::size_t first = model.pairs(m), first_missing = model.pairs(m);
    for (std::size_t pair = model.pairs(m); pair-- > 0;) {
      const bool is_observed = model.pair_is_observed(m, pair);
      (is_observed ? first : first_missing) = pair;
      const double rate = model.pair_rate(q, m, pair);
      if (is_observed) log_likelihood += data.x[m][pair] > 0 ? log_of_one(rate) : -rate;
    }
    for (std::size_t r = 0; r < q.beta[m].size(); ++r)
      for (const auto& row : u) diagonal += q.beta[m][r] * row[r] * row[r];
    add(of + "sum beta", sum(q.beta[m]));
    add(of + "P(first link)", probability(model.pair_rate(q, m, first)));
    add(of + "log-likelihood", log_likelihood);
    add(of + "rate of the diagonal", diagonal);
    if (first_missing < model.pairs(m)) add(of + "P(missing link)", probability(model.pair_rate(q, m, first_missing)));
  }

  std::size_t named_ = 0;
  std::vector<double> values_;
  std::vector<std::string> names_;
};

}  // namespace ztp::test
