// The text formats of cells. A new one is a TextFormat (of indices, in io/layout_indexed.cpp) and its name here.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace ztp {

class LineBlocks;
struct Layout;
struct ParsedBlock;
struct TableSpec;

struct TextFormat {
  const char* name;  // for --format, and what the names of its files end in
  // Whether a first line, without blanks at its end, can only be of this format; null: no line tells.
  bool (*recognises)(std::string_view line) = nullptr;
  // Takes the header lines off and leaves the first line of data. Throws BadLine, or Error.
  Layout (*layout)(LineBlocks& lines, const TableSpec& spec);
  // Whole lines into cells: parse_labels or parse_indices (io/parse.hpp).
  void (*parse)(std::string_view text, const Layout& layout, const TableSpec& spec, std::uint64_t most,
                ParsedBlock& out);
  bool numbered = true;         // entities are whole numbers; else labels
  bool tabs = false;            // columns are separated by one TAB each; else by any spaces and TABs
  bool has_index_base = false;  // indices may count from 0 (--index-base)
  const char* ragged_remedy = "every line must have the same columns";
};

extern const TextFormat tsv_format, tns_format, mtx_format;

// In the order of FileFormat. The first is that of a file that nothing tells about.
inline constexpr const TextFormat* text_formats[] = {&tsv_format, &tns_format, &mtx_format};

}  // namespace ztp
