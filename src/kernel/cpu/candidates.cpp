#include "kernel/cpu/candidates.hpp"

#include "kernel/cpu/targets.hpp"  // before Highway

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/cpu/candidates.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include "kernel/cpu/flush.hpp"
#include "kernel/cpu/link-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ztp::cpu::HWY_NAMESPACE {
namespace {

// What is added up side by side must fit the registers: 16 of 32 with AVX-512, 8 of 16 elsewhere.
constexpr std::size_t rows = HWY_TARGET == HWY_AVX3 ? 8 : 4;

// Some queries of a tile and two vectors of candidates: the sum over r runs in registers.
HWY_INLINE void add_block(const float* HWY_RESTRICT panel, const float* HWY_RESTRICT weights, const float* scale,
                          std::size_t R, float* HWY_RESTRICT sums, std::size_t stride) {
  const F32 f;
  Floats z[rows][2];
  HWY_UNROLL(8)
  for (std::size_t i = 0; i < rows; ++i) z[i][0] = z[i][1] = hn::Zero(f);
  for (std::size_t r = 0; r < R; ++r) {
    const Floats first = hn::Load(f, panel + r * candidates_per_panel);
    const Floats second = hn::Load(f, panel + r * candidates_per_panel + width);
    HWY_UNROLL(8)
    for (std::size_t i = 0; i < rows; ++i) {
      const Floats weight = hn::Set(f, weights[r * queries_per_tile + i]);
      z[i][0] = hn::MulAdd(weight, first, z[i][0]);
      z[i][1] = hn::MulAdd(weight, second, z[i][1]);
    }
  }
  HWY_UNROLL(8)
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t v = 0; v < 2; ++v) {
      float* sum = sums + i * stride + v * width;
      const Floats probability = probability_of(hn::Mul(z[i][v], hn::Set(f, scale[i])));
      hn::Store(hn::Add(hn::Load(f, sum), probability), f, sum);
    }
}

// The candidates of one panel and the queries of these tiles.
void add_panel(std::span<const CandidateDraw> draws, std::size_t R, std::size_t panel, Range tiles,
               Matrix<float>& sums) {
  const FlushToZero flush;
  for (std::size_t tile = tiles.begin; tile < tiles.end; ++tile)
    for (const CandidateDraw& draw : draws)
      for (std::size_t column = 0; column < candidates_per_panel; column += 2 * width)
        for (std::size_t row = 0; row < queries_per_tile; row += rows) {
          const std::size_t query = tile * queries_per_tile + row;
          add_block(draw.panels + panel * R * candidates_per_panel + column,
                    draw.weights + tile * R * queries_per_tile + row, draw.scale + query, R,
                    sums.row(query) + panel * candidates_per_panel + column, sums.stride());
        }
}

}  // namespace
}  // namespace ztp::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ztp::cpu {
namespace {

HWY_EXPORT(add_panel);

constexpr std::size_t tiles_per_block = 64;  // of work for one thread: 512 queries and a panel

}  // namespace

void pack_panel(const Factors& u, std::size_t panel, float* packed) {
  const std::size_t first = panel * candidates_per_panel, last = std::min(first + candidates_per_panel, u.rows());
  std::vector<float> rows((last - first) * u.columns());
  u.read({first, last}, rows.data());
  std::fill(packed, packed + u.columns() * candidates_per_panel, 0.0f);
  for (std::size_t j = 0; j < last - first; ++j)
    for (std::size_t c = 0; c < u.columns(); ++c) packed[c * candidates_per_panel + j] = rows[j * u.columns() + c];
}

void add_probabilities(Pool& pool, std::span<const CandidateDraw> draws, std::size_t R, std::size_t tiles,
                       Matrix<float>& sums) {
  const std::size_t panels = sums.columns() / candidates_per_panel;
  const Blocks parts{tiles, tiles_per_block};
  pool.for_blocks(panels * parts.count(), [&](std::size_t block) {
    const std::size_t part = block % parts.count();
    HWY_DYNAMIC_DISPATCH(add_panel)(draws, R, block / parts.count(), {parts.begin(part), parts.end(part)}, sums);
  });
}

}  // namespace ztp::cpu
#endif
