#include "io/ones_on_disk.hpp"

#include <algorithm>

#include "io/assemble.hpp"
#include "io/text_cells.hpp"
#include "ztp/tensor_file.hpp"

namespace ztp {
namespace {

// A list that is written to a file without a name, and then memory-mapped.
template <class T>
class ListOnDisk {
 public:
  explicit ListOnDisk(const std::string& directory) : file_(directory) {}
  void append(const Buffer<T>& values) {
    file_.append(values.data(), values.size() * sizeof(T));
    size_ += values.size();
  }
  Buffer<T> mapped() const {
    if (size_ == 0) return {};
    const std::shared_ptr<void> memory = file_.map();
    return Buffer<T>::of(memory, static_cast<T*>(memory.get()), size_);
  }

 private:
  ScratchFile file_;
  std::size_t size_ = 0;
};

SortSettings settings_for(std::uint64_t cells, std::size_t K, const ReadOptions& options, const SortSpace& space) {
  const double bytes = static_cast<double>(cells) * static_cast<double>(4 * K + (options.counts ? 8 : 0));
  return {space.directory, static_cast<std::size_t>(sort_memory(bytes, space.memory)), options.counts};
}

// Sorts and merges what is in the buckets, and fills in all of data.tensor but its modes.
void sort_buckets(BucketSort& sort, CellBuckets& buckets, const ReadOptions& options, const SortSpace& space,
                  Dataset& data) {
  ListOnDisk<std::uint32_t> coords(space.directory);
  ListOnDisk<std::int64_t> counts(space.directory);
  const auto append = [&](const SortedCells& cells) {
    coords.append(cells.records);
    counts.append(cells.counts);
  };
  sort.sort(buckets, append, {});
  data.tensor.coords = coords.mapped();
  data.tensor.counts = counts.mapped();
  data.duplicates = data.lines - data.tensor.nnz();
  for (std::string& warning : cell_warnings({options.file, options.counts}, data.duplicates, data.zeros))
    data.warnings.push_back(std::move(warning));
}

void add_ones_of_file(const TensorFile& file, const ReadOptions& options, const NewIds& new_ids, Pool& pool,
                      CellBuckets& buckets) {
  constexpr std::size_t ones_at_a_time = 1 << 20;
  const std::size_t K = file.order(), of_block = file.ones_per_block();
  const Blocks chunks{file.ones(), std::max<std::size_t>(1, ones_at_a_time / of_block) * of_block};
  Buffer<std::uint32_t> coords;
  Buffer<std::int64_t> counts;
  std::int64_t total = 0;
  for (std::size_t c = 0; c < chunks.count(); ++c) {
    const std::size_t first = chunks.begin(c), ones = chunks.end(c) - first;
    coords.resize(ones * K);
    counts.resize(options.counts ? ones : 0);
    const Blocks blocks{ones, of_block};
    pool.for_blocks(blocks.count(), [&](std::size_t b) {
      const std::size_t at = blocks.begin(b);
      file.read(first + at, blocks.end(b) - at, coords.data() + at * K, options.counts ? counts.data() + at : nullptr);
    });
    for (const std::int64_t count : counts) add_to_total(total, count, options.file);
    renumber(coords.data(), ones, new_ids);
    buckets.add(coords.data(), options.counts ? counts.data() : nullptr, ones);
  }
  buckets.finish();
}

}  // namespace

double sort_memory(double bytes_of_ones, double memory) {
  constexpr double enough = 256 << 20;
  return std::min(std::max(enough, bytes_of_ones / 16), memory / 8);
}

void sort_text(const ReadOptions& options, const SortSpace& space, Pool& pool, Dataset& data) {
  TextCells cells = read_text_cells(options, settings_for(0, 0, options, space), pool, data);
  BucketSort sort(CellOrder::by_ids(data.tensor.modes), settings_for(data.lines, data.tensor.order(), options, space),
                  pool);
  const std::unique_ptr<CellBuckets> buckets = sort.new_buckets();
  move_cells(*cells.buckets, cells.new_ids, *buckets);
  cells = {};
  sort_buckets(sort, *buckets, options, space, data);
}

void sort_tensor_file(const TensorFile& file, const ReadOptions& options, const SortSpace& space, Pool& pool,
                      Dataset& data) {
  NewIds new_ids(file.order());
  tie_labels(options.tie, data.tensor.modes, new_ids);
  BucketSort sort(CellOrder::by_ids(data.tensor.modes), settings_for(file.ones(), file.order(), options, space), pool);
  const std::unique_ptr<CellBuckets> buckets = sort.new_buckets();
  add_ones_of_file(file, options, new_ids, pool, *buckets);
  sort_buckets(sort, *buckets, options, space, data);
}

}  // namespace ztp
