// The layout of a text file, from its first lines: format, modes, columns.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/fields.hpp"
#include "io/lines.hpp"
#include "io/table.hpp"

namespace ztp {

struct FileLayout {
  const TextFormat* format = nullptr;
  Separation columns_by;               // how its columns are separated
  std::size_t order = 0;               // K
  std::size_t columns = 0;             // K, or K + 1 with a value
  bool has_value = false;              // the last column is a value
  bool uses_value = false;             // it is parsed, not skipped
  bool mirrored = false;               // .mtx: symmetric, so that a cell off the diagonal stands for two
  std::uint32_t base = 1;              // .tns, .mtx: the index of the first row
  bool checks_utf8 = false;            // of labels: each is checked while it is parsed, which takes time
  char comment = '\0';                 // .tns, .mtx: the first character of comments
  std::vector<std::string> names;      // of the modes
  bool header = false;                 // the first line names the columns
  std::string note;                    // what was recognised and should be told; empty: nothing
  std::string warning;                 // what may be a mistake, and the remedy; empty: nothing
  std::vector<std::uint64_t> sizes;    // of the modes, where a header gives them
  std::optional<std::uint64_t> cells;  // how many lines of cells a header announces, and where
  std::uint64_t cells_line = 0;
  std::size_t cells_column = 0;
};

// Determines the format, unless the spec names it, and reads the header lines. Throws BadLine, or Error.
FileLayout read_layout(LineBlocks& lines, const TableSpec& spec);

// Helpers shared by formats and parsers.
std::string to_lower(std::string_view text);
std::string plural(std::size_t count, const char* noun);         // "1 column", "2 columns"
std::string entities_text(std::size_t count);                    // "1 entity", "2 entities"
std::string mode_name(const TableSpec& spec, std::size_t mode);  // of spec.fixed_modes, or mode1, mode2, ...
Error no_data_error(const std::string& file);

}  // namespace ztp
