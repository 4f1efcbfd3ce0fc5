// The shape of a model, and what is refused.
#include "model/factor_layout.hpp"

#include <gtest/gtest.h>

#include "errors.hpp"
#include "shared_columns.hpp"

namespace ztp::test {
namespace {

TEST(FactorLayout, CpHasAMatrixForEachModeAndAColumnForEachComponent) {
  const FactorLayout layout = FactorLayout::cp({5, 3, 4}, 7);
  EXPECT_EQ(layout.modes(), 3u);
  EXPECT_EQ(layout.matrices(), 3u);
  EXPECT_EQ(layout.components(), 7u);
  EXPECT_EQ(layout.most_columns(), 7u);
  EXPECT_TRUE(layout.columns_are_components());
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_EQ(layout.matrix(k), k);
    EXPECT_EQ(layout.first_mode(k), k);
    EXPECT_EQ(layout.column(k, 6), 6u);
    EXPECT_EQ(layout.column_sums(k, {1, 2, 3, 4, 5, 6, 7}), (std::vector<double>{1, 2, 3, 4, 5, 6, 7}));
  }
  EXPECT_EQ(layout.size_of_mode(1).rows, 3u);
  EXPECT_EQ(layout.size_of_mode(1).columns, 7u);
}

TEST(FactorLayout, BothEndsOfAnEdgeUseOneMatrix) {
  const FactorLayout layout = FactorLayout::pairs(9, 4);
  EXPECT_EQ(layout.modes(), 2u);
  EXPECT_EQ(layout.matrices(), 1u);
  EXPECT_EQ(layout.components(), 4u);
  EXPECT_EQ(layout.size_of_mode(1).rows, 9u);
}

TEST(FactorLayout, TiedModesAndSharedColumns) {
  const FactorLayout layout = shared_layout();
  EXPECT_EQ(layout.matrices(), 2u);
  EXPECT_EQ(layout.most_columns(), 4u);
  EXPECT_FALSE(layout.columns_are_components());
  EXPECT_EQ(layout.first_mode(0), 0u);
  EXPECT_EQ(layout.first_mode(1), 2u);
  EXPECT_EQ(layout.column(1, 3), 2u);
  // Of components 1, 10, ..., by hand.
  const std::vector<double> of_components = {1, 10, 100, 1000, 10000, 100000};
  EXPECT_EQ(layout.column_sums(0, of_components), (std::vector<double>{1001, 10010, 100100}));
  EXPECT_EQ(layout.column_sums(1, of_components), (std::vector<double>{10100, 11, 101000}));
  EXPECT_EQ(layout.column_sums(2, of_components), (std::vector<double>{110, 10000, 1000, 100001}));
}

TEST(FactorLayout, UntiedModesHaveTheirOwnMatrices) {
  FactorLayout tied({0, 1, 0}, {{5, 2}, {3, 3}}, 4, {{0, 1, 0, 1}, {0, 1, 2, 0}, {1, 1, 0, 0}});
  tied.make_one_hot(1);
  const FactorLayout layout = tied.untied();
  EXPECT_EQ(layout.matrices(), 3u);
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_EQ(layout.matrix(k), k);
    EXPECT_EQ(layout.size_of_mode(k).rows, tied.size_of_mode(k).rows);
    EXPECT_EQ(layout.is_one_hot(k), k == 1);
    for (std::size_t r = 0; r < 4; ++r) EXPECT_EQ(layout.column(k, r), tied.column(k, r));
  }
  EXPECT_TRUE(FactorLayout::pairs(4, 2).untied().columns_are_components());
}

TEST(FactorLayout, RefusesWhatIsNotThere) {
  const auto refused = [](const std::vector<std::size_t>& matrix_of_mode, const std::vector<FactorLayout::Size>& sizes,
                          const std::vector<std::vector<std::uint32_t>>& column) {
    return error_of([&] { FactorLayout(matrix_of_mode, sizes, 2, column); }, ErrorKind::config);
  };
  EXPECT_EQ(refused({0, 1}, {{3, 2}, {4, 2}}, {}), "no error");
  EXPECT_EQ(refused({0, 2}, {{3, 2}, {4, 2}}, {}), "factor layout: mode 2 uses matrix 3 of 2");
  EXPECT_EQ(refused({0, 0}, {{3, 2}, {4, 2}}, {}), "factor layout: no mode uses matrix 2");
  EXPECT_EQ(refused({0, 1}, {{3, 2}, {4, 3}}, {}), "factor layout: mode 2 has 3 columns for 2 components");
  EXPECT_EQ(refused({0, 1}, {{3, 2}, {4, 3}}, {{0, 1}, {2, 2}}), "no error");
  EXPECT_EQ(refused({0, 1}, {{3, 2}, {4, 3}}, {{0, 1}}), "factor layout: not one list of columns for each mode");
  EXPECT_EQ(refused({0, 1}, {{3, 2}, {4, 3}}, {{0, 1}, {2, 3}}),
            "factor layout: mode 2: not one of 3 columns for each of 2 components");
  EXPECT_EQ(refused({0, 1}, {{3, 2}, {4, 3}}, {{0, 1, 1}, {2, 2}}),
            "factor layout: mode 1: not one of 2 columns for each of 2 components");
}

}  // namespace
}  // namespace ztp::test
