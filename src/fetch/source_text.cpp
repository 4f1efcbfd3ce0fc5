#include "fetch/source_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <unordered_map>

#include "io/lines.hpp"

namespace ztp {

SourceLine::SourceLine(const std::string& file, std::uint64_t number, std::string_view line, char separator)
    : file_(file), number_(number), line_(line) {
  while (true) {
    const std::size_t end = line.find(separator);
    fields_.push_back(line.substr(0, end));
    if (end == std::string_view::npos) break;
    line.remove_prefix(end + 1);
  }
}

void SourceLine::fail(std::size_t i, const std::string& what) const {
  const std::size_t column = i < fields_.size() ? static_cast<std::size_t>(fields_[i].data() - line_.data()) + 1 : 1;
  throw error_at(file_, BadLine{number_, column, what + "; the source is damaged or has another form now"});
}

std::uint64_t SourceLine::number(std::size_t i, std::uint64_t max) const {
  const std::string_view field = fields_[i];
  std::uint64_t value = 0;
  const auto [end, failure] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (failure != std::errc() || end != field.data() + field.size() || value > max)
    fail(i, fmt::format("{} is not a whole number from 0 to {}", quoted(field), max));
  return value;
}

std::string SourceLine::label(std::size_t i) const {
  std::string_view field = fields_[i];
  while (!field.empty() && field.front() == ' ') field.remove_prefix(1);
  while (!field.empty() && field.back() == ' ') field.remove_suffix(1);
  const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20; };
  if (field.empty()) fail(i, "a name is empty");
  if (std::any_of(field.begin(), field.end(), control)) fail(i, fmt::format("{} is not a name", quoted(field)));
  return std::string(field);
}

void read_lines(const std::string& file, std::string_view text, const SourceColumns& columns,
                const std::function<void(const SourceLine&)>& take) {
  for (std::uint64_t number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.empty()) continue;
    const SourceLine cut(file, number, line, columns.separator);
    if (cut.size() < columns.count || (!columns.or_more && cut.size() > columns.count))
      cut.fail(0, fmt::format("{} columns where {} are expected", cut.size(), columns.count));
    take(cut);
  }
}

std::string utf8_of_latin1(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (code < 0x80) {
      result += c;
    } else {
      result += static_cast<char>(0xc0 | code >> 6);
      result += static_cast<char>(0x80 | (code & 0x3f));
    }
  }
  return result;
}

void make_distinct(std::vector<std::string>& labels, const std::vector<std::uint64_t>& source_ids) {
  std::unordered_map<std::string, int> times;
  for (const std::string& label : labels) ++times[label];
  for (std::size_t i = 0; i < labels.size(); ++i)
    if (times[labels[i]] > 1) labels[i] += fmt::format(" #{}", source_ids[i]);
}

template <std::size_t K>
void sort_and_merge(Cells<K>& cells) {
  std::sort(cells.begin(), cells.end());
  cells.erase(std::unique(cells.begin(), cells.end()), cells.end());
}

template <std::size_t K>
std::string text_of(const std::string& header, const Cells<K>& cells,
                    const std::array<const std::vector<std::string>*, K>& labels) {
  std::string text = "#" + header + "\n";
  for (const auto& cell : cells)
    for (std::size_t k = 0; k < K; ++k) {
      text += (*labels[k])[cell[k]];
      text += k + 1 < K ? '\t' : '\n';
    }
  return text;
}

template void sort_and_merge(Cells<2>&);
template void sort_and_merge(Cells<3>&);
template std::string text_of(const std::string&, const Cells<2>&,
                             const std::array<const std::vector<std::string>*, 2>&);
template std::string text_of(const std::string&, const Cells<3>&,
                             const std::array<const std::vector<std::string>*, 3>&);

}  // namespace ztp
