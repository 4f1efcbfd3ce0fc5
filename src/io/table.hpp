// Text files of cells (.tsv, .tns, .mtx; plain, .gz, .zst; or standard input) as blocks of integer coordinates.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/pool.hpp"
#include "ztp/buffer.hpp"
#include "ztp/labels.hpp"
#include "ztp/read.hpp"

namespace ztp {

struct FileLayout;
struct TextFormat;

enum class ValueKind {
  none,      // .tsv: every column is a label. .tns, .mtx: a value is there (or not: pattern) and must be a number
  nonzero,   // the last column is a number; any nonzero value is a one, zero is an absent cell
  counts,    // the last column is an integer, 0 or more
  zero_one,  // the last column is 0 or 1 (test files); zeros are kept as cells
  outcomes,  // as counts (test files of counts); zeros are kept as cells
};

struct TableSpec {
  std::string path;                    // "-" is standard input
  const TextFormat* format = nullptr;  // null: by the name, then by the first line; .tsv if neither tells
  ValueKind values = ValueKind::none;
  // The value column may be absent: every cell is then a one. With ValueKind::none it is ignored (cells to predict).
  bool optional_value = false;
  std::uint32_t index_base = 1;  // .tns only: 0 or 1
  bool keep_lines = false;       // remember the line of every cell
  // The size of a block of text. Labels and ids do not depend on it. The labels of 1 MiB fit into the cache.
  std::size_t block_bytes = 1 << 20;
  // One mode for each column, of which some may be the same: other labels are an error. If empty, modes are discovered:
  // labels in order of first appearance (.tsv), or the numbers up to the largest index or the size in the header. An
  // index is the label of a fixed mode that it spells, unless index_base is 0 and labels count from 1.
  std::vector<const Mode*> fixed_modes;
  // If modes are discovered: labels that are known already. A header may then have any names, as with fixed modes.
  const LabelTable* known = nullptr;
  std::string unknown_remedy;       // what to do about an unknown label, for messages
  bool skip_unknown = false;        // with fixed modes, lines with other labels are skipped and counted
  bool header_names_modes = false;  // with fixed modes, a header must name these modes in this order
  // With fixed modes: other labels are allowed, and labels and ids are discovered as if no mode were fixed.
  bool open = false;
  std::optional<bool> header;  // of labels: whether the first line is one; nothing: as it looks
};

// For TableSpec::fixed_modes: all modes, in order.
std::vector<const Mode*> columns_of(const std::vector<Mode>& modes);
// A list of cells of known modes. Its header, if there is one, must name them.
TableSpec cell_table(const std::string& path, const std::vector<Mode>& modes);

// A file of pairs of entities of a known mode.
TableSpec pair_table(const std::string& path, const Mode& mode);

// Cells of one block of the file, in file order.
struct CellBlock {
  Buffer<std::uint32_t> coords;  // cells x K, row-major
  Buffer<std::int64_t> values;  // one for each cell, unless ValueKind::none (binary: the value's being nonzero, 0 or 1)
  Buffer<std::uint64_t> lines;  // 1-based, if keep_lines
  std::size_t cells(std::size_t order) const { return coords.size() / order; }
};

// Lines that were skipped for labels that no fixed mode has.
struct UnknownLines {
  static constexpr std::size_t most_labels = 5;
  std::uint64_t lines = 0;
  std::vector<std::string> labels;  // a few of them, with their modes
  void add_label(const std::string& label);
  void add(const UnknownLines& others);
};

// Reads front to back. Blocks are parsed in parallel on the pool and yielded in file order; ids do not depend on the
// number of threads. Memory: a few blocks of text, and the label tables.
class TableReader {
 public:
  TableReader(TableSpec spec, Pool& pool);  // reads the start of the file
  ~TableReader();

  std::size_t order() const;    // K
  bool next(CellBlock& block);  // false at the end of the file
  // After the last block: mode names (from the header, or mode1, ..., modeK) and, unless modes are closed, labels.
  std::vector<Mode> take_modes();
  std::uint64_t zero_cells() const;  // cells that were given with the value zero and not yielded
  const FileLayout& layout() const;
  FileSummary summary(const std::string& use) const;
  const UnknownLines& unknown_lines() const;  // that were skipped so far
  // Bytes that it takes for a file of so many cells.
  static double bytes(double cells, std::size_t order, unsigned threads);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Appends all cells that are left, and returns the modes of the columns.
std::vector<Mode> read_coords(TableReader& reader, Buffer<std::uint32_t>& to);

}  // namespace ztp
