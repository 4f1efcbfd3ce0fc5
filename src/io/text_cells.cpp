#include "io/text_cells.hpp"

#include "base/errors.hpp"
#include "io/assemble.hpp"
#include "io/read.hpp"

namespace ztp {
namespace {

// For each mode, which ids occur.
using UsedBits = std::vector<std::vector<bool>>;

void mark_used(const Buffer<std::uint32_t>& coords, UsedBits& used) {
  for (std::size_t i = 0; i < coords.size(); ++i) {
    std::vector<bool>& of_mode = used[i % used.size()];
    if (of_mode.size() <= coords[i]) of_mode.resize(coords[i] + std::size_t{1}, false);
    of_mode[coords[i]] = true;
  }
}

std::vector<std::uint32_t> marked(const std::vector<bool>& used) {
  std::vector<std::uint32_t> ids;
  for (std::size_t id = 0; id < used.size(); ++id)
    if (used[id]) ids.push_back(static_cast<std::uint32_t>(id));
  return ids;
}

}  // namespace

TextCells read_text_cells(const ReadOptions& options, const SortSettings& settings, Pool& pool, Dataset& data,
                          const std::function<void(std::uint64_t)>& report) {
  LabelLists lists = read_label_files(options.labels);  // first, so that mistakes are found before the long work
  TableReader reader(tensor_table(options), pool);
  const std::size_t K = reader.order();
  TextCells cells;
  cells.buckets = BucketSort(CellOrder::shuffled(K), settings, pool).new_buckets();
  UsedBits used(K);
  std::int64_t total = 0;
  CellBlock block;
  while (reader.next(block)) {
    const std::size_t count = block.cells(K);
    for (std::size_t i = 0; i < count && options.counts; ++i) add_to_total(total, block.values[i], options.file);
    cells.buckets->add(block.coords.data(), options.counts ? block.values.data() : nullptr, count);
    if (!lists.empty()) mark_used(block.coords, used);
    data.lines += count;
    if (report) report(data.lines);
  }
  if (data.lines == 0) throw input_error("{}: no ones: every value is zero", options.file);
  cells.buckets->finish();
  data.zeros = reader.zero_cells();
  data.tensor.modes = reader.take_modes();
  log_file(reader, "ones", data);
  warn_of_value_column(options, data);
  cells.new_ids = apply_labels(
      std::move(lists), options, [&](std::size_t k) { return marked(used[k]); }, data);
  return cells;
}

void move_cells(CellBuckets& from, const NewIds& new_ids, CellBuckets& to, const BucketSort::Report& report) {
  for (std::size_t b = 0; b < CellBuckets::count; ++b)
    from.empty(b, [&](std::uint32_t* coords, const std::int64_t* counts, std::size_t cells) {
      renumber(coords, cells, new_ids);
      to.add(coords, counts, cells);
      if (report) report(static_cast<double>(b) / CellBuckets::count);
    });
  to.finish();
}

}  // namespace ztp
