// The latent counts of a block of entries when there are many components: kernel/bounded_draw.hpp, in lanes.           (M24)
#include <algorithm>
#include <cmath>

#include "kernel/bounded_draw.hpp"
#include "kernel/cpu/draw_block.hpp"
#include "kernel/cpu/targets.hpp"  // before Highway

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/cpu/draw_bounded.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include "kernel/cpu/flush.hpp"
#include "kernel/cpu/search-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ztp::cpu::HWY_NAMESPACE {
namespace {

class BoundedDraw {
 public:
  BoundedDraw(const Entries& entries, const Rates& rates, const Rates& bounds, StreamKey key, std::uint32_t sweep,
              std::size_t end, Drawn& drawn)
      : entries_(entries),
        rates_(rates),
        key_(key),
        keys_(key),
        sweep_(sweep),
        K_(rates.u.size()),
        end_(end),
        drawn_(drawn),
        search_(bounds),
        order_(search_order(bounds.R)),
        bounds_(search_.stride()) {}

  void run() {
    for (std::size_t e = drawn_.begin; e < end_; e += batch) draw_batch(e, std::min(batch, end_ - e));
  }

 private:
  void draw_batch(std::size_t e, std::size_t count) {
    double uniform[4][batch];
    batch_uniforms(keys_, sweep_, e, 0, uniform[0], uniform[1]);
    batch_uniforms(keys_, sweep_, e, 1, uniform[2], uniform[3]);
    search_.compute(cell(e), count, end_ - e - count);
    // An observed count needs no number for itself.
    const std::size_t choice = entries_.observed ? 0 : 1;
    std::uint32_t block[batch];
    search_.find_all(uniform[choice], block);
    for (std::size_t i = 0; i < count; ++i) prefetch(cell(e + i), block[i]);
    for (std::size_t i = 0; i < count; ++i) {
      const double total = rates_.scale * search_.total(i);
      if (!floats_hold(search_.total(i), total) || !boundable(entries_, e + i, total)) {
        draw_in_logs(e + i);
      } else if (entries_.missing && uniform[0][i] <= 1 - total) {
        drawn_.set_nothing(e + i);  // as most missing cells
      } else if (entries_.observed ? entries_.observed[e + i] == 1
                                   : !entries_.missing && uniform[0][i] <= 1 - total) {  // surely one candidate
        draw_one(e + i, i, block[i], uniform[choice + 1][i]);
      } else {
        draw_several(e + i, i);
      }
    }
  }

  const std::uint32_t* cell(std::size_t e) const { return entries_.coords + e * K_; }

  void prefetch(const std::uint32_t* cell, std::uint32_t block) const {
    for (std::size_t k = 0; k < K_; ++k) hwy::Prefetch(rates_.u[k]->row(cell[k]) + block * components_per_block);
  }

  // The products of one block of components, without the scale.
  HWY_INLINE void products(const std::uint32_t* cell, std::size_t block, float* product) const {
    const F32 f;
    for (std::size_t l = 0; l < components_per_block; l += width) {
      const std::size_t r = block * components_per_block + l;
      Floats value = hn::LoadU(f, rates_.weight.data() + r);
      for (std::size_t k = 0; k < K_; ++k) value = hn::Mul(value, hn::Load(f, rates_.u[k]->row(cell[k]) + r));
      hn::Store(value, f, product + l);
    }
  }

  // A first candidate, at `place` of the bound of its block; if it is not kept, as if the entry's stream had been read so far.
  void draw_one(std::size_t e, std::size_t i, std::uint32_t block, double place) {
    alignas(64) float product[components_per_block];
    products(cell(e), block, product);
    const double target = place * static_cast<double>(search_.product(i)[block]);
    double sum = 0;
    std::size_t passed = 0;
    for (std::size_t l = 0; l < components_per_block; ++l) {
      sum += static_cast<double>(product[l]);
      passed += sum <= target;
    }
    if (passed < components_per_block) return drawn_.set_unit(e, block * components_per_block + passed);
    Stream stream(key_, sweep_, e);
    stream.skip_uniforms(entries_.observed ? 2 : 3);
    load_bounds(i);
    // Where the block is in search order: lane by lane.
    for (std::size_t s = 0; s < order_.size(); ++s)
      if (order_[s] == block) bounds_[s] = std::min(bounds_[s], rates_.scale * sum);
    draw_rest(stream, e);
  }

  void draw_several(std::size_t e, std::size_t i) {
    Stream stream(key_, sweep_, e);
    load_bounds(i);
    draw_rest(stream, e);
  }

  void load_bounds(std::size_t i) {
    for (std::size_t s = 0; s < order_.size(); ++s)
      bounds_[s] = rates_.scale * static_cast<double>(search_.product(i)[order_[s]]);
  }

  void draw_rest(Stream& stream, std::size_t e) {
    const std::size_t first = drawn_.begin_parts();
    draw_bounded(
        stream, entries_, e, bounds_, order_,
        [&](std::size_t block, double* product) HWY_ATTR {
          alignas(64) float value[components_per_block];
          products(cell(e), block, value);
          for (std::size_t l = 0; l < components_per_block; ++l)
            product[l] = rates_.scale * static_cast<double>(value[l]);
        },
        [&](std::size_t r) { drawn_.add_part(e, r, 1); });
    drawn_.end_parts(e, first);
  }

  void draw_in_logs(std::size_t e) {
    if (plain_order_.empty()) plain_order_ = search_order(rates_.R);
    shares_.resize(rates_.R);
    const std::size_t first = drawn_.begin_parts();
    draw_plainly(entries_, rates_, key_, sweep_, e, plain_order_, shares_,
                 [&](std::size_t r, std::int64_t part) { drawn_.add_part(e, r, part); });
    drawn_.end_parts(e, first);
  }

  const Entries& entries_;
  const Rates& rates_;
  StreamKey key_;
  RoundKeys keys_;
  std::uint32_t sweep_;
  std::size_t K_;
  std::size_t end_;
  Drawn& drawn_;
  BatchSearch search_;              // among blocks of components, by their bounds
  std::vector<std::size_t> order_;  // search order of the blocks
  std::vector<double> bounds_;      // of one entry, in that order
  std::vector<std::size_t> plain_order_;
  std::vector<double> shares_;
};

void draw_within_bounds(const Entries& entries, const Rates& rates, const Rates& bounds, StreamKey key,
                        std::uint32_t sweep, std::size_t end, Drawn& drawn) {
  const FlushToZero flush;
  BoundedDraw(entries, rates, bounds, key, sweep, end, drawn).run();
}

}  // namespace
}  // namespace ztp::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ztp::cpu {

HWY_EXPORT(draw_within_bounds);

void draw_block_bounded(const Entries& entries, const Rates& rates, const Rates& bounds, StreamKey key,
                        std::uint32_t sweep, std::size_t end, Drawn& drawn) {
  HWY_DYNAMIC_DISPATCH(draw_within_bounds)(entries, rates, bounds, key, sweep, end, drawn);
}

}  // namespace ztp::cpu
#endif
