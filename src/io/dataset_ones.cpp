#include "io/dataset_ones.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "base/errors.hpp"
#include "io/assemble.hpp"
#include "io/draw_cells.hpp"
#include "tensor/missing.hpp"
#include "tensor/records.hpp"
#include "tensor/shuffle.hpp"
#include "ztp/split.hpp"

namespace ztp {

void for_file_chunks(const TensorFile& file, std::uint64_t ones, const UseOnes& use) {
  constexpr std::uint64_t ones_at_a_time = 1 << 20;
  Buffer<std::uint32_t> coords;
  Buffer<std::int64_t> counts;
  for (std::uint64_t first = 0; first < ones; first += ones_at_a_time) {
    const std::size_t count = std::min(ones_at_a_time, ones - first);
    coords.resize(count * file.order());
    if (file.has_counts()) counts.resize(count);
    file.read(first, count, coords.data(), file.has_counts() ? counts.data() : nullptr);
    use(coords.data(), file.has_counts() ? counts.data() : nullptr, count);
  }
}

void for_ones(const Dataset& data, const UseOnes& use) {
  const SparseTensor& tensor = data.tensor;
  use(tensor.coords.data(), tensor.counts.empty() ? nullptr : tensor.counts.data(), tensor.nnz());
  if (data.file != nullptr) for_file_chunks(*data.file, data.file_ones, use);
}

Buffer<std::uint32_t> first_ones_of_file(const Dataset& data, std::size_t most) {
  const std::size_t count = static_cast<std::size_t>(std::min<std::uint64_t>(most, data.file_ones));
  Buffer<std::uint32_t> coords(count * data.tensor.order());
  if (data.file != nullptr) data.file->read(0, count, coords.data(), nullptr);
  return coords;
}

std::vector<std::uint8_t> which_are_ones(const Dataset& data, const Buffer<std::uint32_t>& cells, Pool& pool) {
  const std::size_t K = data.tensor.order(), count = cells.size() / K;
  std::vector<std::uint8_t> found(count, 0);
  if (count == 0) return found;
  if (data.tensor.nnz() > 0)
    for (std::size_t i = 0; i < count; ++i) found[i] = data.tensor.contains(cells.data() + i * K) ? 1 : 0;
  if (data.file == nullptr) return found;
  // Few ones are among the cells: a bit table, indexed by some bits of the hash, rules out most of them.
  const int bits = std::clamp(static_cast<int>(std::bit_width(count)) + 5, 10, 34);
  std::vector<std::uint64_t> marks((std::size_t{1} << bits) / 64, 0);
  const auto bit_of = [&](const std::uint32_t* cell) { return shuffle_hash(cell, K) >> (64 - bits); };
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t bit = bit_of(cells.data() + i * K);
    marks[bit / 64] |= std::uint64_t{1} << (bit % 64);
  }
  for_file_chunks(*data.file, data.file_ones, [&](const std::uint32_t* coords, const std::int64_t*, std::size_t chunk) {
    const Blocks blocks{chunk, 1 << 14};
    pool.for_blocks(blocks.count(), [&](std::size_t b) {
      for (std::size_t e = blocks.begin(b); e < blocks.end(b); ++e) {
        const std::uint64_t bit = bit_of(coords + e * K);
        if ((marks[bit / 64] >> (bit % 64) & 1) == 0) continue;
        const std::size_t place = find_record(cells, K, coords + e * K);
        if (place < count) found[place] = 1;  // no one is there twice: no other thread writes here
      }
    });
  });
  return found;
}

void check_missing_in_file(const Dataset& data, Pool& pool) {
  const auto refuse = [&](const std::uint32_t* cell, const char* what) {
    throw input_error("{}: the one ({}) {}; take it out of one of the two files", data.file->path(),
                      cell_text(data.tensor.modes, cell), what);
  };
  const std::size_t K = data.tensor.order();
  const bool slices = std::any_of(data.missing.slices.begin(), data.missing.slices.end(),
                                  [](const auto& of_mode) { return !of_mode.empty(); });
  if (slices)
    for_file_chunks(*data.file, data.file_ones,
                    [&](const std::uint32_t* coords, const std::int64_t*, std::size_t count) {
                      for (std::size_t e = 0; e < count; ++e)
                        if (in_missing_slice(data.missing, coords + e * K))
                          refuse(coords + e * K, "lies in a slice that is marked as missing");
                    });
  const std::vector<std::uint8_t> ones = which_are_ones(data, data.missing.cells, pool);
  const auto first = std::find(ones.begin(), ones.end(), 1);
  if (first != ones.end())
    refuse(data.missing.cells.data() + static_cast<std::size_t>(first - ones.begin()) * K, "is listed as missing");
}

TestCells hold_out_of_file(Dataset& data, double part, std::uint64_t zeros_per_one, std::uint64_t seed, Pool& pool) {
  const TensorFile& file = *data.file;
  const std::size_t K = file.order();
  const std::uint64_t held_out = static_cast<std::uint64_t>(std::llround(part * static_cast<double>(data.file_ones)));
  const double zeros = static_cast<double>(held_out) * static_cast<double>(zeros_per_one);
  if (held_out == 0 || held_out == data.file_ones)
    throw config_error("--holdout {}: of {} ones that is {}", part, data.file_ones, held_out);
  if (static_cast<double>(held_out) + zeros > static_cast<double>(max_drawn_test_cells))
    throw config_error("--holdout {} with --zeros-per-one {}: {:.3g} test cells are too many; use a smaller share",
                       part, zeros_per_one, static_cast<double>(held_out) + zeros);
  Buffer<std::uint32_t> ones(held_out * K), kept;
  Buffer<std::int64_t> counts(file.has_counts() ? held_out : 0);
  file.read(data.file_ones - held_out, static_cast<std::size_t>(held_out), ones.data(),
            counts.empty() ? nullptr : counts.data());
  // Zeros: random cells that are neither missing nor ones, drawn until there are enough.
  const std::uint64_t wanted = held_out * zeros_per_one;
  const ObservedBox box(data.tensor, data.missing);
  Buffer<std::uint32_t> tried;  // sorted: what has been drawn, and what is missing
  tried.append(data.missing.cells.data(), data.missing.cells.size());
  for (std::uint32_t round = 0; kept.size() / K < wanted; ++round) {
    if (data.tensor.volume() < 4 * static_cast<double>(data.file_ones + wanted) || round == 100)
      throw config_error("{}: too few of its cells are zeros to draw {}; make test cells for --test with 'ztp split'",
                         file.path(), wanted);
    const Buffer<std::uint32_t> drawn = draw_cells_by_rejection(box, {std::as_const(tried)}, wanted - kept.size() / K,
                                                                stream_key(seed, round, Purpose::zeros, 3));
    const std::vector<std::uint8_t> is_one = which_are_ones(data, drawn, pool);
    for (std::size_t i = 0; i < is_one.size(); ++i)
      if (is_one[i] == 0) kept.append(drawn.data() + i * K, K);
    tried.append(drawn.data(), drawn.size());
    sort_records(tried.data(), tried.size() / K, K, nullptr);
  }
  data.file_ones -= held_out;
  TestCells test;
  test.coords = std::move(ones);
  test.coords.append(kept.data(), kept.size());
  Buffer<std::int64_t> outcome;
  for (std::uint64_t i = 0; i < held_out + wanted; ++i)
    outcome.push_back(i >= held_out ? 0 : counts.empty() ? 1 : counts[i]);
  sort_records(test.coords.data(), outcome.size(), K, outcome.data());
  for (const std::int64_t value : outcome) test.outcome.push_back(value != 0 ? 1 : 0);
  if (!counts.empty()) test.counts = std::move(outcome);
  return test;
}

}  // namespace ztp
