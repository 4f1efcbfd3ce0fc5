// Parts of reading a tensor that other code uses.
#pragma once
#include <string>
#include <vector>

#include "io/label_files.hpp"
#include "io/table.hpp"
#include "ztp/read.hpp"

namespace ztp {

// How the file of ones is to be read.
TableSpec tensor_table(const ReadOptions& options);

// A test file: cells of known modes with a last column 0 or 1, or a count. append_cells adds the cells of one of its
// blocks.
TableSpec test_table(const std::string& path, const std::vector<Mode>& modes, bool counts);
void append_cells(const CellBlock& block, bool counts, TestCells& cells);

}  // namespace ztp
