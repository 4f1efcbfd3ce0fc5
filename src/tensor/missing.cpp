#include "tensor/missing.hpp"

#include <algorithm>

#include "base/errors.hpp"
#include "tensor/records.hpp"

namespace ztp {

std::size_t sort_and_merge_missing(const SparseTensor& tensor, Missing& missing) {
  const std::size_t K = tensor.order();
  missing.slices.resize(K);
  remove_records(missing.cells, K,
                 [&](std::size_t i) { return in_missing_slice(missing, missing.cells.data() + i * K); });
  return sort_and_merge_records(missing.cells, K);
}

std::size_t add_missing_cells(const SparseTensor& tensor, const Buffer<std::uint32_t>& coords, Missing& missing) {
  missing.cells.append(coords.data(), coords.size());
  return sort_and_merge_missing(tensor, missing);
}

double missing_volume(const SparseTensor& tensor, const Missing& missing) {
  // Slices of mode 1, then those of mode 2 outside them, and so on: only sums, so that nothing cancels.
  double in_slices = 0, observed_before = 1;
  for (std::size_t k = 0; k < missing.slices.size(); ++k) {
    const double slices = static_cast<double>(missing.slices[k].size());
    double cells = observed_before * slices;
    for (std::size_t l = k + 1; l < tensor.order(); ++l) cells *= tensor.modes[l].labels.size();
    in_slices += cells;
    observed_before *= tensor.modes[k].labels.size() - slices;
  }
  return in_slices + static_cast<double>(missing.cells.size() / tensor.order());
}

namespace {

void check_pairs(const Network& network, std::uint32_t entities) {
  const std::uint32_t* last = nullptr;
  for (std::size_t i = 0; i + 1 < network.missing.size(); i += 2) {
    const std::uint32_t* pair = network.missing.data() + i;
    const bool ascending = last == nullptr || std::lexicographical_compare(last, last + 2, pair, pair + 2);
    if (pair[0] >= pair[1] || pair[1] >= entities || !ascending)
      throw config_error("missing pairs of a network must have i < j, be sorted, and be listed once");
    last = pair;
  }
}

}  // namespace

void check_missing(const SparseTensor& tensor, std::span<const Network> networks, Missing& missing) {
  const std::size_t K = tensor.order();
  if (missing.slices.size() > K || missing.cells.size() % K != 0)
    throw config_error("missing cells must have a coordinate for each mode, and missing slices a list for each mode");
  for (std::size_t k = 0; k < missing.slices.size(); ++k) {
    auto& slices = missing.slices[k];
    std::sort(slices.begin(), slices.end());
    slices.erase(std::unique(slices.begin(), slices.end()), slices.end());
    if (!slices.empty() && slices.back() >= tensor.modes[k].labels.size())
      throw config_error("a missing slice names an entity that does not exist");
  }
  for (std::size_t i = 0; i < missing.cells.size(); ++i)
    if (missing.cells[i] >= tensor.modes[i % K].labels.size())
      throw config_error("a missing cell names an entity that does not exist");
  sort_and_merge_missing(tensor, missing);
  for (std::size_t e = 0; e < tensor.nnz(); ++e)
    if (in_missing_slice(missing, tensor.cell(e))) throw config_error("a one lies in a missing slice");
  for (std::size_t i = 0; i < missing.cells.size(); i += K)
    if (tensor.contains(missing.cells.data() + i)) throw config_error("a one is also a missing cell");
  for (const Network& network : networks) check_pairs(network, tensor.modes[network.mode].labels.size());
}

}  // namespace ztp
