// New data that are in memory: the same run as with files of the same contents; and what update refuses.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "base/file.hpp"
#include "errors.hpp"
#include "temp_dir.hpp"
#include "ztp/posterior.hpp"
#include "ztp/update.hpp"

namespace ztp {
namespace {

using test::error_of;
using test::holds;
using Row = std::vector<std::string>;  // labels, and perhaps a count

std::vector<Row> rows_of(int first, int last) {
  std::vector<Row> rows;
  for (int u = first; u < last; ++u)
    for (int i = u % 2; i < 16; i += 2)
      if ((3 * u + i / 2) % 5 != 0) rows.push_back({"u" + std::to_string(u), "i" + std::to_string(i)});
  return rows;
}

std::vector<Row> edges_of(int first, int last) {
  std::vector<Row> rows;
  for (int u = first; u + 2 < last; ++u) rows.push_back({"u" + std::to_string(u), "u" + std::to_string(u + 2)});
  return rows;
}

std::string text_of(const std::vector<Row>& rows) {
  std::string text;
  for (const Row& row : rows)
    for (std::size_t c = 0; c < row.size(); ++c) text += row[c] + (c + 1 < row.size() ? "\t" : "\n");
  return text;
}

// Ids in the order in which labels are met, as in a file.
Arrays arrays_of(const std::vector<Row>& rows, const std::vector<std::vector<Row>>& networks = {}) {
  Arrays arrays;
  arrays.modes = {{"user", {}}, {"item", {}}};
  for (const Row& row : rows) {
    for (std::size_t k = 0; k < 2; ++k) arrays.coords.push_back(arrays.modes[k].labels.add(row[k]));
    if (row.size() > 2) arrays.values.push_back(std::stoll(row[2]));
  }
  for (const std::vector<Row>& edges : networks) {
    arrays.networks.emplace_back();
    arrays.networks.back().source = "friends";
    for (const Row& row : edges)
      for (const std::string& label : row) arrays.networks.back().pairs.push_back(arrays.modes[0].labels.add(label));
  }
  return arrays;
}

class UpdateMemoryTest : public testing::TestWithParam<Method> {
 protected:
  std::string write(const std::string& name, const std::vector<Row>& rows) {
    write_text(dir_ / name, text_of(rows));
    return dir_ / name;
  }
  // Users 0 to 11, with as many networks, unless their likelihood is of counts.
  std::string fitted(std::size_t networks, bool counts = false) {
    ReadOptions read;
    std::vector<Row> rows = rows_of(0, 12);
    if (counts)
      for (Row& row : rows) row.emplace_back("2");
    rows.insert(rows.begin(), {"#user", "item"});
    if (counts) rows[0].emplace_back("count");
    read.file = write("ones.tsv", rows);
    read.counts = counts;
    for (std::size_t m = 0; m < networks; ++m)
      read.networks.push_back("user=" + write("ring" + std::to_string(m) + ".tsv", edges_of(0, 12)));
    FitOptions options;
    options.chains = 1;
    options.rank = 3;
    options.sweeps = 60;
    options.threads = 1;
    options.method = GetParam();
    if (counts) options.likelihood = Likelihood::count;
    if (options.method == Method::online) options.minibatch = 30;
    EXPECT_EQ(fit(read_dataset(read), options, dir_ / "run"), FitOutcome::complete);
    return dir_ / "run";
  }
  static UpdateOptions to(const std::string& out) {
    UpdateOptions options;
    options.sweeps = 20;
    options.out = out;
    return options;
  }
  void expect_same(const UpdateSummary& of_file, const UpdateSummary& of_memory) {
    EXPECT_EQ(of_memory.ones, of_file.ones);
    EXPECT_EQ(of_memory.known_ones, of_file.known_ones);
    EXPECT_EQ(of_memory.edges, of_file.edges);
    EXPECT_EQ(of_memory.known_edges, of_file.known_edges);
    EXPECT_EQ(of_memory.entities, of_file.entities);
    EXPECT_EQ(of_memory.warnings.size(), of_file.warnings.size());
    for (const char* name : {"draws.nc", "means.nc", "data.bin", "labels/user.txt", "labels/item.txt"})
      EXPECT_TRUE(read_text(dir_ / "memory/" + name) == read_text(dir_ / "file/" + name)) << name;
    EXPECT_EQ(run_info(dir_ / "memory").fingerprint, run_info(dir_ / "file").fingerprint);
  }
  const test::TempDir dir_;
};

TEST_P(UpdateMemoryTest, OnesAndEdgesAsOfFiles) {
  const std::string run = fitted(1);
  std::vector<Row> ones = rows_of(10, 14), edges = edges_of(9, 15);
  ones.push_back({"u13", "new"});
  ones.push_back({"u13", "new"});
  edges.push_back({"u3", "u3"});
  ReadOptions files;
  files.file = write("new.tsv", ones);
  files.networks = {"user=" + write("edges.tsv", edges)};
  const UpdateSummary of_file = update(run, files, to(dir_ / "file"));
  expect_same(of_file, update(run, arrays_of(ones, {edges}), to(dir_ / "memory")));
  EXPECT_EQ(of_file.warnings.size(), 2u);
  EXPECT_GT(of_file.known_ones, 0u);
  EXPECT_EQ(of_file.edges, 3u);
  EXPECT_EQ(of_file.known_edges, 1u);
  EXPECT_EQ(of_file.entities[0].second, 3u);  // u12, u13 and, by an edge, u14
}

TEST_P(UpdateMemoryTest, CountsAsOfFiles) {
  const std::string run = fitted(0, true);
  const std::vector<Row> ones = {{"u0", "i0", "5"}, {"u20", "i2", "3"}, {"zero", "i2", "0"}, {"u20", "i2", "1"}};
  ReadOptions files;
  files.file = write("new.tsv", ones);
  expect_same(update(run, files, to(dir_ / "file")), update(run, arrays_of(ones), to(dir_ / "memory")));
  EXPECT_EQ(run_info(dir_ / "memory").modes[0].size, 13u) << "a label with zeros alone is nothing new";
}

TEST_P(UpdateMemoryTest, EdgesAloneAndOfTheSecondNetwork) {
  const std::string run = fitted(2);
  const std::vector<Row> edges = {{"new", "u1"}, {"u3", "new"}, {"new", "u5"}};
  ReadOptions files;
  files.networks = {"user:2=" + write("edges.tsv", edges)};
  Arrays arrays = arrays_of({}, {edges});
  arrays.networks[0].which = 2;
  arrays.modes[0].name = "mode1";  // as those without a name are called
  expect_same(update(run, files, to(dir_ / "file")), update(run, std::move(arrays), to(dir_ / "memory")));
  EXPECT_EQ(run_info(dir_ / "memory").networks[0].edges, 10u);
  EXPECT_EQ(run_info(dir_ / "memory").networks[1].edges, 13u);
}

TEST_P(UpdateMemoryTest, NothingNewLeavesTheRunAsItIsWhereThatMayBe) {
  const std::string run = fitted(1);
  const std::string before = read_text(run + "/draws.nc");
  UpdateOptions options;
  options.require_new_data = false;
  const UpdateSummary summary = update(run, arrays_of(rows_of(0, 2)), options);
  EXPECT_EQ(summary.ones, 0u);
  EXPECT_EQ(summary.known_ones, rows_of(0, 2).size());
  EXPECT_EQ(summary.warnings, std::vector<std::string>{"X: nothing in it is new; " + run + " has all of it already"});
  EXPECT_EQ(read_text(run + "/draws.nc"), before);
  EXPECT_EQ(run_info(run).updates, 0u);
}

TEST_P(UpdateMemoryTest, WhatDoesNotFitIsRefused) {
  const std::string run = fitted(1);
  const auto refusal = [&](Arrays arrays, ErrorKind kind) {
    return error_of([&] { update(run, std::move(arrays), to(dir_ / "never")); }, kind);
  };
  const std::vector<Row> ones = rows_of(12, 13), edges = {{"u0", "u5"}};
  EXPECT_EQ(refusal(Arrays(), ErrorKind::usage), "update needs new ones, or networks with new edges");
  EXPECT_EQ(refusal(arrays_of(rows_of(0, 2)), ErrorKind::input),
            "X: nothing in it is new; " + run + " has all of it already");
  EXPECT_EQ(refusal(arrays_of({}, {edges_of(0, 4)}), ErrorKind::input),
            "friends: nothing in it is new; " + run + " has all of it already");
  Arrays arrays = arrays_of(ones);
  arrays.modes.push_back({"day", LabelTable::numbered(1, 3)});
  EXPECT_EQ(refusal(std::move(arrays), ErrorKind::input), "X: 3 modes, but the run has 2");
  arrays = arrays_of(ones);
  std::swap(arrays.modes[0].name, arrays.modes[1].name);
  EXPECT_TRUE(holds(refusal(std::move(arrays), ErrorKind::input), "column 1 is called item, but the run has user"));
  arrays = arrays_of(ones);
  arrays.coords[0] = 77;
  EXPECT_TRUE(holds(refusal(std::move(arrays), ErrorKind::usage), "X: row 0 (from 0) has the id 77 of mode user"));
  arrays = arrays_of({}, {edges});
  arrays.networks[0].pairs[1] = 77;
  EXPECT_TRUE(holds(refusal(std::move(arrays), ErrorKind::usage), "friends: row 0 (from 0) has the id 77"));
  arrays = arrays_of({}, {edges});
  arrays.networks[0].which = 2;
  EXPECT_EQ(refusal(std::move(arrays), ErrorKind::config), "friends: mode user has only 1 network");
  arrays = arrays_of({{"u0", "i0"}, {"u5", "i1"}}, {edges});
  arrays.networks[0].mode = 1;
  EXPECT_EQ(refusal(std::move(arrays), ErrorKind::config),
            "friends: mode item has no network; the run was fitted without one");
  arrays = arrays_of(ones);
  arrays.missing_slices = {{0}, {}};
  EXPECT_TRUE(holds(refusal(std::move(arrays), ErrorKind::usage), "update takes new ones and edges"));
  EXPECT_EQ(run_info(run).updates, 0u);
}

TEST_P(UpdateMemoryTest, OptionsOutOfTheirRangesAreRefused) {
  const std::string run = fitted(0);
  const auto refusal = [&](auto member, auto value) {
    UpdateOptions options;
    options.*member = value;
    return error_of([&] { update(run, arrays_of(rows_of(12, 13)), options); }, ErrorKind::config);
  };
  EXPECT_EQ(refusal(&UpdateOptions::sweeps, 0), "--sweeps 0: must be between 1 and 1000000");
  EXPECT_EQ(refusal(&UpdateOptions::sweeps, 1000001), "--sweeps 1000001: must be between 1 and 1000000");
  EXPECT_EQ(refusal(&UpdateOptions::draws, 0), "--draws 0: must be between 1 and 1000000");
  EXPECT_TRUE(holds(refusal(&UpdateOptions::minibatch, 0), "--minibatch 0: must be between 1 and"));
  EXPECT_TRUE(holds(refusal(&UpdateOptions::minibatch, -2), "--minibatch -2: must be between 1 and"));
  EXPECT_EQ(refusal(&UpdateOptions::threads, 0u), "--threads 0: must be between 1 and 1024");
  EXPECT_EQ(run_info(run).updates, 0u);
}

INSTANTIATE_TEST_SUITE_P(Runs, UpdateMemoryTest, testing::Values(Method::batch, Method::online),
                         [](const auto& method) { return name_of(method.param); });

}  // namespace
}  // namespace ztp
