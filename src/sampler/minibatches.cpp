#include "sampler/minibatches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "tensor/shuffle.hpp"
#include "ztp/error.hpp"

namespace ztp {

MemoryMinibatches::MemoryMinibatches(std::span<const std::uint32_t> coords, std::span<const std::int64_t> counts,
                                     const FactorLayout& layout, std::size_t count, Kernel& kernel, bool missing)
    : order_(layout.modes()), coords_(coords.size()), counts_(counts.size()) {
  const std::size_t ones = coords.size() / order_;
  if (ones > std::numeric_limits<std::uint32_t>::max())
    throw Error(
        ErrorKind::config,
        fmt::format("{} {} are too many to shuffle in memory; {}", ones, missing ? "missing cells" : "ones",
                    missing ? "hold out or list fewer" : "with a file of 'ztp convert' they are read from disk"));
  count = std::clamp<std::size_t>(count, 1, std::max<std::size_t>(ones, 1));
  total_count_ = counts.empty() ? ones : std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  std::vector<std::pair<std::uint64_t, std::uint32_t>> shuffled(ones);
  for (std::size_t e = 0; e < ones; ++e)
    shuffled[e] = {shuffle_hash(coords.data() + e * order_, order_), static_cast<std::uint32_t>(e)};
  std::sort(shuffled.begin(), shuffled.end());
  for (std::size_t b = 0; b <= count; ++b) begin_.push_back(minibatch_begin(ones, count, b));
  // An index of rows has to take less memory than the ones.
  double index_bytes = 0;
  for (std::size_t k = 0; k < order_; ++k)
    index_bytes += 8.0 * static_cast<double>(layout.size_of_mode(k).rows) * static_cast<double>(count);
  const bool indexed = !missing && index_bytes <= 4.0 * static_cast<double>(coords.size());
  for (std::size_t b = 0; b < count; ++b) {
    // In the order they had: rows of the first mode are then met in order.
    std::sort(shuffled.begin() + static_cast<std::ptrdiff_t>(begin_[b]),
              shuffled.begin() + static_cast<std::ptrdiff_t>(begin_[b + 1]),
              [](const auto& x, const auto& y) { return x.second < y.second; });
    for (std::uint64_t i = begin_[b]; i < begin_[b + 1]; ++i) {
      const std::uint32_t e = shuffled[i].second;
      std::copy_n(coords.data() + e * order_, order_, coords_.data() + i * order_);
      if (!counts.empty()) counts_[i] = counts[e];
    }
    minibatches_.push_back(kernel.upload({.coords = coords_.data() + begin_[b] * order_,
                                          .observed = counts_.empty() ? nullptr : counts_.data() + begin_[b],
                                          .count = static_cast<std::size_t>(size(b)),
                                          .missing = missing,
                                          .first = begin_[b],
                                          .indexed = indexed},
                                         layout));
  }
}

std::size_t MemoryMinibatches::bytes(std::size_t records, std::size_t order, bool counts) {
  const std::size_t index = sizeof(std::uint32_t) * (order - 1);  // the first coordinates are in order
  const std::size_t shuffled = sizeof(std::pair<std::uint64_t, std::uint32_t>);
  return records * (sizeof(std::uint32_t) * order + (counts ? sizeof(std::int64_t) : 0) + index + shuffled);
}

void MemoryMinibatches::read(std::size_t b, std::size_t, const std::function<void(const Chunk&)>& use) {
  use({*minibatches_[b], coords_.data() + begin_[b] * order_, counts_.empty() ? nullptr : counts_.data() + begin_[b]});
}

std::size_t minibatch_of_step(StreamKey key, std::size_t count, std::uint32_t t) {
  const std::uint32_t epoch = static_cast<std::uint32_t>((t - 1) / count);
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  Stream stream(key, epoch, 0);
  for (std::size_t i = 0; i <= (t - 1) % count; ++i) std::swap(order[i], order[i + stream.below(count - i)]);
  return order[(t - 1) % count];
}

}  // namespace ztp
