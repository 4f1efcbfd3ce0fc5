// Two runs beside each other.
#pragma once
#include <string>
#include <vector>

#include "base/json.hpp"
#include "ztp/diagnose.hpp"
#include "ztp/posterior.hpp"
#include "ztp/report.hpp"

namespace ztp {

// What of a run is compared.
struct ComparedRun {
  std::string run_dir;
  std::string title;
  Posterior posterior;
  std::size_t chain = 0;  // whose components are compared
  Diagnosis diagnosis;
  std::optional<Metrics> metrics;     // of its test cells
  std::vector<Component> components;  // in use, largest weight first
  std::vector<std::uint32_t> only;    // for each mode, how many entities the other run does not have

  // The component with this number, from 0, if it is in use.
  const Component* component(std::size_t r) const;
};

// A component of a, the one of b that it is matched with, or one of them alone.
struct ComparedPair {
  const Component* a = nullptr;
  const Component* b = nullptr;
  double share_a = 0, share_b = 0;  // of all weight of the run
  double overlap = 0, agreement = 0;
};

// What differs, in plain words. test_same: the metrics are of the same cells.
std::vector<std::string> compare_in_words(const ComparedRun& a, const ComparedRun& b,
                                          const std::vector<ComparedPair>& pairs, double agreement, bool test_same);

// The part of the data of a comparison that src/report/README.md lists, from "runs" to "sentences".
Json compare_runs(const std::string& run_dir, const std::string& other_dir, const ReportOptions& options,
                  std::vector<std::string>& notes);

}  // namespace ztp
