#include "ztp/split.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "base/random.hpp"
#include "io/text_writer.hpp"
#include "io/write_cells.hpp"
#include "ztp/error.hpp"

namespace ztp {
namespace {

// `count` of the numbers 0..population-1, ascending; every subset is equally likely. Numbers are drawn until enough different
// ones have come up (which of them is a matter of symmetry), in rounds of as many as are missing. At most half of the population
// is drawn so, the rest being the complement: 1.4 draws for each at worst, and memory for the sample alone.
std::vector<std::uint64_t> draw_subset(StreamKey key, std::uint64_t population, std::uint64_t count) {
  const bool complement = count > population / 2;
  const std::uint64_t wanted = complement ? population - count : count;
  std::vector<std::uint64_t> chosen;
  chosen.reserve(wanted);
  for (std::uint32_t round = 0; chosen.size() < wanted; ++round) {
    Stream stream(key, round, 0);
    const std::ptrdiff_t sorted = static_cast<std::ptrdiff_t>(chosen.size());
    while (chosen.size() < wanted) chosen.push_back(stream.below(population));
    std::sort(chosen.begin() + sorted, chosen.end());
    std::inplace_merge(chosen.begin(), chosen.begin() + sorted, chosen.end());
    chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  }
  if (!complement) return chosen;
  std::vector<std::uint64_t> rest;
  rest.reserve(count);
  auto next = chosen.begin();
  for (std::uint64_t i = 0; i < population; ++i) {
    if (next != chosen.end() && *next == i)
      ++next;
    else
      rest.push_back(i);
  }
  return rest;
}

// A box of cells: from `first` on, `size` entities in each mode. Its cells in lexicographic order have the numbers 0, 1, ...
struct Box {
  std::vector<std::uint32_t> first;
  std::vector<std::uint32_t> size;

  explicit Box(const SparseTensor& tensor) : first(tensor.order(), 0) {
    for (const Mode& mode : tensor.modes) size.push_back(mode.labels.size());
  }
  // Nothing if the volume passes 2^63.
  std::optional<std::uint64_t> volume() const {
    uint128 cells = 1;
    for (const std::uint32_t n : size)
      if ((cells *= n) > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return std::nullopt;
    return static_cast<std::uint64_t>(cells);
  }
  bool contains(const std::uint32_t* cell) const {
    for (std::size_t k = 0; k < size.size(); ++k)
      if (cell[k] < first[k] || cell[k] - first[k] >= size[k]) return false;
    return true;
  }
  std::uint64_t index(const std::uint32_t* cell) const {
    std::uint64_t number = 0;
    for (std::size_t k = 0; k < size.size(); ++k) number = number * size[k] + (cell[k] - first[k]);
    return number;
  }
  void cell(std::uint64_t number, std::uint32_t* out) const {
    for (std::size_t k = size.size(); k-- > 0; number /= size[k])
      out[k] = first[k] + static_cast<std::uint32_t>(number % size[k]);
  }
};

bool less(const std::uint32_t* a, const std::uint32_t* b, std::size_t order) {
  return std::lexicographical_compare(a, a + order, b, b + order);
}

std::uint64_t part_of(double holdout, std::uint64_t total, const char* what) {
  if (!(holdout > 0 && holdout < 1))
    throw Error(ErrorKind::config, fmt::format("--holdout is {}; it must be above 0 and below 1", holdout));
  const auto part = static_cast<std::uint64_t>(std::llround(holdout * static_cast<double>(total)));
  if (part == 0) throw Error(ErrorKind::config, fmt::format("--holdout {} of {} {} is none", holdout, total, what));
  return std::min(part, total);
}

// The ones for which held(e) is true to the test list, the others to training.
template <class Held>
void part_ones(const SparseTensor& tensor, Held held, Split& split) {
  const std::size_t order = tensor.order();
  split.coords.reserve(tensor.coords.size());
  for (std::size_t e = 0; e < tensor.nnz(); ++e) {
    const bool test = held(e);
    (test ? split.test.coords : split.coords).append(tensor.cell(e), order);
    if (test) ++split.test_ones;
    if (!test && !tensor.counts.empty()) split.counts.push_back(tensor.counts[e]);
  }
  if (split.coords.empty())
    throw Error(ErrorKind::config,
                fmt::format("all {} ones would be held out; none is left to train on", tensor.nnz()));
}

void check_size(std::uint64_t cells, std::uint64_t limit) {
  if (cells > limit)
    throw Error(ErrorKind::config, fmt::format("{} test cells would be held out; the limit is {}", cells, limit));
}

Split split_cells(const SparseTensor& tensor, const SplitOptions& options) {
  const std::size_t order = tensor.order();
  const Box box(tensor);
  const std::optional<std::uint64_t> volume = box.volume();
  if (!volume)
    throw Error(ErrorKind::config,
                fmt::format("the tensor has {:.3g} cells, more than 2^63: hold out ones, not cells", tensor.volume()));
  const std::uint64_t wanted = part_of(options.holdout, *volume, "cells");
  if (wanted > max_test_cells)
    throw Error(ErrorKind::config,
                fmt::format("--holdout {} of {} cells is {} test cells, more than {}; lower it, or hold out ones",
                            options.holdout, *volume, wanted, max_test_cells));
  const std::vector<std::uint64_t> chosen =
      draw_subset(stream_key(options.seed, 0, Purpose::holdout, 0), *volume, wanted);
  Split result;
  result.test.outcome.resize(wanted);
  std::fill(result.test.outcome.begin(), result.test.outcome.end(), std::uint8_t{0});
  // Both lists ascend: one walk over them finds the ones among the chosen cells.
  std::size_t next = 0;
  part_ones(
      tensor,
      [&](std::size_t e) {
        const std::uint64_t number = box.index(tensor.cell(e));
        while (next < chosen.size() && chosen[next] < number) ++next;
        if (next == chosen.size() || chosen[next] != number) return false;
        result.test.outcome[next] = 1;
        return true;
      },
      result);
  result.test.coords.resize(wanted * order);
  for (std::size_t i = 0; i < chosen.size(); ++i) box.cell(chosen[i], result.test.coords.data() + i * order);
  result.test_zeros = wanted - result.test_ones;
  return result;
}

// Zeros of a box that is small enough to number its cells: the zeros are numbered 0, 1, ... in the order of cells, a subset of
// the numbers is drawn, and a walk along the ones turns numbers into cells. Nothing is rejected, however full the box is.
Buffer<std::uint32_t> numbered_zeros(const SparseTensor& tensor, const Box& box, std::uint64_t zeros,
                                     std::uint64_t wanted, StreamKey key) {
  const std::size_t order = tensor.order();
  const std::vector<std::uint64_t> ranks = draw_subset(key, zeros, wanted);
  Buffer<std::uint32_t> cells(wanted * order);
  std::uint64_t passed = 0;  // ones of the box in front of the zero
  std::size_t e = 0;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    for (; e < tensor.nnz(); ++e) {
      if (!box.contains(tensor.cell(e))) continue;
      if (box.index(tensor.cell(e)) > ranks[i] + passed) break;
      ++passed;
    }
    box.cell(ranks[i] + passed, cells.data() + i * order);
  }
  return cells;
}

// Zeros of a box of more than 2^63 cells: random cells, again until enough different ones that are no ones have come up. In such
// a box hardly any is rejected.
Buffer<std::uint32_t> rejected_zeros(const SparseTensor& tensor, const Box& box, std::uint64_t wanted, StreamKey key) {
  const std::size_t order = tensor.order();
  Buffer<std::uint32_t> cells;
  for (std::uint32_t round = 0; cells.size() < wanted * order; ++round) {
    Stream stream(key, round, 0);
    std::size_t kept = cells.size() / order;
    cells.resize(wanted * order);
    for (std::size_t i = kept; i < wanted; ++i) {
      std::uint32_t* cell = cells.data() + kept * order;
      for (std::size_t k = 0; k < order; ++k)
        cell[k] = box.first[k] + static_cast<std::uint32_t>(stream.below(box.size[k]));
      if (!tensor.contains(cell)) ++kept;
    }
    sort_records(cells.data(), kept, order, nullptr);
    std::size_t unique = 0;
    for (std::size_t i = 0; i < kept; ++i) {
      const std::uint32_t* cell = cells.data() + i * order;
      if (unique > 0 && std::equal(cell, cell + order, cells.data() + (unique - 1) * order)) continue;
      if (unique != i) std::copy(cell, cell + order, cells.data() + unique * order);
      ++unique;
    }
    cells.resize(unique * order);
  }
  return cells;
}

// Adds the zeros to the held-out ones; both lists are in order and stay so.
void merge_zeros(Split& split, const Buffer<std::uint32_t>& zeros, std::size_t order) {
  const Buffer<std::uint32_t> ones = std::move(split.test.coords);
  const std::uint32_t *one = ones.begin(), *zero = zeros.begin();
  split.test.coords = Buffer<std::uint32_t>(ones.size() + zeros.size());
  split.test.outcome.resize((ones.size() + zeros.size()) / order);
  for (std::size_t i = 0; i < split.test.outcome.size(); ++i) {
    const bool take_one = zero == zeros.end() || (one != ones.end() && less(one, zero, order));
    const std::uint32_t*& from = take_one ? one : zero;
    std::copy(from, from + order, split.test.coords.data() + i * order);
    split.test.outcome[i] = take_one;
    from += order;
  }
  split.test_zeros = zeros.size() / order;
}

// Draws the zeros that go with the held-out ones, in a box with `inside` ones.
void add_zeros(const SparseTensor& tensor, const Box& box, std::uint64_t inside, const SplitOptions& options,
               Split& split) {
  const uint128 product = static_cast<uint128>(options.zeros_per_one) * split.test_ones;
  const std::uint64_t wanted = product >> 63 != 0 ? std::uint64_t{1} << 63 : static_cast<std::uint64_t>(product);
  const std::optional<std::uint64_t> volume = box.volume();
  if (volume && wanted > *volume - inside)
    throw Error(ErrorKind::config,
                fmt::format("{} held-out ones with --zeros-per-one {} need {} zeros, but only {} cells{} are zeros",
                            split.test_ones, options.zeros_per_one, wanted, *volume - inside,
                            options.protocol == Protocol::slices ? " of the slices" : ""));
  check_size(split.test_ones + wanted, max_drawn_test_cells);
  const StreamKey key = stream_key(options.seed, 0, Purpose::zeros, static_cast<std::uint32_t>(options.protocol));
  merge_zeros(
      split,
      volume ? numbered_zeros(tensor, box, *volume - inside, wanted, key) : rejected_zeros(tensor, box, wanted, key),
      tensor.order());
}

Split split_ones(const SparseTensor& tensor, const SplitOptions& options) {
  const std::uint64_t wanted = part_of(options.holdout, tensor.nnz(), "ones");
  check_size(wanted, max_drawn_test_cells);
  const std::vector<std::uint64_t> chosen =
      draw_subset(stream_key(options.seed, 0, Purpose::holdout, 1), tensor.nnz(), wanted);
  Split result;
  std::size_t next = 0;
  part_ones(
      tensor, [&](std::size_t e) { return next < chosen.size() && chosen[next] == e && ++next > 0; }, result);
  add_zeros(tensor, Box(tensor), tensor.nnz(), options, result);
  return result;
}

Split split_slices(const SparseTensor& tensor, const SplitOptions& options) {
  const std::optional<std::size_t> mode = tensor.mode_named(options.mode);
  if (!mode) {
    std::string names;
    for (const Mode& known : tensor.modes) names += (names.empty() ? "" : ", ") + known.name;
    throw Error(ErrorKind::usage,
                fmt::format("--mode \"{}\" is no mode of the tensor; they are: {}", options.mode, names));
  }
  Box box(tensor);
  if (options.after == 0 || options.after >= box.size[*mode])
    throw Error(ErrorKind::config,
                fmt::format("--after {} is out of range: mode {} has {} entities, so 1 to {} can be kept",
                            options.after, options.mode, box.size[*mode], box.size[*mode] - 1));
  box.first[*mode] = options.after;
  box.size[*mode] -= options.after;
  Split result;
  part_ones(
      tensor, [&](std::size_t e) { return tensor.cell(e)[*mode] >= options.after; }, result);
  if (result.test_ones == 0)
    throw Error(ErrorKind::config,
                fmt::format("the entities of mode {} after the first {} have no ones", options.mode, options.after));
  add_zeros(tensor, box, result.test_ones, options, result);  // every one of the box is held out
  result.slices_of = mode;
  result.slices_from = options.after;
  return result;
}

}  // namespace

Split split(const SparseTensor& tensor, const SplitOptions& options) {
  if (tensor.nnz() == 0) throw Error(ErrorKind::config, "the tensor has no ones to split");
  switch (options.protocol) {
    case Protocol::cells:
      return split_cells(tensor, options);
    case Protocol::ones:
      return split_ones(tensor, options);
    case Protocol::slices:
      return split_slices(tensor, options);
  }
  throw Error(ErrorKind::usage, "unknown protocol");
}

void keep_training_ones(SparseTensor& tensor, Split& split) {
  tensor.coords = std::move(split.coords);
  tensor.counts = std::move(split.counts);
}

void write_split(const SparseTensor& tensor, const Split& split, const std::string& directory, bool force) {
  make_output_directory(directory, force);
  make_output_directory(directory + "/labels", true);
  for (const Mode& mode : tensor.modes)
    write_label_file(fmt::format("{}/labels/{}.txt", directory, mode.name), mode.labels);
  write_ones_file(directory + "/train.tsv", tensor.modes, split.coords, split.counts);
  write_test_file(directory + "/test.tsv", tensor.modes, split.test);
  if (split.slices_of)
    write_label_file(fmt::format("{}/missing-{}.txt", directory, tensor.modes[*split.slices_of].name),
                     tensor.modes[*split.slices_of].labels, split.slices_from);
}

Protocol protocol_named(const std::string& name) {
  if (name == "cells") return Protocol::cells;
  if (name == "ones") return Protocol::ones;
  if (name == "slices") return Protocol::slices;
  throw Error(ErrorKind::usage, fmt::format("--protocol \"{}\" is none of cells, ones, slices", name));
}

}  // namespace ztp
