// What reading a tensor is made of, for those who need its parts.
#pragma once
#include <string>
#include <vector>

#include "io/label_files.hpp"
#include "io/table.hpp"
#include "ztp/read.hpp"

namespace ztp {

// How the file of ones is to be read.
TableSpec tensor_table(const ReadOptions& options);

// A test file: cells of known modes with a last column 0 or 1; and the cells of one of its blocks, added to others.
TableSpec test_table(const std::string& path, const std::vector<Mode>& modes);
void append_cells(const CellBlock& block, TestCells& cells);

// A cell by its labels, for messages.
std::string cell_text(const std::vector<Mode>& modes, const std::uint32_t* cell);

// Makes the labels of a tensor file findable.
void index_labels(std::vector<Mode>& modes, const std::string& file, Pool& pool);

// Adds a count to those before it; an error if they pass 2^62.
void add_to_total(std::int64_t& total, std::int64_t count, const std::string& file);
// What is odd about the cells of a file: repeated ones that were merged or added up, zeros that were ignored.
std::vector<std::string> cell_warnings(const ReadOptions& options, std::uint64_t duplicates, std::uint64_t zeros);

}  // namespace ztp
