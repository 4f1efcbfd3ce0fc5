#include "ztp/convert.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <memory>

#include "base/errors.hpp"
#include "io/assemble.hpp"
#include "io/cell_buckets.hpp"
#include "io/read.hpp"
#include "tensor/records.hpp"
#include "tensor/shuffle.hpp"
#include "tensor/tensor_writer.hpp"
#include "ztp/tensor_file.hpp"

namespace ztp {
namespace {

namespace fs = std::filesystem;

struct Stopped {};

// Cells with their hash in front, sorted and merged.
struct SortedCells {
  Buffer<std::uint32_t> records;  // cells x (2 + K): the hash, high word first, then the cell
  Buffer<std::int64_t> counts;
};

// Reads all cells into buckets, then sorts and writes one bucket after the other.
class Converter {
 public:
  Converter(const ReadOptions& options, const std::string& out, const ConvertOptions& settings,
            const ConvertProgress& progress, const std::function<bool()>& stop)
      : options_(options), out_(out), settings_(settings), progress_(progress), stop_(stop), pool_(options.threads) {}

  ConvertSummary run();

 private:
  std::unique_ptr<CellBuckets> new_buckets(unsigned skip) const {
    return std::make_unique<CellBuckets>(fs::path(out_).parent_path().string(), order_, options_.counts, skip,
                                         settings_.memory / 4);
  }
  std::unique_ptr<CellBuckets> read_cells();
  std::unique_ptr<CellBuckets> apply_labels(LabelLists lists, std::unique_ptr<CellBuckets> buckets);
  void move_bucket(CellBuckets& from, std::size_t bucket, const NewIds& new_ids, CellBuckets& to);
  void write_buckets(CellBuckets& buckets, unsigned skip);
  void write_large_bucket(CellBuckets& buckets, std::size_t bucket, unsigned skip);
  bool sort_bucket(const CellBuckets& buckets, std::size_t bucket, std::size_t most_cells, SortedCells& sorted) const;
  void write(CellBuckets& buckets, std::size_t bucket, const SortedCells& sorted);
  void report(const std::string& what, double part) const {
    if (stop_ && stop_()) throw Stopped();
    if (progress_) progress_(what, part);
  }

  const ReadOptions& options_;
  const std::string& out_;
  const ConvertOptions& settings_;
  const ConvertProgress& progress_;
  const std::function<bool()>& stop_;
  Pool pool_;
  std::size_t order_ = 0;
  std::size_t most_cells_ = 0;           // that are sorted in memory at a time
  std::vector<std::vector<bool>> used_;  // for each mode the ids that occur, if there are label lists
  std::vector<Mode> modes_;
  std::unique_ptr<TensorWriter> writer_;
  std::uint64_t written_ = 0;  // cells, before merging
  ConvertSummary summary_;
};

ConvertSummary Converter::run() {
  LabelLists lists = read_label_files(options_.labels);  // first, so that mistakes are found before the long work
  std::unique_ptr<CellBuckets> buckets = read_cells();
  if (!lists.empty() || !options_.tie.empty()) buckets = apply_labels(std::move(lists), std::move(buckets));
  const std::size_t cell_bytes = (2 + order_) * sizeof(std::uint32_t) + (options_.counts ? sizeof(std::int64_t) : 0);
  most_cells_ = std::max<std::size_t>(64, settings_.memory / 2 / cell_bytes);
  writer_ = std::make_unique<TensorWriter>(out_, modes_, options_.counts, settings_.ones_per_block);
  write_buckets(*buckets, 0);
  report("finishing", std::numeric_limits<double>::quiet_NaN());
  writer_->commit();
  summary_.ones = writer_->ones();
  summary_.total_count = writer_->total_count();
  summary_.duplicates = summary_.lines - summary_.ones;
  summary_.blocks = writer_->blocks();
  summary_.bytes = writer_->bytes();
  summary_.fingerprint = writer_->fingerprint();
  for (const Mode& mode : modes_) summary_.modes.emplace_back(mode.name, mode.labels.size());
  summary_.warnings = cell_warnings({options_.file, options_.counts}, summary_.duplicates, summary_.zeros);
  return std::move(summary_);
}

std::unique_ptr<CellBuckets> Converter::read_cells() {
  TableReader reader(tensor_table(options_), pool_);
  order_ = reader.order();
  if (!options_.labels.empty()) used_.resize(order_);
  std::unique_ptr<CellBuckets> buckets = new_buckets(0);
  std::int64_t total = 0;
  CellBlock block;
  while (reader.next(block)) {
    const std::size_t cells = block.cells(order_);
    for (std::size_t i = 0; i < cells; ++i) {
      const std::int64_t count = options_.counts ? block.values[i] : 1;
      if (options_.counts) add_to_total(total, count, options_.file);
      buckets->add(block.coords.data() + i * order_, count);
    }
    for (std::size_t i = 0; i < block.coords.size() && !used_.empty(); ++i) {
      std::vector<bool>& used = used_[i % order_];
      if (used.size() <= block.coords[i]) used.resize(block.coords[i] + std::size_t{1}, false);
      used[block.coords[i]] = true;
    }
    summary_.lines += cells;
    report(fmt::format("reading, {} million cells", summary_.lines / 1000000),
           std::numeric_limits<double>::quiet_NaN());
  }
  if (summary_.lines == 0) throw input_error("{}: no ones: every value is zero", options_.file);
  summary_.zeros = reader.zero_cells();
  modes_ = reader.take_modes();
  buckets->finish();
  return buckets;
}

// New ids have other hashes, so all cells are distributed to buckets again.
std::unique_ptr<CellBuckets> Converter::apply_labels(LabelLists lists, std::unique_ptr<CellBuckets> buckets) {
  const auto used_ids = [&](std::size_t k) {
    std::vector<std::uint32_t> ids;
    for (std::size_t id = 0; id < used_[k].size(); ++id)
      if (used_[k][id]) ids.push_back(static_cast<std::uint32_t>(id));
    return ids;
  };
  const bool listed = !lists.empty();
  NewIds new_ids = apply_label_lists(std::move(lists), modes_, used_ids, options_.file);
  if (!tie_labels(options_.tie, modes_, new_ids) && !listed) return buckets;
  std::unique_ptr<CellBuckets> renumbered = new_buckets(0);
  for (std::size_t b = 0; b < CellBuckets::count; ++b) {
    move_bucket(*buckets, b, new_ids, *renumbered);
    report("applying labels", static_cast<double>(b) / CellBuckets::count);
  }
  renumbered->finish();
  return renumbered;
}

void Converter::move_bucket(CellBuckets& from, std::size_t bucket, const NewIds& new_ids, CellBuckets& to) {
  Buffer<std::uint32_t> coords;
  Buffer<std::int64_t> counts;
  for (std::size_t chunk = 0; chunk < from.chunks(bucket); ++chunk) {
    from.read(bucket, chunk, coords, counts);
    const std::size_t cells = coords.size() / order_;
    renumber(coords.data(), cells, new_ids);
    for (std::size_t i = 0; i < cells; ++i) to.add(coords.data() + i * order_, options_.counts ? counts[i] : 1);
    if (stop_ && stop_()) throw Stopped();
  }
  from.forget(bucket);
}

// Sorts one bucket per thread at a time, as far as they fit into memory together.
void Converter::write_buckets(CellBuckets& buckets, unsigned skip) {
  for (std::size_t begin = 0, end = 0; begin < CellBuckets::count; begin = end) {
    std::vector<SortedCells> sorted;
    for (std::uint64_t cells = 0; end < CellBuckets::count && sorted.size() < pool_.threads(); ++end) {
      cells += buckets.cells(end);
      if (cells > most_cells_) break;
      sorted.emplace_back();
    }
    pool_.for_blocks(sorted.size(), [&](std::size_t i) { sort_bucket(buckets, begin + i, most_cells_, sorted[i]); });
    for (std::size_t i = 0; i < sorted.size(); ++i) write(buckets, begin + i, sorted[i]);
    if (sorted.empty()) write_large_bucket(buckets, end++, skip);
    report("sorting", static_cast<double>(written_) / static_cast<double>(summary_.lines));
  }
}

// A bucket that does not fit into memory: either its cells repeat often and fit when merged, or it is split further.
void Converter::write_large_bucket(CellBuckets& buckets, std::size_t bucket, unsigned skip) {
  const unsigned next_skip = skip + CellBuckets::bits;
  {
    SortedCells sorted;
    const bool last = next_skip >= 64;  // no bits of the hash are left
    if (sort_bucket(buckets, bucket, last ? std::numeric_limits<std::size_t>::max() : most_cells_, sorted))
      return write(buckets, bucket, sorted);
  }
  const std::unique_ptr<CellBuckets> finer = new_buckets(next_skip);
  move_bucket(buckets, bucket, NewIds(order_), *finer);
  finer->finish();
  write_buckets(*finer, next_skip);
}

// False if the cells do not fit into memory even when repeated ones are merged.
bool Converter::sort_bucket(const CellBuckets& buckets, std::size_t bucket, std::size_t most_cells,
                            SortedCells& sorted) const {
  const std::size_t width = 2 + order_;
  const auto merge = [&] { sort_and_merge_records(sorted.records, width, options_.counts ? &sorted.counts : nullptr); };
  Buffer<std::uint32_t> coords;
  Buffer<std::int64_t> counts;
  sorted.records.reserve(std::min<std::uint64_t>(buckets.cells(bucket), most_cells) * width);
  for (std::size_t chunk = 0; chunk < buckets.chunks(bucket); ++chunk) {
    buckets.read(bucket, chunk, coords, counts);
    const std::size_t cells = coords.size() / order_;
    sorted.records.resize(sorted.records.size() + cells * width);
    std::uint32_t* record = sorted.records.end() - cells * width;
    for (std::size_t i = 0; i < cells; ++i, record += width) {
      const std::uint32_t* cell = coords.data() + i * order_;
      const std::uint64_t hash = shuffle_hash(cell, order_);
      record[0] = static_cast<std::uint32_t>(hash >> 32);
      record[1] = static_cast<std::uint32_t>(hash);
      std::copy(cell, cell + order_, record + 2);
    }
    sorted.counts.append(counts.data(), counts.size());
    if (sorted.records.size() / width <= most_cells) continue;
    merge();
    if (sorted.records.size() / width > most_cells / 2) return false;
  }
  merge();
  return true;
}

void Converter::write(CellBuckets& buckets, std::size_t bucket, const SortedCells& sorted) {
  const std::size_t width = 2 + order_;
  for (std::size_t i = 0; i * width < sorted.records.size(); ++i)
    writer_->add(sorted.records.data() + i * width + 2, options_.counts ? sorted.counts[i] : 1);
  written_ += buckets.cells(bucket);
  buckets.forget(bucket);
}

void check_request(const ReadOptions& options, const std::string& out, bool force) {
  if (!options.networks.empty() || !options.missing.empty() || !options.missing_slices.empty() ||
      !options.missing_pairs.empty())
    throw usage_error("networks and missing cells are not converted; give them to the fit");
  if (TensorFile::recognises(options.file))
    throw config_error("{}: made by 'ztp convert' already; use it as it is", options.file);
  std::error_code no_access;
  const fs::file_status status = fs::status(out, no_access);
  if (!fs::exists(status)) return;
  if (!fs::is_regular_file(status)) throw config_error("{}: exists and is no file", out);
  if (!force) throw config_error("{}: exists; --force replaces it", out);
}

}  // namespace

ConvertSummary convert(const ReadOptions& options, const std::string& out, const ConvertOptions& convert_options,
                       const ConvertProgress& progress, const std::function<bool()>& stop) {
  check_request(options, out, convert_options.force);
  try {
    return Converter(options, out, convert_options, progress, stop).run();
  } catch (const Stopped&) {
    ConvertSummary summary;
    summary.stopped = true;
    return summary;
  }
}

}  // namespace ztp
