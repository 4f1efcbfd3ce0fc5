#include "ztp/rivals.hpp"

#include <algorithm>

#include "base/matrix.hpp"
#include "baselines/logistic_chain.hpp"
#include "baselines/quad_chain.hpp"
#include "run/rivals.hpp"

namespace ztp {
namespace {

const Buffer<std::uint32_t>* missing_cells(const Dataset& data) {
  return data.missing.cells.empty() ? nullptr : &data.missing.cells;
}

std::size_t blocks_of(const FitOptions& complete) {
  return complete.model == Model::pwquad ? static_cast<std::size_t>(complete.blocks) : 1;
}

// Factors and, of the logistic model, its cells; of the quadratic ones, an index of the ones and their blocks.
double chain_bytes(const FitOptions& complete, const Dataset& data) {
  const double K = static_cast<double>(data.tensor.order()), R = static_cast<double>(complete.rank);
  const double ones = static_cast<double>(data.tensor.nnz());
  double rows = 0, largest = 0;
  for (const Mode& mode : data.tensor.modes) {
    rows += mode.labels.size();
    largest = std::max<double>(largest, mode.labels.size());
  }
  const double factors = 8 * rows * static_cast<double>(padded(static_cast<std::size_t>(complete.rank)));
  if (complete.model == Model::logistic) {
    const double zeros = static_cast<double>(zeros_wanted(data.tensor, missing_cells(data), complete.zeros));
    return factors + (zeros + ones) * (4 * K + 1 + 8 + 4 + 4 * (K - 1));
  }
  const double index = 4 * ones * (K - 1) + 8 * rows;
  const double block = largest / 8 + (K + 2) * (1 + R + R * R) * sizeof(double);
  return factors + index + static_cast<double>(blocks_of(complete)) * block;
}

void describe(const Dataset& data, RunInfo& info) {
  if (info.options.model != Model::logistic) return;
  const Buffer<std::uint32_t>* missing = missing_cells(data);
  info.training_zeros = zeros_wanted(data.tensor, missing, info.options.zeros);
  info.zeros_used = share_of_zeros(data.tensor, missing, info.training_zeros);
}

std::unique_ptr<Chain> make_chain(const FitOptions& complete, const Dataset& data, Pool& pool, std::uint32_t number) {
  const Buffer<std::uint32_t>* missing = missing_cells(data);
  const RivalProblem problem{&data.tensor, missing, static_cast<std::size_t>(complete.rank), complete.seed};
  if (complete.model == Model::logistic)
    return std::make_unique<LogisticChain>(problem, zeros_wanted(data.tensor, missing, complete.zeros), pool, number,
                                           complete.ridge);
  return std::make_unique<QuadChain>(problem, complete.ridge, blocks_of(complete), pool, number);
}

}  // namespace

void add_rivals() {
  register_rivals({chain_bytes, describe, make_chain});
}

}  // namespace ztp
