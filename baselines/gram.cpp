#include "baselines/gram.hpp"

#include <algorithm>

#include "base/matrix.hpp"
#include "kernel/cpu/targets.hpp"  // before Highway

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "baselines/gram.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include "kernel/cpu/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ztp::cpu::HWY_NAMESPACE {
namespace {

constexpr std::size_t rows_at_once = 4;
constexpr std::size_t vectors = lanes / width;  // of 16 columns

struct RowBlock {
  const float* x;
  std::size_t count, stride;
};

// Four rows and 16 columns of A: sums stay in registers over all of x.
void add_tile(const RowBlock& rows, std::size_t row, std::size_t column, float* A) {
  const auto [x, count, stride] = rows;
  const F32 f;
  Floats sum[rows_at_once][vectors];
  for (std::size_t a = 0; a < rows_at_once; ++a)
    for (std::size_t v = 0; v < vectors; ++v) sum[a][v] = hn::Zero(f);
  for (std::size_t i = 0; i < count; ++i) {
    const float* values = x + i * stride;
    Floats right[vectors];
    for (std::size_t v = 0; v < vectors; ++v) right[v] = hn::Load(f, values + column + v * width);
    for (std::size_t a = 0; a < rows_at_once; ++a) {
      const Floats left = hn::Set(f, values[row + a]);
      for (std::size_t v = 0; v < vectors; ++v) sum[a][v] = hn::MulAdd(left, right[v], sum[a][v]);
    }
  }
  for (std::size_t a = 0; a < rows_at_once; ++a)
    for (std::size_t v = 0; v < vectors; ++v) {
      float* at = A + (row + a) * stride + column + v * width;
      hn::Store(hn::Add(hn::Load(f, at), sum[a][v]), f, at);
    }
}

void add_outer_products(const float* x, std::size_t count, std::size_t R, std::size_t stride, float* A) {
  for (std::size_t row = 0; row < R; row += rows_at_once)
    for (std::size_t column = 0; column <= row; column += lanes) add_tile({x, count, stride}, row, column, A);
}

}  // namespace
}  // namespace ztp::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ztp {
namespace cpu {
HWY_EXPORT(add_outer_products);
}

void add_gram(const float* x, std::size_t count, std::size_t R, std::size_t stride, float* A) {
  using namespace cpu;
  HWY_DYNAMIC_DISPATCH(add_outer_products)(x, count, R, stride, A);
}

}  // namespace ztp
#endif
