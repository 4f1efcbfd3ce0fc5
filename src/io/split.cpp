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
  if (part == 0) throw config_error("--holdout {} of {} {} is none", holdout, total, what);
  return std::min(part, total);
}

// Puts the ones for which held(e) is true into the test list, the others into the training part.
template <class Held>
void partition_ones(const SparseTensor& tensor, Held held, Split& split) {
  const std::size_t order = tensor.order();
  split.coords.reserve(tensor.coords.size());
  for (std::size_t e = 0; e < tensor.nnz(); ++e) {
    const bool test = held(e);
    (test ? split.test.coords : split.coords).append(tensor.cell(e), order);
    if (test) ++split.test_ones;
    if (!test && !tensor.counts.empty()) split.counts.push_back(tensor.counts[e]);
  }
  if (split.coords.empty()) throw config_error("all {} ones would be held out; none is left to train on", tensor.nnz());
}

void check_test_size(std::uint64_t cells, std::uint64_t limit) {
  if (cells > limit) throw config_error("{} test cells would be held out; the limit is {}", cells, limit);
}

Split split_cells(const SparseTensor& tensor, const SplitOptions& options, const Missing& missing) {
  const std::size_t order = tensor.order();
  const ObservedBox box(tensor, missing);
  const std::optional<std::uint64_t> volume = box.volume();
  if (!volume)
    throw config_error("the tensor has {:.3g} cells, more than 2^63: hold out ones, not cells", tensor.volume());
  const std::uint64_t observed = *volume - missing.cells.size() / order;
  const std::uint64_t wanted = holdout_count(options.holdout, observed, "cells");
  if (wanted > max_test_cells)
    throw config_error("--holdout {} of {} cells is {} test cells, more than {}; lower it, or hold out ones",
                       options.holdout, observed, wanted, max_test_cells);
  std::vector<std::uint64_t> chosen = draw_subset(stream_key(options.seed, 0, Purpose::holdout, 0), observed, wanted);
  number_outside(box, missing.cells, chosen);
  Split result;
  result.test.outcome.resize(wanted);
  std::fill(result.test.outcome.begin(), result.test.outcome.end(), std::uint8_t{0});
  // Both lists are sorted: one pass finds the ones among the chosen cells.
  std::size_t next = 0;
  partition_ones(
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
  Buffer<std::uint32_t> both;  // ones and listed missing cells, where there are any of these
  if (!missing.cells.empty()) {
    both.append(tensor.coords.data(), tensor.coords.size());
    both.append(missing.cells.data(), missing.cells.size());
    sort_records(both.data(), both.size() / tensor.order(), tensor.order(), nullptr);
  }
  const Buffer<std::uint32_t>& excluded = missing.cells.empty() ? tensor.coords : both;
  const std::optional<std::uint64_t> volume = box.volume();
  const std::uint64_t zeros = volume ? *volume - box.count(excluded) : ~std::uint64_t{0};
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

Split split_ones(const SparseTensor& tensor, const SplitOptions& options, const Missing& missing) {
  const std::uint64_t wanted = holdout_count(options.holdout, tensor.nnz(), "ones");
  check_test_size(wanted, max_drawn_test_cells);
  const std::vector<std::uint64_t> chosen =
      draw_subset(stream_key(options.seed, 0, Purpose::holdout, 1), tensor.nnz(), wanted);
  Split result;
  std::size_t next = 0;
  partition_ones(
      tensor, [&](std::size_t e) { return next < chosen.size() && chosen[next] == e && ++next > 0; }, result);
  add_zeros(tensor, missing, ObservedBox(tensor, missing), options, result);
  return result;
}

Split split_slices(const SparseTensor& tensor, const SplitOptions& options, const Missing& missing) {
  const std::optional<std::size_t> mode = tensor.mode_named(options.mode);
  if (!mode)
    throw usage_error("--mode \"{}\" is no mode of the tensor; they are: {}", options.mode, mode_list(tensor.modes));
  const std::uint32_t entities = tensor.modes[*mode].labels.size();
  if (options.after == 0 || options.after >= entities)
    throw config_error("--after {} is out of range: mode {} has {} entities, so 1 to {} can be kept", options.after,
                       options.mode, entities, entities - 1);
  ObservedBox box(tensor, missing);
  box.keep_from(*mode, options.after);
  Split result;
  partition_ones(
      tensor, [&](std::size_t e) { return tensor.cell(e)[*mode] >= options.after; }, result);
  if (result.test_ones == 0)
    throw config_error("the entities of mode {} after the first {} have no ones", options.mode, options.after);
  add_zeros(tensor, missing, box, options, result);
  result.slices_of = mode;
  result.slices_from = options.after;
  return result;
}

Split split_by_protocol(const SparseTensor& tensor, const SplitOptions& options, const Missing& missing) {
  switch (options.protocol) {
    case Protocol::cells:
      return split_cells(tensor, options, missing);
    case Protocol::ones:
      return split_ones(tensor, options, missing);
    case Protocol::slices:
      return split_slices(tensor, options, missing);
  }
  throw usage_error("unknown protocol");
}

}  // namespace

Split split(const SparseTensor& tensor, const SplitOptions& options, const Missing& missing) {
  if (tensor.nnz() == 0) throw config_error("the tensor has no ones to split");
  Split result = split_by_protocol(tensor, options, missing);
  for (std::size_t i = 0; !tensor.counts.empty() && i < result.test.size(); ++i) {
    const std::uint32_t* cell = result.test.coords.data() + i * tensor.order();
    result.test.counts.push_back(
        result.test.outcome[i] != 0 ? tensor.counts[find_record(tensor.coords, tensor.order(), cell)] : 0);
  }
  return result;
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
  if (const auto protocol = choice_named<Protocol>(name)) return *protocol;
  throw usage_error("--protocol \"{}\" is none of cells, ones, slices", name);
}

}  // namespace ztp
