// What the beginning of a file tells: which character separates its columns, and whether its first line is a header.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "io/fields.hpp"

namespace ztp {

using Row = std::vector<std::string>;
// The lines that are complete, without empty ones, as far as they can be read.
std::vector<Row> first_rows(const LineBlocks& lines, const Separation& by);

// The separator of a CSV: a comma, a semicolon or a TAB, whichever gives all first lines the same number of columns.
char csv_separator(const LineBlocks& lines);
// A first line of the form sep=; which spreadsheets write. The separator, or 0.
char announced_separator(std::string_view line);

// What the first row has that the others do not.
struct FirstRow {
  bool recurs = false;          // one of its labels is also in a later row, in the same column
  bool has_number = false;      // one of its labels is a number
  bool over_numbers = false;    // it has a word where all later rows have numbers
  bool only_new_row = false;    // of many rows, it alone has only labels that are in no other row
  std::size_t known_words = 0;  // labels that are common names of columns: user, item, week, count, ...
  std::size_t labels = 0;
  std::size_t later_rows = 0;

  // A header, unless something tells otherwise: for formats that usually have one.
  bool may_be_header() const { return !recurs && !has_number; }
  // A header, unless there is no sign of it: for formats that usually have none.
  bool looks_like_header() const;
};
FirstRow examine_first_row(const std::vector<Row>& rows);

// Whether this is a common name of a column of numbers that belong to the cells: count, weight, rating, ...
bool is_name_of_values(std::string_view name);
bool is_common_column_name(std::string_view name);
bool is_number(std::string_view text);

}  // namespace ztp
