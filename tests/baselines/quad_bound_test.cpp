// The bound of the logistic loss, and the blocks of cells that have one each. Seed 41; no chance.
#include <gtest/gtest.h>

#include "quad_world.hpp"

namespace ztp::test {
namespace {

constexpr std::uint64_t bound_seed = 41;

// ---- the bound, and where to divide ---------------------------------------------------------------------------------

TEST(QuadBound, TouchesTheLossAndIsNowhereBelow) {
  for (const double m : {0.0, 1e-12, 1e-6, 0.3, 4.0, 50.0, 900.0})
    for (const double t : {-40.0, -3.0, -1e-3, 0.0, 0.2, 1.0, 7.0, 30.0}) {
      const double loss = std::max(t, 0.0) + std::log1p(std::exp(-std::abs(t)));
      EXPECT_GE(t / 2 + bound_height(m) + bound_curvature(m) / 2 * (t * t - m), loss - 1e-12 * (1 + loss))
          << m << " " << t;
      EXPECT_NEAR(t / 2 + bound_height(t * t), loss, 1e-14 * (1 + loss)) << t;
    }
  EXPECT_DOUBLE_EQ(bound_curvature(0), 0.25);
  EXPECT_NEAR(bound_curvature(0.99e-8), bound_curvature(1.01e-8), 1e-9);  // where the formula changes
  EXPECT_NEAR(bound_curvature(4), std::tanh(1.0) / 4, 1e-15);
}

// Among all divisions of eight entities into two sets.
TEST(QuadBound, TheBestCutIsTheBestOfAll) {
  Stream stream(stream_key(bound_seed, 1, Purpose::simulate), 0, 0);
  std::vector<Slice> slices;
  for (std::uint32_t j = 0; j < 8; ++j) {
    const double cells = 1 + static_cast<double>(stream.below(20));
    slices.push_back({j, cells, cells * 30 * std::pow(stream.uniform(), 3)});
  }
  const auto bound = [&](unsigned set) {
    double cells = 0, energy = 0;
    for (const Slice& slice : slices)
      if ((set >> slice.entity & 1) != 0) cells += slice.cells, energy += slice.energy;
    return cells * bound_height(energy / std::max(cells, 1.0));
  };
  double best = 0;
  for (unsigned set = 1; set < 255; ++set) best = std::max(best, bound(255) - bound(set) - bound(255 - set));
  const Cut cut = best_cut(slices);
  unsigned moved = 0;
  for (const std::uint32_t j : cut.moved) moved |= 1u << j;
  EXPECT_GT(best, 1);
  EXPECT_NEAR(cut.gain, best, 1e-9);
  EXPECT_NEAR(bound(255) - bound(moved) - bound(255 - moved), best, 1e-9);
}

TEST(QuadBound, NothingToDivide) {
  EXPECT_TRUE(best_cut({{0, 5, 10}}).moved.empty());
  EXPECT_TRUE(best_cut({{0, 5, 10}, {1, 10, 20}, {2, 1, 2}}).moved.empty());
  EXPECT_TRUE(best_cut({{0, 0, 0}, {1, 0, 0}}).moved.empty());
}

// A tensor of a billion cells with few ones: one entity in a thousand has cells of its own kind, and the gain of a block
// for it is a ten-billionth of the whole. It is compared with its second-order form, n_1 n_2 / n |h''| d^2 / 2.
TEST(QuadBound, FindsAGainThatIsATinyPartOfTheWhole) {
  const double cells = 1e6, common = 95, apart = 0.2;
  std::vector<Slice> slices;
  for (std::uint32_t j = 0; j < 1000; ++j) slices.push_back({j, cells, cells * (j == 7 ? common + apart : common)});
  const Cut cut = best_cut(slices);
  const double curve = (bound_curvature(common) - bound_curvature(common + 0.01)) / 0.01 / 2;  // -h''
  EXPECT_EQ(cut.moved, std::vector<std::uint32_t>{7});
  EXPECT_NEAR(cut.gain, 0.999 * cells * curve * apart * apart / 2, 0.01 * cut.gain);
  EXPECT_LT(cut.gain, 1e-9 * 1e9 * bound_height(common));
}

// ---- the partition --------------------------------------------------------------------------------------------------

// Every cell is in one block exactly, the one that the splits say; entities of a class are in the same blocks.
TEST(QuadPartition, HasEveryCellOnce) {
  const std::vector<std::uint32_t> sizes = {7, 5, 6};
  Partition partition({7, 5, 6});
  Stream stream(stream_key(bound_seed, 2, Purpose::simulate), 0, 0);
  std::vector<std::size_t> block(7 * 5 * 6, 0);
  const std::vector<Cell> cells = all_cells(sizes);
  while (partition.blocks() < 40) {
    const std::size_t b = stream.below(partition.blocks()), k = stream.below(3);
    const Partition::List entities = partition.entities_of(b, k);
    if (entities.size() < 2) continue;
    std::vector<bool> moves(sizes[k]);
    for (std::size_t j = 0; j < sizes[k]; ++j) moves[j] = stream.below(2) == 0;
    moves[entities[0]] = true;
    moves[entities[1]] = false;
    for (std::size_t i = 0; i < cells.size(); ++i)
      if (block[i] == b && moves[cells[i][k]]) block[i] = partition.blocks();
    partition.split(b, k, moves);
  }
  std::vector<int> seen(cells.size(), 0);
  for (std::size_t b = 0; b < partition.blocks(); ++b)
    for (const std::uint32_t i : partition.entities_of(b, 0))
      for (const std::uint32_t j : partition.entities_of(b, 1))
        for (const std::uint32_t l : partition.entities_of(b, 2)) {
          const std::size_t cell = (i * 5 + j) * 6 + l;
          ++seen[cell];
          EXPECT_EQ(block[cell], b);
        }
  EXPECT_EQ(seen, std::vector<int>(cells.size(), 1));
  for (std::size_t k = 0; k < 3; ++k) {
    std::set<std::vector<std::uint32_t>> different;
    for (std::size_t c = 0; c < partition.classes(k); ++c) {
      Partition::List blocks = partition.blocks_of(k, c);
      std::sort(blocks.begin(), blocks.end());
      EXPECT_TRUE(different.insert(blocks).second) << "two classes in the same blocks";
      for (const std::uint32_t b : blocks) {
        const Partition::List& held = partition.classes_of(b, k);
        EXPECT_EQ(std::count(held.begin(), held.end(), c), 1);
      }
    }
  }
}

}  // namespace
}  // namespace ztp::test
