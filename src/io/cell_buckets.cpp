#include "io/cell_buckets.hpp"

#include <algorithm>
#include <cstring>

namespace ztp {

CellBuckets::CellBuckets(const std::string& directory, const CellOrder& order, bool counted, unsigned skip,
                         std::size_t memory)
    : by_(order), order_(order.order()), counted_(counted), skip_(skip), file_(directory), buckets_(count) {
  constexpr std::size_t least = 1 << 10, most = 1 << 18;  // 1 MiB: larger pieces make no disk faster
  chunk_words_ = std::clamp(memory / (count * sizeof(std::uint32_t)), least, most);
  chunk_cells_ = chunk_words_ * sizeof(std::uint32_t) / cell_bytes();
  memory_.resize(count * chunk_words_);
}

void CellBuckets::add(const std::uint32_t* cell, std::int64_t count_of_cell) {
  const std::size_t b = by_.digit(cell, skip_);
  Bucket& bucket = buckets_[b];
  std::uint32_t* chunk = chunk_of(b);
  for (std::size_t k = 0; k < order_; ++k) chunk[bucket.used * order_ + k] = cell[k];
  if (counted_) std::memcpy(chunk + chunk_cells_ * order_ + 2 * bucket.used, &count_of_cell, sizeof count_of_cell);
  ++bucket.cells;
  if (++bucket.used == chunk_cells_) write_chunk(b);
}

void CellBuckets::add(const std::uint32_t* cells, const std::int64_t* counts, std::size_t number) {
  for (std::size_t i = 0; i < number; ++i) add(cells + i * order_, counts == nullptr ? 1 : counts[i]);
}

void CellBuckets::write_chunk(std::size_t b) {
  std::size_t& used = buckets_[b].used;
  std::uint32_t* chunk = chunk_of(b);
  if (counted_ && used < chunk_cells_)  // counts follow the coordinates that there are
    std::memmove(chunk + used * order_, chunk + chunk_cells_ * order_, used * sizeof(std::int64_t));
  file_.append(chunk, used * cell_bytes());
  buckets_[b].places.push_back(length_);
  length_ += used * cell_bytes();
  used = 0;
}

void CellBuckets::finish() {
  for (std::size_t b = 0; b < count; ++b)
    if (buckets_[b].used > 0) write_chunk(b);
  memory_ = {};
}

void CellBuckets::read(std::size_t b, std::size_t chunk, Buffer<std::uint32_t>& coords,
                       Buffer<std::int64_t>& counts) const {
  const Bucket& bucket = buckets_[b];
  const std::size_t cells = cells_of(bucket, chunk);
  coords.resize(cells * order_);
  file_.read(bucket.places[chunk], coords.data(), coords.size() * sizeof coords[0]);
  if (!counted_) return;
  counts.resize(cells);
  file_.read(bucket.places[chunk] + coords.size() * sizeof coords[0], counts.data(), cells * sizeof counts[0]);
}

void CellBuckets::forget(std::size_t b) {
  Bucket& bucket = buckets_[b];
  for (std::size_t chunk = 0; chunk < bucket.places.size(); ++chunk)
    file_.forget(bucket.places[chunk], cells_of(bucket, chunk) * cell_bytes());
  bucket = {};
}

void CellBuckets::empty(std::size_t b, const Use& use) {
  Buffer<std::uint32_t> coords;
  Buffer<std::int64_t> counts;
  for (std::size_t chunk = 0; chunk < chunks(b); ++chunk) {
    read(b, chunk, coords, counts);
    use(coords.data(), counted_ ? counts.data() : nullptr, coords.size() / order_);
  }
  forget(b);
}

}  // namespace ztp
