#include "run/rank_cost.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "io/ones_on_disk.hpp"
#include "io/table.hpp"
#include "kernel/host_arrays.hpp"
#include "kernel/ranks/rank_ones.hpp"
#include "kernel/ranks/row_cut.hpp"
#include "options/options.hpp"
#include "run/cost.hpp"
#include "run/prepare.hpp"
#include "store/draw_log.hpp"
#include "store/draws_nc.hpp"

namespace ztp {
namespace {

// How many rows of mode k a process is expected to touch with one of its chunks: with a part p of the ones of a slab, a
// row of d ones is touched with probability 1 - (1 - p)^d.
double touched_rows(const SparseTensor& tensor, std::size_t k, double slabs, double part) {
  std::vector<std::uint32_t> ones(tensor.modes[k].labels.size(), 0);
  for (std::size_t e = 0; e < tensor.nnz(); ++e) ++ones[tensor.cell(e)[k]];
  double sum = 0;
  for (const std::uint32_t d : ones)
    sum += -std::expm1(static_cast<double>(d) * std::log1p(-std::min(part, 1 - 1e-12)));
  return sum / slabs;
}

// What the first process takes to read the ones, and to sort them on disk.
double reading_bytes(const Dataset& data, const FitOptions& complete) {
  const double K = static_cast<double>(data.tensor.order()), lines = static_cast<double>(data.lines);
  const double ones = lines * (4 * K + (has_counts(complete) ? 8 : 0));
  return std::min(sort_memory(ones, allowed_memory(complete)), 3 * ones) +
         TableReader::bytes(lines, data.tensor.order(), static_cast<unsigned>(complete.threads));
}

}  // namespace

bool has_process_cost(const FitOptions& complete) {
  return !is_online(complete) && !is_rival(complete) && !shares_columns(complete);
}

GpuUse gpu_use(const FitOptions& complete, const FactorLayout& layout, std::size_t ones, std::size_t ranks) {
  return {.counts = has_counts(complete),
          .wide = is_online(complete),
          .ranks = ranks,
          .room = room_for_copies(layout, ones, ranks, allowed_memory(complete))};
}

ProcessCost process_cost(const Dataset& data, const FitOptions& complete, std::size_t ranks) {
  const DrawLayout draw = draw_layout(complete, data);
  const FactorLayout& layout = draw.factors;
  const double N = static_cast<double>(ranks), K = static_cast<double>(layout.modes());
  const double ones = static_cast<double>(data.tensor.nnz()) / N;
  const std::vector<std::size_t> slabs = slabs_of_modes(layout, ranks);
  const double room = room_for_copies(layout, data.tensor.nnz(), ranks, allowed_memory(complete));
  const std::vector<std::size_t> parts_of = parts_of_modes(data.tensor.nnz(), layout, ranks, room);
  const double chunks = static_cast<double>(
      std::accumulate(parts_of.begin(), parts_of.end(), std::size_t{1}, std::multiplies<std::size_t>()));
  double touched = 0, copies = 0, messages = 0, elsewhere = 0;
  for (std::size_t k = 0; k < layout.modes(); ++k) {
    const double P = static_cast<double>(layout.size_of_mode(k).columns), parts = static_cast<double>(slabs[k]);
    const double blocks = parts * static_cast<double>(parts_of[k]);  // of rows, each of which has its part of the ones
    const double rows = touched_rows(data.tensor, k, blocks, blocks / (N * chunks));
    touched += rows * chunks;
    copies += 4 * static_cast<double>(padded(layout.size_of_mode(k).columns)) * rows;
    messages += 4 * P * rows;
    elsewhere += 4 * P * rows * chunks * (1 - parts / N);  // its own rows are among those of its slab
  }
  const double counts_of_ones = 12 * K * ones;  // row, column and count, and hardly any of them together
  ProcessCost cost;
  cost.bytes_per_sweep = elsewhere + counts_of_ones;
  cost.memory += static_cast<double>(array_bytes(layout, false)) / N;
  cost.memory += 2 * copies + 2 * messages + 2 * counts_of_ones / chunks;  // factors, counts, and both on their way
  cost.memory += ones * (8 + 4 * K);
  cost.memory += 4 * touched;                                                    // which rows others ask for
  if (ones * K >= 4 * touched) cost.memory += 8 * touched + 4 * (K - 1) * ones;  // an index of their ones
  cost.memory += std::max(static_cast<double>(DrawLogWriter::waiting_bytes(draw)),
                          DrawFiles::bytes(draw, data.tensor.modes, static_cast<unsigned>(complete.threads)));
  cost.memory = std::max(cost.memory, reading_bytes(data, complete));
  for (const Mode& mode : data.tensor.modes) cost.memory += static_cast<double>(mode.labels.bytes());
  if (complete.kernel == KernelName::cuda)
    cost.gpu_memory = gpu_bytes(layout, data.tensor.nnz(), gpu_use(complete, layout, data.tensor.nnz(), ranks));
  return cost;
}

}  // namespace ztp
