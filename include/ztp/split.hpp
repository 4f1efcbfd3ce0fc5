// Training ones and test cells from one tensor.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "ztp/choices.hpp"
#include "ztp/tensor.hpp"

namespace ztp {

// What is held out.
enum class Protocol {
  cells,   // a random part of ALL cells, ones and zeros
  ones,    // a random part of the ones, and randomly drawn zeros
  slices,  // every one of the last entities of a mode (cold start), and zeros drawn among their cells
};
template <>
inline constexpr auto choice_names<Protocol> = std::array{"cells", "ones", "slices"};
// The protocol of that name; Error (usage), if there is none.
Protocol protocol_named(const std::string& name);

// How to split.
struct SplitOptions {
  Protocol protocol = Protocol::ones;
  double holdout = 0.1;             // cells, ones: the part held out; round(holdout * total), exactly
  std::uint64_t zeros_per_one = 5;  // ones, slices: zero cells for each held-out one
  std::string mode;                 // slices: which mode
  std::uint32_t after = 0;          // slices: entities with this id and above (0 is the first label) are held out
  std::uint64_t seed = 1;           // another seed, another draw of the cells that are held out
};

// Both parts.
struct Split {
  Buffer<std::uint32_t> coords;          // the training ones, nnz x K, sorted as in the tensor
  Buffer<std::int64_t> counts;           // their counts, or empty for a binary tensor
  TestCells test;                        // sorted by cell, no cell twice
  std::uint64_t test_ones = 0;           // of the test cells those that are ones
  std::uint64_t test_zeros = 0;          // and the others
  std::optional<std::size_t> slices_of;  // slices: the mode
  std::uint32_t slices_from = 0;         // slices: this entity and those after it are held out
};

// A pure function of the tensor and the options. Every subset of the stated size is equally likely. Missing cells are
// never held out: what is not known to be a zero cannot be a test zero. Throws Error (usage: unknown mode; config:
// options that do not fit the tensor, or more than 100 million test cells of `cells`, a billion of the others).
Split split(const SparseTensor& tensor, const SplitOptions& options, const Missing& missing = {});

// The same in place, without a copy of the ones: the tensor keeps its training ones, all modes and labels. The result
// has no coords and counts.
Split hold_out(SparseTensor& tensor, const SplitOptions& options, const Missing& missing = {});

// train.tsv, test.tsv and labels/MODE.txt in a directory, which is made; of slices also missing-MODE.txt, the held-out
// entities (for --missing-slices). An error (config) if it has contents, unless forced: then files of the same names
// are replaced. Each file appears only when it is complete.
void write_split(const SparseTensor& tensor, const Split& split, const std::string& directory, bool force);

// The check that write_split makes of the directory, for callers who want to know before they read their data.
void check_output_directory(const std::string& directory, bool force);

}  // namespace ztp
