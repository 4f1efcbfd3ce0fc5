// Text files of cells (.tsv, .tns, .mtx; plain, .gz, .zst; or standard input) as blocks of integer coordinates.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/pool.hpp"
#include "ztp/buffer.hpp"
#include "ztp/labels.hpp"

namespace ztp {

struct TextFormat;

enum class Values {
  none,      // .tsv: every column is a label. .tns, .mtx: a value is there (or not: pattern) and must be a number
  nonzero,   // the last column is a number; any nonzero value is a one, zero is an absent cell
  counts,    // the last column is a whole number, not negative
  zero_one,  // the last column is 0 or 1 (test files); zeros are kept as cells
};

struct TableSpec {
  std::string path;                    // "-" is standard input
  const TextFormat* format = nullptr;  // null: by the name, then by the first line; .tsv if neither tells
  Values values = Values::none;
  // The value column may be absent, and every cell is then a one; with Values::none it is ignored (cells to predict).
  bool optional_value = false;
  std::uint32_t index_base = 1;  // .tns only: 0 or 1
  bool keep_lines = false;       // remember the line of every cell
  // Of text, parsed at once by one thread. Labels and ids do not depend on it; at 1 MiB the labels of a block fit the
  // cache.
  std::size_t block_bytes = 1 << 20;
  // When not empty, one mode for each column, of which one may serve several: a label outside it is an input error.
  // Otherwise the modes are discovered: labels in order of first appearance (.tsv), or the numbers up to the largest
  // index or the header's size. An index in a .tns or .mtx file is looked up as the label it spells; only index_base 0
  // over labels that count from 1 makes it a place.
  std::vector<const Mode*> closed;
  // When modes are discovered: labels that are known beforehand. A header may then say anything, as in a closed table.
  const LabelTable* known = nullptr;
  std::string unknown_remedy;       // what to do about a label outside, for messages
  bool header_names_modes = false;  // a header of a closed .tsv must name these modes in this order
};

// For TableSpec::closed: every mode, in this order.
std::vector<const Mode*> columns_of(const std::vector<Mode>& modes);
// A list of cells of known modes, whose header, if there is one, must name them.
TableSpec cell_table(const std::string& path, const std::vector<Mode>& modes);

// Cells of one block of the file, in file order.
struct CellBlock {
  Buffer<std::uint32_t> coords;  // cells x K, row-major
  Buffer<std::int64_t> values;   // one for each cell, unless Values::none (binary: the value's being nonzero, 0 or 1)
  Buffer<std::uint64_t> lines;   // 1-based, if keep_lines
  std::size_t cells(std::size_t order) const { return coords.size() / order; }
};

// Reads front to back. Blocks are parsed in parallel on the pool and yielded in file order; ids do not depend on the
// number of threads. Memory: a few blocks of text, and the label tables.
class TableReader {
 public:
  TableReader(TableSpec spec, Pool& pool);
  ~TableReader();

  std::size_t order();          // K; reads the start of the file
  bool next(CellBlock& block);  // false at the end of the file
  // After the last block: mode names (from the header, or mode1.. modeK) and labels. Empty tables if spec.closed was
  // given.
  std::vector<Mode> take_modes();
  std::uint64_t zero_cells() const;  // cells that were given with the value zero and not yielded

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ztp
