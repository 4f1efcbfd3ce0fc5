// Source files of data sets, line by line, and the tables that are made of them.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace ztp {

// A line cut at its separators. What is wrong with it is an Error of kind input that names file, line and column.
class SourceLine {
 public:
  SourceLine(const std::string& file, std::uint64_t number, std::string_view line, char separator);

  std::size_t size() const { return fields_.size(); }
  std::string_view operator[](std::size_t i) const { return fields_[i]; }
  std::uint64_t number(std::size_t i, std::uint64_t max = UINT32_MAX) const;  // a whole number from 0 to max
  std::string label(std::size_t i) const;  // without blanks around it; not empty, no control characters
  [[noreturn]] void fail(std::size_t i, const std::string& what) const;

 private:
  const std::string& file_;
  std::uint64_t number_;
  std::string_view line_;
  std::vector<std::string_view> fields_;
};

// What every line must have.
struct SourceColumns {
  char separator;
  std::size_t count;
  bool or_more = false;
};
// Every line that is not empty.
void read_lines(const std::string& file, std::string_view text, const SourceColumns& columns,
                const std::function<void(const SourceLine&)>& take);

std::string utf8_of_latin1(std::string_view text);

// Labels that occur more than once get " #<source id>" at the end.
void make_distinct(std::vector<std::string>& labels, const std::vector<std::uint64_t>& source_ids);

// Coordinates in memory: sorted, each once.
template <std::size_t K>
using Cells = std::vector<std::array<std::uint32_t, K>>;

template <std::size_t K>
void sort_and_merge(Cells<K>& cells);

// "#header" and one line for each cell: labels[k][coordinate k], separated by TABs.
template <std::size_t K>
std::string text_of(const std::string& header, const Cells<K>& cells,
                    const std::array<const std::vector<std::string>*, K>& labels);

// What a data set is turned into.
struct OutputFile {
  std::string name;  // .gz: will be compressed
  std::string text;
};

struct Converted {
  std::vector<OutputFile> files;
  std::vector<std::pair<std::string, std::uint64_t>> modes;  // names and sizes
  std::uint64_t ones = 0;
  std::uint64_t edges = 0;
  std::vector<std::string> notes;
};

}  // namespace ztp
