// Cells, slices and pairs that were not observed: reading them, and the fingerprint of data that have them. What is
// refused: tests/bad_inputs.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <fstream>
#include <set>

#include "base/file.hpp"
#include "missing_data.hpp"
#include "ztp/split.hpp"

namespace ztp::test {
namespace {

using MissingCells = MissingData;
using MissingSlices = MissingData;
using MissingPairs = MissingData;

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
  EXPECT_NE(data.warnings[0].find("cells.tsv: 3 repeated cells are merged"), std::string::npos) << data.warnings[0];
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
}

TEST_F(MissingSlices, AnEntityThatLooksLikeAHeader) {
  write("users.txt", "ann\nbob\ncid\n#dan\n");
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
  EXPECT_NE(data.warnings[0].find("pairs.tsv: 1 pairs of an entity with itself are ignored"), std::string::npos);
  EXPECT_NE(data.warnings[1].find("pairs.tsv: 1 repeated pairs are merged"), std::string::npos);
  EXPECT_NE(data.warnings[2].find("more.tsv: 1 repeated pairs are merged"), std::string::npos);
}

TEST_F(MissingPairs, WhichNetwork) {
  write("pairs.tsv", "bob\tcid\n");
  options_.networks = {"user=" + write("a.tsv", "ann\tbob\n"), "item=" + write("b.tsv", "x\ty\n"),
                       "user=" + write("c.tsv", "ann\tcid\n")};
  options_.missing_pairs = {"user:2=" + (dir_ / "pairs.tsv")};
  const Dataset data = read();
  EXPECT_TRUE(data.networks[0].missing.empty());
  EXPECT_TRUE(data.networks[1].missing.empty());
  EXPECT_EQ(ids(data.networks[2].missing), (Ids{1, 2}));
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

TEST_F(MissingCells, FingerprintKnowsWhatIsMissing) {
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

TEST_F(MissingSlices, ASplitOfSlicesListsThem) {
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

}  // namespace
}  // namespace ztp::test
