// Probabilities of candidates: the fast kernel on every instruction set against the reference, over odd shapes. No chance.
#include <gtest/gtest.h>

#include <cmath>

#include "kernel/kernel.hpp"
#include "targets.hpp"
#include "ztp/buffer.hpp"

namespace ztp::test {
namespace {

// Two draws of n candidates and 8 queries a tile, the rates of which go from 1e-12 up. A float rate is within (R + 5) 2^-24 of itself,
// and each sum of two probabilities rounds once more.
void compare(std::size_t n, std::size_t R, std::size_t tiles) {
  const std::size_t panels = (n + candidates_per_panel - 1) / candidates_per_panel, queries = tiles * queries_per_tile;
  Matrix<float> u(n, R), packed(panels * R, candidates_per_panel);
  Buffer<float> weights(queries * R), scale(queries);
  Stream stream(stream_key(5, 0, Purpose::simulate), 0, n);
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t r = 0; r < R; ++r) u.row(j)[r] = static_cast<float>(stream.uniform());
  for (float& value : weights) value = static_cast<float>(stream.uniform());
  for (std::size_t q = 0; q < queries; ++q)
    scale[q] = static_cast<float>(std::pow(10.0, static_cast<double>(q % 14) - 12));
  for (std::size_t panel = 0; panel < panels; ++panel) pack_panel(u, panel, packed.row(panel * R));
  const CandidateDraw draw{packed.row(0), weights.data(), scale.data()};
  const std::vector<CandidateDraw> draws = {draw, draw};
  Pool pool(2);
  Matrix<float> expected(queries, panels * candidates_per_panel);
  make_kernel("reference", pool)->add_probabilities(draws, R, tiles, expected);
  for_each_target([&](const std::string& target) {
    Matrix<float> sums(queries, panels * candidates_per_panel);
    make_kernel("cpu", pool)->add_probabilities(draws, R, tiles, sums);
    for (std::size_t q = 0; q < queries; ++q)
      for (std::size_t j = 0; j < sums.columns(); ++j) {
        const double truth = static_cast<double>(expected.row(q)[j]);
        ASSERT_NEAR(static_cast<double>(sums.row(q)[j]), truth, truth * 0x1p-24 * static_cast<double>(R + 10))
            << target << ", " << n << " candidates, R " << R << ", query " << q << ", candidate " << j;
        ASSERT_TRUE(j < n || truth == 0);  // padding
      }
  });
}

TEST(Candidates, CpuAgreesWithReference) {
  for (const std::size_t n : {1, 31, 32, 45, 200})
    for (const std::size_t R : {1, 7, 16, 33}) compare(n, R, 2);
  compare(70, 5, 70);  // more than one block of tiles
}

}  // namespace
}  // namespace ztp::test
