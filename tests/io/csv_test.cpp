// Files as spreadsheets write them: separators, quotes, headers, and what is recognised by itself. What is refused:
// tests/bad_inputs.
#include <gtest/gtest.h>

#include <set>

#include "tables.hpp"
#include "ztp/read.hpp"

namespace ztp::test {
namespace {

TEST_F(IoTest, CsvWithQuotesIsReadAsItIsMeant) {
  const Result result = read("a.csv",
                             "user,item,week\n"
                             "ann,\"kettle, big\",2024-07\n"
                             "\"bob\",\"the \"\"old\"\" pot\",2024-07\n"
                             "ann,\"\"\"\",\"2024-08\"\n");
  EXPECT_EQ(mode_names(result), (Names{"user", "item", "week"}));
  EXPECT_EQ(labels_of(result.modes[0]), (Names{"ann", "bob"}));
  EXPECT_EQ(labels_of(result.modes[1]), (Names{"kettle, big", "the \"old\" pot", "\""}));
  EXPECT_EQ(labels_of(result.modes[2]), (Names{"2024-07", "2024-08"}));
  EXPECT_EQ(result.coords, (Ids{0, 0, 0, 1, 1, 0, 0, 2, 1}));
}

TEST_F(IoTest, LineEndsAndTabsInLabelsOfACsvBecomeSpaces) {
  TableSpec table = spec("a.csv",
                         "user,item\r\n"
                         "ann,\"kettle\r\nbig\"\r\n"
                         "bob,\"tea\tpot\n\"\r\n"
                         "cid,kettle big\r\n"
                         "d\te,kettle big\r\n");
  table.keep_lines = true;
  for (const std::size_t block_bytes : {1u, 7u, 1u << 20}) {
    table.block_bytes = block_bytes;
    const Result result = read_all(table);
    EXPECT_EQ(labels_of(result.modes[0]), (Names{"ann", "bob", "cid", "d e"}));
    EXPECT_EQ(labels_of(result.modes[1]), (Names{"kettle big", "tea pot "}));
    EXPECT_EQ(result.lines, (std::vector<std::uint64_t>{2, 4, 6, 7}));
  }
}

TEST_F(IoTest, ACsvOfWindowsIsRead) {
  const Result result =
      read("a.csv", "\xef\xbb\xbf\"user\",\"item\"\r\n\r\nJos\xc3\xa9,x\r\n\"bob\",\"y\"\r\n,\r\n,,,\r\n\r\nann,x");
  EXPECT_EQ(mode_names(result), (Names{"user", "item"}));
  EXPECT_EQ(labels_of(result.modes[0]), (Names{"Jos\xc3\xa9", "bob", "ann"}));
  EXPECT_EQ(result.coords, (Ids{0, 0, 1, 1, 2, 0}));
}

TEST_F(IoTest, SemicolonsAndAnnouncedSeparators) {
  for (const char* text : {"user;item\nann;x,y\nbob;z,y\n", "sep=;\r\nuser;item\r\nann;\"x,y\"\r\nbob;z,y\r\n"}) {
    const Result result = read("a.csv", text);
    EXPECT_EQ(mode_names(result), (Names{"user", "item"}));
    EXPECT_EQ(labels_of(result.modes[1]), (Names{"x,y", "z,y"}));
  }
  // Commas in some lines and semicolons in all: those that every line has separate the columns.
  EXPECT_EQ(labels_of(read("a.csv", "who;what\nann;x\nbob;y, z\n").modes[1]), (Names{"x", "y, z"}));
  EXPECT_EQ(labels_of(read("a.csv", "who,what\nann;b,x\nbob,y\n").modes[0]), (Names{"ann;b", "bob"}));
}

TEST_F(IoTest, ACsvIsRecognisedByItsFirstLineIfTheNameDoesNotTell) {
  for (const char* name : {"a.txt", "a", "a.CSV"})
    EXPECT_EQ(labels_of(read(name, "user,item\nann,x\nbob,y\nann,y\n").modes[0]), (Names{"ann", "bob"})) << name;
  // With a TAB it is a .tsv, as it always was.
  for (const char* name : {"a.txt", "a.csv"})
    EXPECT_EQ(labels_of(read(name, "Ann A.\tx\nBob\ty\n").modes[0]), (Names{"Ann A.", "Bob"})) << name;
  EXPECT_EQ(labels_of(read("a.csv", "\"ann\"\tx\nbob\ty\n").modes[0]), (Names{"\"ann\"", "bob"}));
}

TEST_F(IoTest, QuotesMeanNothingInATsv) {
  EXPECT_EQ(labels_of(read("a.tsv", "\"ann\"\tx\n\"bob\t5\" disk\n").modes[0]), (Names{"\"ann\"", "\"bob"}));
}

TEST_F(IoTest, TheHeaderOfACsvIsRecognised) {
  EXPECT_EQ(mode_names(read("a.csv", "Customer ,what\nann,x\n")), (Names{"Customer", "what"}));
  EXPECT_EQ(mode_names(read("a.csv", "#user,item\nann,x\n")), (Names{"user", "item"}));
  // A label of the first line is there again, or a number.
  EXPECT_EQ(mode_names(read("a.csv", "ann,x\nann,y\nbob,x\n")), (Names{"mode1", "mode2"}));
  EXPECT_EQ(read("a.csv", "ann,2023\nbob,2024\n").coords.size(), 4u);
  // Or somebody says so.
  TableSpec table = spec("a.csv", "#ann,x\nann,y\nbob,x\n");
  table.header = false;
  EXPECT_EQ(labels_of(read_all(table).modes[0]), (Names{"#ann", "ann", "bob"}));
  table = spec("a.csv", "ann,x\nann,y\nbob,x\n");
  table.header = true;
  EXPECT_EQ(mode_names(read_all(table)), (Names{"ann", "x"}));
}

TEST_F(IoTest, TheHeaderOfATsvWithoutAMarkIsUsedOnRequest) {
  TableSpec table = spec("a.tsv", "user\titem\nann\tx\nbob\ty\n");
  EXPECT_EQ(read_all(table).coords.size(), 6u);
  table.header = true;
  EXPECT_EQ(mode_names(read_all(table)), (Names{"user", "item"}));
  EXPECT_EQ(read_all(table).coords.size(), 4u);
}

TEST_F(IoTest, ValuesOfACsv) {
  const Result result = read("a.csv", "user,item,count\nann,x,3\nbob,y,\"12\"\nann,y,0\n", ValueKind::counts);
  EXPECT_EQ(result.order, 2u);
  EXPECT_EQ(result.values, (std::vector<std::int64_t>{3, 12}));
  EXPECT_EQ(result.zero_cells, 1u);
  EXPECT_EQ(read("b.csv", "#user,item\nann,x,3\n", ValueKind::nonzero).order, 2u);
}

TEST_F(IoTest, CsvOfKnownModes) {
  const std::vector<Mode> modes = {{"user", table_of({"ann", "bob"})}, {"item", table_of({"x, y", "item"})}};
  const auto coords = [&](const char* text) {
    TableSpec table = cell_table(file("a.csv", text), modes);
    table.optional_value = true;
    return read_all(table).coords;
  };
  const Ids both = {1, 0, 0, 1};
  EXPECT_EQ(coords("bob,\"x, y\"\nann,item\n"), both);
  EXPECT_EQ(coords("user,item\nbob,\"x, y\"\nann,item\n"), (Ids{1, 0, 0, 1}));
  EXPECT_EQ(coords("user;item;hit\nbob;x, y;0\nann;item;1\n"), both);
  TableSpec pairs = pair_table(file("net.csv", "from,to\nbob,ann\n"), modes[0]);
  EXPECT_EQ(read_all(pairs).coords, (Ids{1, 0}));
  pairs.path = file("net.csv", "bob,ann\nann,bob\n");
  EXPECT_EQ(read_all(pairs).coords, (Ids{1, 0, 0, 1}));
}

// A random table, with any characters in its labels, in quotes where that is needed and elsewhere at random.
struct RandomTable {
  std::string csv;
  Names labels;  // K for each line
};

RandomTable random_table(std::uint32_t seed, std::size_t lines, char separator, const char* line_end) {
  constexpr std::size_t K = 3;
  const Names parts = {"a", "b", "\"", "\"\"", ",", ";", "\n", "\r\n", "x y", "\xc3\xa9", "#", "\t", "1"};
  std::mt19937 random(seed);
  RandomTable made;
  made.csv = fmt::format("#p{0}q{0}r{1}", separator, line_end);
  for (std::size_t i = 0; i < lines; ++i)
    for (std::size_t k = 0; k < K; ++k) {
      std::string meant, written;
      const std::size_t count = 1 + random() % 3;
      for (std::size_t p = 0; p < count; ++p) {
        const std::string part = parts[random() % parts.size()];
        const bool blank = part == "\n" || part == "\r\n" || part == "\t";
        meant += blank ? " " : part;
        for (const char c : part) written += c == '"' ? std::string("\"\"") : std::string(1, c);
      }
      const bool must = written.find_first_of(std::string("\"\r\n") + separator) != written.npos;
      made.csv += must || random() % 4 == 0 ? "\"" + written + "\"" : written;
      made.csv += k + 1 < K ? std::string(1, separator) : std::string(line_end);
      made.labels.push_back(meant);
    }
  return made;
}

TEST_F(IoTest, RandomCsvIsReadTheSameInAnyBlocksAndThreads) {
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    const char separator = seed % 2 == 0 ? ',' : ';';
    const RandomTable table = random_table(seed, 1 + 7 * seed, separator, seed % 3 == 0 ? "\r\n" : "\n");
    TableSpec read = spec("a.csv", table.csv);
    for (const std::size_t block_bytes : {1u, 13u, 200u, 1u << 20})
      for (const unsigned threads : {1u, 3u}) {
        read.block_bytes = block_bytes;
        const Result result = read_all(read, threads);
        ASSERT_EQ(result.coords.size(), table.labels.size()) << table.csv;
        Names labels;
        for (std::size_t i = 0; i < result.coords.size(); ++i)
          labels.push_back(result.modes[i % 3].labels[result.coords[i]]);
        ASSERT_EQ(labels, table.labels) << table.csv;
      }
  }
}

TEST_F(IoTest, ErrorsOfACsvDoNotDependOnBlocksAndThreads) {
  std::string text = "user,item\n";
  for (int i = 0; i < 300; ++i) text += fmt::format("\"u {}\",\"x\ny{}\"\n", i % 7, i);
  // The first bad line is line 602; a quote that is closed by the next field's is noticed there.
  const std::pair<std::string, int> bad_lines[] = {{"ann,5\" disk\n", 602}, {"\"ann\n", 604},   {"ann\n", 602},
                                                   {"\"a\"b,c\n", 602},     {"J\xe9,x\n", 602}, {"a\"\n,\"x\ny\n", 602},
                                                   {{"a,\0\n", 4}, 602}};
  for (const auto& [bad, line] : bad_lines) {
    const std::string broken = text + bad + text;
    TableSpec table = spec("a.csv", broken);
    std::set<std::string> errors;
    for (const std::size_t block_bytes : {1u, 40u, 3000u, 1u << 20})
      for (const unsigned threads : {1u, 4u}) {
        table.block_bytes = block_bytes;
        try {
          read_all(table, threads);
          ADD_FAILURE() << bad;
        } catch (const Error& error) {
          errors.insert(error.what());
        }
      }
    EXPECT_EQ(errors.size(), 1u) << bad << *errors.begin() << "\n" << *errors.rbegin();
    EXPECT_NE(errors.begin()->find(fmt::format(":{}:", line)), std::string::npos) << *errors.begin();
  }
}

// Lines are read in two ways, of which one is for blocks with quotes.
TEST_F(IoTest, ErrorsDoNotDependOnQuotesInOtherLines) {
  const Mode users = {"user", table_of({"ann", "bob"})};
  for (const char* bad :
       {"zoe\n", "zoe,\n", "ann,zoe,bob\n", "zoe,ann,bob\n", ",ann\n", "ann\n", "ann,\n", "ann,,\n"}) {
    std::string errors[2];
    for (int quotes : {0, 1}) {
      TableSpec table = spec("a.csv", std::string(quotes == 1 ? "\"bob\",ann\n" : "bob,ann\n") + bad);
      table.fixed_modes = {&users, &users};
      try {
        read_all(table);
        ADD_FAILURE() << bad;
      } catch (const Error& error) {
        errors[quotes] = error.what();
      }
    }
    EXPECT_EQ(errors[0], errors[1]);
  }
}

TEST_F(IoTest, CompressedCsv) {
  const std::string text = "user,item\nann,\"x, y\"\nbob,z\n";
  for (const auto& [name, bytes] : {std::pair{"a.csv.gz", gzip(text)}, {"a.csv.zst", zstd(text)}, {"a", gzip(text)}})
    EXPECT_EQ(labels_of(read(name, bytes).modes[1]), (Names{"x, y", "z"})) << name;
}

}  // namespace
}  // namespace ztp::test
