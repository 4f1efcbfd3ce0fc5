#include "sampling.hpp"

#include <algorithm>

#include "kernel/bounded_draw.hpp"
#include "ztp/options.hpp"

namespace ztp::bench {
namespace {

// What run/prepare.hpp makes of default options. It stands in an object file that needs netCDF, which this program does
// without.
Problem default_problem(const SparseTensor& tensor, std::size_t R) {
  const FitOptions defaults;
  const double mean = std::min(0.5, 1 / static_cast<double>(R));
  Problem problem;
  problem.tensor = &tensor;
  problem.hyper.dirichlet.assign(tensor.order(), 0.1);
  problem.hyper.tensor = {defaults.gamma_shape, defaults.beta_concentration, mean};
  problem.hyper.network = {defaults.network_gamma_shape, defaults.network_beta_concentration, mean};
  problem.layout = FactorLayout::cp(tensor.sizes(), R);
  problem.seed = defaults.seed;
  problem.bounded = R >= least_rank_bounded;
  return problem;
}

template <class Array>
double bytes_of(const std::vector<std::unique_ptr<Array>>& arrays) {
  double bytes = 0;
  for (const auto& array : arrays) bytes += static_cast<double>(array->bytes());
  return bytes;
}

double bytes_of_coords(const SparseTensor& tensor) {
  return static_cast<double>(tensor.coords.size() * sizeof(std::uint32_t));
}

}  // namespace

Sampling::Sampling(const SparseTensor& tensor, std::size_t R, unsigned threads, int warm_up_sweeps, KernelName kernel)
    : pool_(threads),
      kernel_(make_kernel(kernel, pool_)),
      problem_(default_problem(tensor, R)),
      chain_(problem_, *kernel_, 0) {
  chain_.start();
  for (int t = 0; t < warm_up_sweeps; ++t) chain_.sweep(false);
}

double Sampling::sweep() {
  return chain_.sweep(Schedule().wants_likelihood(chain_.steps_done() + 1));
}

HostCells Sampling::cells() const {
  HostCells cells;
  cells.coords = problem_.tensor->coords.data();
  cells.count = problem_.tensor->nnz();
  return cells;
}

double Sampling::draws() const {
  double draws = 0;
  for (const auto& u : chain_.state().factors) draws += static_cast<double>(u->rows() * u->columns());
  return draws;
}

double Sampling::bytes_held() const {
  double bytes = bytes_of_coords(*problem_.tensor);
  for (const Mode& mode : problem_.tensor->modes) bytes += static_cast<double>(mode.labels.bytes());
  return bytes + bytes_of(chain_.state().factors) + bytes_of(chain_.statistics().rows);
}

double Sampling::bytes_moved() const {
  return bytes_of_coords(*problem_.tensor) + 2 * bytes_of(chain_.state().factors) +
         3 * bytes_of(chain_.statistics().rows);
}

double Sampling::bytes_of_rows() const {
  double row_bytes = 0;
  for (const auto& u : chain_.state().factors) row_bytes += static_cast<double>(padded(u->columns()) * sizeof(float));
  return bytes_of_coords(*problem_.tensor) + ones() * row_bytes;
}

}  // namespace ztp::bench
