// Reading files of indices, .tns, sptensor and .mtx, and telling formats apart. What is refused: tests/bad_inputs.
#include <gtest/gtest.h>

#include "io/formats.hpp"
#include "tables.hpp"

namespace ztp::test {
namespace {

// ---- .tns and sptensor

TEST_F(IoTest, TnsIndicesAreOneBasedNumbersUpToTheLargest) {
  const Result result = read("a.tns", "# comment\n\n  3 1 2 1.0\n1\t4   2 7\r\n2 2 2 0\n1 1 1 2.5e3");
  EXPECT_EQ(result.order, 3u);
  EXPECT_EQ(result.coords, (Ids{2, 0, 1, 0, 3, 1, 0, 0, 0}));
  EXPECT_TRUE(result.values.empty());
  EXPECT_EQ(result.zero_cells, 1u);
  ASSERT_TRUE(result.modes[1].labels.is_numbered());
  EXPECT_EQ(result.modes[1].labels.size(), 4u);
  EXPECT_EQ(result.modes[1].labels[3], "4");
  EXPECT_EQ(mode_names(result), (Names{"mode1", "mode2", "mode3"}));
}

TEST_F(IoTest, TnsWithIndexBaseZero) {
  TableSpec table = spec("a.tns", "0 5 1\n2 0 1\n");
  table.index_base = 0;
  const Result result = read_all(table);
  EXPECT_EQ(result.coords, (Ids{0, 5, 2, 0}));
  EXPECT_EQ(result.modes[1].labels.size(), 6u);
  EXPECT_EQ(result.modes[1].labels[5], "5");
}

TEST_F(IoTest, TheLargestIndexFits) {
  const Result result = read("a.tns", "1 2147483648 1\n");
  EXPECT_EQ(result.coords, (Ids{0, 2147483647u}));
  EXPECT_EQ(result.modes[1].labels.size(), max_mode_size);
}

TEST_F(IoTest, SptensorHeaderGivesSizes) {
  TableSpec table = spec("a.tns", "sptensor\n# c\n3\n4 5 6\n2\n4 1 1 1\n1 5 6 2\n", ValueKind::counts);
  table.keep_lines = true;
  for (const std::size_t block_bytes : {1u, 11u, 1u << 20}) {
    table.block_bytes = block_bytes;
    const Result result = read_all(table);
    EXPECT_EQ(result.coords, (Ids{3, 0, 0, 0, 4, 5}));
    EXPECT_EQ(result.values, (std::vector<std::int64_t>{1, 2}));
    EXPECT_EQ(result.lines, (std::vector<std::uint64_t>{6, 7}));
    EXPECT_EQ(result.modes[2].labels.size(), 6u);
  }
}

// ---- .mtx

TEST_F(IoTest, MatrixMarketGeneralPatternIntegerAndReal) {
  const Result pattern = read("a.mtx", "%%MatrixMarket matrix coordinate pattern general\n% c\n\n3 4 2\n1 4\n3 1\n");
  EXPECT_EQ(pattern.coords, (Ids{0, 3, 2, 0}));
  EXPECT_EQ(pattern.modes[0].labels.size(), 3u);
  EXPECT_EQ(pattern.modes[1].labels[3], "4");
  const Result counts = read("a.mtx", "%%matrixmarket MATRIX Coordinate INTEGER General\n3 4 3\n1 4 7\n2 2 0\n3 1 2\n",
                             ValueKind::counts);
  EXPECT_EQ(counts.values, (std::vector<std::int64_t>{7, 2}));
  EXPECT_EQ(counts.zero_cells, 1u);
  const Result real =
      read("a.mtx", "%%MatrixMarket matrix coordinate real general\n3 4 1\n1 4 -0.5\n", ValueKind::nonzero);
  EXPECT_EQ(real.values, (std::vector<std::int64_t>{1}));
  const Result ones =
      read("a.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 4 1\n1 4\n", ValueKind::counts);
  EXPECT_EQ(ones.values, (std::vector<std::int64_t>{1}));
}

TEST_F(IoTest, MatrixMarketSymmetryYieldsTheMirroredCellButNotOnTheDiagonal) {
  TableSpec table = spec("a.mtx", "%%MatrixMarket matrix coordinate integer symmetric\n3 3 3\n2 1 5\n3 3 6\n3 1 0\n",
                         ValueKind::counts);
  table.keep_lines = true;
  const Result result = read_all(table);
  EXPECT_EQ(result.coords, (Ids{1, 0, 0, 1, 2, 2}));
  EXPECT_EQ(result.values, (std::vector<std::int64_t>{5, 5, 6}));
  EXPECT_EQ(result.lines, (std::vector<std::uint64_t>{3, 3, 4}));
  EXPECT_EQ(result.zero_cells, 2u);
  const Result skew = read("a.mtx", "%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 1\n3 2 -1.5\n");
  EXPECT_EQ(skew.coords, (Ids{2, 1, 1, 2}));
}

// ---- which format

TEST_F(IoTest, TheNameTellsTheFormatAndElseTheFirstLine) {
  EXPECT_TRUE(read("a.TNS", "1 2 1\n").modes[0].labels.is_numbered());
  EXPECT_TRUE(read("a.tns.gz", gzip("1 2 1\n")).modes[0].labels.is_numbered());
  EXPECT_TRUE(read("a.tns.zst", "1 2 1\n").modes[0].labels.is_numbered());
  EXPECT_EQ(read("data", "sptensor\n2\n3 3\n1\n1 2 1\n").modes[0].labels.size(), 3u);
  EXPECT_EQ(read("data.txt", "%%MatrixMarket matrix coordinate pattern general\n5 3 1\n1 2\n").modes[0].labels.size(),
            5u);
  EXPECT_EQ(labels_of(read("data.txt", "1\t2\n").modes[1]), (Names{"2"}));
  TableSpec forced = spec("a.tsv", "1 2 1\n");
  forced.format = &tns_format;
  EXPECT_EQ(read_all(forced).order, 2u);
}

TEST_F(IoTest, IndicesAreLookedUpInClosedTables) {
  const Mode numbered = {"user", LabelTable::numbered(1, 5)}, from_zero = {"user", LabelTable::numbered(0, 5)};
  const Mode named = {"movie", table_of({"9", "7"})};
  TableSpec table = spec("a.tns", "5 7 1\n1 9 1\n");
  table.fixed_modes = {&numbered, &named};
  EXPECT_EQ(read_all(table).coords, (Ids{4, 1, 0, 0}));
  // Labels that count from 0 are found as they are spelled, whatever the index base.
  table.path = file("a.tns", "0 4 1\n");
  table.fixed_modes = {&from_zero, &from_zero};
  EXPECT_EQ(read_all(table).coords, (Ids{0, 4}));
  // A file that counts from 0 over labels that count from 1: places.
  table.fixed_modes = {&numbered, &numbered};
  table.index_base = 0;
  EXPECT_EQ(read_all(table).coords, (Ids{0, 4}));
}

TEST_F(IoTest, SymmetricMatricesWithClosedTablesLookBothCellsUp) {
  const Mode rows = {"row", table_of({"3", "1", "2"})}, columns = {"column", LabelTable::numbered(1, 2)};
  const std::string banner = "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 1\n";
  TableSpec table = spec("a.mtx", banner + "2 1\n");
  table.fixed_modes = {&rows, &columns};
  EXPECT_EQ(read_all(table).coords, (Ids{2, 0, 1, 1}));
}

}  // namespace
}  // namespace ztp::test
