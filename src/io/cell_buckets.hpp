// Cells on disk, in buckets by the first bits of their keys: bucket after bucket, each of them sorted, they are in
// order.
#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/file.hpp"
#include "io/cell_order.hpp"
#include "ztp/buffer.hpp"

namespace ztp {

class CellBuckets {
 public:
  static constexpr unsigned bits = 8;
  static constexpr std::size_t count = 1 << bits;

  // Buckets by 8 bits of the key after the first `skip` bits. Uses about `memory` bytes until finish().
  CellBuckets(const std::string& directory, const CellOrder& order, bool counted, unsigned skip, std::size_t memory);

  void add(const std::uint32_t* cell, std::int64_t count_of_cell);
  // Many of them; without `counts`, each counts 1.
  void add(const std::uint32_t* cells, const std::int64_t* counts, std::size_t number);
  void finish();  // writes everything to disk

  // After finish(): a bucket is read chunk by chunk, also by several threads. `counts` stay empty where nothing is
  // counted.
  std::uint64_t cells(std::size_t bucket) const { return buckets_[bucket].cells; }
  std::size_t chunks(std::size_t bucket) const { return buckets_[bucket].places.size(); }
  void read(std::size_t bucket, std::size_t chunk, Buffer<std::uint32_t>& coords, Buffer<std::int64_t>& counts) const;
  void forget(std::size_t bucket);  // frees its disk space
  // Calls `use` for each chunk of a bucket, whose cells it may change, and forgets the bucket.
  using Use = std::function<void(std::uint32_t* coords, const std::int64_t* counts, std::size_t cells)>;
  void empty(std::size_t bucket, const Use& use);

 private:
  struct Bucket {
    std::uint64_t cells = 0;
    std::size_t used = 0;               // cells of the chunk that is being filled
    std::vector<std::uint64_t> places;  // of chunks on the disk
  };
  std::uint32_t* chunk_of(std::size_t bucket) { return memory_.data() + bucket * chunk_words_; }
  std::size_t cell_bytes() const { return order_ * sizeof(std::uint32_t) + (counted_ ? sizeof(std::int64_t) : 0); }
  std::size_t cells_of(const Bucket& bucket, std::size_t chunk) const {
    return std::min<std::uint64_t>(chunk_cells_, bucket.cells - chunk * chunk_cells_);
  }
  void write_chunk(std::size_t bucket);

  CellOrder by_;
  std::size_t order_;  // K
  bool counted_;
  unsigned skip_;
  std::size_t chunk_words_;
  std::size_t chunk_cells_;  // coordinates of all cells, then counts of all
  ScratchFile file_;
  std::uint64_t length_ = 0;
  std::vector<Bucket> buckets_;
  Buffer<std::uint32_t> memory_;
};

}  // namespace ztp
