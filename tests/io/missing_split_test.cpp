// Splits of data of which something is missing: what is held out was observed.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "ztp/error.hpp"
#include "ztp/split.hpp"

namespace ztp {
namespace {

using Ids = std::vector<std::uint32_t>;

// 5 x 4 x 3 with entity 1 of the first mode and 0 and 3 of the second missing: 4 x 2 x 3 cells are left, of which two
// are listed.
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
  // 2 of 18 zeros, 9000 times: each comes 1000 times on average, with a standard deviation below 30. Six of them: the
  // chance of a false alarm is below 10^-7. Seeds 1 to 9000.
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
