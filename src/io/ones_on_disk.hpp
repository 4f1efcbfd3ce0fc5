// The ones of a fit that need not fit into memory: sorted in files without names, and memory-mapped. What is read is
// the same as in memory.
#pragma once
#include <string>

#include "base/pool.hpp"
#include "ztp/read.hpp"

namespace ztp {

// Where ones are sorted and kept.
struct SortSpace {
  std::string directory;  // of the files
  double memory = 0;      // bytes that the process may use; an eighth of them, at most, is used for sorting
};

// Bytes of memory that sorting takes: of so many bytes of ones a sixteenth, but at least 256 MiB, if there is room.
double sort_memory(double bytes_of_ones, double memory);

// Reads the cells of a text file, with its labels, as data.tensor.
void sort_text(const ReadOptions& options, const SortSpace& space, Pool& pool, Dataset& data);
// Reads the ones of a tensor file, whose modes are in data.tensor already.
void sort_tensor_file(const TensorFile& file, const ReadOptions& options, const SortSpace& space, Pool& pool,
                      Dataset& data);

}  // namespace ztp
