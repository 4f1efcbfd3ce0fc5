// The first pass of allocate: the latent counts of a block of entries and the components they belong to.   (M3), (M4)
#pragma once
#include <vector>

#include "kernel/entry_draw.hpp"

namespace ztp::cpu {

// One positive y_er of a block of entries. Kept small: with observed counts, all of them are read once for each mode,
// in random order. A component may come up several times.
struct DrawnPart {
  std::uint32_t component;  // + `several`, if it is the last of its entry; + `scaled`, if `count` is in units of 2^32
  std::uint32_t count;
};

// What a block of entries has drawn. `component`, one for each entry: that of its only unit, `nothing`, or `several` +
// where its parts begin in `parts`.
inline constexpr std::uint32_t nothing = 0xffffffffu, several = 0x80000000u, scaled = 0x40000000u;
// The same in a byte each, for adding up: they are read from all over memory, and fit in the cache of a core. All that
// is not one unit is `no_unit`.
inline constexpr std::uint8_t no_unit = 0xff;
inline constexpr std::size_t most_in_bytes = no_unit;  // components
struct alignas(64) Drawn {                             // threads write to neighbours
  std::size_t begin = 0, end = 0;                      // the block's entries
  std::uint32_t* component = nullptr;                  // of that entry and those after it
  std::uint8_t* unit = nullptr;                        // the same in bytes
  std::vector<DrawnPart> parts;
  std::vector<std::int64_t> totals;  // R, padded
  ExactSum log_likelihood;

  void set_nothing(std::size_t e) { component[e - begin] = nothing; }
  void set_unit(std::size_t e, std::size_t r) {
    component[e - begin] = static_cast<std::uint32_t>(r);
    ++totals[r];
  }
  // Parts of an entry may follow; end_parts when there are no more.
  std::size_t begin_parts() const { return parts.size(); }
  void add_part(std::size_t r, std::int64_t count) {
    totals[r] += count;
    const std::uint32_t component_of_part = static_cast<std::uint32_t>(r);
    if (count >> 32 != 0) parts.push_back({component_of_part + scaled, static_cast<std::uint32_t>(count >> 32)});
    if ((count & 0xffffffff) != 0) parts.push_back({component_of_part, static_cast<std::uint32_t>(count)});
  }
  void end_parts(std::size_t e, std::size_t first) {
    component[e - begin] = first == parts.size() ? nothing : several + static_cast<std::uint32_t>(first);
    if (first == parts.size()) return;
    if (first + 1 == parts.size() && parts.back().count == 1 && parts.back().component < scaled) {
      component[e - begin] = parts.back().component;
      parts.pop_back();
    } else {
      parts.back().component += several;
    }
  }
};

// Calls add(r, count) for every part of entry e.
template <class Add>
void for_each_part(const Drawn& drawn, std::size_t e, Add add) {
  const std::uint32_t r = drawn.component[e - drawn.begin];
  if (r == nothing) return;
  if (r < several) return add(r, std::int64_t{1});
  const DrawnPart* part = drawn.parts.data() + (r - several);
  for (bool last = false; !last; ++part) {
    last = part->component >= several;
    const std::int64_t unit = (part->component & scaled) != 0 ? std::int64_t{1} << 32 : 1;
    add(part->component & (scaled - 1), unit * std::int64_t{part->count});
  }
}

// Splits the y units of an entry over components by the products of cell i of a search.                           (M4)
template <class Search>
void split_units(Stream& stream, std::int64_t y, const Search& search, std::size_t i, LogShares& room, Drawn& drawn) {
  if (y <= most_searched_units) {
    for (std::int64_t unit = 0; unit < y; ++unit) drawn.add_part(search.find(i, stream.uniform()), 1);
    return;
  }
  room.make_room();
  const std::vector<std::size_t>& order = room.order();
  for (std::size_t s = 0; s < order.size(); ++s) room.shares()[s] = static_cast<double>(search.product(i)[order[s]]);
  draw_multinomial(stream, y, room.shares(), [&](std::size_t s, std::int64_t part) { drawn.add_part(order[s], part); });
}

// Entry e in logs, whose parts begin at `first`. Returns what it adds to the log-likelihood.               (M3), (M4)
inline double draw_plainly(PlainDraw& plain, Stream& stream, std::size_t e, std::size_t first, Drawn& drawn) {
  const double log_likelihood =
      plain.draw(stream, e, [&](std::size_t r, std::int64_t part) { drawn.add_part(r, part); });
  drawn.end_parts(e, first);
  return log_likelihood;
}

// The counts of the entries drawn.begin..drawn.end-1 and their parts.
void draw_block(const CountTask& task, Drawn& drawn);
// Fills `unit` from `component`.
void fill_units(Drawn& drawn);
// As draw_block with `bounds` (kernel/cpu/bounds.hpp); the log-likelihood is left out.                            (M24)
void draw_block_bounded(const CountTask& task, const HostRates& bounds, Drawn& drawn);

}  // namespace ztp::cpu
