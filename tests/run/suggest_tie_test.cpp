// When `ztp check` takes two modes for the same entities. Random data have the seeds 1 to 4, so every answer is fixed;
// for another seed a wrong one has a probability below e^-10 by the rules of suggest_tie.cpp.
#include "run/suggest_tie.hpp"

#include <gtest/gtest.h>

#include "base/random.hpp"

namespace ztp {
namespace {

using Same = std::optional<CheckReport::SameEntities>;

// Ones (i, j) of two modes, by label.
Dataset named(const std::vector<std::pair<std::string, std::string>>& ones) {
  Dataset data;
  data.tensor.modes = {{"from", {}}, {"to", {}}};
  for (const auto& [from, to] : ones) {
    data.tensor.coords.push_back(data.tensor.modes[0].labels.add(from));
    data.tensor.coords.push_back(data.tensor.modes[1].labels.add(to));
  }
  data.tensor.sort_and_merge();
  return data;
}

enum class Labels { numbered, text };

// Pairs of numbers from 1 to n with the probability of each, from 0 to n - 1.
template <class Probability>
Dataset drawn(std::uint32_t n, Labels labels, std::uint64_t seed, const Probability& probability) {
  Dataset data;
  data.tensor.modes = {{"from", {}}, {"to", {}}};
  for (Mode& mode : data.tensor.modes) {
    if (labels == Labels::numbered) mode.labels = LabelTable::numbered(1, n);
    for (std::uint32_t j = 1; labels == Labels::text && j <= n; ++j) mode.labels.add(std::to_string(j));
  }
  Stream stream(stream_key(seed, 0, Purpose::simulate), 0, 0);
  for (std::uint32_t i = 0; i < n; ++i)
    for (std::uint32_t j = 0; j < n; ++j)
      if (stream.uniform() < probability(i, j))
        for (const std::uint32_t id : {i, j}) data.tensor.coords.push_back(id);
  data.tensor.sort_and_merge();
  return data;
}

TEST(SuggestTie, NamesInCommon) {
  const Same same = find_same_entities(named({{"ann", "bob"}, {"bob", "cid"}, {"cid", "ann"}, {"dan", "eve"}}));
  ASSERT_TRUE(same);
  EXPECT_EQ(same->first, "from");
  EXPECT_EQ(same->second, "to");
  EXPECT_EQ(same->shared, 3u);
  EXPECT_EQ(same->first_entities, 4u);
  EXPECT_EQ(same->second_entities, 4u);
  EXPECT_EQ(same->self_ones, 0u);
  EXPECT_EQ(same->self_cells, SelfCells::missing);
}

TEST(SuggestTie, AOneOfTheSameEntityTwiceMakesSelfCellsZeros) {
  const Same same = find_same_entities(named({{"ann", "bob"}, {"bob", "cid"}, {"cid", "ann"}, {"cid", "cid"}}));
  ASSERT_TRUE(same);
  EXPECT_EQ(same->self_ones, 1u);
  EXPECT_EQ(same->self_cells, SelfCells::zero);
}

TEST(SuggestTie, HalfOfTheNamesAreNotMost) {
  EXPECT_FALSE(find_same_entities(named({{"a", "b"}, {"b", "c"}, {"c", "a"}, {"d", "x"}, {"e", "y"}, {"f", "z"}})));
  EXPECT_FALSE(find_same_entities(named({{"a", "b"}, {"b", "a"}})));  // too few to tell
  EXPECT_FALSE(find_same_entities(named({{"ann", "x"}, {"bob", "y"}, {"cid", "z"}, {"ann", "w"}})));
}

// Subject and object, not the modes with less in common; and modes of names and numbers are left alone.
TEST(SuggestTie, TheTwoModesWithMostInCommon) {
  Dataset data;
  data.tensor.modes = {{"day", LabelTable::numbered(1, 4)}, {"subject", {}}, {"place", {}}, {"object", {}}};
  for (const char* label : {"a", "b", "c", "d"}) data.tensor.modes[1].labels.add(label);
  for (const char* label : {"c", "a", "b", "v"}) data.tensor.modes[2].labels.add(label);
  for (const char* label : {"d", "c", "b", "a"}) data.tensor.modes[3].labels.add(label);
  for (std::uint32_t e = 0; e < 4; ++e)
    for (int k = 0; k < 4; ++k) data.tensor.coords.push_back(e);
  const Same same = find_same_entities(data);
  ASSERT_TRUE(same);
  EXPECT_EQ(same->first, "subject");
  EXPECT_EQ(same->second, "object");
  EXPECT_EQ(same->shared, 4u);
  EXPECT_EQ(same->self_ones, 0u);
}

// Users 1 to n and items 1 to n are not the same, whatever the order that both are numbered in.
TEST(SuggestTie, NumbersAreNoEvidence) {
  constexpr std::uint32_t n = 200;
  for (const Labels labels : {Labels::numbered, Labels::text}) {
    EXPECT_FALSE(find_same_entities(drawn(n, labels, 1, [](auto, auto) { return 0.1; })));
    const auto by_size = [](auto i, auto j) { return 40.0 / (i + 10) / (j + 10); };
    EXPECT_FALSE(find_same_entities(drawn(n, labels, 2, by_size)));
    const auto by_time = [](auto i, auto j) { return std::max(i, j) - std::min(i, j) < 20 ? 0.5 : 0.0; };
    EXPECT_FALSE(find_same_entities(drawn(n, labels, 3, by_time)));
    const auto by_community = [](auto i, auto j) { return i / 20 == j / 20 ? 0.4 : 0.01; };
    EXPECT_FALSE(find_same_entities(drawn(n, labels, 4, by_community)));
  }
}

// Numbers are the same entities if ones come back, if (i, i) is never there, or nearly always.
TEST(SuggestTie, OnesCanTellThatNumbersAreTheSame) {
  constexpr std::uint32_t n = 200;
  for (const Labels labels : {Labels::numbered, Labels::text}) {
    const auto returned = [](auto i, auto j) { return (i + j) % 10 == 0 && i != j ? 0.5 : 0.005; };
    const Same same = find_same_entities(drawn(n, labels, 1, returned));
    ASSERT_TRUE(same);
    EXPECT_EQ(same->shared, n);
    const auto never = [](auto i, auto j) { return i == j ? 0.0 : 0.3; };
    ASSERT_TRUE(find_same_entities(drawn(n, labels, 2, never)));
    EXPECT_EQ(find_same_entities(drawn(n, labels, 2, never))->self_cells, SelfCells::missing);
    const auto always = [](auto i, auto j) { return i == j ? 0.95 : 0.1; };
    ASSERT_TRUE(find_same_entities(drawn(n, labels, 3, always)));
    EXPECT_EQ(find_same_entities(drawn(n, labels, 3, always))->self_cells, SelfCells::zero);
  }
}

// Of a million possible numbers of accounts, the same forty occur in both modes; or every tenth number up to 400, which
// says nothing.
TEST(SuggestTie, NumbersWithGaps) {
  std::vector<std::pair<std::string, std::string>> accounts, tens;
  for (std::uint32_t i = 0; i < 40; ++i) {
    const std::uint32_t j = (i + 7) % 40;
    accounts.push_back({std::to_string(1000 + i * i * 600), std::to_string(1000 + j * j * 601 - j * j)});
    tens.push_back({std::to_string(10 * (i + 1)), std::to_string(10 * (j + 1))});
  }
  ASSERT_TRUE(find_same_entities(named(accounts)));
  EXPECT_FALSE(find_same_entities(named(tens)));
}

// The header of a tiny file may announce billions of entities.
TEST(SuggestTie, HugeNumberedModesCostNothing) {
  Dataset data;
  for (const char* name : {"from", "to"}) data.tensor.modes.push_back({name, LabelTable::numbered(1, 2000000000)});
  for (const std::uint32_t id : {0u, 1999999999u, 5u, 0u}) data.tensor.coords.push_back(id);
  EXPECT_FALSE(find_same_entities(data));
}

}  // namespace
}  // namespace ztp
