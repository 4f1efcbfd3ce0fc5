// What looks like a header, or like a column of numbers, and what does not.
#include <gtest/gtest.h>

#include "io/first_rows.hpp"
#include "tables.hpp"
#include "ztp/read.hpp"

namespace ztp::test {
namespace {

class Hints : public IoTest {
 protected:
  std::vector<std::string> warnings(const std::string& text, bool header = false) {
    ReadOptions options;
    options.file = file("ones.tsv", text);
    if (header) options.header = true;
    return read_dataset(options).warnings;
  }
  bool warns_of_header(const std::string& text) {
    for (const std::string& warning : warnings(text))
      if (warning.find("line 1 looks like a header (use --header)") != warning.npos) return true;
    return false;
  }
  bool asks_for_values(const std::string& text) {
    for (const std::string& warning : warnings(text))
      if (warning.find("did you mean") != warning.npos) return true;
    return false;
  }
};

std::string lines_of(const std::vector<std::string>& rows) {
  std::string text;
  for (const std::string& row : rows) text += row + "\n";
  return text;
}

TEST_F(Hints, HeadersWithoutAMarkAreNoticed) {
  EXPECT_TRUE(warns_of_header("user\titem\nann\tx\nbob\ty\n"));
  EXPECT_TRUE(warns_of_header("userId\tmovieId\n1\t10\n2\t10\n"));
  EXPECT_TRUE(warns_of_header("Customer ID\tDate\nann\t2024-01-02\n"));
  EXPECT_TRUE(warns_of_header("who\twhen\nann\t2020\nbob\t2021\ncid\t2020\n"));  // a word over numbers
  std::vector<std::string> rows = {"kunde\tware"};
  for (int i = 0; i < 300; ++i) rows.push_back(fmt::format("k{}\tw{}", i, i % 9));
  EXPECT_TRUE(warns_of_header(lines_of(rows)));  // the only line of which no label is there again
}

TEST_F(Hints, OrdinaryDataHaveNoHeader) {
  EXPECT_FALSE(warns_of_header("ann\tx\nbob\ty\n"));
  EXPECT_FALSE(warns_of_header("user\tx\nbob\ty\n"));                  // one such word alone
  EXPECT_FALSE(warns_of_header("time\tday\nday\ttime\nyear\tday\n"));  // words of a text, which are there again
  EXPECT_FALSE(warns_of_header("1\t2\n3\t4\n"));
  EXPECT_FALSE(warns_of_header("#user\titem\nann\tx\nbob\ty\n"));
  std::vector<std::string> rows;  // no label is there twice
  for (int i = 0; i < 300; ++i) rows.push_back(fmt::format("k{}\tw{}", i, i));
  EXPECT_FALSE(warns_of_header(lines_of(rows)));
}

// Each of these lines as the first one: labels that are rarely there again, and labels of which a few are common.
TEST_F(Hints, NoLineOfADataSetLooksLikeAHeader) {
  std::mt19937 random(3);
  std::exponential_distribution<double> common(1.0 / 300);
  std::string rare, skewed;
  for (int i = 0; i < 1500; ++i) {
    rare += fmt::format("a{}\tb{}\tc{}\n", random() % 3000, random() % 2000, random() % 40);
    skewed += fmt::format("a{:.0f}\tb{:.0f}\n", common(random), common(random) * common(random));
  }
  std::size_t tried = 0, taken = 0;
  for (const std::string& text : {rare, skewed}) {
    std::vector<Row> rows = first_rows(LineBlocks(file("lines", text), 1000), {.separator = '\t'});
    ASSERT_EQ(rows.size(), 1500u);
    for (std::size_t i = 0; i < rows.size(); i += 3, ++tried) {
      std::swap(rows[0], rows[i]);
      taken += examine_first_row(rows).looks_like_header();
      std::swap(rows[0], rows[i]);
    }
  }
  EXPECT_EQ(tried, 1000u);
  EXPECT_EQ(taken, 0u);
}

TEST_F(Hints, ColumnsOfNumbersThatWereReadAsModes) {
  EXPECT_TRUE(asks_for_values("#user\titem\tcount\nann\tx\t3\nbob\ty\t1\n"));
  EXPECT_TRUE(asks_for_values("#user\titem\tRatings\nann\tx\t3.5\nbob\ty\t1\n"));
  EXPECT_TRUE(asks_for_values("ann\tx\t0.25\nbob\ty\t1\n"));  // no name, but decimals
  const std::vector<std::string> counts = warnings("#user\titem\tcount\nann\tx\t3\nbob\ty\t1\n");
  ASSERT_EQ(counts.size(), 1u);
  EXPECT_NE(counts[0].find("did you mean --likelihood count (they are counts) or --values"), std::string::npos);
}

TEST_F(Hints, ModesThatHappenToBeNumbersAreModes) {
  EXPECT_FALSE(asks_for_values("#user\titem\tyear\nann\tx\t2020\nbob\ty\t2021\n"));
  EXPECT_FALSE(asks_for_values("#user\titem\tcount\nann\tx\tmany\nbob\ty\tfew\n"));
  EXPECT_FALSE(asks_for_values("#user\tcount\nann\t3\nbob\t4\n"));  // one mode would be left
  EXPECT_FALSE(asks_for_values("ann\tx\t3\nbob\ty\t1\n"));
  EXPECT_FALSE(asks_for_values("ann\tx\t2024.07\nbob\ty\t2023.11\n"));  // months
}

TEST_F(Hints, ReadingTellsHowAFileWasRead) {
  ReadOptions options;
  options.file = file("ones.csv", "user;item;n\nann;x;3\nbob;y;1\n");
  options.counts = true;
  options.networks = {"user=" + file("net.tsv", "ann\tbob\n")};
  const Dataset data = read_dataset(options);
  ASSERT_EQ(data.files.size(), 2u);
  const FileSummary& ones = data.files[0];
  EXPECT_EQ(ones.use, "ones");
  EXPECT_EQ(ones.format, FileFormat::csv);
  EXPECT_EQ(ones.separator, ';');
  EXPECT_TRUE(ones.header);
  EXPECT_EQ(ones.columns, (Names{"user", "item"}));
  EXPECT_TRUE(ones.values);
  EXPECT_EQ(data.files[1].use, "network");
  EXPECT_EQ(data.files[1].separator, '\t');
  EXPECT_FALSE(data.files[1].header);
}

}  // namespace
}  // namespace ztp::test
