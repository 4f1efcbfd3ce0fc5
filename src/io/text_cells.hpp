// Text to cells on disk, for data that need not fit into memory.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/pool.hpp"
#include "io/bucket_sort.hpp"
#include "io/label_files.hpp"
#include "ztp/read.hpp"

namespace ztp {

struct TextCells {
  std::unique_ptr<CellBuckets> buckets;  // in the order of a tensor file; ids are still those of the text
  NewIds new_ids;                        // what labels (--labels) and tied modes (--tie) make of them
};

// Fills in all of `data` but the ones. Calls report(cells so far) now and then; it may throw. Error (input), if there
// are no ones.
TextCells read_text_cells(const ReadOptions& options, const SortSettings& settings, Pool& pool, Dataset& data,
                          const std::function<void(std::uint64_t cells)>& report = {});

// Empties the buckets into others. Calls report(part that is done) now and then.
void move_cells(CellBuckets& from, const NewIds& new_ids, CellBuckets& to, const BucketSort::Report& report = {});

}  // namespace ztp
