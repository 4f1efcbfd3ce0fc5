// Cells on disk, in buckets by the first bits of shuffle_hash: bucket after bucket, each of them sorted, they are in
// the order of a tensor file.
#pragma once
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/file.hpp"
#include "ztp/buffer.hpp"

namespace ztp {

class CellBuckets {
 public:
  static constexpr unsigned bits = 8;
  static constexpr std::size_t count = 1 << bits;

  // Buckets by 8 bits of the hash after the first `skip` bits. Uses about `memory` bytes until finish().
  CellBuckets(const std::string& directory, std::size_t order, bool counted, unsigned skip, std::size_t memory);

  void add(const std::uint32_t* cell, std::int64_t value);
  void finish();  // writes everything to disk

  // After finish(): a bucket is read chunk by chunk, also by several threads.
  std::uint64_t cells(std::size_t bucket) const { return buckets_[bucket].cells; }
  std::size_t chunks(std::size_t bucket) const { return buckets_[bucket].places.size(); }
  void read(std::size_t bucket, std::size_t chunk, Buffer<std::uint32_t>& coords, Buffer<std::int64_t>& counts) const;
  void forget(std::size_t bucket);  // frees its disk space

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

  std::size_t order_;
  bool counted_;
  unsigned shift_;
  std::size_t chunk_words_;
  std::size_t chunk_cells_;  // coordinates of all cells, then counts of all
  ScratchFile file_;
  std::uint64_t length_ = 0;
  std::vector<Bucket> buckets_;
  Buffer<std::uint32_t> memory_;
};

}  // namespace ztp
