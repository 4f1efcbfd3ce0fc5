#include "io/first_rows.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <unordered_map>

#include "io/layout.hpp"

namespace ztp {
namespace {

constexpr std::size_t most_rows = 2000;

constexpr std::array<std::string_view, 24> value_names = {
    "count", "counts", "weight", "weights", "value",  "values", "rating",    "ratings",
    "score", "scores", "n",      "num",     "number", "freq",   "frequency", "quantity",
    "qty",   "amount", "times",  "votes",   "volume", "plays",  "clicks",    "total"};

constexpr std::array<std::string_view, 68> entity_names = {
    "user",         "item",     "movie",    "film",     "book",      "song",     "track",    "artist",
    "album",        "product",  "customer", "client",   "buyer",     "seller",   "store",    "shop",
    "brand",        "category", "type",     "group",    "team",      "person",   "people",   "author",
    "paper",        "venue",    "journal",  "word",     "term",      "tag",      "topic",    "document",
    "doc",          "country",  "city",     "region",   "state",     "place",    "location", "organisation",
    "organization", "company",  "date",     "time",     "timestamp", "day",      "week",     "month",
    "year",         "hour",     "subject",  "relation", "predicate", "object",   "head",     "tail",
    "source",       "target",   "from",     "to",       "sender",    "receiver", "node",     "node1",
    "node2",        "entity",   "name",     "id"};

// Lower case, without "_id" or "_name", and without an s at the end.
std::string column_word(std::string_view name) {
  std::string word = to_lower(name);
  for (const std::string_view end : {"_id", " id", "-id", "_name", " name"})
    if (word.ends_with(end) && word.size() > end.size()) word.erase(word.size() - end.size());
  if (name.ends_with("Id") && name.size() > 2) word = to_lower(name.substr(0, name.size() - 2));
  return word;
}

template <std::size_t Size>
bool is_one_of(const std::array<std::string_view, Size>& words, std::string_view word) {
  const std::string_view singular = word.substr(0, word.size() - (word.ends_with('s') ? 1 : 0));
  return std::find(words.begin(), words.end(), word) != words.end() ||
         std::find(words.begin(), words.end(), singular) != words.end();
}

// How often each label of a column is there.
using Labels = std::unordered_map<std::string_view, std::size_t>;

}  // namespace

bool is_number(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end && std::isfinite(value);
}

bool is_name_of_values(std::string_view name) {
  return is_one_of(value_names, column_word(name));
}

bool is_common_column_name(std::string_view name) {
  const std::string word = column_word(name);
  return is_one_of(entity_names, word) || is_one_of(value_names, word);
}

std::vector<Row> first_rows(const LineBlocks& lines, const Separation& by) {
  std::vector<Row> rows;
  std::string text(lines.beginning());
  if (lines.beginning_is_all() && !text.ends_with('\n')) text += '\n';
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  try {
    while (rows.size() < most_rows) {
      const char* stop = std::find(at, end, '\n');
      if (by.quotes)
        for (auto quotes = std::count(at, stop, '"'); quotes % 2 != 0 && stop != end;) {
          const char* const after = std::find(stop + 1, end, '\n');
          quotes += std::count(stop, after, '"');
          stop = after;
        }
      if (stop == end) break;
      std::string_view line(at, static_cast<std::size_t>(stop - at));
      at = stop + 1;
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (line.empty() || (by.quotes && rows.empty() && announced_separator(line) != '\0')) continue;
      Row& row = rows.emplace_back();
      for (Field& field : split_fields(line, by, 1)) row.push_back(std::move(field.text));
    }
  } catch (const BadLine&) {
    rows.pop_back();  // whoever reads the file will say what is wrong
  }
  return rows;
}

char announced_separator(std::string_view line) {
  const bool announced = line.size() == 5 && to_lower(line.substr(0, 4)) == "sep=";
  return announced && std::string_view(",;\t").find(line[4]) != std::string_view::npos ? line[4] : '\0';
}

char csv_separator(const LineBlocks& lines) {
  char best = ',';
  std::size_t most_columns = 1;
  bool best_fits = false;
  for (const char separator : {',', ';', '\t'}) {
    std::vector<Row> rows = first_rows(lines, {.separator = separator, .quotes = true});
    rows.resize(std::min<std::size_t>(rows.size(), 100));
    if (rows.empty() || rows[0].size() < 2) continue;
    const bool fits =
        std::all_of(rows.begin(), rows.end(), [&](const Row& row) { return row.size() == rows[0].size(); });
    if (fits < best_fits || (fits == best_fits && rows[0].size() <= most_columns)) continue;
    best = separator;
    most_columns = rows[0].size();
    best_fits = fits;
  }
  return best;
}

FirstRow examine_first_row(const std::vector<Row>& rows) {
  FirstRow found;
  if (rows.empty()) return found;
  const Row& first = rows[0];
  found.labels = first.size();
  std::vector<Labels> columns(first.size());
  std::vector<const Row*> later;
  for (std::size_t i = 1; i < rows.size(); ++i)
    if (rows[i].size() == first.size()) later.push_back(&rows[i]);
  found.later_rows = later.size();
  for (const Row* row : later)
    for (std::size_t c = 0; c < first.size(); ++c) ++columns[c][(*row)[c]];
  for (std::size_t c = 0; c < first.size(); ++c) {
    found.recurs |= columns[c].contains(first[c]);
    found.known_words += is_common_column_name(first[c]);
    found.has_number |= is_number(first[c]);
    const auto numeric = [&](const Row* row) { return is_number((*row)[c]); };
    found.over_numbers |= later.size() >= 3 && !is_number(first[c]) && std::all_of(later.begin(), later.end(), numeric);
  }
  const auto all_new = [&](const Row* row) {
    for (std::size_t c = 0; c < first.size(); ++c)
      if (columns[c].at((*row)[c]) > 1) return false;
    return true;
  };
  constexpr std::size_t many = 100;
  found.only_new_row = !found.recurs && later.size() >= many && std::none_of(later.begin(), later.end(), all_new);
  return found;
}

bool FirstRow::looks_like_header() const {
  if (!may_be_header() || later_rows == 0) return false;
  return over_numbers || only_new_row || (known_words > 0 && (known_words >= 2 || known_words == labels));
}

}  // namespace ztp
