// The columns of a line: what separates them, and what double quotes mean.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "io/lines.hpp"

namespace ztp {

struct Separation {
  char separator = '\t';  // one between two columns; a space: any spaces and TABs
  bool quotes = false;    // a column may be in double quotes, and those inside it are doubled
  const char* ragged_remedy = "every line must have the same columns";
};

const char* separator_name(char separator);  // "TAB", "commas", ...

// A column of a line as it is written. With quotes, a line may have several line ends.
struct RawField {
  std::string_view text;   // without the quotes around it
  bool as_it_is = true;    // else plain_text(text) is meant
  std::uint64_t line = 1;  // where it begins, and its 1-based byte there
  std::size_t column = 1;
};
// Doubled quotes become one; a line end or a TAB, which a label cannot have, becomes a space.
void append_plain_text(std::string_view text, std::string& to);

// Takes the fields of lines whose columns may be in quotes, one by one.
class QuotedFields {
 public:
  // Of the line with this number that begins at `begin`, and ends before `end` with a newline.
  QuotedFields(const char* begin, const char* end, char separator, std::uint64_t line)
      : at_(begin), end_(end), line_begin_(begin), separator_(separator), line_(line) {}
  // False after the last field of the line. Throws BadLine.
  bool next(RawField& field);
  // After the last field: the start of the next line, and the number of the line that ends before it.
  const char* after() const { return at_; }
  std::uint64_t last_line() const { return line_; }

 private:
  void take_quoted(RawField& field);
  void take_plain(RawField& field);
  std::size_t column(const char* place) const { return static_cast<std::size_t>(place - line_begin_) + 1; }

  const char* at_;
  const char* end_;
  const char* line_begin_;
  char separator_;
  std::uint64_t line_;
  bool finished_ = false;
};

// For errors and headers, which need not be fast. A line is given without its end, and with its number.
struct Field {
  std::string text;
  std::uint64_t line;
  std::size_t column;
};
// Stops after max_fields, more than a valid line has: the fields of a long line of TABs would take many times its size.
std::vector<Field> split_fields(std::string_view line, const Separation& by, std::uint64_t number);
std::size_t count_fields(std::string_view line, const Separation& by, std::uint64_t number);  // all of them
BadLine wrong_column_count(std::uint64_t line, std::string_view text, std::size_t fewest, std::size_t most,
                           const Separation& by);

}  // namespace ztp
