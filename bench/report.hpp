// What was measured, part by part: a table to read and a JSON object to keep. Every figure is a median with its spread,
// and where a value is wanted of it the table says which and whether it holds.
#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "measure.hpp"

namespace ztp::bench {

struct Wanted {
  enum Side { at_most, at_least } side;
  double value;
  bool holds(double measured) const { return side == at_most ? measured <= value : measured >= value; }
  std::string text() const;  // "<= 2"
};
using MaybeWanted = std::optional<Wanted>;

struct Figure {
  std::string name;  // "ns per one"; in the JSON "ns_per_one"
  Spread spread;
  MaybeWanted wanted;
};
inline Figure figure(std::string name, Times times, MaybeWanted wanted = {}) {
  return {std::move(name), spread(std::move(times)), wanted};
}
inline Figure figure(std::string name, double value, MaybeWanted wanted = {}) {
  return figure(std::move(name), Times{value}, wanted);
}

struct Row {
  nlohmann::ordered_json labels;  // an object of strings and numbers: what was measured
  std::vector<Figure> figures;
};

class Report {
 public:
  // Rows and notes are of the part that was begun last. begin() prints its title and end() its tables: rows with the
  // same columns stand in one table.
  void begin(const std::string& part, const std::string& title);
  void add(nlohmann::ordered_json labels, std::vector<Figure> figures);
  void skip(const std::string& what, const std::string& why);
  void end() const;

  nlohmann::ordered_json json() const;

 private:
  struct Part {
    std::string name;
    std::string title;
    std::vector<Row> rows;
    std::vector<std::string> skipped;
  };
  std::vector<Part> parts_;
};

}  // namespace ztp::bench
