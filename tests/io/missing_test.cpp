// Cells, slices and pairs that were not observed: reading them, every refusal, and their way into a run directory.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>

#include "base/file.hpp"
#include "store/manifest.hpp"
#include "store/run_info.hpp"
#include "store/data.hpp"
#include "temp_dir.hpp"
#include "ztp/check.hpp"
#include "ztp/error.hpp"
#include "ztp/read.hpp"
#include "ztp/split.hpp"

namespace ztp {
namespace {

using Ids = std::vector<std::uint32_t>;
using testing::Test;

Ids ids(const Buffer<std::uint32_t>& buffer) {
  return {buffer.begin(), buffer.end()};
}

// ann, bob, cid, dan by x, y, z; dan has no ones. Ids are places in these lists.
class MissingData : public Test {
 protected:
  MissingData() {
    write("ones.tsv", "#user\titem\nann\tx\nann\ty\nbob\ty\ncid\tz\n");
    write("users.txt", "ann\nbob\ncid\ndan\n");
    options_.file = dir_ / "ones.tsv";
    options_.labels = {"user=" + (dir_ / "users.txt")};
  }
  std::string write(const std::string& name, const std::string& text) {
    std::ofstream(dir_ / name, std::ios::binary) << text;
    return dir_ / name;
  }
  Dataset read() const { return read_dataset(options_); }
  // The message of the error that reading must end with.
  std::string refusal(ErrorKind kind) const {
    try {
      read_dataset(options_);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), kind) << error.what();
      return error.what();
    }
    ADD_FAILURE() << "no error";
    return "";
  }
  void expect_refusal(ErrorKind kind, const std::vector<std::string>& parts) const {
    const std::string message = refusal(kind);
    for (const std::string& part : parts) EXPECT_NE(message.find(part), std::string::npos) << part << "\n" << message;
  }

  test::TempDir dir_;
  ReadOptions options_;
};

using MissingCells = MissingData;
using MissingSlices = MissingData;
using MissingPairs = MissingData;
using MissingStore = MissingData;

TEST_F(MissingCells, NothingMissingIsEmptyLists) {
  const Dataset data = read();
  EXPECT_EQ(data.missing.slices.size(), 2u);
  EXPECT_TRUE(data.missing.empty());
  EXPECT_EQ(missing_volume(data.tensor, data.missing), 0);
}

TEST_F(MissingCells, SortedAndMerged) {
  options_.missing = write("cells.tsv", "dan\tx\nann\tz\ndan\tx\nbob\tx\nann\tz\nann\tz\n");
  const Dataset data = read();
  EXPECT_EQ(ids(data.missing.cells), (Ids{0, 2, 1, 0, 3, 0}));
  ASSERT_EQ(data.warnings.size(), 1u);
  EXPECT_NE(data.warnings[0].find("cells.tsv: 3 repeated cells merged"), std::string::npos) << data.warnings[0];
  EXPECT_EQ(missing_volume(data.tensor, data.missing), 3);
}

TEST_F(MissingCells, ATestFileWillDo) {
  options_.missing = write("test.tsv", "#user\titem\toutcome\nbob\tx\t0\nbob\tz\t1\n");
  EXPECT_EQ(ids(read().missing.cells), (Ids{1, 0, 1, 2}));
  options_.missing = write("test.tsv", "bob\tx\tany text\n");
  EXPECT_EQ(ids(read().missing.cells), (Ids{1, 0}));
}

TEST_F(MissingCells, OtherFormats) {
  options_ = {};
  options_.file = write("ones.tns", "1 1 1\n2 3 1\n3 2 1\n");
  options_.missing = write("cells.tns", "3 1 0\n1 2 1\n");
  EXPECT_EQ(ids(read().missing.cells), (Ids{0, 1, 2, 0}));
  options_.missing = write("bare.tns", "3 1\n1 2\n");
  EXPECT_EQ(ids(read().missing.cells), (Ids{0, 1, 2, 0}));
  options_.missing = write("cells.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 1\n3 1\n");
  EXPECT_EQ(ids(read().missing.cells), (Ids{0, 2, 2, 0}));
  gzFile file = gzopen((dir_ / "cells.tsv.gz").c_str(), "wb");
  gzputs(file, "3\t1\n");
  gzclose(file);
  options_.missing = dir_ / "cells.tsv.gz";
  EXPECT_EQ(ids(read().missing.cells), (Ids{2, 0}));
  options_.missing = write("far.tns", "4 1\n");
  expect_refusal(ErrorKind::input, {"far.tns:1:1", "\"4\"", "sizes in the header"});
}

TEST_F(MissingCells, IndexBaseIsThatOfTheTensor) {
  options_ = {};
  options_.file = write("ones.tns", "0 0 1\n1 2 1\n2 1 1\n");
  options_.index_base = 0;
  options_.missing = write("cells.tns", "0 1 1\n2 0 1\n");
  EXPECT_EQ(ids(read().missing.cells), (Ids{0, 1, 2, 0}));
}

TEST_F(MissingCells, ThreadsMakeNoDifference) {
  std::string ones = "0\t0\n", cells;
  for (int i = 0; i < 700; ++i) ones += fmt::format("{}\t{}\n", i, i);
  for (int i = 0; i < 700; ++i)
    for (int j = 0; j < 300; ++j)
      if (i != j) cells += fmt::format("{}\t{}\n", i, j);
  options_ = {};
  options_.file = write("square.tsv", ones);
  options_.missing = write("many.tsv", cells);
  const Ids one = ids(read().missing.cells);
  EXPECT_EQ(one.size(), 2u * (700 * 300 - 300));
  options_.threads = 4;
  EXPECT_EQ(ids(read().missing.cells), one);
}

TEST_F(MissingCells, UnknownLabel) {
  options_.missing = write("cells.tsv", "ann\tz\nbob\tw\n");
  expect_refusal(ErrorKind::input, {"cells.tsv:2:5: unknown item \"w\"", "--labels"});
}

TEST_F(MissingCells, HeaderMustNameTheModes) {
  options_.missing = write("cells.tsv", "#item\tuser\nz\tann\n");
  expect_refusal(ErrorKind::input, {"cells.tsv:1", "#user TAB item"});
}

TEST_F(MissingCells, AOneCannotBeMissing) {
  options_.missing = write("cells.tsv", "dan\tx\nbob\ty\n");
  expect_refusal(ErrorKind::input,
                 {"cells.tsv: the cell (bob, y) is listed as missing but is a one in ", "ones.tsv; take"});
  options_.missing = write("cells.tsv", "dan\tx\nbob\ty\ncid\tz\nann\ty\nann\ty\n");
  expect_refusal(ErrorKind::input, {"the cell (ann, y)", "ones.tsv, and so are 2 more cells; take"});
}

TEST_F(MissingCells, EmptyAndAbsentFiles) {
  options_.missing = write("cells.tsv", "");
  expect_refusal(ErrorKind::input, {"cells.tsv: no data"});
  options_.missing = dir_ / "nowhere.tsv";
  expect_refusal(ErrorKind::io, {"nowhere.tsv"});
}

TEST_F(MissingCells, Added) {
  options_.missing_slices = {"user=" + write("slices.txt", "dan\n")};
  options_.missing = write("cells.tsv", "bob\tz\n");
  Dataset data = read();
  Buffer<std::uint32_t> test;
  for (const std::uint32_t id : {3u, 1u, 1u, 2u, 0u, 2u, 0u, 2u}) test.push_back(id);  // dan y, bob z, ann z twice
  EXPECT_EQ(add_missing_cells(data.tensor, test, data.missing), 2u);
  EXPECT_EQ(ids(data.missing.cells), (Ids{0, 2, 1, 2}));
  Missing bare;
  EXPECT_EQ(add_missing_cells(data.tensor, test, bare), 1u);
  EXPECT_EQ(ids(bare.cells), (Ids{0, 2, 1, 2, 3, 1}));
  EXPECT_EQ(bare.slices.size(), 2u);
}

TEST_F(MissingSlices, UnionOfFilesAndModes) {
  write("users.txt", "ann\nbob\ncid\ndan\neve\nfay\n");
  write("items.txt", "w\nx\ny\nz\n");
  options_.labels.push_back("item=" + (dir_ / "items.txt"));
  options_.missing_slices = {"user=" + write("a.txt", "#user\tage\nfay\t7\r\n\ndan\t8\n"),
                             "item=" + write("b.txt", "w\n"), "user=" + write("c.txt", "eve\nfay\n")};
  options_.missing = write("cells.tsv", "fay\tx\nbob\tw\nbob\tx\nbob\tw\n");
  const Dataset data = read();
  ASSERT_EQ(data.missing.slices.size(), 2u);
  EXPECT_EQ(data.missing.slices[0], (Ids{3, 4, 5}));
  EXPECT_EQ(data.missing.slices[1], (Ids{0}));
  EXPECT_EQ(ids(data.missing.cells), (Ids{1, 1}));
  EXPECT_TRUE(data.warnings.empty());
  EXPECT_EQ(missing_volume(data.tensor, data.missing), 3 * 4 + 3 * 1 + 1);
}

TEST_F(MissingSlices, NumberedModes) {
  options_ = {};
  options_.file = write("ones.tns", "sptensor\n2\n4 3\n3\n1 1 1\n2 3 1\n3 2 1\n");
  options_.missing_slices = {"mode1=" + write("slices.txt", "4\n")};
  EXPECT_EQ(read().missing.slices[0], (Ids{3}));
  options_.missing_slices = {"mode1=" + write("slices.txt", "5\n")};
  expect_refusal(ErrorKind::input, {"slices.txt:1:1: unknown mode1 \"5\""});
}

TEST_F(MissingSlices, UnknownEntity) {
  options_.missing_slices = {"user=" + write("slices.txt", "dan\n\nzoe\n")};
  expect_refusal(ErrorKind::input,
                 {"slices.txt:3:1: unknown user \"zoe\": not among the 4 entities of mode user", "--labels"});
}

TEST_F(MissingSlices, AnEntityWithOnesCannotBeMissing) {
  options_.missing_slices = {"user=" + write("a.txt", "dan\n"), "user=" + write("b.txt", "dan\nann\n")};
  expect_refusal(ErrorKind::input,
                 {"b.txt:2:1: user \"ann\" is listed as missing but has 2 ones in ", "ones.tsv; take the ones out"});
  options_.missing_slices = {"user=" + write("a.txt", "bob\nann\nbob\nann\n")};
  expect_refusal(ErrorKind::input, {"a.txt:1:1: user \"bob\"", "has 1 one in ", "(likewise 1 more of the list)"});
}

TEST_F(MissingSlices, NotAllOfAMode) {
  options_.missing_slices = {"user=" + write("slices.txt", "ann\nbob\ncid\ndan\n")};
  expect_refusal(ErrorKind::input, {"slices.txt: all 4 entities of mode user are missing"});
}

TEST_F(MissingSlices, FlagsThatDoNotFit) {
  options_.missing_slices = {"place=" + write("slices.txt", "dan\n")};
  expect_refusal(ErrorKind::config, {"--missing-slices place=", "the modes are user, item"});
  options_.missing_slices = {"slices.txt"};
  expect_refusal(ErrorKind::usage, {"--missing-slices slices.txt"});
  options_.missing_slices = {"user=" + write("slices.txt", "#nobody\n")};
  expect_refusal(ErrorKind::input, {"slices.txt: no labels"});
}

TEST_F(MissingSlices, AHeaderThatIsAnEntity) {
  write("users.txt", "ann\nbob\ncid\n#dan\n");
  options_.missing_slices = {"user=" + write("slices.txt", "#dan\n")};
  expect_refusal(ErrorKind::input, {"slices.txt:1:1", "\"#dan\" is also an entity", "put a header line before it"});
  options_.missing_slices = {"user=" + write("slices.txt", "#user\n#dan\n")};
  EXPECT_EQ(read().missing.slices[0], (Ids{3}));
}

TEST_F(MissingPairs, OrderedSortedAndMerged) {
  options_.networks = {"user=" + write("net.tsv", "ann\tbob\n")};
  options_.missing_pairs = {"user=" + write("pairs.tsv", "dan\tbob\nbob\tdan\ncid\tcid\ncid\tann\n"),
                            "user:1=" + write("more.tsv", "cid\tdan\nann\tcid\n")};
  const Dataset data = read();
  EXPECT_EQ(ids(data.networks[0].missing), (Ids{0, 2, 1, 3, 2, 3}));
  EXPECT_EQ(ids(data.networks[0].edges), (Ids{0, 1}));
  ASSERT_EQ(data.warnings.size(), 3u);
  EXPECT_NE(data.warnings[0].find("pairs.tsv: 1 pairs of an entity with itself ignored"), std::string::npos);
  EXPECT_NE(data.warnings[1].find("pairs.tsv: 1 repeated pairs merged"), std::string::npos);
  EXPECT_NE(data.warnings[2].find("more.tsv: 1 repeated pairs merged"), std::string::npos);
}

TEST_F(MissingPairs, AnEdgeCannotBeMissing) {
  options_.networks = {"user=" + write("net.tsv", "ann\tbob\nann\tcid\n")};
  options_.missing_pairs = {"user=" + write("pairs.tsv", "bob\tann\ndan\tann\ncid\tann\n")};
  expect_refusal(ErrorKind::input, {"pairs.tsv: the pair (ann, bob) is listed as missing but is an edge in ",
                                    "net.tsv, and so is 1 more pair; take"});
}

TEST_F(MissingPairs, WhichNetwork) {
  options_.missing_pairs = {"user=" + write("pairs.tsv", "bob\tcid\n")};
  expect_refusal(ErrorKind::config, {"mode user has no network", "--network user=FILE"});
  options_.networks = {"user=" + write("a.tsv", "ann\tbob\n"), "item=" + write("b.tsv", "x\ty\n"),
                       "user=" + write("c.tsv", "ann\tcid\n")};
  expect_refusal(ErrorKind::config, {"mode user has 2 networks", "user:2=FILE"});
  options_.missing_pairs = {"user:2=" + (dir_ / "pairs.tsv")};
  const Dataset data = read();
  EXPECT_TRUE(data.networks[0].missing.empty());
  EXPECT_TRUE(data.networks[1].missing.empty());
  EXPECT_EQ(ids(data.networks[2].missing), (Ids{1, 2}));
  options_.missing_pairs = {"user:3=" + (dir_ / "pairs.tsv")};
  expect_refusal(ErrorKind::config, {"mode user has only 2 networks"});
  for (const char* name : {"user:0", "user:", "user:two", "user:1x", "place"}) {
    options_.missing_pairs = {name + ("=" + (dir_ / "pairs.tsv"))};
    expect_refusal(ErrorKind::config, {fmt::format("no mode \"{}\"; the modes are user, item", name)});
  }
  options_.missing_pairs = {"user:1=" + write("pairs.tsv", "bob\tzoe\n")};
  expect_refusal(ErrorKind::input, {"pairs.tsv:1:5: unknown user \"zoe\""});
}

TEST_F(MissingPairs, ModesWithColons) {
  options_ = {};
  options_.file = write("ones.tsv", "#a\ta:2\nx\tp\ny\tq\nz\tr\n");
  options_.networks = {"a=" + write("a.tsv", "x\ty\n"), "a:2=" + write("b.tsv", "p\tq\n"),
                       "a=" + write("c.tsv", "x\tz\n")};
  options_.missing_pairs = {"a:2=" + write("pairs.tsv", "p\tr\n")};  // the mode, not the second network of a
  EXPECT_EQ(ids(read().networks[1].missing), (Ids{0, 2}));
  options_.missing_pairs = {"a:2:1=" + (dir_ / "pairs.tsv"), "a:1=" + write("third.tsv", "y\tz\n")};
  const Dataset data = read();
  EXPECT_EQ(ids(data.networks[0].missing), (Ids{1, 2}));
  EXPECT_EQ(ids(data.networks[1].missing), (Ids{0, 2}));
}

TEST_F(MissingStore, FingerprintKnowsWhatIsMissing) {
  options_.networks = {"user=" + write("net.tsv", "ann\tbob\n")};
  Dataset data = read();
  std::set<std::uint64_t> seen;
  const auto note = [&] { return seen.insert(fingerprint(data.tensor, data.networks, data.missing)).second; };
  EXPECT_TRUE(note());
  // As it was before anything could be missing: runs of old stay readable.
  EXPECT_EQ(fmt::format("{:016x}", *seen.begin()), "870de1c5ddf386cf");
  EXPECT_EQ(*seen.begin(), fingerprint(data.tensor, data.networks));
  data.missing.slices.clear();
  EXPECT_FALSE(note());
  data.missing.slices = {{3}, {}};
  EXPECT_TRUE(note());
  data.missing.slices = {{}, {3}};
  EXPECT_TRUE(note());
  data.missing.slices = {{2, 3}, {}};
  EXPECT_TRUE(note());
  data.missing.slices = {};
  for (const std::uint32_t id : {2u, 3u}) data.missing.cells.push_back(id);
  EXPECT_TRUE(note());
  data.missing.cells = {};
  for (const std::uint32_t id : {2u, 3u}) data.networks[0].missing.push_back(id);
  EXPECT_TRUE(note());
}

TEST_F(MissingStore, RunDirectoryKeepsAll) {
  options_.networks = {"user=" + write("a.tsv", "ann\tbob\n"), "user=" + write("b.tsv", "ann\tcid\n")};
  options_.missing_pairs = {"user:2=" + write("pairs.tsv", "bob\tcid\nbob\tdan\n")};
  options_.missing_slices = {"user=" + write("slices.txt", "dan\n")};
  options_.missing = write("cells.tsv", "bob\tz\nann\tz\n");
  const Dataset data = read();
  RunInfo info;
  info.modes = {{"user", 4, false, 0, 0.1, 1}, {"item", 3, false, 0, 0.1, 0}};
  info.networks = {{0, "a.tsv", 1, 0}, {0, "b.tsv", 1, 2}};
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
  EXPECT_EQ(again.modes[0].missing_entities, 1u);
  EXPECT_EQ(again.networks[0].missing_pairs, 0u);
  EXPECT_EQ(again.networks[1].missing_pairs, 2u);
}

TEST_F(MissingStore, CheckReports) {
  FitOptions fit_options;
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

TEST_F(MissingStore, ASplitOfSlicesListsThem) {
  SplitOptions how;
  how.protocol = Protocol::slices;
  how.mode = "user";
  how.after = 2;
  how.zeros_per_one = 1;
  const Dataset whole = read();
  const Split parts = split(whole.tensor, how);
  write_split(whole.tensor, parts, dir_ / "cold", false);
  EXPECT_EQ(read_text(dir_ / "cold/missing-user.txt"), "cid\ndan\n");
  options_ = {};
  options_.file = dir_ / "cold/train.tsv";
  options_.labels = {dir_ / "cold/labels"};
  options_.missing_slices = {"user=" + (dir_ / "cold/missing-user.txt")};
  Dataset data = read();
  EXPECT_EQ(data.missing.slices[0], (Ids{2, 3}));
  // All test cells are in the slices already.
  const TestCells test = read_test_cells(dir_ / "cold/test.tsv", data.tensor.modes);
  EXPECT_GT(test.size(), 0u);
  add_missing_cells(data.tensor, test.coords, data.missing);
  EXPECT_TRUE(data.missing.cells.empty());
  how.protocol = Protocol::ones;
  how.holdout = 0.5;
  write_split(whole.tensor, split(whole.tensor, how), dir_ / "warm", false);
  EXPECT_FALSE(std::ifstream(dir_ / "warm/missing-user.txt").good());
}

// 5 x 4 x 3 with entity 1 of the first mode and 0 and 3 of the second missing: 4 x 2 x 3 cells are left, of which two are listed.
struct PartlySeen {
  SparseTensor tensor;
  Missing missing;
  PartlySeen() {
    for (const std::uint32_t n : {5u, 4u, 3u})
      tensor.modes.push_back({fmt::format("m{}", n), LabelTable::numbered(1, n)});
    for (const std::uint32_t id : {0u, 1u, 2u, 2u, 1u, 0u, 2u, 2u, 2u, 4u, 2u, 1u}) tensor.coords.push_back(id);
    missing.slices = {{1}, {0, 3}, {}};
    for (const std::uint32_t id : {0u, 2u, 0u, 3u, 1u, 1u}) missing.cells.push_back(id);
  }
  bool observed(const std::uint32_t* cell) const {
    for (std::size_t i = 0; i < missing.cells.size(); i += 3)
      if (std::equal(cell, cell + 3, missing.cells.data() + i)) return false;
    return cell[0] != 1 && cell[1] != 0 && cell[1] != 3;
  }
};

TEST(MissingSplit, ZerosAreObservedCells) {
  const PartlySeen data;
  SplitOptions how;
  how.holdout = 0.5;
  how.zeros_per_one = 9;  // 22 observed cells less 4 ones are 18 zeros, and 2 ones need them all
  const Split all = split(data.tensor, how, data.missing);
  EXPECT_EQ(all.test_zeros, 18u);
  std::set<Ids> cells;
  for (std::size_t i = 0; i < all.test.size(); ++i) {
    const std::uint32_t* cell = all.test.coords.data() + 3 * i;
    EXPECT_TRUE(data.observed(cell));
    EXPECT_EQ(data.tensor.contains(cell), all.test.outcome[i] == 1);
    cells.insert({cell, cell + 3});
  }
  EXPECT_EQ(cells.size(), 20u);
  how.zeros_per_one = 10;
  EXPECT_THROW(split(data.tensor, how, data.missing), Error);

  how.protocol = Protocol::cells;
  how.holdout = 0.7;
  const Split most = split(data.tensor, how, data.missing);
  EXPECT_EQ(most.test.size(), 15u);  // of 22
  for (std::size_t i = 0; i < most.test.size(); ++i) {
    EXPECT_TRUE(data.observed(most.test.coords.data() + 3 * i));
    EXPECT_EQ(data.tensor.contains(most.test.coords.data() + 3 * i), most.test.outcome[i] == 1);
  }

  how.protocol = Protocol::slices;
  how.mode = "m5";
  how.after = 3;  // 2 x 2 x 3 cells, one of them listed, one a one
  how.zeros_per_one = 10;
  const Split slices = split(data.tensor, how, data.missing);
  EXPECT_EQ(slices.test.size(), 11u);
  for (std::size_t i = 0; i < slices.test.size(); ++i)
    EXPECT_TRUE(data.observed(slices.test.coords.data() + 3 * i) && slices.test.coords[3 * i] >= 3);
}

TEST(MissingSplit, AllZerosAreDrawnAlike) {
  // 2 of 18 zeros, 9000 times: each comes 1000 times on average, with a standard deviation below 30. Six of them: the chance of
  // a false alarm is below 10^-7. Seeds 1 to 9000.
  const PartlySeen data;
  SplitOptions how;
  how.holdout = 0.25;
  how.zeros_per_one = 2;
  std::map<Ids, int> times;
  for (how.seed = 1; how.seed <= 9000; ++how.seed) {
    const Split parts = split(data.tensor, how, data.missing);
    for (std::size_t i = 0; i < parts.test.size(); ++i)
      if (parts.test.outcome[i] == 0) ++times[{parts.test.coords.data() + 3 * i, parts.test.coords.data() + 3 * i + 3}];
  }
  EXPECT_EQ(times.size(), 18u);
  for (const auto& [cell, count] : times) EXPECT_NEAR(count, 1000, 180);
}

TEST(MissingSplit, OfAHugeTensor) {
  SparseTensor tensor;
  for (std::size_t k = 0; k < 3; ++k)
    tensor.modes.push_back({fmt::format("m{}", k), LabelTable::numbered(1, 3'000'000)});
  for (const std::uint32_t id : {0u, 1u, 2u, 5u, 6u, 7u}) tensor.coords.push_back(id);
  Missing missing;
  missing.slices.resize(3);
  for (std::uint32_t j = 8; j < 3'000'000; ++j)
    if (j % 2 == 0) missing.slices[1].push_back(j);
  SplitOptions how;
  how.holdout = 0.5;
  how.zeros_per_one = 1000;
  const Split parts = split(tensor, how, missing);
  EXPECT_EQ(parts.test_zeros, 1000u);
  for (std::size_t i = 0; i < parts.test.size(); ++i) {
    const std::uint32_t j = parts.test.coords[3 * i + 1];
    EXPECT_TRUE(j < 8 || j % 2 == 1);
  }
}

}  // namespace
}  // namespace ztp
