#include "io/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "io/formats.hpp"
#include "io/layout.hpp"
#include "io/lines.hpp"
#include "io/parse.hpp"

namespace ztp {

std::vector<const Mode*> columns_of(const std::vector<Mode>& modes) {
  std::vector<const Mode*> columns;
  for (const Mode& mode : modes) columns.push_back(&mode);
  return columns;
}

TableSpec cell_table(const std::string& path, const std::vector<Mode>& modes) {
  TableSpec spec;
  spec.path = path;
  spec.fixed_modes = columns_of(modes);
  spec.header_names_modes = true;
  return spec;
}

TableSpec pair_table(const std::string& path, const Mode& mode) {
  TableSpec spec;
  spec.path = path;
  spec.fixed_modes = {&mode, &mode};
  return spec;
}

// Enough that a slow block does not delay the other threads.
constexpr std::size_t blocks_per_thread = 4;

// Each round parses a batch of blocks while it reads the text of the next batch. Then the labels of all blocks are
// merged, one thread per mode, and ids within a block become ids of the mode.
struct TableReader::Impl {
  Impl(TableSpec table_spec, Pool& team);

  void read_batch();
  bool process_batch();
  void check_block(std::size_t block);
  void merge_labels(std::size_t mode);
  void finish_block(std::size_t block);
  void check_end() const;
  bool discovers_labels() const { return spec.fixed_modes.empty() && !layout.format->numbered; }

  TableSpec spec;
  Pool& pool;
  LineBlocks text;
  FileLayout layout;
  std::vector<TextBlock> batch, ahead;  // the text of this round and of the next
  std::size_t batch_size = 0, ahead_size = 0;
  std::vector<ParsedBlock> parsed;
  std::vector<std::uint64_t> lines_before;                   // each block
  std::vector<std::vector<std::vector<std::uint32_t>>> ids;  // block, mode: id in the block -> id in the mode
  std::size_t yielded = 0;                                   // blocks of this round
  std::vector<Mode> modes;
  std::vector<std::uint64_t> sizes;  // of numbered formats: largest id + 1
  std::uint64_t lines = 0, entries = 0, zeros = 0;
};

TableReader::Impl::Impl(TableSpec table_spec, Pool& team)
    : spec(std::move(table_spec)), pool(team), text(spec.path, spec.block_bytes) {
  try {
    layout = read_layout(text, spec);
  } catch (const BadLine& bad) {
    throw error_at(text.name(), bad);
  }
  lines = text.dropped();
  modes.resize(layout.order);
  for (std::size_t k = 0; k < layout.order; ++k) modes[k].name = layout.names[k];
  sizes.assign(layout.order, 0);
  const std::size_t blocks = blocks_per_thread * pool.threads();
  batch.resize(blocks);
  ahead.resize(blocks);
  parsed.resize(blocks);
  lines_before.resize(blocks);
  ids.assign(blocks, std::vector<std::vector<std::uint32_t>>(layout.order));
  read_batch();
}

void TableReader::Impl::read_batch() {
  ahead_size = 0;
  while (ahead_size < ahead.size() && text.read(ahead[ahead_size])) ++ahead_size;
}

bool TableReader::Impl::process_batch() {
  std::swap(batch, ahead);
  batch_size = ahead_size;
  yielded = 0;
  if (batch_size == 0) {
    check_end();
    return false;
  }
  pool.for_blocks(batch_size + 1, [this](std::size_t task) {
    if (task == 0)
      read_batch();
    else
      parse_block(batch[task - 1], layout, spec, ~std::uint64_t{0}, parsed[task - 1]);
  });
  for (std::size_t b = 0; b < batch_size; ++b) check_block(b);
  if (discovers_labels()) pool.for_blocks(layout.order, [this](std::size_t k) { merge_labels(k); });
  pool.for_blocks(batch_size, [this](std::size_t b) { finish_block(b); });
  return true;
}

// In file order, so that the first error of the file is the one that is reported.
void TableReader::Impl::check_block(std::size_t b) {
  ParsedBlock& block = parsed[b];
  if (layout.cells && (block.bad || entries + block.entries > *layout.cells))
    parse_block(batch[b], layout, spec, *layout.cells - entries, block);  // again, to stop at the first one too many
  if (block.bad) throw error_at(text.name(), *block.bad, lines);
  if (batch[b].failure) std::rethrow_exception(batch[b].failure);
  lines_before[b] = lines;
  lines += block.lines;
  entries += block.entries;
  zeros += block.zeros;
  for (std::size_t k = 0; k < block.sizes.size(); ++k) sizes[k] = std::max(sizes[k], block.sizes[k]);
}

void TableReader::Impl::merge_labels(std::size_t mode) {
  constexpr std::size_t fetch_distance = 12;
  LabelTable& table = modes[mode].labels;
  for (std::size_t b = 0; b < batch_size; ++b) {
    const BlockLabels& labels = parsed[b].labels[mode];
    std::vector<std::uint32_t>& to_mode = ids[b][mode];
    to_mode.resize(labels.size());
    for (std::size_t i = 0; i < labels.size(); ++i) {
      if (i + fetch_distance < labels.size()) table.prefetch(labels[i + fetch_distance].hash);
      try {
        to_mode[i] = table.add(labels[i].label(), labels[i].hash);
      } catch (const Error& error) {
        throw Error(error.kind(), fmt::format("{}: mode {}: {}", text.name(), layout.names[mode], error.what()));
      }
    }
  }
}

void TableReader::Impl::finish_block(std::size_t b) {
  CellBlock& cells = parsed[b].cells;
  for (std::uint64_t& line : cells.lines) line += lines_before[b];
  if (!discovers_labels()) return;
  for (std::size_t k = 0; k < layout.order; ++k) {
    const std::uint32_t* to_mode = ids[b][k].data();
    for (std::size_t i = k; i < cells.coords.size(); i += layout.order) cells.coords[i] = to_mode[cells.coords[i]];
  }
}

void TableReader::Impl::check_end() const {
  if (entries == 0) throw no_data_error(text.name());
  if (layout.cells && entries < *layout.cells)
    throw error_at(text.name(),
                   {layout.cells_line, layout.cells_column,
                    fmt::format("the header announces {} entries, but the file has {}; is the file cut short?",
                                *layout.cells, entries)});
}

TableReader::TableReader(TableSpec spec, Pool& pool) : impl_(std::make_unique<Impl>(std::move(spec), pool)) {}

TableReader::~TableReader() = default;

std::size_t TableReader::order() const {
  return impl_->layout.order;
}

bool TableReader::next(CellBlock& block) {
  while (true) {
    while (impl_->yielded < impl_->batch_size) {
      CellBlock& cells = impl_->parsed[impl_->yielded++].cells;
      if (cells.coords.empty()) continue;
      std::swap(block, cells);
      return true;
    }
    if (!impl_->process_batch()) return false;
  }
}

std::vector<Mode> TableReader::take_modes() {
  if (impl_->spec.fixed_modes.empty() && impl_->layout.format->numbered)
    for (std::size_t k = 0; k < impl_->layout.order; ++k) {
      const std::uint64_t size = impl_->layout.sizes.empty() ? impl_->sizes[k] : impl_->layout.sizes[k];
      impl_->modes[k].labels = LabelTable::numbered(impl_->layout.base, static_cast<std::uint32_t>(size));
    }
  return std::move(impl_->modes);
}

std::uint64_t TableReader::zero_cells() const {
  return impl_->zeros;
}

double TableReader::bytes(double cells, std::size_t order, unsigned threads) {
  constexpr double of_thread = 13 << 20;  // measured: blocks of text and their cells in flight
  return std::min(of_thread * threads, 15 * cells * static_cast<double>(order));
}

std::vector<Mode> read_coords(const TableSpec& spec, Pool& pool, Buffer<std::uint32_t>& to) {
  TableReader reader(spec, pool);
  CellBlock block;
  while (reader.next(block)) to.append(block.coords.data(), block.coords.size());
  return reader.take_modes();
}

}  // namespace ztp
