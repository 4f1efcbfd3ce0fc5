#include "report/entity_order.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numeric>
#include <optional>
#include <string>

namespace ztp {
namespace {

constexpr double first_year = 1500, last_year = 2199;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

// A label split into its integers, and the rest with a # in place of each.
struct LabelParts {
  std::string shape;
  std::vector<double> numbers;
  std::size_t first_digits = 0;  // how many the first number has
};

LabelParts parts_of(std::string_view label) {
  LabelParts parts;
  for (std::size_t i = 0; i < label.size();) {
    if (!is_digit(label[i])) {
      parts.shape += label[i++];
      continue;
    }
    double number = 0;
    const std::size_t begin = i;
    for (; i < label.size() && is_digit(label[i]); ++i) number = 10 * number + (label[i] - '0');
    if (parts.numbers.empty()) parts.first_digits = i - begin;
    parts.numbers.push_back(number);
    parts.shape += '#';
  }
  return parts;
}

// The place of a name of a month or of a day of the week, full or its first three letters.
template <std::size_t Count>
std::optional<std::size_t> named(const std::array<std::string_view, Count>& names, const std::string& label) {
  for (std::size_t i = 0; i < Count; ++i)
    if (label == names[i] || label == names[i].substr(0, 3)) return i;
  return std::nullopt;
}

constexpr std::array<std::string_view, 12> months = {"january",   "february", "march",    "april",
                                                     "may",       "june",     "july",     "august",
                                                     "september", "october",  "november", "december"};
constexpr std::array<std::string_view, 7> weekdays = {"monday", "tuesday",  "wednesday", "thursday",
                                                      "friday", "saturday", "sunday"};

// What labels are sorted by, if all of them are of one kind.
struct SortKeys {
  enum class Kind { calendar, numbers, shape };  // names of months or days; numbers; numbers in a common text
  Kind kind = Kind::numbers;
  std::vector<std::vector<double>> of_label;
  std::string shape;
  bool years = false;  // all begin with four digits that may be a year
};

std::optional<SortKeys> calendar_keys(const LabelTable& labels) {
  SortKeys keys{SortKeys::Kind::calendar, {}, {}, false};
  std::string scratch;
  bool all_months = true, all_weekdays = true;
  for (std::uint32_t j = 0; j < labels.size() && (all_months || all_weekdays); ++j) {
    const std::string label = lower(labels.name(j, scratch));
    const auto month = named(months, label), weekday = named(weekdays, label);
    all_months = all_months && month;
    all_weekdays = all_weekdays && weekday;
    keys.of_label.push_back({static_cast<double>(month ? *month : weekday.value_or(0))});
  }
  return labels.size() > 0 && (all_months || all_weekdays) ? std::optional(keys) : std::nullopt;
}

std::optional<SortKeys> shape_keys(const LabelTable& labels) {
  SortKeys keys{SortKeys::Kind::shape, {}, {}, true};
  std::string scratch;
  for (std::uint32_t j = 0; j < labels.size(); ++j) {
    LabelParts parts = parts_of(labels.name(j, scratch));
    if (j == 0) keys.shape = parts.shape;
    if (parts.numbers.empty() || parts.shape != keys.shape) return std::nullopt;
    keys.years =
        keys.years && parts.first_digits == 4 && parts.numbers[0] >= first_year && parts.numbers[0] <= last_year;
    keys.of_label.push_back(std::move(parts.numbers));
  }
  return labels.size() > 0 ? std::optional(keys) : std::nullopt;
}

// Numbers of any form: -1, 0.5.
std::optional<SortKeys> number_keys(const LabelTable& labels) {
  SortKeys keys{SortKeys::Kind::numbers, {}, {}, false};
  std::string scratch;
  for (std::uint32_t j = 0; j < labels.size(); ++j) {
    const std::string_view label = labels.name(j, scratch);
    double value = 0;
    const auto [end, error] = std::from_chars(label.data(), label.data() + label.size(), value);
    if (error != std::errc() || end != label.data() + label.size() || !std::isfinite(value)) return std::nullopt;
    keys.of_label.push_back({value});
  }
  return labels.size() > 0 ? std::optional(keys) : std::nullopt;
}

// Whether the first number of a shape is the most significant: a single number, a time as 12:30, or a year. Not in
// 31.12.1999.
bool is_sortable(const SortKeys& keys) {
  return keys.years || keys.shape.starts_with("#:#") || std::count(keys.shape.begin(), keys.shape.end(), '#') == 1;
}

std::optional<SortKeys> keys_of(const LabelTable& labels) {
  if (std::optional<SortKeys> keys = calendar_keys(labels)) return keys;
  if (std::optional<SortKeys> keys = number_keys(labels)) {
    if (const std::optional<SortKeys> shape = shape_keys(labels)) keys->years = shape->years;
    return keys;
  }
  std::optional<SortKeys> keys = shape_keys(labels);
  return keys && is_sortable(*keys) ? keys : std::nullopt;
}

// Dates, months, quarters, weeks, ranges of years, decades: all begin with a year.
bool are_periods(const SortKeys& keys) {
  if (!keys.years || keys.kind == SortKeys::Kind::calendar) return false;
  if (keys.kind == SortKeys::Kind::numbers) return true;
  const std::string shape = lower(keys.shape);
  for (const std::string_view begin : {"#-#-#", "#/#/#"})
    if (shape.starts_with(begin))
      return std::all_of(keys.of_label.begin(), keys.of_label.end(), [](const std::vector<double>& date) {
        return date[1] >= 1 && date[1] <= 12 && date[2] >= 1 && date[2] <= 31;
      });
  constexpr std::array<std::string_view, 10> known = {"#-#",  "#/#", "#\u2013#", "#q#", "#-q#",
                                                      "# q#", "#w#", "#-w#",     "#m#", "#s"};
  return std::find(known.begin(), known.end(), shape) != known.end();
}

// day, Day_of_week, weeks, timeStep: any of the words that a name has.
bool says_time(const std::string& name) {
  constexpr std::array<std::string_view, 26> words = {
      "day",     "date", "week",   "weekday",  "month",    "year",      "hour",     "minute", "period",
      "quarter", "time", "decade", "century",  "season",   "semester",  "epoch",    "era",    "age",
      "round",   "step", "wave",   "timestep", "timeslot", "timestamp", "datetime", "tick"};
  std::string word;
  const auto is_one = [&] {
    const bool plural = word.size() > 3 && word.back() == 's';
    return std::find(words.begin(), words.end(), word) != words.end() ||
           (plural && std::find(words.begin(), words.end(), word.substr(0, word.size() - 1)) != words.end());
  };
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool upper = name[i] >= 'A' && name[i] <= 'Z';
    const bool letter = upper || (name[i] >= 'a' && name[i] <= 'z');
    const bool begins = upper && i > 0 && name[i - 1] >= 'a' && name[i - 1] <= 'z';
    if ((!letter || begins) && is_one()) return true;
    if (!letter || begins) word.clear();
    if (letter) word += lower(name.substr(i, 1));
  }
  return is_one();
}

}  // namespace

bool looks_ordered(const Mode& mode) {
  const std::uint32_t n = mode.labels.size();
  if (n < 2 || n > most_in_a_line) return false;
  if (mode.labels.is_numbered()) return says_time(mode.name);
  const std::optional<SortKeys> keys = keys_of(mode.labels);
  if (!keys) return false;
  if (keys->kind == SortKeys::Kind::calendar || are_periods(*keys)) return true;
  return says_time(mode.name);
}

std::vector<std::uint32_t> ids_in_order(const LabelTable& labels) {
  std::vector<std::uint32_t> ids(labels.size());
  std::iota(ids.begin(), ids.end(), 0u);
  if (labels.is_numbered()) return ids;
  if (const std::optional<SortKeys> keys = keys_of(labels))
    std::stable_sort(ids.begin(), ids.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return keys->of_label[a] < keys->of_label[b]; });
  return ids;
}

}  // namespace ztp
