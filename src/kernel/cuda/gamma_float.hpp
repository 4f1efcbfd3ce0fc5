// Gamma draws in floats, one by one: the algorithm of kernel/gamma_draw.hpp with the roundings of a GPU's floats. What
// kernel/cpu/gamma.cpp does in lanes.                                                                             (M5)
#pragma once
#include <cmath>
#include <cstdint>

#include "base/random.hpp"

namespace ztp::cuda {

// d and c of Marsaglia and Tsang, and 1 / shape for the boost of shapes below one (zero: none).
struct GammaShape {
  float d, c, boost;
};

ZTP_DEVICE inline GammaShape gamma_shape(double shape) {
  const double d = (shape < 1 ? shape + 1 : shape) - 1.0 / 3;
  return {static_cast<float>(d), static_cast<float>(1 / (3 * std::sqrt(d))),
          shape < 1 ? static_cast<float>(1 / shape) : 0.0f};
}

// A GPU has instructions of its own for these, with two or three bits less than the best float.
#ifdef __CUDA_ARCH__
__device__ inline float inverse_root(float value) {
  return rsqrtf(value);
}
__device__ inline float fast_log2(float value) {
  return __log2f(value);
}
__device__ inline float fast_exp2(float value) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(value));
  return result;
}
__device__ inline float fast_root(float value) {
  float result;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(value));
  return result;
}
__device__ inline float cosine(float angle) {
  return __cosf(angle);
}
#else
inline float inverse_root(float value) {
  return 1 / std::sqrt(value);
}
inline float fast_log2(float value) {
  return std::log2(value);
}
inline float fast_exp2(float value) {
  return std::exp2(value);
}
inline float fast_root(float value) {
  return std::sqrt(value);
}
inline float cosine(float angle) {
  return std::cos(angle);
}
#endif

// Of a + count in floats, where `empty` is the shape without a count. whole: counts are whole numbers, so that only the
// shape of no count can be below one.
ZTP_DEVICE inline GammaShape gamma_shape(float a, float count, bool whole, const GammaShape& empty) {
  if (count == 0) return empty;
  const float shape = count + a;
  const bool small = !whole && shape < 1;
  const float d = whole ? count + (a - 1.0f / 3) : shape + (small ? 2.0f / 3 : -1.0f / 3);
  return {d, (1.0f / 3) * inverse_root(d), small ? 1 / shape : 0.0f};
}

struct GammaCandidate {
  float x, t, value, uniform;  // normal, c x, the draw, and the number that decides about it
};

ZTP_DEVICE inline float uniform31_float(std::uint32_t word) {
  return (static_cast<float>(word >> 1) + 0.5f) * 0x1p-31f;
}

// cos of 2 pi times a part of a turn, word / 2^32.
ZTP_DEVICE inline float cosine_of_turn(std::uint32_t word) {
  return cosine(static_cast<float>(static_cast<std::int32_t>(word)) * 1.4629180792671596e-9f);  // pi / 2^31
}

ZTP_DEVICE inline GammaCandidate propose_gamma(const std::array<std::uint32_t, 4>& word, const GammaShape& shape) {
  const float twice_log = -1.38629436f * fast_log2(uniform31_float(word[0]));  // -2 log
  const float x = fast_root(twice_log) * cosine_of_turn(word[1]);
  const float t = shape.c * x, side = 1 + t;
  float value = shape.d * side * (side * side);
  if (shape.boost > 0) value *= fast_exp2(fast_log2(uniform31_float(word[3])) * shape.boost);
  return {x, t, value, uniform31_float(word[2])};
}

// A bound below the probability of acceptance, exp(3 d q(t)) (kernel/cpu/gamma.cpp). False for t <= -1.
ZTP_DEVICE inline bool surely_accepted(const GammaCandidate& candidate) {
  const float negative = candidate.t < 0 ? candidate.t : 0.0f, m = 1 + negative, xt = candidate.x * candidate.t;
  const float miss = xt * xt * (negative * (0.2f / 12) + 1.0f / 12);
  return candidate.uniform * m < m - miss;
}

// log(uniform) < 3 d q(t). Near zero q is -t^4/4 + t^5/5 - ..., where its closed form has no digits left.
ZTP_DEVICE inline bool accepted(const GammaCandidate& candidate, const GammaShape& shape) {
  const float t = candidate.t;
  if (!(t > -1)) return false;
  float q;
  if (std::abs(t) < 0.25f) {
    float series = 1.0f / 14;
    for (int i = 13; i >= 4; --i) series = series * -t + 1.0f / static_cast<float>(i);
    q = -series * (t * t) * (t * t);
  } else {
    q = std::log(1 + t) - t * (1 - t * (0.5f - t * (1.0f / 3)));
  }
  return std::log(candidate.uniform) < 3 * shape.d * q;
}

// Gamma(shape, 1) of one stream, from this attempt on.
ZTP_DEVICE inline float draw_gamma_float(StreamKey key, std::uint32_t t, std::uint64_t index, const GammaShape& shape,
                                         std::uint32_t attempt = 0) {
  if (!(shape.d > 0 && shape.d < INFINITY)) return NAN;  // a bad count: no attempt would ever be accepted
  for (;; ++attempt) {
    const GammaCandidate candidate = propose_gamma(random_block(key, t, index, attempt), shape);
    if (surely_accepted(candidate) || accepted(candidate, shape)) return candidate.value;
  }
}

}  // namespace ztp::cuda
