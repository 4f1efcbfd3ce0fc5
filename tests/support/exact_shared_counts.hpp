// Exact posteriors of tiny models of counts whose components share columns, every cell observed: all ways to give the
// units of the data to components, and columns to components. With U, lambda, p and pi integrated out each has a weight
// that is a product of simple ratios.
#pragma once
#include <array>
#include <cmath>
#include <vector>

#include "exact_arrangements.hpp"
#include "tiny_model.hpp"

namespace ztp::test {

class ExactCounts {
 public:
  double p;                         // posterior mean
  std::vector<double> arrangement;  // the probability of each
  std::vector<double> z;            // posterior means of the cells that were asked for

  ExactCounts(const Model& model, const Arrangements& arrangements, const std::vector<std::int64_t>& y,
              const std::vector<std::size_t>& cells)
      : arrangement(arrangements.size(), 0.0), z(cells.size(), 0.0), model_(model) {
    for (std::size_t i = 0; i < y.size(); ++i) units_.insert(units_.end(), static_cast<std::size_t>(y[i]), i);
    const WeightPrior& prior = model.hyper.tensor;
    const double N = static_cast<double>(units_.size()), R = exact_R;
    p = (prior.concentration * prior.mean + N) / (prior.concentration + N + R * prior.shape);
    const std::size_t choices = std::size_t{1} << (exact_R * model.K());
    const std::size_t ways = static_cast<std::size_t>(std::lround(std::pow(R, N)));
    for (std::size_t way = 0; way < ways; ++way)
      for (std::size_t choice = 0; choice < choices; ++choice) {
        const Allocated now = allocate(way, choice);
        arrangement[arrangements.find(now.arrangement())] += now.weight;
        for (std::size_t i = 0; i < cells.size(); ++i) z[i] += now.weight * mean_rate(now, model.cell(cells[i]));
      }
    const double all = sum(arrangement);
    for (auto* list : {&arrangement, &z})
      for (double& value : *list) value /= all;
  }

 private:
  struct Allocated {
    std::array<Columns3, exact_R> columns{};
    std::array<double, exact_R> s{};
    double S[3][3][exact_P] = {}, total[3][exact_P] = {};  // [matrix][row][column], [matrix][column]
    double weight = 1;

    Arrangement arrangement() const {
      Arrangement result;
      for (std::size_t r = 0; r < exact_R; ++r)
        if (s[r] > 0) result.push_back(columns[r]);
      return result;
    }
  };

  // Units to components by the digits of `way`, columns by the bits of `choice`, one by one given those before.
  Allocated allocate(std::size_t way, std::size_t choice) const {
    Allocated now;
    const std::size_t K = model_.K();
    for (std::size_t r = 0; r < exact_R; ++r) now.columns[r] = choice >> (r * K) & ((std::size_t{1} << K) - 1);
    for (std::size_t k = 0; k < K; ++k) {
      std::array<double, exact_P> used{};
      for (const Columns3 columns : now.columns) now.weight *= 1 + used[column_of(columns, k)]++;
    }
    for (const std::size_t i : units_) {
      const std::vector<std::uint32_t> cell = model_.cell(i);
      const std::size_t r = way % exact_R;
      way /= exact_R;
      now.weight *= model_.hyper.tensor.shape + now.s[r]++;
      for (std::size_t k = 0; k < K; ++k) {
        const std::size_t f = model_.matrix(k), q = column_of(now.columns[r], k);
        now.weight *= (a(f) + now.S[f][cell[k]][q]++) / (n(f) * a(f) + now.total[f][q]++);
      }
    }
    return now;
  }

  // E z = sum_r E lambda_r prod_k E u; a column that is used for two modes has one count more for the second.
  double mean_rate(const Allocated& now, const std::vector<std::uint32_t>& cell) const {
    double z = 0;
    for (std::size_t r = 0; r < exact_R; ++r) {
      double mean = p * (model_.hyper.tensor.shape + now.s[r]);
      for (std::size_t k = 0; k < model_.K(); ++k) {
        const std::size_t f = model_.matrix(k), q = column_of(now.columns[r], k);
        const bool again = model_.tied && k == 1 && column_of(now.columns[r], 0) == q;
        mean *= (a(f) + now.S[f][cell[k]][q] + (again && cell[0] == cell[1] ? 1 : 0)) /
                (n(f) * a(f) + now.total[f][q] + (again ? 1 : 0));
      }
      z += mean;
    }
    return z;
  }
  double a(std::size_t f) const { return model_.hyper.dirichlet[f]; }
  double n(std::size_t f) const { return static_cast<double>(model_.rows_of(f)); }

  const Model& model_;
  std::vector<std::size_t> units_;  // the cell of each unit of the data
};

}  // namespace ztp::test
