#include "io/bucket_sort.hpp"

#include <algorithm>
#include <vector>

#include "tensor/records.hpp"
#include "tensor/shuffle.hpp"

namespace ztp {

BucketSort::BucketSort(const CellOrder& order, const SortSettings& settings, Pool& pool)
    : order_(order), settings_(settings), pool_(pool) {
  const std::size_t cell_bytes = width() * sizeof(std::uint32_t) + (settings.counted ? sizeof(std::int64_t) : 0);
  most_cells_ = std::max<std::size_t>(64, settings.memory / 2 / cell_bytes);
}

std::unique_ptr<CellBuckets> BucketSort::new_buckets(unsigned skip) const {
  return std::make_unique<CellBuckets>(settings_.directory, order_, settings_.counted, skip, settings_.memory / 4);
}

void BucketSort::sort(CellBuckets& buckets, const Use& use, const Report& report) {
  use_ = use;
  report_ = report;
  all_ = done_ = 0;
  for (std::size_t b = 0; b < CellBuckets::count; ++b) all_ += buckets.cells(b);
  sort_from(buckets, 0);
}

// Sorts one bucket per thread at a time, as far as they fit into memory together.
void BucketSort::sort_from(CellBuckets& buckets, unsigned skip) {
  for (std::size_t begin = 0, end = 0; begin < CellBuckets::count; begin = end) {
    std::vector<SortedCells> sorted;
    for (std::uint64_t cells = 0; end < CellBuckets::count && sorted.size() < pool_.threads(); ++end) {
      cells += buckets.cells(end);
      if (cells > most_cells_) break;
      sorted.emplace_back();
    }
    pool_.for_blocks(sorted.size(), [&](std::size_t i) { sort_bucket(buckets, begin + i, most_cells_, sorted[i]); });
    for (std::size_t i = 0; i < sorted.size(); ++i) finish(buckets, begin + i, sorted[i]);
    if (sorted.empty()) sort_large_bucket(buckets, end++, skip);
    if (report_) report_(static_cast<double>(done_) / static_cast<double>(all_));
  }
}

// A bucket that does not fit into memory: either its cells repeat often and fit when merged, or it is split further.
void BucketSort::sort_large_bucket(CellBuckets& buckets, std::size_t bucket, unsigned skip) {
  const unsigned next_skip = skip + CellBuckets::bits;
  {
    SortedCells sorted;
    const bool last = next_skip >= order_.bits();  // no bits of the key are left
    if (sort_bucket(buckets, bucket, last ? std::numeric_limits<std::size_t>::max() : most_cells_, sorted))
      return finish(buckets, bucket, sorted);
  }
  const std::unique_ptr<CellBuckets> finer = new_buckets(next_skip);
  buckets.empty(bucket, [&](std::uint32_t* coords, const std::int64_t* counts, std::size_t cells) {
    finer->add(coords, counts, cells);
    if (report_) report_(static_cast<double>(done_) / static_cast<double>(all_));
  });
  finer->finish();
  sort_from(*finer, next_skip);
}

// False if the cells do not fit into memory even when repeated ones are merged.
bool BucketSort::sort_bucket(const CellBuckets& buckets, std::size_t bucket, std::size_t most_cells,
                             SortedCells& sorted) const {
  const auto merge = [&] {
    sort_and_merge_records(sorted.records, width(), settings_.counted ? &sorted.counts : nullptr);
  };
  Buffer<std::uint32_t> coords;
  Buffer<std::int64_t> counts;
  sorted.records.reserve(std::min<std::uint64_t>(buckets.cells(bucket), most_cells) * width());
  for (std::size_t chunk = 0; chunk < buckets.chunks(bucket); ++chunk) {
    buckets.read(bucket, chunk, coords, counts);
    append(coords.data(), coords.size() / order_.order(), sorted.records);
    sorted.counts.append(counts.data(), counts.size());
    if (sorted.records.size() / width() <= most_cells) continue;
    merge();
    if (sorted.records.size() / width() > most_cells / 2) return false;
  }
  merge();
  return true;
}

void BucketSort::append(const std::uint32_t* coords, std::size_t cells, Buffer<std::uint32_t>& records) const {
  const std::size_t K = order_.order();
  if (!order_.is_shuffled()) return records.append(coords, cells * K);
  records.resize(records.size() + cells * width());
  std::uint32_t* record = records.end() - cells * width();
  for (std::size_t i = 0; i < cells; ++i, record += width()) {
    const std::uint32_t* cell = coords + i * K;
    const std::uint64_t hash = shuffle_hash(cell, K);
    record[0] = static_cast<std::uint32_t>(hash >> 32);
    record[1] = static_cast<std::uint32_t>(hash);
    std::copy(cell, cell + K, record + 2);
  }
}

void BucketSort::finish(CellBuckets& buckets, std::size_t bucket, const SortedCells& sorted) {
  done_ += buckets.cells(bucket);
  use_(sorted);
  buckets.forget(bucket);
}

}  // namespace ztp
