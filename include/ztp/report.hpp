// A run directory, or two of them, as one HTML file that opens without a network: what was fitted, how good it is, what
// the components are, and what it says of each entity. docs/report.md shows it.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace ztp {

// What a report has in it.
struct ReportOptions {
  std::string test;                  // labels and a last column 0 or 1; empty: the cells that the fit held out, if any
  std::vector<std::string> ordered;  // modes with ordered entities, by name, beside those that are recognised
  std::vector<std::string> unordered;  // modes that would be recognised, but have no order
  // About so many entities are shown, of all modes together: those with most ones; also the top of every component, and
  // ordered modes as a whole.
  std::size_t entities = 100000;
  unsigned threads = 0;                                   // 0: all cores
  std::function<void(const std::string& what)> progress;  // called when something that takes a while begins
};

// What was written.
struct ReportSummary {
  std::uint64_t bytes = 0;
  std::vector<std::string> notes;  // what was left out, and why; also in the report
};

// Writes the report of a run to a file, which is replaced as a whole. Errors are those of Posterior and diagnose.
ReportSummary write_report(const std::string& run_dir, const std::string& file, const ReportOptions& options = {});
// Two runs, components matched with each other, and what differs. Error (config), if their modes have other names or a
// run is of a rival.
ReportSummary write_comparison(const std::string& run_dir, const std::string& other_dir, const std::string& file,
                               const ReportOptions& options = {});

// Whether a file was written by one of these functions.
bool is_report(const std::string& file);

}  // namespace ztp
