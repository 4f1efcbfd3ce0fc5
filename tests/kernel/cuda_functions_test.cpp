// The functions that a GPU computes with, called on the host: gamma draws in floats against those in double, and the
// search of a categorical draw against draw_multinomial. Random numbers and all other draws are the same source for
// both (base/random.hpp, model/distributions.hpp), so that their own tests are tests of the GPU's, too. Everything is a
// function of the seed 61; there is no chance in a run.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kernel/cuda/gamma_float.hpp"
#include "kernel/cuda/search.hpp"
#include "kernel/gamma_draw.hpp"
#include "kernel/kernel.hpp"
#include "model/distributions.hpp"

namespace ztp::cuda {
namespace {

constexpr std::uint64_t seed = 61;

// The same numbers but for roundings, as columns_test.cpp has it: 1.5e-5, and one in 10^5 may differ.
TEST(CudaFunctions, GammaDrawsAreThoseOfDoublePrecision) {
  const StreamKey key = stream_key(seed, 0, Purpose::simulate);
  double draws = 0, different = 0;
  for (const double shape : {0.02, 0.1, 0.5, 0.9, 1.0, 1.1, 2.0, 10.1, 1000.1, 1e6}) {
    const GammaShape of_shape = gamma_shape(shape);
    for (std::uint64_t index = 0; index < 20000; ++index, ++draws) {
      const double wanted = std::exp(log_gamma_at({key, 3}, index, shape));
      const double got = static_cast<double>(draw_gamma_float(key, 3, index, of_shape));
      ASSERT_TRUE(std::isfinite(got)) << shape;
      different += std::abs(got - wanted) > 1.5e-5 * wanted + 1e-30;
    }
  }
  EXPECT_LE(different, 1e-5 * draws);
}

// The shapes of counts, as the GPU makes them in floats.
TEST(CudaFunctions, ShapesOfCountsAreThoseOfDoublePrecision) {
  const auto expect_same = [](const GammaShape& fast, const GammaShape& slow, const std::string& name) {
    EXPECT_NEAR(fast.d, slow.d, 3e-7f * slow.d) << name;
    EXPECT_NEAR(fast.c, slow.c, 5e-7f * slow.c) << name;
    EXPECT_NEAR(fast.boost, slow.boost, 5e-7f * slow.boost) << name;
  };
  for (const double a : {0.02, 0.1, 0.7, 3.0}) {
    const GammaShape empty = gamma_shape(a);
    for (const double count : {0.0, 1.0, 2.0, 77.0, 1e6})
      expect_same(gamma_shape(static_cast<float>(a), static_cast<float>(count), true, empty), gamma_shape(a + count),
                  fmt::format("a = {}, whole {}", a, count));
    for (const double count : {0.25, 0.5, 1.5, 1000.125})
      expect_same(gamma_shape(static_cast<float>(a), static_cast<float>(count), false, empty), gamma_shape(a + count),
                  fmt::format("a = {}, {}", a, count));
  }
}

TEST(CudaFunctions, SureAcceptanceIsAcceptance) {
  const StreamKey key = stream_key(seed, 1, Purpose::simulate);
  std::size_t sure = 0, accepted_in_all = 0;
  constexpr std::uint64_t candidates = 20000;
  for (const double shape : {0.1, 1.0, 30.0, 1e5})
    for (std::uint64_t index = 0; index < candidates; ++index) {
      const GammaShape of_shape = gamma_shape(shape);
      const GammaCandidate candidate = propose_gamma(random_block(key, 0, index, 0), of_shape);
      sure += surely_accepted(candidate);
      accepted_in_all += accepted(candidate, of_shape);
      EXPECT_TRUE(!surely_accepted(candidate) || accepted(candidate, of_shape)) << shape << ", " << index;
    }
  EXPECT_GT(sure, 4 * candidates * 9 / 10);  // most of them, or it would not pay
  EXPECT_GT(accepted_in_all, sure);          // and not all, or it would not be needed
}

TEST(CudaFunctions, BadShapesGiveNoNumberAndNoEndlessLoop) {
  const StreamKey key = stream_key(seed, 2, Purpose::simulate);
  for (const double shape : {-3.0, std::nan(""), std::numeric_limits<double>::infinity()})
    EXPECT_TRUE(std::isnan(draw_gamma_float(key, 0, 0, gamma_shape(shape)))) << shape;
}

// As the group of 16 threads searches: the lane, then the place in it.
std::size_t find(const std::vector<float>& shares, double target) {
  constexpr int most = 7;
  float p[lanes][most] = {}, running[lanes], sum = 0;
  for (std::size_t r = 0; r < shares.size(); ++r) p[r % lanes][r / lanes] = shares[r];
  unsigned beyond = 0, with_share = 0;
  for (std::size_t l = 0; l < lanes; ++l) {
    float of_lane = 0;
    for (const float share : p[l]) of_lane += share;
    running[l] = sum += of_lane;
    if (static_cast<double>(running[l]) > target) beyond |= 1u << l;
    if (of_lane > 0) with_share |= 1u << l;
  }
  const unsigned lane = lane_of(beyond, with_share);
  float rest = static_cast<float>(lane == 0 ? target : target - static_cast<double>(running[lane - 1]));
  return lane + lanes * static_cast<std::size_t>(place_of(p[lane], rest));
}

// Shares that are small whole numbers are added up without rounding, so that both find the same component.
TEST(CudaFunctions, SearchFindsWhatTheMultinomialDoes) {
  for (const std::size_t R : {1, 3, 16, 17, 100}) {
    const std::vector<std::size_t> order = search_order(R);
    for (std::uint64_t index = 0; index < 2000; ++index) {
      Stream stream(stream_key(seed, 3, Purpose::simulate), static_cast<std::uint32_t>(R), index), same = stream;
      std::vector<float> shares(R);
      double sum = 0;
      for (std::size_t r = 0; r < R; ++r) sum += shares[r] = static_cast<float>((7 * r + 13 * index) % 9);
      if (sum == 0) continue;
      std::vector<double> ordered;
      for (const std::size_t r : order) ordered.push_back(static_cast<double>(shares[r]));
      std::size_t wanted = R;
      draw_multinomial(stream, 1, ordered, [&](std::size_t i, std::int64_t) { wanted = order[i]; });
      EXPECT_EQ(find(shares, same.uniform() * sum), wanted) << R << ", " << index;
    }
  }
}

// Rounding may leave the target beyond all running sums: then it is the last component with a share, never one without.
TEST(CudaFunctions, ShareZeroIsNeverFound) {
  std::vector<float> shares(32, 0.0f);
  shares[3] = 1;
  shares[19] = 2;
  EXPECT_EQ(find(shares, 3.0), 19u);
  EXPECT_EQ(find(shares, 1e9), 19u);
  EXPECT_EQ(find(shares, 0.5), 3u);
}

}  // namespace
}  // namespace ztp::cuda
