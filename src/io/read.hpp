// Parts of reading a tensor that other code uses.
#pragma once
#include <string>
#include <vector>

#include "io/label_files.hpp"
#include "io/ones_on_disk.hpp"
#include "io/table.hpp"
#include "ztp/read.hpp"

namespace ztp {

// How the file of ones is to be read.
TableSpec tensor_table(const ReadOptions& options);

// Says in `data` how a file was read, and what may be a mistake.
void log_file(const TableReader& reader, const std::string& use, Dataset& data);

// The next steps: warns if the last mode is probably a column of numbers; and gives the modes the labels of the lists,
// and tied modes the same ones. Returns the map of the ids.
void warn_of_value_column(const ReadOptions& options, Dataset& data);
NewIds apply_labels(LabelLists lists, const ReadOptions& options, const UsedIds& used_ids, Dataset& data);

// The same data as read_dataset(options) reads, but their ones are on disk.
Dataset read_dataset(const ReadOptions& options, const SortSpace& space);

// A test file: cells of known modes with a last column 0 or 1, or a count. append_cells adds the cells of one of its
// blocks.
TableSpec test_table(const std::string& path, const std::vector<Mode>& modes, bool counts);
void append_cells(const CellBlock& block, bool counts, TestCells& cells);

}  // namespace ztp
