#include "io/read.hpp"

#include <malloc.h>

#include <algorithm>
#include <deque>
#include <numeric>
#include <utility>

#include "base/errors.hpp"
#include "io/assemble.hpp"
#include "io/column_hints.hpp"
#include "io/flags.hpp"
#include "io/formats.hpp"
#include "io/grow_modes.hpp"
#include "io/layout.hpp"
#include "io/lines.hpp"
#include "tensor/records.hpp"

namespace ztp {

void log_file(const TableReader& reader, const std::string& use, Dataset& data) {
  const FileSummary& file = data.files.emplace_back(reader.summary(use));
  const FileLayout& layout = reader.layout();
  if (!layout.note.empty()) data.notes.push_back(file.file + ": " + layout.note);
  if (!layout.warning.empty()) data.warnings.push_back(file.file + ": " + layout.warning);
}

void warn_of_value_column(const ReadOptions& options, Dataset& data) {
  if (std::string hint = value_column_hint(options, data.tensor.modes); !hint.empty()) data.warnings.push_back(hint);
}

NewIds apply_labels(LabelLists lists, const ReadOptions& options, const UsedIds& used_ids, Dataset& data) {
  for (const LabelList& list : lists) data.files.push_back(list.file);
  NewIds new_ids = apply_label_lists(std::move(lists), data.tensor.modes, used_ids, options.file, data.notes);
  tie_labels(options.tie, data.tensor.modes, new_ids);
  return new_ids;
}

namespace {

// Reads cells or pairs of known modes, which get the entities that they do not have yet.
class SideFiles {
 public:
  SideFiles(const ReadOptions& options, Pool& pool, Dataset& data)
      : pool_(pool), data_(data), open_(data.tensor.modes, options.tie) {}

  // Pairs of entities of mode k.
  Buffer<std::uint32_t> read_pairs(TableSpec spec, std::size_t k, const std::string& use) {
    Buffer<std::uint32_t> pairs = read(spec, {k, k}, use);
    const std::uint32_t old_size = sizes_before_[k];
    const Counts counts = count(pairs, 1, 0, k, old_size);
    require_known(spec.path, k, counts, pairs);
    const bool doubtful = 2 * counts.unknown > counts.named;
    tell(spec.path, k, counts, doubtful ? "; is it the right file?" : "", doubtful ? data_.warnings : data_.notes);
    return pairs;
  }

  Buffer<std::uint32_t> read_cells(TableSpec spec, const std::string& use) {
    const std::size_t K = data_.tensor.order();
    std::vector<std::size_t> columns(K);
    std::iota(columns.begin(), columns.end(), std::size_t{0});
    Buffer<std::uint32_t> cells = read(spec, columns, use);
    std::vector<Counts> counts;
    bool any_known = false;
    for (std::size_t k = 0; k < K; ++k) {
      counts.push_back(count(cells, K, k, k, sizes_before_[k]));
      any_known |= counts[k].unknown < counts[k].named;
    }
    if (!any_known)
      throw input_error("{}: none of the entities in this file is known; is it the right file, with the columns {}?",
                        spec.path, mode_list(data_.tensor.modes));
    for (std::size_t k = 0; k < K; ++k) tell(spec.path, k, counts[k], "", data_.notes);
    return cells;
  }

  // Entities of mode k whose cells are all missing.
  void read_slices(const std::string& path, std::size_t k, std::vector<ListedEntity>& listed) {
    const Mode& mode = data_.tensor.modes[k];
    const std::string& source = slice_files_.emplace_back(path);
    const std::uint32_t old_size = mode.labels.size();
    Counts counts;
    const auto take = [&](std::string_view label, std::uint64_t line) {
      const std::uint32_t id = open_.find_or_add(k, label, fmt::format("{}:{}:1", path, line));
      listed.push_back({id, &source, line});
      ++counts.named;
    };
    const auto known = [&](std::string_view label) { return mode.labels.find(label).has_value(); };
    data_.files.push_back(read_entity_list(path, mode.name, "missing slices", {take, known}));
    counts.added = mode.labels.size() - old_size;
    tell(path, k, counts, "", data_.notes);
  }

 private:
  struct Counts {
    std::size_t named = 0, unknown = 0;  // entities that a file names, and those of them that are new
    std::size_t added = 0;               // to a mode of numbers, also the numbers in between
  };

  Buffer<std::uint32_t> read(TableSpec& spec, const std::vector<std::size_t>& columns, const std::string& use) {
    spec.open = true;
    sizes_before_ = data_.tensor.sizes();
    TableReader reader(spec, pool_);
    Buffer<std::uint32_t> ids;
    const std::vector<Mode> found = read_coords(reader, ids);
    log_file(reader, use, data_);
    open_.translate(found, columns, spec.path, ids);
    return ids;
  }

  // Of column c of K, and mode k.
  Counts count(const Buffer<std::uint32_t>& coords, std::size_t K, std::size_t c, std::size_t k,
               std::uint32_t old_size) const {
    const std::vector<std::uint32_t> ids =
        occurring_ids(coords.data(), coords.size() / K, K, c, data_.tensor.modes[k].labels.size());
    const auto first_new = std::lower_bound(ids.begin(), ids.end(), old_size);
    return {ids.size(), static_cast<std::size_t>(ids.end() - first_new),
            data_.tensor.modes[k].labels.size() - old_size};
  }

  void require_known(const std::string& path, std::size_t k, const Counts& counts,
                     const Buffer<std::uint32_t>& pairs) const {
    if (counts.unknown < counts.named || counts.named == 0) return;
    const Mode& mode = data_.tensor.modes[k];
    throw input_error(
        "{0}: none of the entities in this file (such as {1}) is known in mode {2}; is it the right file? If it is, "
        "list its entities with --labels {2}=FILE",
        path, ztp::quoted(mode.labels[pairs[0]]), mode.name);
  }

  void tell(const std::string& path, std::size_t k, const Counts& counts, const std::string& question,
            std::vector<std::string>& to) const {
    if (counts.added == 0) return;
    to.push_back(fmt::format(
        "{}: adds {} to mode {}{}{}", path, entities_text(counts.added), data_.tensor.modes[k].name,
        counts.added < counts.named ? fmt::format(", of the {} that it names", counts.named) : "", question));
  }

  Pool& pool_;
  Dataset& data_;
  OpenModes open_;
  std::vector<std::uint32_t> sizes_before_;
  std::deque<std::string> slice_files_;  // which listed entities point to
};

Network read_network(const std::string& item, SideFiles& side_files, const SparseTensor& tensor) {
  const auto [mode_name, file] = split_assignment(item, "--network");
  Network network;
  network.mode = mode_of_flag(tensor.modes, mode_name, "--network " + item);
  network.source = file;
  network.edges = side_files.read_pairs(pair_table(file, tensor.modes[network.mode]), network.mode, "network");
  return network;
}

// Ones that do not fit into memory stay in a tensor file, and are fitted from there.
void require_memory_for(const ReadOptions& options, double ones, std::size_t order) {
  const double bytes = ones * static_cast<double>(4 * order + (options.counts ? 8 : 0));
  if (options.memory == 0 || bytes <= options.memory) return;
  throw config_error(
      "{}: its ones need more than the {:.3g} GiB of memory that are available or allowed (--memory); convert the file "
      "with 'ztp convert', and fit the result with --method online, which keeps the ones on disk",
      options.file, options.memory / (1 << 30));
}

// Reads all cells of the tensor file, in file order.
void read_cells(const ReadOptions& options, Pool& pool, Dataset& data) {
  TableReader reader(tensor_table(options), pool);
  SparseTensor& tensor = data.tensor;
  CellBlock block;
  while (reader.next(block)) {
    tensor.coords.append(block.coords.data(), block.coords.size());
    require_memory_for(options, static_cast<double>(tensor.coords.size() / reader.order()), reader.order());
    if (options.counts) tensor.counts.append(block.values.data(), block.values.size());
  }
  data.zeros = reader.zero_cells();
  tensor.modes = reader.take_modes();
  data.lines = tensor.nnz();
  log_file(reader, "ones", data);
  warn_of_value_column(options, data);
}

// Error, if flags for text files are given: they were applied by 'ztp convert'.
void refuse_text_flags(const ReadOptions& options) {
  const auto refuse = [&](bool given, const char* flag) {
    if (given) throw usage_error("{} is not used with {}; give it to 'ztp convert'", flag, options.file);
  };
  refuse(options.format.has_value(), "--format");
  refuse(options.header.has_value(), options.header.value_or(true) ? "--header" : "--no-header");
  refuse(options.values, "--values");
  refuse(options.index_base != 1, "--index-base");
  refuse(!options.labels.empty(), "--labels");
}

// Opens a tensor file, and fills in all but its ones.
std::shared_ptr<const TensorFile> open_tensor_file(const ReadOptions& options, Pool& pool, Dataset& data) {
  refuse_text_flags(options);
  auto file = std::make_shared<const TensorFile>(options.file);
  if (options.counts && !file->has_counts())
    throw config_error(
        "{}: converted without counts; convert the data again with --likelihood count, or use --likelihood binary",
        options.file);
  data.tensor.modes = file->modes();
  const bool looks_up = !options.networks.empty() || !options.missing.empty() || !options.missing_slices.empty();
  if (!options.stream || looks_up) index_labels(data.tensor.modes, options.file, pool);
  data.lines = file->ones();
  warn_of_value_column(options, data);
  return file;
}

void load_ones(const TensorFile& file, const ReadOptions& options, Pool& pool, SparseTensor& tensor) {
  require_memory_for(options, static_cast<double>(file.ones()), file.order());
  tensor.coords.resize(file.ones() * file.order());
  if (options.counts) tensor.counts.resize(file.ones());
  const Blocks blocks{file.ones(), file.ones_per_block()};
  pool.for_blocks(blocks.count(), [&](std::size_t b) {
    const std::size_t first = blocks.begin(b);
    file.read(first, blocks.end(b) - first, tensor.coords.data() + first * file.order(),
              options.counts ? tensor.counts.data() + first : nullptr);
  });
}

// Sorts and merges ones that were read into memory.
void sort_in_memory(const ReadOptions& options, Dataset& data) {
  SparseTensor& tensor = data.tensor;
  const auto used_ids = [&](std::size_t k) {
    return occurring_ids(tensor.coords.data(), tensor.nnz(), tensor.order(), k, tensor.modes[k].labels.size());
  };
  const NewIds new_ids = apply_labels(read_label_files(options.labels), options, used_ids, data);
  renumber(tensor.coords.data(), tensor.nnz(), new_ids);
  normalize_ones({options.file, options.counts}, data);
}

// Fills in modes and ones. `space`: where the ones are kept, if not in memory.
void read_ones(const ReadOptions& options, const SortSpace* space, Pool& pool, Dataset& data) {
  // A .ztpt file with a damaged start must not be read as text.
  if (TensorFile::recognises(options.file) || options.file.ends_with(".ztpt")) {
    std::shared_ptr<const TensorFile> file = open_tensor_file(options, pool, data);
    if (options.stream) {  // the file has settled which modes are tied
      data.file_ones = file->ones();
      data.file = std::move(file);
      return;
    }
    if (space != nullptr) return sort_tensor_file(*file, options, *space, pool, data);
    load_ones(*file, options, pool, data.tensor);
  } else {
    if (space != nullptr) return sort_text(options, *space, pool, data);
    read_cells(options, pool, data);
  }
  require_ones(data, options.file);
  sort_in_memory(options, data);
}

void read_slices(const ReadOptions& options, SideFiles& side_files, Dataset& data) {
  const SparseTensor& tensor = data.tensor;
  std::vector<std::vector<ListedEntity>> listed(tensor.order());
  for (const std::string& item : options.missing_slices) {
    const auto [mode_name, file] = split_assignment(item, "--missing-slices");
    const std::size_t k = mode_of_flag(tensor.modes, mode_name, "--missing-slices " + item);
    side_files.read_slices(file, k, listed[k]);
  }
  for (std::size_t k = 0; k < tensor.order(); ++k) set_missing_slices(k, listed[k], options.file, data);
}

void read_missing_pairs(const std::string& item, SideFiles& side_files, Dataset& data) {
  const auto [name, file] = split_assignment(item, "--missing-pairs");
  Network& network = network_of_flag(name, "--missing-pairs " + item, "give it with --network " + name + "=FILE", data);
  TableSpec spec = pair_table(file, data.tensor.modes[network.mode]);
  spec.optional_value = true;
  const Buffer<std::uint32_t> pairs = side_files.read_pairs(spec, network.mode, "missing pairs");
  network.missing.append(pairs.data(), pairs.size());
  normalize_missing_pairs(file, network, data);
}

// Fills data.missing and the missing pairs of data.networks, once the tensor and the networks are complete. Error, if a
// file contradicts them. O(n log n) in the length of the lists, and one pass over the ones.
void read_missing(const ReadOptions& options, SideFiles& side_files, Dataset& data) {
  data.missing.slices.resize(data.tensor.order());
  read_slices(options, side_files, data);
  if (!options.missing.empty()) {
    TableSpec spec = cell_table(options.missing, data.tensor.modes);
    spec.optional_value = true;  // a test file is a list of cells, too
    data.missing.cells = side_files.read_cells(spec, "missing");
    normalize_missing_cells(options.missing, options.file, data);
  }
  for (const std::string& item : options.missing_pairs) read_missing_pairs(item, side_files, data);
}

// Error, if a cell has both outcomes. Repeated cells are allowed.
void check_outcomes(const TestCells& cells, const std::vector<Mode>& modes, const std::string& file) {
  constexpr std::int64_t zero = std::int64_t{1} << 32;  // zeros and ones are counted in the two halves of a word
  Buffer<std::uint32_t> coords;
  coords.append(cells.coords.data(), cells.coords.size());
  Buffer<std::int64_t> outcomes;
  for (const std::uint8_t outcome : cells.outcome) outcomes.push_back(outcome != 0 ? 1 : zero);
  sort_and_merge_records(coords, modes.size(), &outcomes);
  for (std::size_t i = 0; i < outcomes.size(); ++i)
    if (outcomes[i] > zero && outcomes[i] % zero != 0)
      throw input_error("{}: the cell ({}) is listed both as a 0 and as a 1; keep one of the two", file,
                        cell_text(modes, coords.data() + i * modes.size()));
}

}  // namespace

TableSpec tensor_table(const ReadOptions& options) {
  TableSpec spec;
  spec.path = options.file;
  if (options.format) spec.format = text_formats[static_cast<std::size_t>(*options.format)];
  spec.values = options.counts ? ValueKind::counts : options.values ? ValueKind::nonzero : ValueKind::none;
  spec.index_base = static_cast<std::uint32_t>(options.index_base);
  spec.header = options.header;
  return spec;
}

namespace {

Dataset read_dataset(const ReadOptions& options, const SortSpace* space) {
  Pool pool(options.threads);
  Dataset data;
  read_ones(options, space, pool, data);
  require_ones(data, options.file);
  SideFiles side_files(options, pool, data);
  for (const std::string& item : options.networks) add_network(read_network(item, side_files, data.tensor), data);
  warn_of_repeated_networks(data);
  read_missing(options, side_files, data);
  malloc_trim(0);  // returns the memory of the read buffers to the system
  return data;
}

}  // namespace

Dataset read_dataset(const ReadOptions& options) {
  return read_dataset(options, nullptr);
}

Dataset read_dataset(const ReadOptions& options, const SortSpace& space) {
  return read_dataset(options, &space);
}

TableSpec test_table(const std::string& path, const std::vector<Mode>& modes, bool counts) {
  TableSpec spec = cell_table(path, modes);
  spec.values = counts ? ValueKind::outcomes : ValueKind::zero_one;
  return spec;
}

void append_cells(const CellBlock& block, bool counts, TestCells& cells) {
  cells.coords.append(block.coords.data(), block.coords.size());
  for (const std::int64_t value : block.values) cells.outcome.push_back(value != 0 ? 1 : 0);
  if (counts) cells.counts.append(block.values.data(), block.values.size());
}

TestCells read_test_cells(const std::string& file, const std::vector<Mode>& modes, unsigned threads, bool counts) {
  Pool pool(threads);
  TableReader reader(test_table(file, modes, counts), pool);
  TestCells cells;
  CellBlock block;
  while (reader.next(block)) append_cells(block, counts, cells);
  check_outcomes(cells, modes, file);
  return cells;
}

}  // namespace ztp
