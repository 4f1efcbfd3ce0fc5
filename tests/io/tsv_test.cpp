// Reading .tsv files of cells: labels, headers, values, and tables whose labels are known. What is refused:
// tests/bad_inputs.
#include <gtest/gtest.h>

#include "tables.hpp"

namespace ztp::test {
namespace {

TEST_F(IoTest, TsvLabelsGetIdsInOrderOfFirstAppearance) {
  const Result result = read("a.tsv", "ann\tdune\nbob\talien\nann\talien\n");
  EXPECT_EQ(result.order, 2u);
  EXPECT_EQ(result.coords, (Ids{0, 0, 1, 1, 0, 1}));
  EXPECT_EQ(labels_of(result.modes[0]), (Names{"ann", "bob"}));
  EXPECT_EQ(labels_of(result.modes[1]), (Names{"dune", "alien"}));
  EXPECT_EQ(mode_names(result), (Names{"mode1", "mode2"}));
  EXPECT_TRUE(result.values.empty());
  EXPECT_TRUE(result.lines.empty());
}

TEST_F(IoTest, TsvHeaderNamesModesAndTheValueColumnMayBeNamedOrNot) {
  EXPECT_EQ(mode_names(read("a.tsv", "#user\tmovie\nann\tdune\n")), (Names{"user", "movie"}));
  EXPECT_EQ(mode_names(read("a.tsv", "# user\tmovie\nann\tdune\n")), (Names{"user", "movie"}));
  EXPECT_EQ(mode_names(read("a.tsv", "#user\tmovie\nann\tdune\t2\n", ValueKind::counts)), (Names{"user", "movie"}));
  EXPECT_EQ(mode_names(read("a.tsv", "#user\tmovie\tn\nann\tdune\t2\n", ValueKind::counts)), (Names{"user", "movie"}));
  // Only the first line is a header: later ones are labels.
  EXPECT_EQ(labels_of(read("a.tsv", "a\tb\n#c\td\n").modes[0]), (Names{"a", "#c"}));
}

TEST_F(IoTest, CrlfBomEmptyLinesAndMissingLastNewlineDoNotChangeTheCells) {
  TableSpec table = spec("a.tsv", "\xef\xbb\xbf#user\tmovie\r\n\r\nann\tdune\r\n\n\nbob\talien");
  table.keep_lines = true;
  for (const std::size_t block_bytes : {1u, 7u, 1u << 20}) {
    table.block_bytes = block_bytes;
    const Result result = read_all(table);
    EXPECT_EQ(mode_names(result), (Names{"user", "movie"}));
    EXPECT_EQ(labels_of(result.modes[1]), (Names{"dune", "alien"}));
    EXPECT_EQ(result.lines, (std::vector<std::uint64_t>{3, 6}));
  }
}

TEST_F(IoTest, LabelsMayHoldSpacesAndUtf8) {
  const Result result = read("a.tsv", "Jos\xc3\xa9 P\tx y\n P\t#z \n");
  EXPECT_EQ(labels_of(result.modes[0]), (Names{"Jos\xc3\xa9 P", " P"}));
  EXPECT_EQ(labels_of(result.modes[1]), (Names{"x y", "#z "}));
}

TEST_F(IoTest, SixtyFourModesAreRead) {
  std::string line = "x0";
  for (int k = 1; k < 64; ++k) line += fmt::format("\tx{}", k);
  EXPECT_EQ(read("a.tsv", line + "\n").order, 64u);
}

TEST_F(IoTest, LinesLongerThanABlockAreRead) {
  const std::string label(5 << 20, 'x');
  const Result result = read("a.tsv", "a\tb\n" + label + "\tc\nd\te\n");
  EXPECT_EQ(result.modes[0].labels[1], label);
  EXPECT_EQ(labels_of(result.modes[1]), (Names{"b", "c", "e"}));
}

// ---- values

TEST_F(IoTest, NonzeroValuesAreOnesAndZerosAreAbsentButTheirLabelsCount) {
  const std::string text = "a\tx\t2.5\nb\ty\t0\nb\tz\t-1e-3\na\tz\t+0.0\na\tz\t1\n";
  const Result result = read("a.tsv", text, ValueKind::nonzero);
  EXPECT_EQ(result.coords, (Ids{0, 0, 1, 2, 0, 2}));
  EXPECT_EQ(result.values, (std::vector<std::int64_t>{1, 1, 1}));
  EXPECT_EQ(labels_of(result.modes[1]), (Names{"x", "y", "z"}));
  EXPECT_EQ(result.zero_cells, 2u);
}

TEST_F(IoTest, CountsAreWholeNumbersInAnySpelling) {
  const Result result =
      read("a.tsv", "a\tx\t3\na\ty\t3.0\na\tz\t1e3\nb\tx\t0\nb\ty\t4611686018427387904\nb\tz\t9007199254740993\n",
           ValueKind::counts);
  EXPECT_EQ(result.values, (std::vector<std::int64_t>{3, 3, 1000, 1ll << 62, 9007199254740993}));
  EXPECT_EQ(result.zero_cells, 1u);
}

TEST_F(IoTest, ZeroOneKeepsZeros) {
  const Result result = read("a.tsv", "a\tx\t0\na\ty\t1\nb\tx\t1.0\n", ValueKind::zero_one);
  EXPECT_EQ(result.values, (std::vector<std::int64_t>{0, 1, 1}));
  EXPECT_EQ(result.coords.size(), 6u);
}

// ---- tables of fixed modes

TEST_F(IoTest, ClosedTablesLookLabelsUp) {
  const Mode users = {"user", table_of({"ann", "bob"})}, movies = {"movie", table_of({"dune", "alien"})};
  TableSpec table = spec("a.tsv", "#x\ty\nbob\tdune\nann\talien\n");
  table.fixed_modes = {&users, &movies};
  const Result result = read_all(table);
  EXPECT_EQ(result.coords, (Ids{1, 0, 0, 1}));
  EXPECT_EQ(result.modes[0].labels.size(), 0u);
}

TEST_F(IoTest, OneClosedTableMayServeBothColumns) {
  const Mode users = {"user", table_of({"ann", "bob"})};
  TableSpec table = spec("a.tsv", "bob\tann\nann\tann\n");
  table.fixed_modes = {&users, &users};
  EXPECT_EQ(read_all(table).coords, (Ids{1, 0, 0, 0}));
}

TEST_F(IoTest, AnOptionalValueIsIgnoredEvenIfZeroOrNotANumber) {
  const Mode users = {"user", table_of({"1", "2"})};
  TableSpec table = spec("a.tsv", "1\t2\t0\n2\t1\tmaybe\n");
  table.fixed_modes = {&users, &users};
  table.optional_value = true;
  EXPECT_EQ(read_all(table).coords, (Ids{0, 1, 1, 0}));
  table.path = file("a.tsv", "1\t2\n2\t1\n");
  EXPECT_EQ(read_all(table).coords, (Ids{0, 1, 1, 0}));
  table.path = file("a.tns", "1 2 0\n2 1 1\n");
  EXPECT_EQ(read_all(table).coords, (Ids{0, 1, 1, 0}));
  table.path = file("a.tns", "1 2\n2 1\n");
  EXPECT_EQ(read_all(table).coords, (Ids{0, 1, 1, 0}));
}

}  // namespace
}  // namespace ztp::test
