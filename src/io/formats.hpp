// The text formats of cells. To add one, define a TextFormat and list it here and in FileFormat.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "io/fields.hpp"

namespace ztp {

struct FileLayout;
struct ParsedBlock;
struct TableSpec;

struct TextFormat {
  // Whether a first line, without trailing blanks, identifies this format; null: no line does.
  bool (*recognises)(std::string_view line) = nullptr;
  // Reads the header lines, up to the first line of data. Throws BadLine, or Error.
  FileLayout (*layout)(LineBlocks& lines, const TableSpec& spec);
  // Whole lines into cells: parse_labels or parse_indices (io/parse.hpp).
  void (*parse)(std::string_view text, const FileLayout& layout, const TableSpec& spec, std::uint64_t most,
                ParsedBlock& out);
  bool numbered = true;                        // entities are integers; else labels
  Separation columns_by = {.separator = ' '};  // a layout may change the separator
  bool has_index_base = false;                 // indices may count from 0 (--index-base)
};

extern const TextFormat tsv_format, tns_format, mtx_format, csv_format;

// In the order of FileFormat. The first is the default.
inline constexpr const TextFormat* text_formats[] = {&tsv_format, &tns_format, &mtx_format, &csv_format};

// Whether the name of a file says that it is a CSV, compressed or not.
bool is_csv_name(const std::string& path);

}  // namespace ztp
