// Components that move between columns from running statistics: what is remembered of each, and where it goes.
#include "sampler/online_columns.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "kernel/host_arrays.hpp"

namespace ztp {
namespace {

std::vector<std::vector<std::int64_t>> listed(const RunningDocuments& documents) {
  std::vector<std::vector<std::int64_t>> list;
  for (const RunningDocuments::Entry& entry : documents.entries())
    list.push_back({entry.component(), entry.row(), entry.units});
  return list;
}

using List = std::vector<std::vector<std::int64_t>>;

TEST(RunningDocuments, AddUpAndForget) {
  RunningDocuments documents;
  documents.add(2, 7, 100);
  documents.add(0, 9, 3);
  documents.add(2, 5, 1);
  documents.add(2, 7, 20);
  documents.settle(0);
  EXPECT_EQ(listed(documents), (List{{0, 9, 3}, {2, 5, 1}, {2, 7, 120}}));
  documents.add(2, 5, 4);
  documents.add(1, 1, 2);
  documents.settle(3);
  EXPECT_EQ(listed(documents), (List{{0, 9, 3}, {2, 5, 5}, {2, 7, 120}}));
  documents.shift(-1);
  EXPECT_EQ(listed(documents), (List{{0, 9, 2}, {2, 5, 3}, {2, 7, 60}}));
  EXPECT_TRUE(documents.sound(3, 10));
  EXPECT_FALSE(documents.sound(2, 10));
  EXPECT_FALSE(documents.sound(3, 9));
}

// Rows 0 to 9 belong together and rows 10 to 19. Components 0 and 1 have the first, component 2 the second, and all are
// in the wrong columns: 0 and 2 in column 0, 1 in column 1. A unit is a fourth of a count. Seed 3; components with
// other rows end in one column, or with the same rows in two, with a probability below 1e-20.
TEST(OnlineColumns, ComponentsWithTheSameRowsShareAColumn) {
  HostArrays arrays;
  FactorLayout layout({0, 1}, {{20, 4}, {3, 3}}, 5, {{0, 1, 0, 3, 3}, {0, 1, 2, 0, 0}});
  layout.make_one_hot(1);
  Statistics statistics = make_statistics(layout, {}, true, arrays);
  statistics.scale = 0.25;
  std::vector<RunningDocuments> documents(2);
  std::vector<std::vector<std::int64_t>> sums = {{0, 0, 0, 0}, {0, 0, 0}};
  std::vector<RowChange> changes;
  for (std::uint32_t r = 0; r < 3; ++r)
    for (std::uint32_t j = 0; j < 10; ++j) {
      const std::uint32_t row = r == 2 ? 10 + j : j, column = static_cast<std::uint32_t>(layout.column(0, r));
      documents[0].add(r, row, 40);
      changes.push_back({row, column, 40});
      statistics.tensor[r] += 40;
      sums[0][column] += 40;
    }
  changes.push_back({4, 0, 8});  // not remembered of any component: it stays
  sums[0][0] += 8;
  change_rows(changes, *statistics.rows[0]);
  documents[0].settle(0);
  const PriorShapes shapes{{0.05, 0.05}, 0.1, {}};
  const auto key = [](std::uint32_t k) { return Streams{stream_key(3, 0, Purpose::column_moves, k), 1}; };
  OnlineColumns(shapes, {layout, statistics, sums}).run(documents, {key(0), key(1)});
  EXPECT_EQ(layout.column(0, 0), layout.column(0, 1));
  EXPECT_NE(layout.column(0, 0), layout.column(0, 2));
  // The counts went with them.
  std::vector<std::int64_t> rows(80), expected(80, 0), of_columns(4, 0);
  statistics.rows[0]->read({0, 20}, rows.data());
  for (std::uint32_t r = 0; r < 3; ++r)
    for (std::uint32_t j = 0; j < 10; ++j) expected[(r == 2 ? 10 + j : j) * 4 + layout.column(0, r)] += 40;
  expected[4 * 4 + 0] += 8;
  EXPECT_EQ(rows, expected);
  for (std::size_t i = 0; i < rows.size(); ++i) of_columns[i % 4] += rows[i];
  EXPECT_EQ(sums[0], of_columns);
  // Each relation keeps a component, those with counts the ones they had.
  for (std::uint32_t r = 0; r < 3; ++r) EXPECT_EQ(layout.column(1, r), r);
}

// An entity of a one-hot mode keeps its last component, though that has no counts.
TEST(OnlineColumns, AnEntityKeepsItsLastComponent) {
  HostArrays arrays;
  FactorLayout layout({0, 1}, {{4, 2}, {3, 3}}, 6, {{0, 1, 0, 1, 0, 1}, {0, 1, 2, 2, 2, 2}});
  layout.make_one_hot(1);
  Statistics statistics = make_statistics(layout, {}, true, arrays);
  statistics.tensor = {5, 0, 0, 0, 0, 0};
  std::vector<std::vector<std::int64_t>> sums = {{0, 0}, {0, 0, 0}};
  for (std::uint32_t t = 1; t <= 50; ++t) {
    const auto key = [&](std::uint32_t k) { return Streams{stream_key(3, 0, Purpose::column_moves, k), t}; };
    OnlineColumns({{0.1, 0.1}, 0.1, {}}, {layout, statistics, sums})
        .run(std::vector<RunningDocuments>(2), {key(0), key(1)});
    std::vector<int> components(3, 0);
    for (std::size_t r = 0; r < 6; ++r) ++components[layout.column(1, r)];
    EXPECT_EQ(layout.column(1, 0), 0u);
    for (const int of_entity : components) EXPECT_GE(of_entity, 1);
  }
}

}  // namespace
}  // namespace ztp
