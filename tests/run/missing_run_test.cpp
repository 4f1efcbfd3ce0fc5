// What is missing on its way into a run directory and into the report of `ztp check`.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "missing_data.hpp"
#include "store/data.hpp"
#include "store/manifest.hpp"
#include "store/run_info.hpp"
#include "ztp/check.hpp"
#include "ztp/error.hpp"

namespace ztp::test {
namespace {

using MissingRun = MissingData;

TEST_F(MissingRun, RunDirectoryKeepsAll) {
  options_.networks = {"user=" + write("a.tsv", "ann\tbob\n"), "user=" + write("b.tsv", "ann\tcid\n")};
  options_.missing_pairs = {"user:2=" + write("pairs.tsv", "bob\tcid\nbob\tdan\n")};
  options_.missing_slices = {"user=" + write("slices.txt", "dan\n")};
  options_.missing = write("cells.tsv", "bob\tz\nann\tz\n");
  const Dataset data = read();
  RunInfo info;
  info.options.rank = 3;
  info.options.chains = 1;
  info.modes = {{.name = "user", .size = 4, .dirichlet = 0.1, .missing_slices = 1},
                {.name = "item", .size = 3, .dirichlet = 0.1}};
  info.networks = {{.source = "a.tsv", .edges = 1}, {.source = "b.tsv", .edges = 1, .missing_pairs = 2}};
  info.missing_cells = 2;
  info.fingerprint = fmt::format("{:016x}", fingerprint(data.tensor, data.networks, data.missing));
  info.keep_every = info.watch_every = 1;
  add_to_manifest(dir_.path(), store_labels(dir_.path(), data.tensor.modes));
  store_data(dir_.path(), data);
  const Dataset back = load_data(dir_.path(), info);
  EXPECT_EQ(back.missing.slices, data.missing.slices);
  EXPECT_EQ(ids(back.missing.cells), (Ids{0, 2, 1, 2}));
  EXPECT_TRUE(back.networks[0].missing.empty());
  EXPECT_EQ(ids(back.networks[1].missing), (Ids{1, 2, 1, 3}));

  info.fingerprint = fmt::format("{:016x}", fingerprint(data.tensor, data.networks));
  EXPECT_THROW(load_data(dir_.path(), info), Error);

  // What is missing is said in options.json.
  write_run_options(dir_.path(), info);
  add_to_manifest(dir_.path(), {"options.json"});
  write_run_status(dir_.path(), info);
  const RunInfo again = run_info(dir_.path());
  EXPECT_EQ(again.missing_cells, 2u);
  EXPECT_EQ(again.modes[0].missing_slices, 1u);
  EXPECT_EQ(again.networks[0].missing_pairs, 0u);
  EXPECT_EQ(again.networks[1].missing_pairs, 2u);
}

TEST_F(MissingRun, CheckReports) {
  FitOptions fit_options;
  fit_options.chains = 1;
  fit_options.rank = 2;
  fit_options.threads = 1;
  options_.networks = {"user=" + write("a.tsv", "ann\tbob\n")};
  const CheckReport before = check(options_, fit_options);
  EXPECT_EQ(before.missing_volume, 0);
  options_.missing_pairs = {"user=" + write("pairs.tsv", "bob\tcid\nbob\tdan\n")};
  options_.missing_slices = {"user=" + write("slices.txt", "dan\n")};
  options_.missing = write("cells.tsv", "bob\tz\nann\tz\n");
  const CheckReport report = check(options_, fit_options);
  EXPECT_EQ(report.missing_cells, 2u);
  EXPECT_EQ(report.missing_volume, 5);
  EXPECT_EQ(report.modes[0].missing, 1u);
  EXPECT_EQ(report.modes[1].missing, 0u);
  EXPECT_EQ(report.networks[0].missing, 2u);

  Dataset data = read();
  const double with = estimate_cost(data, fit_options).memory;
  data.missing = {};
  data.networks[0].missing = {};
  EXPECT_EQ(with - estimate_cost(data, fit_options).memory, 4 * (2 * 2 + 1 + 2 * 2));
}

}  // namespace
}  // namespace ztp::test
