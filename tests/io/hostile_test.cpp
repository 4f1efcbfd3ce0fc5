// Files that are whole, with right checksums, and still not to be trusted. The fuzz targets (fuzz/) look for more of
// them.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <functional>
#include <limits>
#include <string>

#include "base/file.hpp"
#include "base/section_file.hpp"
#include "errors.hpp"
#include "io/grow_modes.hpp"
#include "io/label_files.hpp"
#include "io/table.hpp"
#include "io/text_writer.hpp"
#include "store/data.hpp"
#include "store/draw_log.hpp"
#include "store/manifest.hpp"
#include "temp_dir.hpp"
#include "tensor/tensor_writer.hpp"
#include "ztp/read.hpp"
#include "ztp/run_info.hpp"
#include "ztp/tensor_file.hpp"

namespace ztp {
namespace {

using test::TempDir;

// Empty without an error.
std::string error_of(const std::function<void()>& action) {
  const std::string message = test::error_of(action);
  return message == "no error" ? "" : message;
}

long peak_megabytes() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

// options.json with one thing changed.
struct RunFiles {
  TempDir dir;
  std::string options =
      R"({"ztp_version": "1.0.0", "command": "", "created": "", "fingerprint": "", "options": {"rank": 3, "chains": 2},
"updates": 0, "keep_every_used": 1, "watch_every_used": 1, "ones": 0, "ones_file": "", "ones_in_file": 0,
"total_count": 0, "missing_cells": 0, "test_ones": 0, "test_zeros": 0, "modes": [{"name": "a", "size": 2,
"numbered": true, "first": 1, "dirichlet": 1, "missing_slices": 0},
{"name": "b", "size": 2, "numbered": true, "first": 1, "dirichlet": 1,
"missing_slices": 0}], "networks": []})";
  std::string status =
      R"({"status": "complete", "sweeps": 1000, "draws_planned": 0, "draws": 0, "peak_memory_bytes": 0, "auc_roc": null,
"chains": [], "learned": {}, "rank_posterior": []})";

  RunInfo read() const {
    write_text(dir / "options.json", options);
    write_text(dir / "status.json", status);
    add_to_manifest(dir.path(), {"options.json"});
    return run_info(dir.path());
  }
  void change(const std::string& old_text, const std::string& new_text) {
    for (std::string* text : {&options, &status})
      if (const std::size_t at = text->find(old_text); at != std::string::npos) {
        text->replace(at, old_text.size(), new_text);
        return;
      }
    ADD_FAILURE() << old_text;
  }
};

std::string error_with(const std::string& old_text, const std::string& new_text) {
  RunFiles files;
  files.change(old_text, new_text);
  return error_of([&] { files.read(); });
}

TEST(HostileJson, NumbersOutOfRangeAreRefused) {
  EXPECT_EQ(RunFiles().read().options.rank, 3);
  const std::pair<const char*, const char*> changes[] = {
      {"\"rank\": 3", "\"rank\": -1"},
      {"\"rank\": 3", "\"rank\": 1e300"},
      {"\"rank\": 3", "\"rank\": 3, \"columns\": [\"a=2\"]"},
      {"\"rank\": 3", "\"rank\": 3, \"columns\": [\"a=2\", \"b=3\"]"},
      {"\"rank\": 3", "\"rank\": 3, \"columns\": [\"a=2\", \"b=x\"]"},
      {"\"rank\": 3", "\"rank\": 3, \"columns\": [\"a=2\", \"b=2\"], \"tie\": [\"a\"]"},
      {"\"rank\": 3", "\"rank\": 100001"},
      {"\"chains\": 2", "\"chains\": 18446744073709551615"},
      {"\"chains\": 2", "\"chains\": 0"},
      {"\"size\": 2", "\"size\": 0"},
      {"\"size\": 2", "\"size\": -1"},
      {"\"size\": 2", "\"size\": 2147483649"},
      {"\"first\": 1", "\"first\": 4294967295"},
      {"\"missing_slices\": 0", "\"missing_slices\": 3"},
      {"\"name\": \"a\"", "\"name\": \"../a\""},
      {"\"name\": \"a\"", "\"name\": \"\""},
      {"\"name\": \"a\"", "\"name\": \"a\\u0000b\""},
      {"\"name\": \"a\"", "\"name\": \"b\""},
      {"\"updates\": 0", "\"updates\": 4294967296"},
      {"\"ones\": 0", "\"ones\": 0.5"},
      {"\"networks\": []", "\"networks\": [{\"mode\": \"c\"}]"},
      {"\"chains\": []", "\"chains\": [1]"},
      {"\"learned\": {}", "\"learned\": {\"a\": [1]}"},
  };
  for (const auto& [old_text, new_text] : changes)
    EXPECT_NE(error_with(old_text, new_text).find(".json: damaged: "), std::string::npos) << new_text;
}

TEST(HostileJson, DepthAndKeysAreBounded) {
  const std::string deep(200000, '[');
  EXPECT_NE(error_with("\"rank\": 3", "\"rank\": " + deep), "");
  std::string wide = "{\"a0\": 0";
  for (int i = 1; i < 100000; ++i) wide += ", \"a" + std::to_string(i) + "\": 0";
  EXPECT_NE(error_with("\"learned\": {}", "\"learned\": " + wide + "}"), "");
}

Dataset small_data() {
  Dataset data;
  data.tensor.modes = {{"a", LabelTable::numbered(1, 2)}, {"b", LabelTable::numbered(1, 2)}};
  for (const std::uint32_t id : {0u, 1u, 1u, 0u}) data.tensor.coords.push_back(id);
  data.missing.slices.resize(2);
  Network network;
  network.edges.push_back(0);
  network.edges.push_back(1);
  data.networks.push_back(std::move(network));
  return data;
}

// With a right fingerprint, which anybody can compute.
std::string stored_error(const std::function<void(Dataset&)>& damage) {
  const RunFiles files;
  RunInfo info = files.read();
  info.networks.push_back({});
  Dataset data = small_data();
  damage(data);
  info.fingerprint = fingerprint_of(data);
  store_data(files.dir.path(), data);
  return error_of([&] { load_data(files.dir.path(), info); });
}

TEST(HostileData, WhatIsStoredIsChecked) {
  EXPECT_EQ(stored_error([](Dataset&) {}), "");
  const std::pair<const char*, std::function<void(Dataset&)>> damages[] = {
      {"id", [](Dataset& data) { data.tensor.coords[3] = 2; }},
      {"record", [](Dataset& data) { data.tensor.coords.push_back(1); }},
      {"order", [](Dataset& data) { data.tensor.coords[2] = 0; }},
      {"counts", [](Dataset& data) { data.tensor.counts.push_back(1); }},
      {"count",
       [](Dataset& data) {
         data.tensor.counts.push_back(1);
         data.tensor.counts.push_back(-1);
       }},
      {"sum of counts",
       [](Dataset& data) {
         data.tensor.counts.push_back(std::numeric_limits<std::int64_t>::max());
         data.tensor.counts.push_back(1);
       }},
      {"edge", [](Dataset& data) { data.networks[0].edges[1] = 2; }},
      {"loop", [](Dataset& data) { data.networks[0].edges[0] = 1; }},
      {"pair", [](Dataset& data) { data.networks[0].missing.push_back(0); }},
      {"slice", [](Dataset& data) { data.missing.slices[1] = {2}; }},
      {"cell",
       [](Dataset& data) {
         data.missing.cells.push_back(7);
         data.missing.cells.push_back(0);
       }},
  };
  for (const auto& [what, damage] : damages)
    EXPECT_NE(stored_error(damage).find("data.bin: "), std::string::npos) << what;
}

TEST(HostileData, TwoSectionsOfOneName) {
  const TempDir dir;
  SectionWriter writer(dir / "data.bin");
  writer.section("a", "x", 1);
  writer.section("a", "y", 1);
  writer.commit();
  EXPECT_NE(error_of([&] { SectionReader(dir / "data.bin"); }).find("two sections"), std::string::npos);
}

std::string tensor_error(const std::vector<Mode>& modes, std::int64_t first_count = 1, std::int64_t second_count = 1) {
  const TempDir dir;
  TensorWriter writer(dir / "t.ztpt", modes, true, 2);
  const std::uint32_t cells[2][2] = {{0, 0}, {0, 1}};
  writer.add(cells[0], first_count);
  writer.add(cells[1], second_count);
  writer.commit();
  return error_of([&] {
    const TensorFile file(dir / "t.ztpt");
    file.modes();
    std::uint32_t coords[4];
    std::int64_t counts[2];
    file.read(0, 2, coords, counts);
  });
}

TEST(HostileTensor, NamesLabelsAndCountsAreChecked) {
  const auto modes = [](const std::string& name, const std::string& label) {
    LabelTable labels;
    labels.add(label);
    return std::vector<Mode>{{name, labels}, {"b", LabelTable::numbered(1, 2)}};
  };
  EXPECT_EQ(tensor_error(modes("a", "x")), "");
  for (const char* name : {"", "..", "../a", "a/b", "b", "a=b", "a\tb"})
    EXPECT_NE(tensor_error(modes(name, "x")), "") << name;
  for (const char* label : {"", "x\ty", "x\n", "x\r"}) EXPECT_NE(tensor_error(modes("a", label)), "") << label;
  std::vector<Mode> numbered = modes("a", "x");
  numbered[0].labels = LabelTable::numbered(std::numeric_limits<std::uint32_t>::max(), 2);
  EXPECT_NE(tensor_error(numbered), "");
  EXPECT_NE(tensor_error(modes("a", "x"), (std::int64_t{1} << 62), 1), "");  // beyond 2^62 together
  EXPECT_NE(tensor_error(modes("a", "x"), 5, -1), "");
}

TEST(HostileSizes, AFewBytesGetNoMemoryForBillionsOfEntities) {
  const TempDir dir;
  write_text(dir / "t.mtx", "%%MatrixMarket matrix coordinate pattern general\n2147483648 4 2\n3 2\n2147483648 1\n");
  write_text(dir / "labels", "other\n2147483648\n3\n");
  write_text(dir / "missing", "17\n");
  const long before = peak_megabytes();
  ReadOptions options;
  options.file = dir / "t.mtx";
  options.labels = {"mode1=" + (dir / "labels")};
  const Dataset labelled = read_dataset(options);
  EXPECT_EQ(labelled.tensor.modes[0].labels.size(), 3u);
  ASSERT_EQ(labelled.tensor.nnz(), 2u);
  EXPECT_EQ(labelled.tensor.cell(0)[0], 1u);  // sorted by the new ids: 2147483648, then 3
  EXPECT_EQ(labelled.tensor.cell(1)[0], 2u);

  options.labels.clear();
  Dataset grown = read_dataset(options);
  Mode words = {"mode1", {}}, numbers = {"mode2", LabelTable::numbered(1, 1)};
  words.labels.add("first");
  translate_and_grow(columns_of(grown.tensor.modes), {&words, &numbers}, options.file, grown.tensor.coords);
  EXPECT_EQ(words.labels.size(), 3u);
  EXPECT_EQ(words.labels.find("2147483648"), 2u);
  EXPECT_EQ(grown.tensor.coords[0], 1u);
  EXPECT_EQ(grown.tensor.coords[2], 2u);

  options.missing_slices = {"mode1=" + (dir / "missing")};
  EXPECT_EQ(read_dataset(options).missing.slices[0], std::vector<std::uint32_t>{16});
  write_text(dir / "missing", "17\n3\n");
  EXPECT_NE(error_of([&] { read_dataset(options); }).find(":2:1: mode1 \"3\" is listed as missing but has 1 one"),
            std::string::npos);
  EXPECT_LT(peak_megabytes() - before, 256);
}

TEST(HostileSizes, ALineOfSeparatorsIsNotTakenApart) {
  const TempDir dir;
  for (const bool header : {false, true}) {
    write_text(dir / "wide.tsv", (header ? "#" : "") + std::string(32 << 20, '\t') + "\na\tb\n");
    const long before = peak_megabytes();
    ReadOptions options;
    options.file = dir / "wide.tsv";
    EXPECT_NE(error_of([&] { read_dataset(options); }), "");
    EXPECT_LT(peak_megabytes() - before, 600);  // the line itself some times, not 24 and more
  }
}

TEST(HostileDraws, ChainAndRankOfARecordAreChecked) {
  const TempDir dir;
  FitOptions options;
  options.rank = 1;
  options.chains = 2;
  const DrawLayout layout(FactorLayout::cp({1, 1}, 1), options, {"a", "b"}, {});
  const auto written = [&](std::uint32_t chain, std::uint64_t occupied) {
    const DrawHead head{chain, 1, {0, occupied}};
    std::string bytes(reinterpret_cast<const char*>(&head), sizeof head);
    write_text(dir / "draws.log", bytes + std::string(record_bytes(layout) - sizeof head, '\0'));
    return error_of([&] { DrawLogReader(dir / "draws.log", layout); });
  };
  EXPECT_EQ(written(1, 1), "");
  EXPECT_NE(written(2, 1), "");
  EXPECT_NE(written(4294967295, 1), "");
  EXPECT_NE(written(0, 2), "");
}

}  // namespace
}  // namespace ztp
