// Two runs beside each other.
#pragma once
#include <string>
#include <vector>

#include "base/json.hpp"
#include "ztp/diagnose.hpp"
#include "ztp/posterior.hpp"
#include "ztp/report.hpp"

namespace ztp {

inline constexpr double same_overlap = 0.8;   // from here on two components, or two columns, are the same
inline constexpr double alike_overlap = 0.5;  // and from here on alike: with less, each is alone

// A run, and what is compared of it.
struct ComparedRun {
  std::string run_dir;
  std::string title;
  Posterior posterior;
  std::size_t chain = 0;  // whose components are compared
  bool shared = false;    // components share columns: then columns are compared
  Diagnosis diagnosis;
  std::optional<Metrics> metrics;               // of its test cells
  std::vector<Component> components;            // or columns; in use, largest weight first
  std::vector<std::size_t> first_mode;          // of each of them the mode whose column it is; 0 of components
  std::size_t empty = 0;                        // further ones that are empty
  std::vector<std::vector<std::string>> names;  // of each of them, as its own report names it
  std::vector<std::uint32_t> only;              // for each mode, how many entities the other run does not have

  // The component with this number, from 0, or the column of this mode, if it is in use.
  const Component* component(std::size_t r, std::size_t mode) const;
  const char* word() const { return shared ? "column" : "component"; }
};

// A component of a and its match in b, or one of them alone: then the overlap is that with the nearest unmatched
// component of the other run, if there is one.
struct ComparedPair {
  const Component* a = nullptr;
  const Component* b = nullptr;
  double share_a = 0, share_b = 0;  // of all weight of the run
  double overlap = 0, agreement = 0;
  const Component* nearest = nullptr;
  std::vector<std::size_t> modes;  // of a, whose entities both have
};

// The entities of a pair: arrays with an element for each mode of the pair.
struct PairEntities {
  Json entities = Json::array(), differs = Json::array(), lines = Json::array();
};
// The entities of each pair. Also counts the entities that only one run has. other_modes: for each mode of a that of b.
std::vector<PairEntities> compare_entities(ComparedRun& a, ComparedRun& b, const std::vector<std::size_t>& other_modes,
                                           const std::vector<ComparedPair>& pairs);

// What differs, in plain words. test_same: the metrics are of the same cells.
std::vector<std::string> compare_in_words(const ComparedRun& a, const ComparedRun& b,
                                          const std::vector<ComparedPair>& pairs, std::optional<double> agreement,
                                          bool test_same);

// The data of a comparison that src/report/README.md lists, from "runs" to "sentences", and a title.
Json compare_runs(const std::string& run_dir, const std::string& other_dir, const ReportOptions& options);

}  // namespace ztp
