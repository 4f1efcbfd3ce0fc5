#include "run/shared_cost.hpp"

#include <algorithm>
#include <vector>

#include "base/clock.hpp"
#include "kernel/cpu/allocate.hpp"
#include "run/cost.hpp"
#include "run/file_minibatches.hpp"
#include "run/prepare.hpp"
#include "sampler/online_shared_chain.hpp"
#include "sampler/shared_chain.hpp"

namespace ztp {
namespace {

constexpr double parts_of_a_one = 1.3;                            // latent counts one by one: a few ones have several
constexpr double columns_in_use = 6;                              // of a row, after the first sweeps
constexpr std::size_t sparse_row_bytes = 32;                      // of a row without counts
constexpr std::size_t timed_rows_bytes = std::size_t{128} << 20;  // of factors, in each matrix

// Ones, or missing cells, by entity of the one-hot mode.
double by_entity_bytes(double cells, std::size_t K, bool counts) {
  return cells * static_cast<double>(4 * K + (counts ? 8 : 0));
}

// Latent counts one by one, with their allocation as a kernel gives it.
double parts_bytes(double cells, std::size_t K) {
  return parts_of_a_one * cells * static_cast<double>(4 * K + 4 + 8 + sizeof(Part));
}

// Rows of counts as the moves between columns hold them.
double sparse_rows_bytes(double cells, const FactorLayout& layout) {
  double bytes = 0;
  for (std::size_t f = 0; f < layout.matrices(); ++f) {
    if (layout.is_one_hot(f)) continue;
    const double n = static_cast<double>(layout.size(f).rows), P = static_cast<double>(layout.size(f).columns);
    const double modes = layout.tied_mode(layout.first_mode(f)) == layout.first_mode(f) ? 1 : 2;
    const double entries = std::min({n * P, modes * parts_of_a_one * cells, n * columns_in_use});
    bytes += n * sparse_row_bytes + entries * 1.5 * sizeof(ColumnCount);
  }
  return bytes;
}

// Factors on the host, for cells that no list names.
double unlisted_bytes(const Dataset& data, const FitOptions& complete, const FactorLayout& layout) {
  const auto& slices = data.missing.slices;
  const bool any = std::any_of(slices.begin(), slices.end(), [](const auto& of_mode) { return !of_mode.empty(); });
  double bytes = 0;
  for (std::size_t f = 0; (any || complete.self_cells == SelfCells::missing) && f < layout.matrices(); ++f) {
    const auto [rows, columns] = layout.size(f);
    bytes += static_cast<double>(Matrix<float>::bytes_of(rows, columns) + rows / 32 * columns * 8 + rows * 4);
  }
  return bytes;
}

// A part of the data that a chain is timed on.
struct Sample {
  Dataset data;
  double rows_in_all = 1;  // for each of its rows
};

Sample sample_of(const Dataset& data, const FactorLayout& layout, std::size_t ones) {
  Sample sample;
  const std::size_t K = data.tensor.order();
  double rows = 0, all = 0;
  for (std::size_t k = 0; k < K; ++k) {
    const auto [entities, columns] = layout.size_of_mode(k);
    const bool one_hot = layout.is_one_hot(layout.matrix(k));
    const std::size_t most = std::max(columns, timed_rows_bytes / (4 * std::max<std::size_t>(columns, 1)));
    const std::size_t n = one_hot ? entities : std::min(entities, most);
    sample.data.tensor.modes.push_back(
        {data.tensor.modes[k].name, LabelTable::numbered(1, static_cast<std::uint32_t>(n))});
    rows += static_cast<double>(n);
    all += static_cast<double>(entities);
  }
  sample.rows_in_all = all / rows;
  SparseTensor& tensor = sample.data.tensor;
  tensor.coords = some_ones(data, ones);
  for (std::size_t i = 0; i < tensor.coords.size(); ++i) tensor.coords[i] %= tensor.modes[i % K].labels.size();
  if (!data.tensor.counts.empty()) {
    tensor.counts.resize(tensor.coords.size() / K);
    std::fill(tensor.counts.begin(), tensor.counts.end(), 1);
  }
  tensor.sort_and_merge();
  return sample;
}

// The third step of a chain: in the first two, components are all alike.
double time_of_step(const Dataset& data, const FitOptions& complete, bool moves, Pool& pool, Kernel& kernel) {
  Problem problem = make_problem(complete, data, &pool);
  problem.columns_after = 0;
  problem.move_columns = moves;
  const auto third_step = [](Chain& chain) {
    chain.start();
    chain.step(true);
    chain.step(true);
    const double begin = clock_seconds();
    chain.step(true);
    return clock_seconds() - begin;
  };
  if (!is_online(complete)) {
    SharedChain chain(problem, kernel, 0);
    return third_step(chain);
  }
  MemoryMinibatches ones(data.tensor.coords, data.tensor.counts, problem.layout, 1, kernel);
  OnlineSharedChain chain(problem, online_options(complete), {ones, {}}, kernel, 0);
  return third_step(chain);
}

}  // namespace

std::size_t shared_chain_bytes(const Dataset& data, const FitOptions& complete, const FactorLayout& layout,
                               std::size_t missing_cells) {
  const std::size_t K = layout.modes();
  const bool online = is_online(complete), counts = has_counts(complete);
  const double missing = static_cast<double>(missing_cells), all = static_cast<double>(data.ones());
  double at_once = all;
  if (online) at_once = std::min(all, static_cast<double>(complete.minibatch));
  if (online && data.file != nullptr) at_once = std::min(at_once, static_cast<double>(FileMinibatches::usual_chunk));
  double bytes = by_entity_bytes(at_once + missing, K, counts) + parts_bytes(at_once + missing, K) +
                 sparse_rows_bytes(all + missing, layout) + unlisted_bytes(data, complete, layout);
  bytes += 4 * at_once;                                                            // components, in the kernel
  if (!online) return static_cast<std::size_t>(bytes + 8 * parts_of_a_one * all);  // and their order by component
  for (std::size_t k = 0; k < K; ++k)
    if (!layout.is_one_hot(layout.matrix(k))) bytes += static_cast<double>(RunningDocuments::bytes(data.ones()));
  return static_cast<std::size_t>(bytes);
}

// What a step costs: for each row, for each one it looks at, and for each one behind the documents that are moved.
double time_shared_sweep(const Dataset& data, const FitOptions& complete, Pool& pool, Kernel& kernel) {
  const FactorLayout layout = layout_of(complete, sizes_of_modes(data));
  const double all = static_cast<double>(data.ones());
  const Sample sample = sample_of(data, layout, most_timed_ones), less = sample_of(data, layout, most_timed_ones / 4);
  const double timed = static_cast<double>(sample.data.ones()), fewer = static_cast<double>(less.data.ones());
  const double moving = time_of_step(sample.data, complete, true, pool, kernel);
  const double still = time_of_step(sample.data, complete, false, pool, kernel);
  const double of_less = time_of_step(less.data, complete, false, pool, kernel);
  const double of_a_one = std::max(still - of_less, 0.0) / std::max(timed - fewer, 1.0);
  const double of_rows = std::max(still - of_a_one * timed, 0.0) * sample.rows_in_all;
  const double of_moves = std::max(moving - still, 0.0) / timed;
  const double looked_at = is_online(complete) ? static_cast<double>(complete.minibatch) : all;
  const double moves = is_online(complete) ? OnlineSharedChain::moves_in_a_step(data.ones(), complete.minibatch) : 1;
  return of_rows + of_a_one * (looked_at + missing_cells_of_step(data, complete)) + moves * of_moves * all;
}

}  // namespace ztp
