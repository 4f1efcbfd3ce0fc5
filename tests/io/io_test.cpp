// Reading text files of cells: formats, compression, every refusal with its place, and independence of threads and blocks.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "io/formats.hpp"
#include "io/source.hpp"
#include "io/table.hpp"
#include "temp_dir.hpp"
#include "tensor/label_hash.hpp"
#include "ztp/error.hpp"

namespace ztp {
namespace {

using Ids = std::vector<std::uint32_t>;
using Names = std::vector<std::string>;

struct Result {
  std::size_t order = 0;
  Ids coords;
  std::vector<std::int64_t> values;
  std::vector<std::uint64_t> lines;
  std::vector<Mode> modes;
  std::uint64_t zero_cells = 0;
};

Result read_all(const TableSpec& spec, unsigned threads = 1) {
  Pool pool(threads);
  TableReader reader(spec, pool);
  Result result;
  result.order = reader.order();
  CellBlock block;
  while (reader.next(block)) {
    EXPECT_GT(block.cells(result.order), 0u);
    result.coords.insert(result.coords.end(), block.coords.begin(), block.coords.end());
    result.values.insert(result.values.end(), block.values.begin(), block.values.end());
    result.lines.insert(result.lines.end(), block.lines.begin(), block.lines.end());
  }
  result.modes = reader.take_modes();
  result.zero_cells = reader.zero_cells();
  return result;
}

Names labels_of(const Mode& mode) {
  Names labels;
  for (std::uint32_t id = 0; id < mode.labels.size(); ++id) labels.push_back(mode.labels[id]);
  return labels;
}

Names mode_names(const Result& result) {
  Names names;
  for (const Mode& mode : result.modes) names.push_back(mode.name);
  return names;
}

LabelTable table_of(const Names& labels) {
  LabelTable table;
  for (const std::string& label : labels) table.add(label);
  return table;
}

std::string gzip(const std::string& text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, text.size()) + 32, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string zstd(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  out.resize(ZSTD_compress2(context, out.data(), out.size(), text.data(), text.size()));
  ZSTD_freeCCtx(context);
  return out;
}

class IoTest : public testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& content) {
    const std::string path = directory_ / name;
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }
  TableSpec spec(const std::string& name, const std::string& content, Values values = Values::none) {
    TableSpec result;
    result.path = file(name, content);
    result.values = values;
    return result;
  }
  Result read(const std::string& name, const std::string& content, Values values = Values::none) {
    return read_all(spec(name, content, values));
  }
  // The message of the Error, with the path of the file as F.
  std::string error_of(const TableSpec& table, ErrorKind kind = ErrorKind::input, unsigned threads = 1) {
    try {
      read_all(table, threads);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), kind) << error.what();
      std::string message = error.what();
      if (message.starts_with(table.path)) message.replace(0, table.path.size(), "F");
      return message;
    }
    return "no error";
  }
  std::string error_of(const std::string& name, const std::string& content, Values values = Values::none) {
    return error_of(spec(name, content, values));
  }
  static void expect_starts(const std::string& message, const std::string& start) {
    EXPECT_TRUE(message.starts_with(start)) << "message: " << message << "\nexpected: " << start;
  }
  static void expect_has(const std::string& message, const std::string& part) {
    EXPECT_NE(message.find(part), message.npos) << "message: " << message << "\nexpected: " << part;
  }

  test::TempDir directory_;
};

// A random .tsv of many lines with empty ones among them, every label seen at several places.
std::string random_tsv(std::size_t lines, const char* line_end = "\n") {
  std::mt19937 random(7);
  std::string text;
  for (std::size_t i = 0; i < lines; ++i) {
    if (random() % 50 == 0) text += line_end;
    text +=
        fmt::format("u{}\titem-with-a-longer-name-{}\tv{}{}", random() % 400, random() % 90, random() % 7, line_end);
  }
  return text;
}

// ---- .tsv

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
  EXPECT_EQ(mode_names(read("a.tsv", "#user\tmovie\nann\tdune\t2\n", Values::counts)), (Names{"user", "movie"}));
  EXPECT_EQ(mode_names(read("a.tsv", "#user\tmovie\tn\nann\tdune\t2\n", Values::counts)), (Names{"user", "movie"}));
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

TEST_F(IoTest, TsvErrorsNameLineColumnAndRemedy) {
  expect_starts(error_of("a.tsv", "a\tb\tc\na\tb\n"), "F:2:4: expected 3 columns separated by TAB, found 2; ");
  expect_starts(error_of("a.tsv", "a\tb\naa\tb\tc\n"), "F:2:6: expected 2 columns separated by TAB, found 3; ");
  expect_starts(error_of("a.tsv", "a\tb\n\na b\n"),
                "F:3:4: expected 2 columns separated by TAB, found 1; the line has spaces but no TAB");
  expect_starts(error_of("a.tsv", "a\tb\nccc\t\n"), "F:2:5: an empty label of mode mode2; ");
  expect_starts(error_of("a.tsv", "a\tb\n\tc\n"), "F:2:1: an empty label of mode mode1; ");
  expect_starts(error_of("a.tsv", "a\tb\r\nc\t\r\n"), "F:2:3: an empty label");
  expect_starts(error_of("a.tsv", "#u\tm\na\tb\tc\n"), "F:2:5: expected 2 columns separated by TAB, found 3; ");
  expect_has(error_of("a.tsv", "#u\tm\na\tb\tc\n"), "say so with --values");
  expect_starts(error_of("a.tsv", "#u\tm\tv\nz\na\tb\t1\n", Values::counts), "F:2:2: expected 3 or 4 columns");
}

TEST_F(IoTest, OneColumnIsNoTensor) {
  expect_starts(error_of("a.tsv", "a b\n"), "F:1:1: 1 column of labels, but a tensor has 2 to 64 modes; ");
  expect_has(error_of("a.tsv", "a b\n"), "TAB");
  const std::string message = error_of("a.tsv", "a\t1\n", Values::counts);
  expect_starts(message, "F:1:1: 1 column of labels beside the value column, but a tensor has 2 to 64 modes; ");
  expect_has(message, "--values");
  expect_starts(error_of("a.tsv", "7\n", Values::counts), "F:1:1: 0 columns of labels beside the value column");
}

TEST_F(IoTest, SixtyFourModesAreReadAndSixtyFiveRefused) {
  std::string line = "x0";
  for (int k = 1; k < 64; ++k) line += fmt::format("\tx{}", k);
  EXPECT_EQ(read("a.tsv", line + "\n").order, 64u);
  expect_starts(error_of("a.tsv", line + "\ty\n"), "F:1:1: 65 columns of labels, but a tensor has 2 to 64 modes; ");
}

TEST_F(IoTest, BadModeNamesAreRefused) {
  expect_starts(error_of("a.tsv", "#user\tuser\na\tb\n"), "F:1:7: the mode name \"user\" is given twice");
  expect_starts(error_of("a.tsv", "#user\t\na\tb\n"), "F:1:7: an empty mode name");
  expect_starts(error_of("a.tsv", "#\tm\na\tb\n"), "F:1:2: an empty mode name");
  expect_starts(error_of("a.tsv", "#a/b\tm\na\tb\n"), "F:1:2: the mode name \"a/b\" cannot be used");
  expect_starts(error_of("a.tsv", "#u\ta=b\na\tb\n"), "F:1:4: the mode name \"a=b\" cannot be used");
  expect_starts(error_of("a.tsv", "#.\tm\na\tb\n"), "F:1:2: the mode name \".\" cannot be used");
  expect_starts(error_of("a.tsv", "# ..\tm\na\tb\n"), "F:1:3: the mode name \"..\" cannot be used");
}

TEST_F(IoTest, FilesWithoutCellsAreRefused) {
  for (const char* content : {"", "\n\n", "#user\tmovie\n", "\xef\xbb\xbf"})
    expect_starts(error_of("a.tsv", content), "F: no data");
  for (const char* content : {"", "# nothing\n\n", "sptensor\n2\n3 3\n0\n"})
    expect_starts(error_of("a.tns", content), "F: no data");
  expect_starts(error_of("a.mtx", ""), "F: no data");
  expect_starts(error_of("a.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 0\n"), "F: no data");
}

TEST_F(IoTest, NulBytesAreReportedWhereTheyStand) {
  using namespace std::string_literals;
  expect_starts(error_of("a.tsv", "a\tb\ncc\td\0d\n"s), "F:2:5: a NUL byte");
  expect_starts(error_of("a.tsv", "#a\0\tb\nc\td\n"s), "F:1:3: a NUL byte");
  expect_starts(error_of("a.tns", "1 1 1\n\0 1 1\n"s), "F:2:1: a NUL byte");
  expect_starts(error_of("a.mtx", "%%MatrixMarket matrix coordinate pattern general\n1 1 1\n1 1\0"s),
                "F:3:4: a NUL byte");
  // An earlier bad line comes first.
  expect_starts(error_of("a.tsv", "a\tb\nc\nd\0\td\n"s), "F:2:2: expected 2 columns");
}

TEST_F(IoTest, LinesLongerThanABlockAreReadAndEndlessOnesRefused) {
  const std::string label(5 << 20, 'x');
  const Result result = read("a.tsv", "a\tb\n" + label + "\tc\nd\te\n");
  EXPECT_EQ(result.modes[0].labels[1], label);
  EXPECT_EQ(labels_of(result.modes[1]), (Names{"b", "c", "e"}));
  const std::string endless = "a\tb\n" + std::string(65 << 20, 'x');
  expect_starts(error_of("a.tsv.zst", zstd(endless)), "F:2:1: a line of more than 64 MiB");
  expect_starts(error_of("b.tsv.zst", zstd(endless.substr(4))), "F:1:1: a line of more than 64 MiB");
}

// ---- values

TEST_F(IoTest, NonzeroValuesAreOnesAndZerosAreAbsentButTheirLabelsCount) {
  const std::string text = "a\tx\t2.5\nb\ty\t0\nb\tz\t-1e-3\na\tz\t+0.0\na\tz\t1\n";
  const Result result = read("a.tsv", text, Values::nonzero);
  EXPECT_EQ(result.coords, (Ids{0, 0, 1, 2, 0, 2}));
  EXPECT_EQ(result.values, (std::vector<std::int64_t>{1, 1, 1}));
  EXPECT_EQ(labels_of(result.modes[1]), (Names{"x", "y", "z"}));
  EXPECT_EQ(result.zero_cells, 2u);
}

TEST_F(IoTest, CountsAreWholeNumbersInAnySpelling) {
  const Result result =
      read("a.tsv", "a\tx\t3\na\ty\t3.0\na\tz\t1e3\nb\tx\t0\nb\ty\t4611686018427387904\nb\tz\t9007199254740993\n",
           Values::counts);
  EXPECT_EQ(result.values, (std::vector<std::int64_t>{3, 3, 1000, 1ll << 62, 9007199254740993}));
  EXPECT_EQ(result.zero_cells, 1u);
}

TEST_F(IoTest, ZeroOneKeepsZeros) {
  const Result result = read("a.tsv", "a\tx\t0\na\ty\t1\nb\tx\t1.0\n", Values::zero_one);
  EXPECT_EQ(result.values, (std::vector<std::int64_t>{0, 1, 1}));
  EXPECT_EQ(result.coords.size(), 6u);
}

TEST_F(IoTest, BadValuesAreRefusedWithTheirPlace) {
  const struct {
    Values values;
    const char* text;
    const char* says;
  } cases[] = {
      {Values::nonzero, "nan", "is not finite"},       {Values::nonzero, "-inf", "is not finite"},
      {Values::nonzero, "12x", "is not a number"},     {Values::nonzero, "", "is not a number"},
      {Values::nonzero, "0x10", "is not a number"},    {Values::nonzero, "1e999", "is out of range"},
      {Values::nonzero, "+-1", "is not a number"},     {Values::counts, "2.5", "is not whole"},
      {Values::counts, "-1", "is negative"},           {Values::counts, "1e30", "is too large"},
      {Values::counts, "nan", "is not finite"},        {Values::counts, "4611686018427387905", "is too large"},
      {Values::counts, "two", "is not a number"},      {Values::zero_one, "2", "is neither 0 nor 1"},
      {Values::zero_one, "0.5", "is neither 0 nor 1"}, {Values::zero_one, "-1", "is neither 0 nor 1"},
  };
  for (const auto& c : cases) {
    const std::string says = fmt::format("the value \"{}\" {}", c.text, c.says);
    expect_starts(error_of("a.tsv", fmt::format("a\tb\t1\nabc\tde\t{}\n", c.text), c.values), "F:2:8: " + says);
    if (*c.text != '\0')
      expect_starts(error_of("a.tns", fmt::format("1 1 1\n12  3 {}\n", c.text), c.values), "F:2:7: " + says);
  }
}

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
  expect_starts(error_of(table), "F:1:1: the index 0 of mode mode1");
  expect_has(error_of(table), "--index-base 0");
  table.index_base = 0;
  const Result result = read_all(table);
  EXPECT_EQ(result.coords, (Ids{0, 5, 2, 0}));
  EXPECT_EQ(result.modes[1].labels.size(), 6u);
  EXPECT_EQ(result.modes[1].labels[5], "5");
}

TEST_F(IoTest, BadTnsIndicesAreRefused) {
  expect_starts(error_of("a.tns", "1 1 1\n1 0 1\n"), "F:2:3: the index 0 of mode mode2");
  expect_starts(error_of("a.tns", "1 1 1\n1 -2 1\n"), "F:2:3: the index \"-2\" is not a whole number");
  expect_starts(error_of("a.tns", "1 1 1\n1.0 2 1\n"), "F:2:1: the index \"1.0\" is not a whole number");
  expect_starts(error_of("a.tns", "1 1 1\n1 x 1\n"), "F:2:3: the index \"x\" is not a whole number");
  expect_starts(error_of("a.tns", "1 2147483649 1\n"), "F:1:3: the index \"2147483649\" of mode mode2 is too large");
  // 2^64 + 1 and longer ones must not wrap around.
  expect_starts(error_of("a.tns", "18446744073709551617 1 1\n"), "F:1:1: the index \"18446744073709551617\" of mode");
  expect_starts(error_of("a.tns", "1 36893488147419103233000001 1\n"), "F:1:3: the index \"3689348814741910");
  expect_starts(error_of("a.tns", "1 1 1\n1 1\n"), "F:2:4: expected 3 columns separated by spaces, found 2");
  expect_starts(error_of("a.tns", "1 1 1\n1\n"), "F:2:2: expected 3 columns separated by spaces, found 1");
  expect_starts(error_of("a.tns", "1 1 1\n1 1 1 1\n"), "F:2:7: expected 3 columns separated by spaces, found 4");
  expect_starts(error_of("a.tns", "1 1\n"), "F:1:1: 2 columns, but a .tns line is 2 to 64 indices and a value");
  expect_starts(error_of("a.tns", "1\n"), "F:1:1: 1 column, but a .tns line");
  TableSpec zero_based = spec("a.tns", "0 2147483648 1\n");
  zero_based.index_base = 0;
  expect_has(error_of(zero_based),
             "F:1:3: the index \"2147483648\" of mode mode2 is too large; the largest is 2147483647");
}

TEST_F(IoTest, TheLargestIndexFits) {
  const Result result = read("a.tns", "1 2147483648 1\n");
  EXPECT_EQ(result.coords, (Ids{0, 2147483647u}));
  EXPECT_EQ(result.modes[1].labels.size(), max_mode_size);
}

TEST_F(IoTest, SptensorHeaderGivesSizes) {
  TableSpec table = spec("a.tns", "sptensor\n# c\n3\n4 5 6\n2\n4 1 1 1\n1 5 6 2\n", Values::counts);
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

TEST_F(IoTest, SptensorHeadersMustBeKept) {
  expect_starts(error_of("a.tns", "sptensor\n2\n4 5\n2\n1 1 1\n"),
                "F:4:1: the header announces 2 entries, but the file has 1");
  expect_starts(error_of("a.tns", "sptensor\n2\n4 5\n1\n1 1 1\n\n 1 2 1\n"),
                "F:7:2: more entries than the 1 that line 4");
  expect_starts(error_of("a.tns", "sptensor\n2\n4 5\n1\n1 1 1\n1 2 1\n1 x 1\n"), "F:6:1: more entries than the 1");
  expect_starts(error_of("a.tns", "sptensor\n2\n4 5\n1\n1 6 1\n"),
                "F:5:3: the index \"6\" of mode mode2 is outside 1 to 5");
  expect_starts(error_of("a.tns", "sptensor\n2\n4 5\n1\n0 5 1\n"),
                "F:5:1: the index \"0\" of mode mode1 is outside 1 to 4");
  expect_starts(error_of("a.tns", "sptensor\n3\n4 5\n1\n1 6 1\n"), "F:3:1: the sptensor header has 2 numbers where");
  expect_starts(error_of("a.tns", "sptensor\nx\n"), "F:2:1: the number of modes \"x\" is not a whole number");
  expect_starts(error_of("a.tns", "sptensor\n2\n4 2147483649\n1\n"), "F:3:3: the size \"2147483649\" is not");
  expect_starts(error_of("a.tns", "sptensor\n2\n4 4\n"),
                "F:3:1: the sptensor header ends before the number of entries");
}

// ---- .mtx

TEST_F(IoTest, MatrixMarketGeneralPatternIntegerAndReal) {
  const Result pattern = read("a.mtx", "%%MatrixMarket matrix coordinate pattern general\n% c\n\n3 4 2\n1 4\n3 1\n");
  EXPECT_EQ(pattern.coords, (Ids{0, 3, 2, 0}));
  EXPECT_EQ(pattern.modes[0].labels.size(), 3u);
  EXPECT_EQ(pattern.modes[1].labels[3], "4");
  const Result counts =
      read("a.mtx", "%%matrixmarket MATRIX Coordinate INTEGER General\n3 4 3\n1 4 7\n2 2 0\n3 1 2\n", Values::counts);
  EXPECT_EQ(counts.values, (std::vector<std::int64_t>{7, 2}));
  EXPECT_EQ(counts.zero_cells, 1u);
  const Result real =
      read("a.mtx", "%%MatrixMarket matrix coordinate real general\n3 4 1\n1 4 -0.5\n", Values::nonzero);
  EXPECT_EQ(real.values, (std::vector<std::int64_t>{1}));
  const Result ones = read("a.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 4 1\n1 4\n", Values::counts);
  EXPECT_EQ(ones.values, (std::vector<std::int64_t>{1}));
}

TEST_F(IoTest, MatrixMarketSymmetryYieldsTheMirroredCellButNotOnTheDiagonal) {
  TableSpec table =
      spec("a.mtx", "%%MatrixMarket matrix coordinate integer symmetric\n3 3 3\n2 1 5\n3 3 6\n3 1 0\n", Values::counts);
  table.keep_lines = true;
  const Result result = read_all(table);
  EXPECT_EQ(result.coords, (Ids{1, 0, 0, 1, 2, 2}));
  EXPECT_EQ(result.values, (std::vector<std::int64_t>{5, 5, 6}));
  EXPECT_EQ(result.lines, (std::vector<std::uint64_t>{3, 3, 4}));
  EXPECT_EQ(result.zero_cells, 2u);
  const Result skew = read("a.mtx", "%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 1\n3 2 -1.5\n");
  EXPECT_EQ(skew.coords, (Ids{2, 1, 1, 2}));
}

TEST_F(IoTest, BadMatrixMarketFilesAreRefused) {
  const std::string banner = "%%MatrixMarket matrix coordinate ";
  expect_starts(error_of("a.mtx", "%%MatrixMarket matrix array real general\n"),
                "F:1:23: \"array\" storage is not supported");
  expect_starts(error_of("a.mtx", banner + "complex general\n"), "F:1:34: \"complex\" values are not supported");
  expect_starts(error_of("a.mtx", banner + "real hermitian\n"), "F:1:39: \"hermitian\" symmetry is not supported");
  expect_starts(error_of("a.mtx", banner + "real skew-symmetric\n", Values::counts),
                "F:1:39: \"skew-symmetric\" means negative");
  expect_starts(error_of("a.mtx", "1 2 3\n"), "F:1:1: not a Matrix Market file");
  expect_starts(error_of("a.mtx", banner + "real general\n3 3\n"), "F:2:1: 2 columns where the sizes");
  expect_starts(error_of("a.mtx", banner + "real general\n3 -3 1\n"), "F:2:3: the size \"-3\" is not a whole number");
  expect_starts(error_of("a.mtx", banner + "real symmetric\n3 4 1\n"),
                "F:2:3: a symmetric matrix of 3 rows and 4 columns");
  expect_starts(error_of("a.mtx", banner + "pattern general\n3 4 2\n1 1\n"),
                "F:2:5: the header announces 2 entries, but the file has 1");
  expect_starts(error_of("a.mtx", banner + "pattern general\n3 4 1\n1 1\n2 2\n"),
                "F:4:1: more entries than the 1 that line 2");
  expect_starts(error_of("a.mtx", banner + "pattern general\n3 4 1\n4 1\n"),
                "F:3:1: the index \"4\" of mode mode1 is outside 1 to 3");
  expect_starts(error_of("a.mtx", banner + "pattern general\n3 4 1\n1 1 1\n"), "F:3:5: expected 2 columns");
  expect_starts(error_of("a.mtx", banner + "real general\n3 4 1\n1 1\n"), "F:3:4: expected 3 columns");
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

// ---- compression and files

TEST_F(IoTest, CompressedFilesAreKnownByTheirBytesNotTheirNames) {
  const std::string text = random_tsv(20000);
  const Result plain = read("a.tsv", text);
  const std::string half = text.substr(0, text.size() / 2), rest = text.substr(text.size() / 2);
  const std::string forms[] = {gzip(text),
                               zstd(text),
                               gzip(half) + gzip(rest),
                               zstd(half) + zstd(rest),
                               gzip("") + gzip(text),
                               gzip(text) + std::string(512, '\0')};
  for (const std::string& bytes : forms) {
    const Result result = read("b.tsv", bytes);
    EXPECT_EQ(result.coords, plain.coords);
  }
  EXPECT_EQ(read("plain.tsv.gz", text).coords, plain.coords);
}

TEST_F(IoTest, TruncatedAndCorruptCompressedFilesAreRefused) {
  const std::string text = random_tsv(5000);
  const std::string gz = gzip(text), zst = zstd(text);
  for (const std::size_t keep : {std::size_t{2}, std::size_t{9}, gz.size() / 2, gz.size() - 1})
    EXPECT_EQ(error_of("a.tsv.gz", gz.substr(0, keep)),
              "F: the gzip data ends too early; the file is cut short, fetch it again");
  for (const std::size_t keep : {std::size_t{4}, std::size_t{9}, zst.size() / 2, zst.size() - 1})
    EXPECT_EQ(error_of("a.tsv.zst", zst.substr(0, keep)),
              "F: the zstd data ends too early; the file is cut short, fetch it again");
  const auto flipped = [](std::string bytes, std::size_t at) {
    bytes[at] = static_cast<char>(bytes[at] ^ 0x55);
    return bytes;
  };
  expect_starts(error_of("a.tsv.gz", flipped(gz, gz.size() - 6)), "F: corrupt gzip data (incorrect data check)");
  expect_starts(error_of("a.tsv.zst", flipped(zst, zst.size() - 2)), "F: corrupt zstd data (");
  expect_starts(error_of("a.tsv.gz", gz + "garbage"), "F: corrupt gzip data (");
  expect_starts(error_of("a.tsv.zst", zst + "garbage"), "F: corrupt zstd data (");
  // The second member is cut short.
  expect_starts(error_of("a.tsv.gz", gz + gz.substr(0, gz.size() / 2)), "F: the gzip data ends too early");
  expect_starts(error_of("a.tsv.zst", zst + zst.substr(0, zst.size() / 2)), "F: the zstd data ends too early");
}

TEST_F(IoTest, ABadLineInFrontOfATruncationIsReportedFirst) {
  const std::string gz = gzip("a\tb\nc\n" + random_tsv(5000));
  expect_starts(error_of("a.tsv.gz", gz.substr(0, gz.size() / 2)), "F:2:2: expected 2 columns");
}

TEST_F(IoTest, MissingFilesAndDirectoriesAreIoErrors) {
  TableSpec table;
  table.path = directory_ / "none.tsv";
  EXPECT_EQ(error_of(table, ErrorKind::io), std::string("F: cannot open: ") + std::strerror(ENOENT));
  table.path = directory_.path();
  EXPECT_EQ(error_of(table, ErrorKind::io), std::string("F: cannot read: ") + std::strerror(EISDIR));
}

// Standard input replaced by a pipe that hands out a few bytes at a time.
class StdinPipe {
 public:
  explicit StdinPipe(std::string bytes) : saved_(dup(STDIN_FILENO)) {
    int ends[2];
    if (pipe(ends) != 0 || dup2(ends[0], STDIN_FILENO) < 0) throw std::runtime_error("pipe failed");
    close(ends[0]);
    writer_ = std::thread([end = ends[1], text = std::move(bytes)] {
      for (std::size_t at = 0; at < text.size(); at += 3)
        if (write(end, text.data() + at, std::min<std::size_t>(3, text.size() - at)) < 0) break;
      close(end);
    });
  }
  ~StdinPipe() {
    writer_.join();
    dup2(saved_, STDIN_FILENO);
    close(saved_);
  }

 private:
  int saved_;
  std::thread writer_;
};

TEST_F(IoTest, StandardInputIsReadPlainAndCompressedAndNamedInMessages) {
  TableSpec table;
  table.path = "-";
  for (const std::string& bytes : {std::string("a\tb\nc\td\n"), gzip("a\tb\nc\td\n"), zstd("a\tb\nc\td\n")}) {
    const StdinPipe input(bytes);
    EXPECT_EQ(read_all(table).coords, (Ids{0, 0, 1, 1}));
  }
  {
    const StdinPipe input("%%MatrixMarket matrix coordinate pattern general\n5 3 1\n1 2\n");
    EXPECT_EQ(read_all(table).modes[0].labels.size(), 5u);
  }
  const StdinPipe input("a\tb\nc\n");
  expect_starts(error_of(table), "standard input:2:2: expected 2 columns");
}

// ---- closed tables

TEST_F(IoTest, ClosedTablesLookLabelsUp) {
  const Mode users = {"user", table_of({"ann", "bob"})}, movies = {"movie", table_of({"dune", "alien"})};
  TableSpec table = spec("a.tsv", "#x\ty\nbob\tdune\nann\talien\n");
  table.closed = {&users, &movies};
  const Result result = read_all(table);
  EXPECT_EQ(result.coords, (Ids{1, 0, 0, 1}));
  EXPECT_EQ(result.modes[0].labels.size(), 0u);
  table.path = file("b.tsv", "ann\tdune\nbob\theat\n");
  EXPECT_EQ(error_of(table), "F:2:5: unknown movie \"heat\": not among the 2 entities of mode movie");
  table.path = file("b.tsv", "#x\ty\tz\nann\tdune\n");
  expect_starts(error_of(table), "F:2:9: expected 3 columns separated by TAB, found 2");
  table.path = file("b.tsv", "ann\tdune\t1\n");
  expect_starts(error_of(table), "F:1:10: expected 2 columns separated by TAB, found 3");
}

TEST_F(IoTest, OneClosedTableMayServeBothColumns) {
  const Mode users = {"user", table_of({"ann", "bob"})};
  TableSpec table = spec("a.tsv", "bob\tann\nann\tann\n");
  table.closed = {&users, &users};
  EXPECT_EQ(read_all(table).coords, (Ids{1, 0, 0, 0}));
}

TEST_F(IoTest, AnOptionalValueIsIgnoredEvenIfZeroOrNotANumber) {
  const Mode users = {"user", table_of({"1", "2"})};
  TableSpec table = spec("a.tsv", "1\t2\t0\n2\t1\tmaybe\n");
  table.closed = {&users, &users};
  table.optional_value = true;
  EXPECT_EQ(read_all(table).coords, (Ids{0, 1, 1, 0}));
  table.path = file("a.tsv", "1\t2\n2\t1\n");
  EXPECT_EQ(read_all(table).coords, (Ids{0, 1, 1, 0}));
  table.path = file("a.tns", "1 2 0\n2 1 1\n");
  EXPECT_EQ(read_all(table).coords, (Ids{0, 1, 1, 0}));
  table.path = file("a.tns", "1 2\n2 1\n");
  EXPECT_EQ(read_all(table).coords, (Ids{0, 1, 1, 0}));
  table.path = file("a.tsv", "1\t2\t0\n2\t1\n");
  expect_starts(error_of(table), "F:2:4: expected 3 columns");
  table.path = file("a.tsv", "1\t2\t0\t5\n");
  expect_starts(error_of(table), "F:1:7: expected 2 or 3 columns");
}

TEST_F(IoTest, IndicesAreLookedUpInClosedTables) {
  const Mode numbered = {"user", LabelTable::numbered(1, 5)}, from_zero = {"user", LabelTable::numbered(0, 5)};
  const Mode named = {"movie", table_of({"9", "7"})};
  TableSpec table = spec("a.tns", "5 7 1\n1 9 1\n");
  table.closed = {&numbered, &named};
  EXPECT_EQ(read_all(table).coords, (Ids{4, 1, 0, 0}));
  table.path = file("a.tns", "5 7 1\n1 8 1\n");
  EXPECT_EQ(error_of(table), "F:2:3: unknown movie \"8\": not among the 2 entities of mode movie");
  table.path = file("a.tns", "6 7 1\n");
  EXPECT_EQ(error_of(table), "F:1:1: unknown user \"6\": not among the 5 entities of mode user");
  table.path = file("a.tns", "0 7 1\n");
  EXPECT_EQ(error_of(table), "F:1:1: unknown user \"0\": not among the 5 entities of mode user");
  table.path = file("a.tns", "1 1 1 1\n");
  expect_starts(error_of(table), "F:1:7: expected 3 columns");
  // Labels that count from 0 are found as they are spelled, whatever the index base.
  table.path = file("a.tns", "0 4 1\n");
  table.closed = {&from_zero, &from_zero};
  EXPECT_EQ(read_all(table).coords, (Ids{0, 4}));
  // A file that counts from 0 over labels that count from 1: places.
  table.closed = {&numbered, &numbered};
  table.index_base = 0;
  EXPECT_EQ(read_all(table).coords, (Ids{0, 4}));
}

TEST_F(IoTest, SymmetricMatricesWithClosedTablesLookBothCellsUp) {
  const Mode rows = {"row", table_of({"3", "1", "2"})}, columns = {"column", LabelTable::numbered(1, 2)};
  const std::string banner = "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 1\n";
  TableSpec table = spec("a.mtx", banner + "2 1\n");
  table.closed = {&rows, &columns};
  EXPECT_EQ(read_all(table).coords, (Ids{2, 0, 1, 1}));
  table.path = file("a.mtx", banner + "3 1\n");  // mirrored: column 3, which is unknown
  EXPECT_EQ(error_of(table), "F:3:1: unknown column \"3\": not among the 2 entities of mode column");
  table.closed = {&rows, &columns, &columns};
  expect_starts(error_of(table), "F:1:1: the file has 2 modes, but 3 are expected");
}

// ---- threads and blocks

TEST_F(IoTest, NothingDependsOnThreadsOrBlocks) {
  std::string indices;
  for (int i = 0; i < 3000; ++i) indices += fmt::format("{} {} {} {}\n", i * 7 % 311 + 1, i % 97 + 1, i % 5 + 1, i % 4);
  std::string named = "#user\titem\tvenue\n" + random_tsv(3000, "\r\n");
  named.resize(named.size() - 2);
  for (const bool tsv : {true, false}) {
    TableSpec table = tsv ? spec("a.tsv", named) : spec("a.tns", indices, Values::counts);
    table.keep_lines = true;
    const Result expected = read_all(table);
    for (const unsigned threads : {1u, 2u, 5u})
      for (const std::size_t block_bytes : {1u, 64u, 1000u, 40000u}) {
        table.block_bytes = block_bytes;
        const Result result = read_all(table, threads);
        EXPECT_EQ(result.coords, expected.coords);
        EXPECT_EQ(result.values, expected.values);
        EXPECT_EQ(result.lines, expected.lines);
        EXPECT_EQ(result.zero_cells, expected.zero_cells);
        for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(labels_of(result.modes[k]), labels_of(expected.modes[k]));
      }
  }
}

TEST_F(IoTest, IdsAreThoseOfANaiveReader) {
  const std::string text = random_tsv(4000);
  TableSpec table = spec("a.tsv", text);
  table.block_bytes = 3000;
  const Result result = read_all(table, 3);
  std::vector<Names> seen(3);
  Ids expected;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    std::istringstream fields(line);
    std::string label;
    for (std::size_t k = 0; std::getline(fields, label, '\t'); ++k) {
      const auto place = std::find(seen[k].begin(), seen[k].end(), label);
      expected.push_back(static_cast<std::uint32_t>(place - seen[k].begin()));
      if (place == seen[k].end()) seen[k].push_back(label);
    }
  }
  EXPECT_EQ(result.coords, expected);
  for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(labels_of(result.modes[k]), seen[k]);
}

// 32-bit hashes of this many labels collide a few times (about 5): equal hashes must not make labels equal.
TEST_F(IoTest, LabelsWithEqualHashesStayApart) {
  constexpr std::uint32_t count = 200000;
  std::string text;
  for (std::uint32_t i = 0; i < count; ++i) text += fmt::format("{:x}\ty\n", i);
  TableSpec table = spec("a.tsv", text);
  table.block_bytes = 16 << 20;
  const Result result = read_all(table);
  ASSERT_EQ(result.modes[0].labels.size(), count);
  for (std::uint32_t i = 0; i < count; ++i) ASSERT_EQ(result.coords[2 * i], i);
}

TEST_F(IoTest, TheFirstBadLineIsReportedForAnyThreadsAndBlocks) {
  std::string text;
  for (int i = 1; i <= 4000; ++i)
    text += i == 2500 || i == 2600 || i == 3900 ? "lonely\n" : fmt::format("user{}\tmovie\n", i);
  std::string entries = "sptensor\n2\n5000 3\n2000\n";
  for (int i = 1; i <= 3000; ++i) entries += i == 2500 ? "x\n" : fmt::format("{} 1 1\n", i);
  TableSpec tsv = spec("a.tsv", text), tns = spec("a.tns", entries);
  for (const unsigned threads : {1u, 4u})
    for (const std::size_t block_bytes : {1u, 300u, 5000u, 1u << 20}) {
      tsv.block_bytes = tns.block_bytes = block_bytes;
      expect_starts(error_of(tsv, ErrorKind::input, threads), "F:2500:7: expected 2 columns");
      expect_starts(error_of(tns, ErrorKind::input, threads), "F:2005:1: more entries than the 2000 that line 4");
    }
}

// ---- labels

TEST(LabelTableTest, ManyLabelsAreFoundAgainAfterGrowth) {
  LabelTable table;
  for (int i = 0; i < 100000; ++i) ASSERT_EQ(table.add(fmt::format("label{}", i)), static_cast<std::uint32_t>(i));
  EXPECT_EQ(table.add("label777"), 777u);
  EXPECT_EQ(table.add("label99999", label_hash("label99999")), 99999u);
  EXPECT_EQ(table.find("label54321"), 54321u);
  EXPECT_EQ(table.find("label100000"), std::nullopt);
  EXPECT_EQ(table[0], "label0");
  EXPECT_EQ(LabelTable().find("x"), std::nullopt);
}

TEST(LabelTableTest, NumberedTablesKnowOnlyCanonicalNumbers) {
  const LabelTable table = LabelTable::numbered(1, 10);
  EXPECT_EQ(table.find("10"), 9u);
  for (const char* text : {"0", "11", "01", "+1", "1.0", "", "x", "99999999999999999999"})
    EXPECT_EQ(table.find(text), std::nullopt) << text;
}

}  // namespace
}  // namespace ztp
