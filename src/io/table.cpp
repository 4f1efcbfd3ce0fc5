#include "io/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
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
  spec.unknown_remedy = "to predict entities without ones, list them with --labels in the fit";
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
  void throw_first_error(std::size_t blocks);
  void merge_labels(std::size_t mode);
  void finish_block(std::size_t block);
  void check_end() const;
  bool discovers_labels() const { return !is_closed(spec) && !layout.format->numbered; }

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
  UnknownLines unknown;
  std::uint64_t lines_before_round = 0;
  std::atomic<bool> not_utf8_found = false;
};

void UnknownLines::add_label(const std::string& label) {
  if (labels.size() < most_labels && std::find(labels.begin(), labels.end(), label) == labels.end())
    labels.push_back(label);
}

void UnknownLines::add(const UnknownLines& others) {
  lines += others.lines;
  for (const std::string& label : others.labels) add_label(label);
}

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
  lines_before_round = lines;
  for (std::size_t b = 0; b < batch_size; ++b) check_block(b);
  if (discovers_labels()) pool.for_blocks(layout.order, [this](std::size_t k) { merge_labels(k); });
  if (not_utf8_found) throw_first_error(batch_size);
  pool.for_blocks(batch_size, [this](std::size_t b) { finish_block(b); });
  return true;
}

// In file order, so that the first error of the file is the one that is reported.
void TableReader::Impl::check_block(std::size_t b) {
  ParsedBlock& block = parsed[b];
  if (layout.cells && (block.bad || entries + block.entries > *layout.cells))
    parse_block(batch[b], layout, spec, *layout.cells - entries, block);  // again, to stop at the first one too many
  if ((block.bad || batch[b].failure) && discovers_labels()) throw_first_error(b + 1);
  if (block.bad) throw error_at(text.name(), *block.bad, lines);
  if (batch[b].failure) std::rethrow_exception(batch[b].failure);
  lines_before[b] = lines;
  lines += block.lines;
  entries += block.entries;
  zeros += block.zeros;
  unknown.add(block.unknown);
  for (std::size_t k = 0; k < block.sizes.size(); ++k) sizes[k] = std::max(sizes[k], block.sizes[k]);
}

// Labels are checked when they are merged, where few are new. If one is not UTF-8, or a block is bad, this looks for
// the first error of the file, in the first blocks of this round.
void TableReader::Impl::throw_first_error(std::size_t blocks) {
  layout.checks_utf8 = true;
  std::uint64_t before = lines_before_round;
  for (std::size_t b = 0; b < blocks; ++b) {
    parse_block(batch[b], layout, spec, ~std::uint64_t{0}, parsed[b]);
    if (parsed[b].bad) throw error_at(text.name(), *parsed[b].bad, before);
    before += parsed[b].lines;
  }
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
      const std::uint32_t before = table.size();
      try {
        to_mode[i] = table.add(labels[i].label(), labels[i].hash);
      } catch (const Error& error) {
        throw Error(error.kind(), fmt::format("{}: mode {}: {}", text.name(), layout.names[mode], error.what()));
      }
      if (to_mode[i] == before && !is_utf8(labels[i].label())) not_utf8_found = true;
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
                    fmt::format("the header announces {} entries, but the file has {}; is the file incomplete?",
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
  const FileLayout& layout = impl_->layout;
  for (std::size_t k = 0; k < layout.order && layout.format->numbered && !is_closed(impl_->spec); ++k) {
    const std::uint64_t size = layout.sizes.empty() ? impl_->sizes[k] : layout.sizes[k];
    impl_->modes[k].labels =
        LabelTable::numbered(first_index(layout, impl_->spec, k), static_cast<std::uint32_t>(size));
  }
  return std::move(impl_->modes);
}

std::uint64_t TableReader::zero_cells() const {
  return impl_->zeros;
}

const FileLayout& TableReader::layout() const {
  return impl_->layout;
}

FileSummary TableReader::summary(const std::string& use) const {
  const FileLayout& layout = impl_->layout;
  const auto place = std::find(std::begin(text_formats), std::end(text_formats), layout.format);
  return {.file = impl_->text.name(),
          .use = use,
          .format = static_cast<FileFormat>(place - std::begin(text_formats)),
          .separator = layout.columns_by.separator,
          .header = layout.header,
          .columns = layout.names,
          .values = layout.has_value};
}

const UnknownLines& TableReader::unknown_lines() const {
  return impl_->unknown;
}

double TableReader::bytes(double cells, std::size_t order, unsigned threads) {
  constexpr double of_thread = 13 << 20;  // measured: blocks of text and their cells in flight
  return std::min(of_thread * threads, 15 * cells * static_cast<double>(order));
}

std::vector<Mode> read_coords(TableReader& reader, Buffer<std::uint32_t>& to) {
  CellBlock block;
  while (reader.next(block)) to.append(block.coords.data(), block.coords.size());
  return reader.take_modes();
}

}  // namespace ztp
