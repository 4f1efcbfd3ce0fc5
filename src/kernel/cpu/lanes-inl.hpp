// What the vector kernels share: random numbers and a little mathematics in lanes. Compiled once for every instruction
// set, by Highway's foreach_target: hence the toggling guard.
#if defined(ZTP_KERNEL_CPU_LANES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ZTP_KERNEL_CPU_LANES_INL_HPP
#undef ZTP_KERNEL_CPU_LANES_INL_HPP
#else
#define ZTP_KERNEL_CPU_LANES_INL_HPP
#endif

#include <hwy/highway.h>

#include "base/matrix.hpp"
#include "base/random.hpp"

HWY_BEFORE_NAMESPACE();
namespace ztp::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// As many lanes as the machine has, but never more than a row's padding.
inline constexpr std::size_t width = HWY_LANES(float) < lanes ? HWY_LANES(float) : lanes;
using F32 = hn::FixedTag<float, width>;
using I32 = hn::RebindToSigned<F32>;
using U32 = hn::RebindToUnsigned<F32>;
using U64 = hn::Repartition<std::uint64_t, F32>;
using F64 = hn::Repartition<double, F32>;
using I64 = hn::Repartition<std::int64_t, F32>;
using Floats = hn::Vec<F32>;
using Words = hn::Vec<U32>;
using Longs = hn::Vec<U64>;
using Doubles = hn::Vec<F64>;

// The keys of the ten rounds, and the sweep, which is a word of the counter.
struct RoundKeys {
  std::uint64_t low[10], high[10];
  std::uint32_t sweep;
  explicit RoundKeys(const Streams& streams) : sweep(streams.t) {
    for (std::uint32_t i = 0; i < 10; ++i) {
      low[i] = streams.key.word[0] + i * 0x9E3779B9u;
      high[i] = streams.key.word[1] + i * 0xBB67AE85u;
    }
  }
};

HWY_INLINE Longs upper_half(Longs x) {
  return hn::BitCast(U64(), hn::DupOdd(hn::BitCast(F32(), x)));
}

// Philox4x32-10 (Salmon et al. 2011) in 64-bit lanes, of which only the lower halves count: what a multiplication
// leaves above them is never looked at. x: the four counter words on entry, the four random words on return, for
// `count` vectors side by side:
// each is a chain of multiplications that leaves the machine idle in between.
template <std::size_t count>
HWY_INLINE void philox(const RoundKeys& keys, Longs x[count][4]) {
  const U64 d;
  const U32 d32;
  const Words m0 = hn::BitCast(d32, hn::Set(d, 0xD2511F53u));
  const Words m1 = hn::BitCast(d32, hn::Set(d, 0xCD9E8D57u));
  HWY_UNROLL(10)
  for (std::size_t i = 0; i < 10; ++i) HWY_UNROLL(4)
  for (std::size_t v = 0; v < count; ++v) {
    // The upper halves come by a shuffle, not a shift: it runs on another port than the multiplication.
    const Longs p0 = hn::MulEven(hn::BitCast(d32, x[v][0]), m0);
    const Longs p1 = hn::MulEven(hn::BitCast(d32, x[v][2]), m1);
    x[v][0] = hn::Xor3(upper_half(p1), x[v][1], hn::Set(d, keys.low[i]));
    x[v][2] = hn::Xor3(upper_half(p0), x[v][3], hn::Set(d, keys.high[i]));
    x[v][1] = p1;
    x[v][3] = p0;
  }
}

// Block `block` of count x width streams at once: of index `index` + (high << 32) in each lane. The lanes of 32 bits
// are two vectors of 64-bit lanes, the even ones and the odd ones.
template <std::size_t count>
HWY_INLINE void random_words(const RoundKeys& keys, const Words index[count], const Words high[count],
                             std::uint32_t block, Words words[count][4]) {
  const U64 d;
  const U32 d32;
  Longs x[2 * count][4];
  for (std::size_t v = 0; v < count; ++v) {
    x[2 * v][0] = hn::BitCast(d, index[v]);
    x[2 * v][1] = hn::BitCast(d, high[v]);
    x[2 * v + 1][0] = hn::ShiftRight<32>(hn::BitCast(d, index[v]));
    x[2 * v + 1][1] = hn::ShiftRight<32>(hn::BitCast(d, high[v]));
    for (const std::size_t half : {2 * v, 2 * v + 1}) {
      x[half][2] = hn::Set(d, keys.sweep);
      x[half][3] = hn::Set(d, block);
    }
  }
  philox<2 * count>(keys, x);
  for (std::size_t v = 0; v < count; ++v)
    for (std::size_t i = 0; i < 4; ++i)
      words[v][i] = hn::OddEven(hn::BitCast(d32, hn::ShiftLeft<32>(x[2 * v + 1][i])), hn::BitCast(d32, x[2 * v][i]));
}
HWY_INLINE void random_words(const RoundKeys& keys, Words index, Words high, std::uint32_t block, Words words[4]) {
  Words all[1][4];
  random_words<1>(keys, &index, &high, block, all);
  for (std::size_t i = 0; i < 4; ++i) words[i] = all[0][i];
}

// In (0, 1]: 31 bits of the word.
HWY_INLINE Floats uniform31(Words word) {
  const F32 d;
  const Floats integer = hn::ConvertTo(d, hn::BitCast(I32(), hn::ShiftRight<1>(word)));
  return hn::Mul(hn::Add(integer, hn::Set(d, 0.5f)), hn::Set(d, 0x1p-31f));
}

// The polynomials below are Chebyshev fits of our own; Highway's functions divide, which costs more than all the rest.

// log(x) for positive normal numbers, within 2e-7 of itself: x = 2^e (1 + f), f - f^2/2 + f^3 p(f).
HWY_INLINE Floats log_positive(Floats x) {
  const F32 d;
  const I32 di;
  const auto bits = hn::BitCast(di, x);
  const auto e = hn::ShiftRight<23>(hn::Sub(bits, hn::Set(di, 0x3F3504F3)));  // 1 + f in [sqrt(1/2), sqrt(2))
  const Floats f = hn::Sub(hn::BitCast(d, hn::Sub(bits, hn::ShiftLeft<23>(e))), hn::Set(d, 1.0f));
  const Floats exponent = hn::ConvertTo(d, e);
  const Floats square = hn::Mul(f, f);
  Floats p = hn::Set(d, -0.079027438f);
  p = hn::MulAdd(p, f, hn::Set(d, 0.12622320f));
  p = hn::MulAdd(p, f, hn::Set(d, -0.12998184f));
  p = hn::MulAdd(p, f, hn::Set(d, 0.14214496f));
  p = hn::MulAdd(p, f, hn::Set(d, -0.16641281f));
  p = hn::MulAdd(p, f, hn::Set(d, 0.20001045f));
  p = hn::MulAdd(p, f, hn::Set(d, -0.25000306f));
  p = hn::MulAdd(p, f, hn::Set(d, 0.33333331f));
  p = hn::MulAdd(hn::MulAdd(p, f, hn::Set(d, -0.5f)), square, f);
  return hn::MulAdd(exponent, hn::Set(d, 0.69314718f), p);
}

// 2^x for x <= 0, zero where that is no normal number.
HWY_INLINE Floats power_of_two(Floats x) {
  const F32 d;
  const Floats floor = hn::Round(hn::Max(x, hn::Set(d, -126.0f)));
  const Floats f = hn::Sub(x, floor);
  Floats p = hn::Set(d, 0.0013390863f);
  p = hn::MulAdd(p, f, hn::Set(d, 0.0096760319f));
  p = hn::MulAdd(p, f, hn::Set(d, 0.055503571f));
  p = hn::MulAdd(p, f, hn::Set(d, 0.24022107f));
  p = hn::MulAdd(p, f, hn::Set(d, 0.69314719f));
  p = hn::MulAdd(p, f, hn::Set(d, 1.0f));
  const auto power = hn::ShiftLeft<23>(hn::ConvertTo(I32(), floor));
  const Floats value = hn::BitCast(d, hn::Add(hn::BitCast(I32(), p), power));
  return hn::IfThenElseZero(hn::Ge(x, hn::Set(d, -126.0f)), value);
}

// 1 / sqrt(x) for positive normal numbers: where the machine's estimate has 14 bits, one step of Newton's method.
HWY_INLINE Floats inverse_root(Floats x) {
  const F32 d;
#if HWY_TARGET == HWY_AVX3
  const Floats guess = hn::ApproximateReciprocalSqrt(x);
  const Floats error = hn::NegMulAdd(hn::Mul(x, guess), guess, hn::Set(d, 1.0f));
  return hn::MulAdd(hn::Mul(guess, hn::Set(d, 0.5f)), error, guess);
#else
  return hn::Div(hn::Set(d, 1.0f), hn::Sqrt(x));
#endif
}

// sqrt(x) for x >= 0, at least 1e-30 or so where it is zero.
HWY_INLINE Floats root(Floats x) {
#if HWY_TARGET == HWY_AVX3
  const Floats positive = hn::Max(x, hn::Set(F32(), 1e-30f));
  return hn::Mul(positive, inverse_root(positive));
#else
  return hn::Sqrt(x);
#endif
}

// cos(2 pi t) for t = word / 2^32 as a signed fraction: the sine of 2 pi (1/4 - |t|), which is within a quarter turn.
HWY_INLINE Floats cosine_of_turn(Words word) {
  const F32 d;
  const Floats t = hn::Mul(hn::ConvertTo(d, hn::BitCast(I32(), word)), hn::Set(d, 0x1p-32f));
  const Floats y = hn::Sub(hn::Set(d, 0.25f), hn::Abs(t));
  const Floats s = hn::Mul(y, y);
  Floats sum = hn::Set(d, -15.094643f);  // (2 pi)^(2i + 1) / (2i + 1)!, alternating
  sum = hn::MulAdd(sum, s, hn::Set(d, 42.058693f));
  sum = hn::MulAdd(sum, s, hn::Set(d, -76.705860f));
  sum = hn::MulAdd(sum, s, hn::Set(d, 81.605249f));
  sum = hn::MulAdd(sum, s, hn::Set(d, -41.341702f));
  sum = hn::MulAdd(sum, s, hn::Set(d, 6.2831853f));
  return hn::Mul(sum, y);
}

}  // namespace ztp::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
