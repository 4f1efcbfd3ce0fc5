// Tables of labels: added one by one, listed, or numbers; the same to those who look labels up.
#include "ztp/labels.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ztp/error.hpp"

namespace ztp {
namespace {

TEST(LabelTable, ListedHasNoIndexUntilAsked) {
  LabelTable table = LabelTable::listed("abbcc", {1, 3, 5});
  EXPECT_EQ(table.size(), 3u);
  EXPECT_EQ(table[1], "bb");
  EXPECT_FALSE(table.is_indexed());
  EXPECT_THROW(table.find("bb"), Error);
  EXPECT_THROW(table.add("bb"), Error);
  EXPECT_THROW(table.add("new"), Error);
  table.index();
  table.index();
  EXPECT_TRUE(table.is_indexed());
  EXPECT_EQ(table.find("bb"), 1u);
  EXPECT_EQ(table.find("b"), std::nullopt);
  EXPECT_EQ(table.add("cc"), 2u);
  EXPECT_EQ(table.add("new"), 3u);
}

TEST(LabelTable, ListedEqualsAdded) {
  LabelTable added;
  std::string characters;
  std::vector<std::uint64_t> ends;
  for (int j = 0; j < 5000; ++j) {
    const std::string label = std::to_string(j * 37);
    added.add(label);
    characters += label;
    ends.push_back(characters.size());
  }
  const std::size_t letters = characters.size();
  characters.shrink_to_fit();
  ends.shrink_to_fit();
  LabelTable listed = LabelTable::listed(std::move(characters), std::move(ends));
  EXPECT_LE(listed.bytes(), 16 * 5000 + letters);
  listed.index();
  for (int j = 0; j < 5000 * 37; ++j) ASSERT_EQ(listed.find(std::to_string(j)), added.find(std::to_string(j)));
}

TEST(LabelTable, BadLists) {
  LabelTable twice = LabelTable::listed("abcab", {2, 3, 5});
  EXPECT_THROW(twice.index(), Error);
  EXPECT_FALSE(twice.is_indexed());
  EXPECT_THROW(twice.find("c"), Error);
  EXPECT_THROW(LabelTable::listed("abc", {1, 2}), Error);
  EXPECT_THROW(LabelTable::listed("abc", {2, 1, 3}), Error);
  LabelTable empty = LabelTable::listed("", {});
  EXPECT_EQ(empty.find("a"), std::nullopt);
  EXPECT_EQ(empty.add("a"), 0u);
  LabelTable numbered = LabelTable::numbered(1, 9);
  numbered.index();
  EXPECT_EQ(numbered.find("9"), 8u);
}

TEST(LabelTable, ManyLabelsAreFoundAgainAfterGrowth) {
  LabelTable table;
  for (int i = 0; i < 100000; ++i) ASSERT_EQ(table.add(fmt::format("label{}", i)), static_cast<std::uint32_t>(i));
  EXPECT_EQ(table.add("label777"), 777u);
  EXPECT_EQ(table.add("label99999"), 99999u);
  EXPECT_EQ(table.find("label54321"), 54321u);
  EXPECT_EQ(table.find("label100000"), std::nullopt);
  EXPECT_EQ(table[0], "label0");
  EXPECT_EQ(LabelTable().find("x"), std::nullopt);
}

TEST(LabelTable, NumberedTablesKnowOnlyCanonicalNumbers) {
  const LabelTable table = LabelTable::numbered(1, 10);
  EXPECT_EQ(table.find("10"), 9u);
  for (const char* text : {"0", "11", "01", "+1", "1.0", "", "x", "99999999999999999999"})
    EXPECT_EQ(table.find(text), std::nullopt) << text;
}

}  // namespace
}  // namespace ztp
