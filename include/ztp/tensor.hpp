// The data: a K-way tensor as the sorted list of its ones (or positive counts), and undirected networks over a mode.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ztp/buffer.hpp"
#include "ztp/labels.hpp"

namespace ztp {

// The ones of a tensor, and the entities of its modes.
struct SparseTensor {
  std::vector<Mode> modes;
  Buffer<std::uint32_t> coords;  // nnz x K, row-major; sorted, no cell twice
  Buffer<std::int64_t> counts;   // nnz, or empty for a binary tensor

  std::size_t order() const { return modes.size(); }  // K
  // How many ones there are, and the K ids of one of them.
  std::size_t nnz() const { return modes.empty() ? 0 : coords.size() / modes.size(); }
  const std::uint32_t* cell(std::size_t e) const { return coords.data() + e * modes.size(); }

  std::vector<std::uint32_t> sizes() const;  // entities of each mode
  double volume() const;                     // number of cells; a double, since it can pass 2^64
  // Whether a cell of K ids is a one. O(log nnz), and only where coords are sorted.
  bool contains(const std::uint32_t* cell) const;
  // The mode of that name, if there is one.
  std::optional<std::size_t> mode_named(const std::string& name) const;

  // Brings coords (and counts) into order and merges repeated cells: counts add up. Returns how many were merged away.
  std::size_t sort_and_merge();
};

// Cells that were not observed: neither ones nor zeros. Each of them is in one slice or more, or in the list, never in
// both, and none is a one of the tensor.
struct Missing {
  std::vector<std::vector<std::uint32_t>> slices;  // for each mode, the entities all of whose cells are missing; sorted
  Buffer<std::uint32_t> cells;                     // listed cells x K; sorted, none twice, none in a slice
  bool empty() const {
    return cells.size() == 0 && std::all_of(slices.begin(), slices.end(), [](const auto& s) { return s.empty(); });
  }
};

// An undirected network between the entities of one mode: each edge once, i < j, sorted.
struct Network {
  std::size_t mode = 0;           // which mode, from 0
  std::string source;             // where it came from, for messages
  Buffer<std::uint32_t> edges;    // edges x 2
  Buffer<std::uint32_t> missing;  // pairs x 2 that were not observed; i < j, sorted, none twice, none an edge
  std::size_t size() const { return edges.size() / 2; }  // number of edges
};

// A cell list with outcomes, to be predicted and compared.
struct TestCells {
  Buffer<std::uint32_t> coords;  // cells x K
  Buffer<std::uint8_t> outcome;  // 0 or 1
  Buffer<std::int64_t> counts;   // of each cell, where counts are fitted; otherwise empty
  std::size_t size() const { return outcome.size(); }
};

// Adds cells (x K) to those listed as missing, such as the cells of a test set: those in a missing slice are dropped,
// and each is kept once. None may be a one of the tensor. Returns how many were merged away.
std::size_t add_missing_cells(const SparseTensor& tensor, const Buffer<std::uint32_t>& coords, Missing& missing);
// How many cells are missing, by slices and by the list; a double, as SparseTensor::volume.
double missing_volume(const SparseTensor& tensor, const Missing& missing);

// A number that changes with any change of sizes, labels, ones, counts, edges or what is missing: what a run was fitted
// to.
std::uint64_t fingerprint(const SparseTensor& tensor, std::span<const Network> networks, const Missing& missing = {});

}  // namespace ztp
