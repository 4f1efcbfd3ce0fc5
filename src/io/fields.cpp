#include "io/fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "io/layout.hpp"

namespace ztp {

const char* separator_name(char separator) {
  switch (separator) {
    case '\t':
      return "TAB";
    case ',':
      return "commas";
    case ';':
      return "semicolons";
    default:
      return "spaces";
  }
}

void append_plain_text(std::string_view text, std::string& to) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i], after = i + 1 < text.size() ? text[i + 1] : '\0';
    if ((c == '"' && after == '"') || (c == '\r' && after == '\n')) ++i;
    to += c == '\t' || c == '\n' || c == '\r' ? ' ' : c;
  }
}

bool QuotedFields::next(RawField& field) {
  if (finished_) return false;
  field.line = line_;
  field.column = column(at_);
  if (*at_ == '"')
    take_quoted(field);
  else
    take_plain(field);
  finished_ = *at_ == '\n';
  ++at_;
  return true;
}

void QuotedFields::take_quoted(RawField& field) {
  const auto find_quote = [&] {
    return static_cast<const char*>(std::memchr(at_, '"', static_cast<std::size_t>(end_ - at_)));
  };
  const char* const begin = ++at_;
  field.as_it_is = true;
  for (at_ = find_quote(); at_ != nullptr && at_ + 1 < end_ && at_[1] == '"'; at_ = find_quote()) {
    field.as_it_is = false;
    at_ += 2;
  }
  if (at_ == nullptr)
    throw BadLine{field.line, field.column,
                  "a double quote that is never closed; add the closing quote, or double a quote that is part of the "
                  "label and put the label in quotes"};
  field.text = {begin, static_cast<std::size_t>(at_ - begin)};
  if (field.text.find_first_of("\t\n") != field.text.npos) field.as_it_is = false;
  for (std::size_t end = field.text.find('\n'); end != field.text.npos; end = field.text.find('\n', end + 1)) {
    ++line_;
    line_begin_ = begin + end + 1;
  }
  ++at_;
  if (*at_ == '\r' && at_[1] == '\n') ++at_;
  if (*at_ == separator_ || *at_ == '\n') return;
  const std::string where = line_ == field.line ? "" : ", " + plural(line_ - field.line, "line") + " above";
  throw BadLine{line_, column(at_),
                fmt::format("text after the closing quote of a field that begins in column {}{}; double the quotes "
                            "inside a field, or separate the fields by {}",
                            field.column, where, separator_name(separator_))};
}

void QuotedFields::take_plain(RawField& field) {
  const char* const begin = at_;
  field.as_it_is = true;
  for (; *at_ != separator_ && *at_ != '\n'; ++at_) {
    if (*at_ == '\t') field.as_it_is = false;
    if (*at_ == '"')
      throw BadLine{line_, column(at_),
                    "a double quote inside a field that does not begin with one; put the whole field in quotes, and "
                    "double those inside it"};
  }
  const bool windows = *at_ == '\n' && at_ != begin && at_[-1] == '\r';
  field.text = {begin, static_cast<std::size_t>(at_ - begin) - (windows ? 1 : 0)};
}

namespace {

// Calls use(field) until it says false.
template <class Use>
void for_fields(std::string_view line, const Separation& by, std::uint64_t number, const Use& use) {
  if (by.quotes) {
    const std::string text = std::string(line) + "\n";
    QuotedFields fields(text.data(), text.data() + text.size(), by.separator, number);
    for (RawField raw; fields.next(raw);) {
      Field field{{}, raw.line, raw.column};
      if (raw.as_it_is)
        field.text = raw.text;
      else
        append_plain_text(raw.text, field.text);
      if (!use(field)) return;
    }
    return;
  }
  const bool blanks = by.separator == ' ';
  const std::string_view separators = blanks ? std::string_view(" \t\r") : std::string_view(&by.separator, 1);
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find_first_of(separators, begin), line.size());
    if ((!blanks || end > begin) && !use(Field{std::string(line.substr(begin, end - begin)), number, begin + 1}))
      return;
    begin = end + 1;
  }
}

}  // namespace

std::vector<Field> split_fields(std::string_view line, const Separation& by, std::uint64_t number) {
  constexpr std::size_t max_fields = max_modes + 2;
  std::vector<Field> fields;
  for_fields(line, by, number, [&](const Field& field) {
    fields.push_back(field);
    return fields.size() < max_fields;
  });
  return fields;
}

std::size_t count_fields(std::string_view line, const Separation& by, std::uint64_t number) {
  std::size_t count = 0;
  for_fields(line, by, number, [&](const Field&) { return ++count > 0; });
  return count;
}

BadLine wrong_column_count(std::uint64_t line, std::string_view text, std::size_t fewest, std::size_t most,
                           const Separation& by) {
  // The first field too many, or the place of the first that is missing.
  std::size_t count = 0, column = text.size() - (text.rfind('\n') + 1) + 1;  // npos + 1 is 0
  std::uint64_t place = line + static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
  for_fields(text, by, line, [&](const Field& field) {
    if (count++ == most) {
      column = field.column;
      place = field.line;
    }
    return true;
  });
  const std::string expected = most > fewest ? fmt::format("{} or {} columns", fewest, most) : plural(fewest, "column");
  const bool tabs = by.separator == '\t';
  std::string what =
      fmt::format("expected {} separated by {}, found {}; ", expected, separator_name(by.separator), count);
  if (by.separator != ' ' && text.starts_with('#') && count < fewest)
    what += "only the first line may begin with #, and it names the columns; comments are not allowed";
  else if (tabs && text.find('\t') == text.npos && text.find_first_of(",;") != text.npos)
    what += "the line has no TAB: put a TAB between columns, or call the file .csv if it is one";
  else if (tabs && text.find('\t') == text.npos && text.find(' ') != text.npos)
    what += "the line has spaces but no TAB: put a TAB between columns";
  else
    what += by.ragged_remedy;
  return {place, column, what};
}

}  // namespace ztp
