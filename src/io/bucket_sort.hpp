// Sorts cells on disk: bucket by bucket in memory, and those that do not fit there in finer buckets.
#pragma once
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>

#include "base/pool.hpp"
#include "io/cell_buckets.hpp"

namespace ztp {

// Sorted cells, each of them once.
struct SortedCells {
  // Each cell, behind the two words of its hash if the order is by it.
  Buffer<std::uint32_t> records;
  Buffer<std::int64_t> counts;  // added up, if cells are counted
};

struct SortSettings {
  std::string directory;   // for unnamed files
  std::size_t memory = 0;  // bytes, about
  bool counted = false;    // cells have counts
};

class BucketSort {
 public:
  using Use = std::function<void(const SortedCells&)>;
  using Report = std::function<void(double part)>;  // now and then, with the part that is done; may throw

  BucketSort(const CellOrder& order, const SortSettings& settings, Pool& pool);

  std::unique_ptr<CellBuckets> new_buckets(unsigned skip = 0) const;
  // Calls `use` with all cells of the buckets, in order, a part at a time. The buckets are empty then. Cells that occur
  // again are merged.
  void sort(CellBuckets& buckets, const Use& use, const Report& report);

 private:
  std::size_t width() const { return order_.order() + (order_.is_shuffled() ? 2 : 0); }  // of a record, in words
  void sort_from(CellBuckets& buckets, unsigned skip);
  void sort_large_bucket(CellBuckets& buckets, std::size_t bucket, unsigned skip);
  bool sort_bucket(const CellBuckets& buckets, std::size_t bucket, std::size_t most_cells, SortedCells& sorted) const;
  void append(const std::uint32_t* coords, std::size_t cells, Buffer<std::uint32_t>& records) const;
  void finish(CellBuckets& buckets, std::size_t bucket, const SortedCells& sorted);

  CellOrder order_;
  SortSettings settings_;
  Pool& pool_;
  std::size_t most_cells_;  // that are sorted in memory at a time
  Use use_;
  Report report_;
  std::uint64_t all_ = 0, done_ = 0;  // cells, before merging
};

}  // namespace ztp
