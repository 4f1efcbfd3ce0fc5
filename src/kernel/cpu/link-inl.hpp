// From a cell's rate to its probability, in lanes. Compiled once for every instruction set. The only place in the bulk
// scoring of candidates that knows this link.
#if defined(ZTP_KERNEL_CPU_LINK_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ZTP_KERNEL_CPU_LINK_INL_HPP
#undef ZTP_KERNEL_CPU_LINK_INL_HPP
#else
#define ZTP_KERNEL_CPU_LINK_INL_HPP
#endif

#include "kernel/cpu/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ztp::cpu::HWY_NAMESPACE {

// 1 - exp(-z) for z >= 0, within 3e-7 of itself however small z is.                                   (M16)
// -z = (n + f) log 2 with |f| <= 1/2; 2^f = 1 + f q(f), so 1 - exp(-z) = (1 - 2^n) - 2^n f q(f): where n = 0 nothing
// cancels, and elsewhere the result is at least 0.29. q is a Chebyshev fit of our own, within 2.1e-8.
HWY_INLINE Floats probability_of(Floats z) {
  const F32 d;
  const Floats one = hn::Set(d, 1.0f);
  const Floats x = hn::Max(hn::Mul(z, hn::Set(d, -1.44269504f)), hn::Set(d, -30.0f));  // 1 - 2^-30 is 1
  const Floats n = hn::Round(x);
  const Floats f = hn::Sub(x, n);
  Floats q = hn::Set(d, 0.000154614478f);
  q = hn::MulAdd(q, f, hn::Set(d, 0.00133908668f));
  q = hn::MulAdd(q, f, hn::Set(d, 0.00961805694f));
  q = hn::MulAdd(q, f, hn::Set(d, 0.0555035695f));
  q = hn::MulAdd(q, f, hn::Set(d, 0.240226507f));
  q = hn::MulAdd(q, f, hn::Set(d, 0.693147182f));
  const Floats power = hn::BitCast(d, hn::Add(hn::BitCast(I32(), one), hn::ShiftLeft<23>(hn::ConvertTo(I32(), n))));
  return hn::NegMulAdd(hn::Mul(power, f), q, hn::Sub(one, power));
}

}  // namespace ztp::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
