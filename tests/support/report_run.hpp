// A small run for the parts of a report.
#pragma once
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "report/sections.hpp"
#include "temp_dir.hpp"
#include "ztp/fit.hpp"

namespace ztp::test {

inline LabelTable table_of(const std::vector<std::string>& labels) {
  LabelTable table;
  for (const std::string& label : labels) table.add(label);
  return table;
}

// 26 users, of whom the last two have friends and no ones, 18 items and 6 months, which first appear out of their
// order. Users and items are of three groups; three of four cells within a group are ones, and some others. A function
// of the seed.
inline Dataset report_data() {
  Dataset data;
  data.tensor.modes = {{"user", LabelTable::numbered(1, 26)},
                       {"item", LabelTable::numbered(1, 18)},
                       {"sold", table_of({"2020-03", "2020-01", "2020-02", "2020-06", "2020-04", "2020-05"})}};
  Stream stream(stream_key(7, 0, Purpose::simulate), 0, 0);
  for (std::uint32_t user = 0; user < 24; ++user)
    for (std::uint32_t item = 0; item < 18; ++item)
      for (std::uint32_t month = 0; month < 6; ++month)
        if (stream.uniform() < (user % 3 == item % 3 && month % 3 != user % 3 ? 0.75 : 0.02)) {
          const std::uint32_t cell[] = {user, item, month};
          data.tensor.coords.append(cell, 3);
        }
  Network friends;
  friends.mode = 0;
  friends.source = "friends.tsv";
  for (std::uint32_t i = 0; i < 26; ++i)
    for (std::uint32_t j = i + 3; j < 26; j += 6) {
      const std::uint32_t edge[] = {i, j};
      friends.edges.append(edge, 2);
    }
  data.networks.push_back(std::move(friends));
  return data;
}

inline FitOptions report_fit() {
  FitOptions options;
  options.rank = 6;
  options.sweeps = 200;
  options.chains = 2;
  options.threads = 1;
  return options;
}

// One thread: recommend, which the tests compare with, calls for the others very often.
inline ReportOptions report_options() {
  ReportOptions options;
  options.threads = 1;
  return options;
}

// What the sections are made from. The options must live as long.
inline std::unique_ptr<ReportSource> source_of(const std::string& run_dir, const ReportOptions& options) {
  auto source =
      std::unique_ptr<ReportSource>(new ReportSource{run_dir, options, Posterior(run_dir, options.threads), {}, {}});
  source->shown = choose_shown_entities(source->data(), source->posterior, options, source->notes);
  return source;
}

// A run of these data, fitted once for all tests of a program, and its sections' source, new for each of them.
class ReportRun : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    dir_ = new TempDir;
    fit(report_data(), report_fit(), *dir_ / "run");
  }
  static void TearDownTestSuite() { delete dir_; }
  static inline const TempDir* dir_ = nullptr;
  const ReportOptions options_ = report_options();
  std::unique_ptr<ReportSource> source_ = source_of(*dir_ / "run", options_);
};

}  // namespace ztp::test
