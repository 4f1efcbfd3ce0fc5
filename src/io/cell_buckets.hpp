// Cells put aside on the disk, in buckets by the hash that orders a tensor file: the buckets one after the other, each
// of them sorted, are all cells sorted.
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

  // Buckets by the bits of the hash after the first `skip`. Takes about `memory` bytes until finish().
  CellBuckets(const std::string& directory, std::size_t order, bool counted, unsigned skip, std::size_t memory);

  void add(const std::uint32_t* cell, std::int64_t value);
  void finish();  // all to the disk

  // After finish(). A bucket is read chunk by chunk; several threads may read.
  std::uint64_t cells(std::size_t bucket) const { return buckets_[bucket].cells; }
  std::size_t chunks(std::size_t bucket) const { return buckets_[bucket].places.size(); }
  void read(std::size_t bucket, std::size_t chunk, Buffer<std::uint32_t>& coords, Buffer<std::int64_t>& counts) const;
  void forget(std::size_t bucket);  // its room on the disk is free again

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
