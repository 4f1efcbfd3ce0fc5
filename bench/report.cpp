#include "report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace ztp::bench {
namespace {

// Three digits or so, and never an exponent where people would write none.
std::string number(double value) {
  const double size = std::fabs(value);
  if (size >= 99.95 || size == 0) return fmt::format("{:.0f}", value);
  if (size >= 9.995) return fmt::format("{:.1f}", value);
  if (size >= 0.9995) return fmt::format("{:.2f}", value);
  return fmt::format("{:.3g}", value);
}

std::string text(const Spread& spread) {
  if (spread.repeats == 1) return number(spread.median);
  return fmt::format("{} ({} to {})", number(spread.median), number(spread.min), number(spread.max));
}

std::string key(std::string name) {
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
}

using Cells = std::vector<std::string>;

bool same_columns(const Row& a, const Row& b) {
  const auto label_name = [](const auto& x, const auto& y) { return x.key() == y.key(); };
  const auto of_labels = [](const Row& row) { return row.labels.items(); };
  return a.labels.size() == b.labels.size() && a.figures.size() == b.figures.size() &&
         std::equal(of_labels(a).begin(), of_labels(a).end(), of_labels(b).begin(), label_name) &&
         std::equal(a.figures.begin(), a.figures.end(), b.figures.begin(),
                    [](const Figure& x, const Figure& y) { return x.name == y.name; });
}

// The header and the rows as text. A figure of which something is wanted in any of the rows has two more columns.
std::vector<Cells> as_text(const Row* begin, const Row* end) {
  std::vector<bool> judged(begin->figures.size(), false);
  for (const Row* row = begin; row != end; ++row)
    for (std::size_t i = 0; i < judged.size(); ++i) judged[i] = judged[i] || row->figures[i].wanted;
  std::vector<Cells> table(1);
  for (const auto& label : begin->labels.items()) table[0].push_back(label.key());
  for (std::size_t i = 0; i < judged.size(); ++i) {
    table[0].push_back(begin->figures[i].name);
    if (judged[i]) table[0].insert(table[0].end(), {"wanted", "holds"});
  }
  for (const Row* row = begin; row != end; ++row) {
    Cells& cells = table.emplace_back();
    for (const auto& label : row->labels.items())
      cells.push_back(label.value().is_string() ? label.value().get<std::string>() : label.value().dump());
    for (std::size_t i = 0; i < judged.size(); ++i) {
      const Figure& figure = row->figures[i];
      cells.push_back(text(figure.spread));
      if (!judged[i]) continue;
      cells.push_back(figure.wanted ? figure.wanted->text() : "");
      cells.push_back(!figure.wanted ? "" : figure.wanted->holds(figure.spread.median) ? "yes" : "NO");
    }
  }
  return table;
}

void print(const std::vector<Cells>& table) {
  std::vector<std::size_t> width(table[0].size(), 0);
  for (const Cells& cells : table)
    for (std::size_t i = 0; i < cells.size(); ++i) width[i] = std::max(width[i], cells[i].size());
  for (const Cells& cells : table) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) line += fmt::format("  {:<{}}", cells[i], width[i]);
    fmt::print("{}\n", line.substr(0, line.find_last_not_of(' ') + 1));
  }
}

nlohmann::ordered_json as_json(const Figure& figure) {
  nlohmann::ordered_json json = {{"median", figure.spread.median},
                                 {"min", figure.spread.min},
                                 {"max", figure.spread.max},
                                 {"repeats", figure.spread.repeats}};
  if (figure.wanted) {
    json["wanted"] = figure.wanted->text();
    json["holds"] = figure.wanted->holds(figure.spread.median);
  }
  return json;
}

}  // namespace

std::string Wanted::text() const {
  return fmt::format("{} {}", side == at_most ? "<=" : ">=", value);
}

void Report::begin(const std::string& part, const std::string& title) {
  parts_.push_back({part, title, {}, {}});
  fmt::print("{}: {}\n", part, title);
  std::fflush(stdout);
}

void Report::add(nlohmann::ordered_json labels, std::vector<Figure> figures) {
  parts_.back().rows.push_back({std::move(labels), std::move(figures)});
}

void Report::skip(const std::string& what, const std::string& why) {
  parts_.back().skipped.push_back(what + ": " + why);
}

void Report::end() const {
  const std::vector<Row>& rows = parts_.back().rows;
  for (const Row *begin = rows.data(), *last = begin + rows.size(); begin != last;) {
    const Row* end = std::find_if_not(begin, last, [&](const Row& row) { return same_columns(*begin, row); });
    print(as_text(begin, end));
    begin = end;
  }
  for (const std::string& skipped : parts_.back().skipped) fmt::print("  skipped {}\n", skipped);
  fmt::print("\n");
  std::fflush(stdout);
}

nlohmann::ordered_json Report::json() const {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const Part& part : parts_) {
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (const Row& row : part.rows) {
      nlohmann::ordered_json& object = rows.emplace_back(nlohmann::ordered_json::object());
      for (const auto& label : row.labels.items()) object[key(label.key())] = label.value();
      for (const Figure& figure : row.figures) object[key(figure.name)] = as_json(figure);
    }
    json[part.name] = {{"what", part.title}, {"rows", rows}, {"skipped", part.skipped}};
  }
  return json;
}

}  // namespace ztp::bench
