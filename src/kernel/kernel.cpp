#include "kernel/kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernel/cpu/cpu_kernel.hpp"
#include "kernel/reference/reference_kernel.hpp"
#include "ztp/error.hpp"

namespace ztp {

Rates make_rates(std::vector<const Matrix<float>*> u, const std::vector<double>& log_weight, double factor) {
  Rates rates;
  rates.R = log_weight.size();
  rates.u = std::move(u);
  for (const auto* matrix : rates.u) rates.log_volume += std::log(static_cast<double>(matrix->rows()));
  const double largest = *std::max_element(log_weight.begin(), log_weight.end());
  rates.weight.assign(padded(rates.R), 0.0f);
  for (std::size_t r = 0; r < rates.R; ++r) {
    rates.weight[r] = static_cast<float>(std::exp(log_weight[r] - largest));
    rates.log_weight.push_back(log_weight[r] + std::log(factor));
    rates.total += std::exp(rates.log_weight[r]);
  }
  rates.scale = factor * std::exp(largest - rates.log_volume);
  return rates;
}

Rates tensor_rates(const State& state) {
  std::vector<const Matrix<float>*> u;
  for (const auto& matrix : state.u) u.push_back(&matrix);
  return make_rates(std::move(u), state.tensor.log_weight);
}

std::vector<std::size_t> search_order(std::size_t R) {
  std::vector<std::size_t> order;
  for (std::size_t lane = 0; lane < lanes; ++lane)
    for (std::size_t r = lane; r < R; r += lanes) order.push_back(r);
  return order;
}

std::vector<RowIndex> index_rows(const std::uint32_t* coords, std::size_t count, const std::vector<std::size_t>& sizes,
                                 bool shared) {
  const std::size_t K = sizes.size(), ends = shared ? K : 1;
  std::vector<RowIndex> result;
  if (count > std::numeric_limits<std::uint32_t>::max()) return result;
  for (std::size_t k = 0; k < K; k += ends) {
    const std::size_t n = sizes[k];
    RowIndex index;
    index.begin.resize(n + 1);
    std::fill(index.begin.begin(), index.begin.end(), 0);
    for (std::size_t e = 0; e < count; ++e)
      for (std::size_t end = k; end < k + ends; ++end) ++index.begin[coords[e * K + end] + 1];
    for (std::size_t j = 0; j < n; ++j) index.begin[j + 1] += index.begin[j];
    if (k > 0 || shared) {
      index.entry.resize(count * ends);
      std::vector<std::uint64_t> next(index.begin.begin(), index.begin.end());
      for (std::size_t e = 0; e < count; ++e)
        for (std::size_t end = k; end < k + ends; ++end)
          index.entry[next[coords[e * K + end]]++] = static_cast<std::uint32_t>(e);
    }
    result.push_back(std::move(index));
  }
  return result;
}

void pack_panel(const Matrix<float>& u, std::size_t panel, float* packed) {
  const std::size_t first = panel * candidates_per_panel;
  const std::size_t count = std::min(candidates_per_panel, u.rows() - first);
  std::fill(packed, packed + u.columns() * candidates_per_panel, 0.0f);
  for (std::size_t j = 0; j < count; ++j) {
    const float* row = u.row(first + j);
    for (std::size_t r = 0; r < u.columns(); ++r) packed[r * candidates_per_panel + j] = row[r];
  }
}

std::unique_ptr<Kernel> make_kernel(const std::string& name, Pool& pool) {
  if (name == "cpu") return make_cpu_kernel(pool);
  if (name == "reference") return make_reference_kernel();
  throw Error(ErrorKind::config, fmt::format("unknown kernel \"{}\": use cpu or reference", name));
}

}  // namespace ztp
