// The latent counts of a block of entries when there are many components: kernel/bounded_draw.hpp, in lanes.    (M24)
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
  BoundedDraw(const CountTask& task, const HostRates& bounds, Drawn& drawn)
      : task_(task),
        rates_(task.rates),
        keys_(task.streams),
        K_(rates_.u.size()),
        end_(drawn.end),
        drawn_(drawn),
        search_{BatchSearch(bounds), BatchSearch(bounds)},
        all_(rates_),
        plain_(task) {}

  // While one batch is drawn, memory brings what the next will need.
  void run() {
    if (drawn_.begin < end_) look(drawn_.begin, 0);
    std::size_t turn = 0;
    for (std::size_t e = drawn_.begin; e < end_; e += batch, turn = 1 - turn) {
      if (e + batch < end_) look(e + batch, 1 - turn);
      draw_batch(e, turn);
    }
  }

 private:
  std::size_t count_from(std::size_t e) const { return std::min(batch, end_ - e); }

  // Bounds of a batch, and which are the largest.
  void look(std::size_t e, std::size_t turn) {
    const std::size_t count = count_from(e);
    search_[turn].compute(cell(e), count, end_ - e - count);
    for (std::size_t i = 0; i < count; ++i) {
      search_[turn].template largest<blocks_known>(i, known_[turn][i]);
      for (const std::uint32_t block : known_[turn][i])
        if (exists(block)) prefetch(cell(e + i), block);
    }
  }

  void draw_batch(std::size_t e, std::size_t turn) {
    BatchSearch& search = search_[turn];
    const std::size_t count = count_from(e);
    for (std::size_t i = 0; i < count; ++i) {
      for (const std::uint32_t block : known_[turn][i]) {
        if (!exists(block)) continue;
        alignas(64) float product[components_per_block];
        products(cell(e + i), block, product);
        search.replace(i, block, sum_of(product));
      }
    }
    search.add_up(count);
    alignas(64) double uniform[4][batch];
    uniforms_of_entries(keys_, task_, e, 0, uniform[0], uniform[1]);
    uniforms_of_entries(keys_, task_, e, 1, uniform[2], uniform[3]);
    // An observed count needs no number for itself.
    const std::size_t choice = task_.cells.observed ? 0 : 1;
    alignas(64) std::uint32_t block[batch];
    search.find_all(uniform[choice], block);
    for (std::size_t i = 0; i < count; ++i) {
      const double total = rates_.scale * search.total(i);
      if (!floats_hold(search.total(i), total) || !boundable(task_.cells, e + i, total)) {
        Stream stream = task_.stream(e + i);
        draw_plainly(plain_, stream, e + i, drawn_.begin_parts(), drawn_);
      } else if (task_.cells.missing && uniform[0][i] <= 1 - total) {
        drawn_.set_nothing(e + i);  // as most missing cells
      } else if (task_.cells.observed ? task_.cells.observed[e + i] == 1
                                      : !task_.cells.missing && uniform[0][i] <= 1 - total) {  // surely one candidate
        draw_one(search, e + i, i, block[i], uniform[choice + 1][i]);
      } else {
        draw_several(search, e + i, i, total);
      }
    }
  }

  // Where fewer bounds than that are positive, the next largest are padding.
  bool exists(std::size_t block) const { return block * components_per_block < all_.stride(); }

  HWY_INLINE static float sum_of(const float* product) {
    const F32 f;
    Floats sum = hn::Load(f, product);
    for (std::size_t l = width; l < components_per_block; l += width) sum = hn::Add(sum, hn::Load(f, product + l));
    return hn::GetLane(hn::SumOfLanes(f, sum));
  }

  const std::uint32_t* cell(std::size_t e) const { return task_.cell(e); }

  void prefetch(const std::uint32_t* cell, std::uint32_t block) const {
    for (std::size_t k = 0; k < K_; ++k)
      __builtin_prefetch(rates_.u[k]->row(cell[k]) + block * components_per_block, 0, 2);
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

  // Which component a candidate of the block belongs to that is at `place` of its bound; none: not kept.
  HWY_INLINE std::uint32_t component_at(const BatchSearch& search, std::size_t e, std::size_t i, std::uint32_t block,
                                        double place) const {
    alignas(64) float product[components_per_block];
    products(cell(e), block, product);
    const double target = place * static_cast<double>(search.product(i)[block]);
    double sum = 0;
    std::uint32_t passed = 0;
    for (std::size_t l = 0; l < components_per_block; ++l) {
      sum += static_cast<double>(product[l]);
      passed += sum <= target;
    }
    return passed < components_per_block ? block * std::uint32_t{components_per_block} + passed : nothing;
  }

  // A single candidate; if it is not kept, the entry's stream goes on after the numbers it has cost.
  void draw_one(const BatchSearch& search, std::size_t e, std::size_t i, std::uint32_t block, double place) {
    const std::uint32_t r = component_at(search, e, i, block, place);
    if (r != nothing) return drawn_.set_unit(e, r);
    Stream stream = task_.stream(e);
    stream.skip_uniforms(task_.cells.observed ? 2 : 3);
    draw_all(stream, e, drawn_.begin_parts());
  }

  void draw_several(const BatchSearch& search, std::size_t e, std::size_t i, double total) {
    Stream stream = task_.stream(e);
    const std::size_t first = drawn_.begin_parts();
    const std::int64_t candidates =
        task_.cells.missing ? draw_poisson(stream, total) : draw_zero_truncated_poisson(stream, total);
    for (std::int64_t candidate = 0; candidate < candidates; ++candidate) {
      const std::uint32_t block = search.find(i, stream.uniform());
      const std::uint32_t r = component_at(search, e, i, block, stream.uniform());
      if (r != nothing) drawn_.add_part(r, 1);
    }
    if (drawn_.begin_parts() > first || task_.cells.missing) return drawn_.end_parts(e, first);
    draw_all(stream, e, first);
  }

  // Among all components, as entries are drawn when there are few.
  void draw_all(Stream& stream, std::size_t e, std::size_t first) {
    all_.compute(cell(e), 1, 0);
    const double z = rates_.scale * all_.total(0);
    if (!floats_hold(all_.total(0), z) || z > largest_bounded_rate) {
      draw_plainly(plain_, stream, e, first, drawn_);
    } else {
      split_units(stream, draw_entry(stream, task_.cells, e, z), all_, 0, plain_.log_shares(), drawn_);
      drawn_.end_parts(e, first);
    }
  }

  const CountTask& task_;
  const HostRates& rates_;
  RoundKeys keys_;
  std::size_t K_;
  std::size_t end_;
  Drawn& drawn_;
  BatchSearch search_[2];  // among blocks of components, by their bounds: of a batch and of the next
  std::uint32_t known_[2][batch][blocks_known];
  BatchSearch all_;  // among all components, for entries that need it
  PlainDraw plain_;  // for those that need logarithms
};

void draw_within_bounds(const CountTask& task, const HostRates& bounds, Drawn& drawn) {
  const FlushToZero flush;
  BoundedDraw(task, bounds, drawn).run();
}

}  // namespace
}  // namespace ztp::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ztp::cpu {

HWY_EXPORT(draw_within_bounds);

void draw_block_bounded(const CountTask& task, const HostRates& bounds, Drawn& drawn) {
  HWY_DYNAMIC_DISPATCH(draw_within_bounds)(task, bounds, drawn);
}

}  // namespace ztp::cpu
#endif
