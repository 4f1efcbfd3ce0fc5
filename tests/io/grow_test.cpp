// Modes that grow with the labels of new data.
#include <gtest/gtest.h>

#include "io/grow_modes.hpp"
#include "io/table.hpp"
#include "ztp/error.hpp"

namespace ztp {
namespace {

Mode named(const std::string& name, const std::vector<std::string>& labels) {
  Mode mode{name, {}};
  for (const std::string& label : labels) mode.labels.add(label);
  return mode;
}

std::vector<std::uint32_t> grown(const std::vector<Mode>& found, const std::vector<Mode*>& columns,
                                 const std::vector<std::uint32_t>& cells) {
  Buffer<std::uint32_t> coords;
  coords.append(cells.data(), cells.size());
  translate_and_grow(columns_of(found), columns, "new.tsv", coords);
  return {coords.begin(), coords.end()};
}

using Ids = std::vector<std::uint32_t>;

TEST(GrowModes, NewLabelsComeAtTheEnd) {
  Mode user = named("user", {"ann", "bob"}), item = named("item", {"x"});
  EXPECT_EQ(
      grown({named("user", {"cid", "bob", "ann"}), named("item", {"y", "x"})}, {&user, &item}, {0, 0, 1, 1, 2, 0}),
      (Ids{2, 1, 1, 0, 0, 1}));
  EXPECT_EQ(user.labels.size(), 3u);
  EXPECT_EQ(user.labels[2], "cid");
  EXPECT_EQ(item.labels.find("y"), 1u);
  // Both columns of a network are the same mode, and a file without a header names neither.
  EXPECT_EQ(grown({named("mode1", {"dan", "ann"}), named("mode2", {"ann", "eve"})}, {&user, &user}, {0, 0, 1, 1}),
            (Ids{3, 0, 0, 4}));
}

TEST(GrowModes, NumberedModesGrowToTheLargest) {
  Mode user{"user", LabelTable::numbered(1, 4)}, item = named("item", {"7"});
  EXPECT_EQ(grown({named("user", {"9", "2"}), {"item", LabelTable::numbered(0, 8)}}, {&user, &item}, {0, 7, 1, 5}),
            (Ids{8, 0, 1, 1}));
  EXPECT_EQ(user.labels.size(), 9u);
  EXPECT_EQ(item.labels.size(), 2u) << "numbers of the file that do not occur are no labels";
  for (const char* bad : {"0", "x", "02", "4294967297", ""})
    EXPECT_THROW(grown({named("user", {bad}), named("item", {"7"})}, {&user, &item}, {0, 0}), Error) << bad;
}

TEST(GrowModes, RefusesOtherColumns) {
  Mode user = named("user", {"ann"}), item = named("item", {"x"});
  const Mode one = user, two = item;
  EXPECT_THROW(grown({two, one}, {&user, &item}, {0, 0}), Error) << "swapped";
  EXPECT_THROW(grown({one, two, named("week", {"1"})}, {&user, &item}, {0, 0, 0}), Error);
}

}  // namespace
}  // namespace ztp
