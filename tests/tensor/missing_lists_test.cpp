// Lists of what is missing, as a caller of the library may give them.
#include <gtest/gtest.h>

#include <vector>

#include "tensor/missing.hpp"
#include "ztp/error.hpp"

namespace ztp {
namespace {

// What a library user may hand in, in no order and twice.
TEST(CheckMissing, MakesOrderAndRefusesWhatCannotBe) {
  // Two groups of ones that share no entity: of the first ten entities of both modes, and of the last ten.
  SparseTensor tensor;
  for (int k = 0; k < 2; ++k) tensor.modes.push_back({"m", LabelTable::numbered(1, 20)});
  for (std::uint32_t j = 0; j < 10; ++j)
    for (const std::uint32_t id : {j, 9 - j, j + 10, 19 - j}) tensor.coords.push_back(id);
  tensor.sort_and_merge();
  Missing missing;
  missing.slices = {{}, {}};
  check_missing(tensor, {}, missing);
  EXPECT_TRUE(missing.empty());
  std::vector<std::uint32_t> free_cell = {0, 15};  // of the first group in mode 1, of the second in mode 2: never a one
  for (int times = 0; times < 2; ++times) missing.cells.append(free_cell.data(), 2);
  check_missing(tensor, {}, missing);
  EXPECT_EQ(missing.cells.size(), 2u);
  Missing one, nobody, odd;
  one.cells.append(tensor.cell(0), 2);
  EXPECT_THROW(check_missing(tensor, {}, one), Error);
  nobody.slices = {{20}};
  EXPECT_THROW(check_missing(tensor, {}, nobody), Error);
  odd.slices = {{}, {}, {1}};
  EXPECT_THROW(check_missing(tensor, {}, odd), Error);
  Missing slice;
  slice.slices = {{tensor.cell(0)[0]}};
  EXPECT_THROW(check_missing(tensor, {}, slice), Error);
}

}  // namespace
}  // namespace ztp
