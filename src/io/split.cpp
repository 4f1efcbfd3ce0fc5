#include "ztp/split.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "base/errors.hpp"
#include "base/random.hpp"
#include "io/draw_cells.hpp"
#include "io/flags.hpp"
#include "io/text_writer.hpp"
#include "tensor/records.hpp"

namespace ztp {
namespace {

std::uint64_t holdout_count(double holdout, std::uint64_t total, const char* what) {
  if (!(holdout > 0 && holdout < 1)) throw config_error("--holdout is {}; it must be above 0 and below 1", holdout);
  const auto part = static_cast<std::uint64_t>(std::llround(holdout * static_cast<double>(total)));
  if (part == 0) throw config_error("--holdout {} of {} {} holds out none; raise it", holdout, total, what);
  return std::min(part, total);
}

// What is held out. The training ones are the others.
struct HeldOut {
  Split split;                      // without them
  std::vector<std::uint64_t> ones;  // their numbers, ascending
};

// Puts the ones for which held(e) is true into the test list.
template <class Held>
void take_ones(const SparseTensor& tensor, Held held, HeldOut& result) {
  for (std::size_t e = 0; e < tensor.nnz(); ++e) {
    if (!held(e)) continue;
    result.split.test.coords.append(tensor.cell(e), tensor.order());
    result.ones.push_back(e);
  }
  result.split.test_ones = result.ones.size();
  if (result.ones.size() == tensor.nnz())
    throw config_error("all {} ones would be held out, which leaves none to train on", tensor.nnz());
}

void check_test_size(std::uint64_t cells, std::uint64_t limit) {
  if (cells > limit) throw config_error("{} test cells would be held out; the limit is {}", cells, limit);
}

HeldOut hold_out_cells(const SparseTensor& tensor, const SplitOptions& options, const Missing& missing) {
  const std::size_t order = tensor.order();
  const ObservedBox box(tensor, missing);
  const std::optional<std::uint64_t> volume = box.volume();
  if (!volume)
    throw config_error("the tensor has {:.3g} cells, more than 2^63; hold out ones, not cells", tensor.volume());
  const std::uint64_t observed = *volume - missing.cells.size() / order;
  const std::uint64_t wanted = holdout_count(options.holdout, observed, "cells");
  if (wanted > max_test_cells)
    throw config_error("--holdout {} of {} cells is {} test cells, more than {}; lower it, or hold out ones",
                       options.holdout, observed, wanted, max_test_cells);
  std::vector<std::uint64_t> chosen = draw_subset(stream_key(options.seed, 0, Purpose::holdout, 0), observed, wanted);
  number_outside(box, {missing.cells}, chosen);
  HeldOut result;
  TestCells& test = result.split.test;
  test.outcome.resize(wanted);
  std::fill(test.outcome.begin(), test.outcome.end(), std::uint8_t{0});
  // Both lists are sorted: one pass finds the ones among the chosen cells.
  std::size_t next = 0;
  take_ones(
      tensor,
      [&](std::size_t e) {
        const std::uint64_t number = box.index(tensor.cell(e));
        while (next < chosen.size() && chosen[next] < number) ++next;
        if (next == chosen.size() || chosen[next] != number) return false;
        test.outcome[next] = 1;
        return true;
      },
      result);
  test.coords.resize(wanted * order);
  for (std::size_t i = 0; i < chosen.size(); ++i) box.cell(chosen[i], test.coords.data() + i * order);
  result.split.test_zeros = wanted - result.split.test_ones;
  return result;
}

// Merges the zeros with the held-out ones; both lists are sorted.
void merge_zeros(Split& split, const Buffer<std::uint32_t>& zeros, std::size_t order) {
  const Buffer<std::uint32_t> ones = std::move(split.test.coords);
  const std::uint32_t *one = ones.begin(), *zero = zeros.begin();
  split.test.coords = Buffer<std::uint32_t>(ones.size() + zeros.size());
  split.test.outcome.resize((ones.size() + zeros.size()) / order);
  for (std::size_t i = 0; i < split.test.outcome.size(); ++i) {
    const bool take_one = zero == zeros.end() ||
                          (one != ones.end() && std::lexicographical_compare(one, one + order, zero, zero + order));
    const std::uint32_t*& from = take_one ? one : zero;
    std::copy(from, from + order, split.test.coords.data() + i * order);
    split.test.outcome[i] = take_one;
    from += order;
  }
  split.test_zeros = zeros.size() / order;
}

// Draws the zeros for the held-out ones: observed cells of the box that are not ones.
void add_zeros(const SparseTensor& tensor, const Missing& missing, const ObservedBox& box, const SplitOptions& options,
               Split& split) {
  const uint128 product = static_cast<uint128>(options.zeros_per_one) * split.test_ones;
  const std::uint64_t wanted = product >> 63 != 0 ? std::uint64_t{1} << 63 : static_cast<std::uint64_t>(product);
  const ExcludedCells excluded{tensor.coords, missing.cells};
  const std::optional<std::uint64_t> volume = box.volume();
  const std::uint64_t zeros = volume ? *volume - excluded.count_in(box) : ~std::uint64_t{0};
  if (wanted > zeros)
    throw config_error("{} held-out ones with --zeros-per-one {} need {} zeros, but only {} cells{} are zeros",
                       split.test_ones, options.zeros_per_one, wanted, zeros,
                       options.protocol == Protocol::slices ? " of the slices" : "");
  check_test_size(split.test_ones + wanted, max_drawn_test_cells);
  const StreamKey key = stream_key(options.seed, 0, Purpose::zeros, static_cast<std::uint32_t>(options.protocol));
  merge_zeros(split,
              volume ? draw_cells_by_number(box, excluded, zeros, wanted, key)
                     : draw_cells_by_rejection(box, excluded, wanted, key),
              tensor.order());
}

HeldOut hold_out_ones(const SparseTensor& tensor, const SplitOptions& options, const Missing& missing) {
  const std::uint64_t wanted = holdout_count(options.holdout, tensor.nnz(), "ones");
  check_test_size(wanted, max_drawn_test_cells);
  const std::vector<std::uint64_t> chosen =
      draw_subset(stream_key(options.seed, 0, Purpose::holdout, 1), tensor.nnz(), wanted);
  HeldOut result;
  std::size_t next = 0;
  take_ones(
      tensor, [&](std::size_t e) { return next < chosen.size() && chosen[next] == e && ++next > 0; }, result);
  add_zeros(tensor, missing, ObservedBox(tensor, missing), options, result.split);
  return result;
}

HeldOut hold_out_slices(const SparseTensor& tensor, const SplitOptions& options, const Missing& missing) {
  const std::optional<std::size_t> mode = tensor.mode_named(options.mode);
  if (!mode)
    throw usage_error("--mode \"{}\": the tensor has no such mode; its modes are: {}", options.mode,
                      mode_list(tensor.modes));
  const std::uint32_t entities = tensor.modes[*mode].labels.size();
  if (options.after == 0 || options.after >= entities)
    throw config_error("--after {} is out of range: mode {} has {} entities, so 1 to {} can be kept", options.after,
                       options.mode, entities, entities - 1);
  ObservedBox box(tensor, missing);
  box.keep_from(*mode, options.after);
  HeldOut result;
  take_ones(
      tensor, [&](std::size_t e) { return tensor.cell(e)[*mode] >= options.after; }, result);
  if (result.ones.empty())
    throw config_error("the entities of mode {} after the first {} have no ones", options.mode, options.after);
  add_zeros(tensor, missing, box, options, result.split);
  result.split.slices_of = mode;
  result.split.slices_from = options.after;
  return result;
}

HeldOut hold_out_by_protocol(const SparseTensor& tensor, const SplitOptions& options, const Missing& missing) {
  switch (options.protocol) {
    case Protocol::cells:
      return hold_out_cells(tensor, options, missing);
    case Protocol::ones:
      return hold_out_ones(tensor, options, missing);
    case Protocol::slices:
      return hold_out_slices(tensor, options, missing);
  }
  throw usage_error("unknown protocol");
}

HeldOut find_held_out(const SparseTensor& tensor, const SplitOptions& options, const Missing& missing) {
  if (tensor.nnz() == 0) throw config_error("the tensor has no ones to split");
  HeldOut result = hold_out_by_protocol(tensor, options, missing);
  TestCells& test = result.split.test;
  std::size_t next = 0;  // of the held-out ones, which are in the order of the test cells
  for (std::size_t i = 0; !tensor.counts.empty() && i < test.size(); ++i)
    test.counts.push_back(test.outcome[i] != 0 ? tensor.counts[result.ones[next++]] : 0);
  return result;
}

// Calls use(begin, end) for each stretch of training ones.
template <class Use>
void for_training_ones(const SparseTensor& tensor, const std::vector<std::uint64_t>& held_out, const Use& use) {
  std::size_t begin = 0;
  for (const std::uint64_t e : held_out) {
    use(begin, static_cast<std::size_t>(e));
    begin = static_cast<std::size_t>(e) + 1;
  }
  use(begin, tensor.nnz());
}

}  // namespace

Split split(const SparseTensor& tensor, const SplitOptions& options, const Missing& missing) {
  HeldOut held_out = find_held_out(tensor, options, missing);
  Split& result = held_out.split;
  const std::size_t K = tensor.order();
  result.coords.reserve(tensor.coords.size() - held_out.ones.size() * K);
  for_training_ones(tensor, held_out.ones, [&](std::size_t begin, std::size_t end) {
    result.coords.append(tensor.cell(begin), (end - begin) * K);
    if (!tensor.counts.empty()) result.counts.append(tensor.counts.data() + begin, end - begin);
  });
  return std::move(result);
}

Split hold_out(SparseTensor& tensor, const SplitOptions& options, const Missing& missing) {
  HeldOut held_out = find_held_out(tensor, options, missing);
  const std::size_t K = tensor.order();
  std::size_t kept = 0;
  for_training_ones(tensor, held_out.ones, [&](std::size_t begin, std::size_t end) {
    std::uint32_t* const coords = tensor.coords.data();
    if (begin > kept) std::copy(coords + begin * K, coords + end * K, coords + kept * K);
    std::int64_t* const counts = tensor.counts.data();
    if (begin > kept && !tensor.counts.empty()) std::copy(counts + begin, counts + end, counts + kept);
    kept += end - begin;
  });
  tensor.coords.resize(kept * K);
  if (!tensor.counts.empty()) tensor.counts.resize(kept);
  return std::move(held_out.split);
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
  if (const auto protocol = choice_named<Protocol>(name)) return *protocol;
  throw usage_error("--protocol \"{}\": must be cells, ones or slices", name);
}

}  // namespace ztp
