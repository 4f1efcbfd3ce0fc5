#include "io/read.hpp"

#include <malloc.h>

#include <algorithm>
#include <deque>

#include "base/errors.hpp"
#include "io/assemble.hpp"
#include "io/flags.hpp"
#include "io/formats.hpp"
#include "io/lines.hpp"
#include "tensor/records.hpp"

namespace ztp {

namespace {

Network read_network(const std::string& item, const SparseTensor& tensor, Pool& pool) {
  const auto [mode_name, file] = split_assignment(item, "--network");
  Network network;
  network.mode = mode_of_flag(tensor.modes, mode_name, "--network " + item);
  network.source = file;
  read_coords(pair_table(file, tensor.modes[network.mode]), pool, network.edges);
  return network;
}

// Ones that do not fit into memory stay in a tensor file, and are fitted from there.
void require_memory_for(const ReadOptions& options, double ones, std::size_t order) {
  const double bytes = ones * static_cast<double>(4 * order + (options.counts ? 8 : 0));
  if (options.memory == 0 || bytes <= options.memory) return;
  throw config_error(
      "{}: its ones take more than the {:.3g} GiB of memory that are allowed or there (--memory); 'ztp convert' makes "
      "a file of them that 'ztp fit --method online' need not hold in memory",
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
}

// Error, if flags for text files are given: they were applied by 'ztp convert'.
void refuse_text_flags(const ReadOptions& options) {
  const auto refuse = [&](bool given, const char* flag) {
    if (given) throw usage_error("{} is not used with {}: it was settled by 'ztp convert'", flag, options.file);
  };
  refuse(options.format.has_value(), "--format");
  refuse(options.values, "--values");
  refuse(options.index_base != 1, "--index-base");
  refuse(!options.labels.empty(), "--labels");
}

// Opens a tensor file, and loads its ones unless they are to stay there.
void read_tensor_file(const ReadOptions& options, Pool& pool, Dataset& data) {
  refuse_text_flags(options);
  auto opened = std::make_shared<const TensorFile>(options.file);
  const TensorFile& file = *opened;
  if (options.counts && !file.has_counts())
    throw config_error(
        "{}: made without counts; convert the data again with --likelihood count, or use --likelihood binary",
        options.file);
  SparseTensor& tensor = data.tensor;
  tensor.modes = file.modes();
  const bool looks_up = !options.networks.empty() || !options.missing.empty() || !options.missing_slices.empty();
  if (!options.stream || looks_up) index_labels(tensor.modes, options.file, pool);
  data.lines = file.ones();
  if (options.stream) {
    data.file = std::move(opened);
    data.file_ones = file.ones();
    return;
  }
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

constexpr const char* unknown_remedy =
    "an entity without ones is known only through --labels, or through the sizes in the header of a .tns or .mtx file";

void read_slice_file(const std::string& path, const Mode& mode, std::vector<ListedEntity>& listed) {
  const LabelTable& labels = mode.labels;
  read_label_lines(
      path,
      [&](std::string_view label, std::size_t line) {
        const auto id = labels.find(label);
        if (!id)
          throw input_error("{}:{}:1: unknown {} {}: not among the {} entities of mode {}; {}", path, line, mode.name,
                            ztp::quoted(label), labels.size(), mode.name, unknown_remedy);
        listed.push_back({*id, &path, line});
      },
      [&](std::string_view header) {
        if (labels.find(header))
          throw input_error(
              "{}:1:1: a first line that begins with # is a header, but {} is also an entity; put a header line before "
              "it",
              path, ztp::quoted(header));
      });
}

void read_slices(const ReadOptions& options, Dataset& data) {
  const SparseTensor& tensor = data.tensor;
  std::vector<std::vector<ListedEntity>> listed(tensor.order());
  std::deque<std::string> files;  // which those listed point to
  for (const std::string& item : options.missing_slices) {
    const auto [mode_name, file] = split_assignment(item, "--missing-slices");
    const std::size_t k = mode_of_flag(tensor.modes, mode_name, "--missing-slices " + item);
    read_slice_file(files.emplace_back(file), tensor.modes[k], listed[k]);
  }
  for (std::size_t k = 0; k < tensor.order(); ++k) set_missing_slices(k, listed[k], options.file, data);
}

void read_missing_list(TableSpec spec, Pool& pool, Buffer<std::uint32_t>& to) {
  spec.optional_value = true;  // a test file is a list of cells, too
  spec.unknown_remedy = unknown_remedy;
  read_coords(spec, pool, to);
}

void read_missing_pairs(const std::string& item, Pool& pool, Dataset& data) {
  const auto [name, file] = split_assignment(item, "--missing-pairs");
  Network& network = network_of_flag(name, "--missing-pairs " + item, "give it with --network " + name + "=FILE", data);
  read_missing_list(pair_table(file, data.tensor.modes[network.mode]), pool, network.missing);
  normalize_missing_pairs(file, network, data);
}

// Fills data.missing and the missing pairs of data.networks, once the tensor and the networks are complete. Error, if a
// file contradicts them. O(n log n) in the length of the lists, and one pass over the ones.
void read_missing(const ReadOptions& options, Pool& pool, Dataset& data) {
  data.missing.slices.resize(data.tensor.order());
  read_slices(options, data);
  if (!options.missing.empty()) {
    read_missing_list(cell_table(options.missing, data.tensor.modes), pool, data.missing.cells);
    normalize_missing_cells(options.missing, options.file, data);
  }
  for (const std::string& item : options.missing_pairs) read_missing_pairs(item, pool, data);
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
      throw input_error("{}: the cell ({}) is there as a 0 and as a 1; keep one of the two", file,
                        cell_text(modes, coords.data() + i * modes.size()));
}

}  // namespace

TableSpec tensor_table(const ReadOptions& options) {
  TableSpec spec;
  spec.path = options.file;
  if (options.format) spec.format = text_formats[static_cast<std::size_t>(*options.format)];
  spec.values = options.counts ? ValueKind::counts : options.values ? ValueKind::nonzero : ValueKind::none;
  spec.index_base = static_cast<std::uint32_t>(options.index_base);
  return spec;
}

Dataset read_dataset(const ReadOptions& options) {
  Pool pool(options.threads);
  Dataset data;
  // A .ztpt file with a damaged start must not be read as text.
  if (TensorFile::recognises(options.file) || options.file.ends_with(".ztpt"))
    read_tensor_file(options, pool, data);
  else
    read_cells(options, pool, data);
  SparseTensor& tensor = data.tensor;
  require_ones(data, options.file);
  const auto used_ids = [&](std::size_t k) {
    return occurring_ids(tensor.coords.data(), tensor.nnz(), tensor.order(), k, tensor.modes[k].labels.size());
  };
  NewIds new_ids = apply_label_lists(read_label_files(options.labels), tensor.modes, used_ids, options.file);
  if (data.file == nullptr) tie_labels(options.tie, tensor.modes, new_ids);  // a file that ones stay in has settled it
  renumber(tensor.coords.data(), tensor.nnz(), new_ids);
  normalize_ones({options.file, options.counts}, data);
  for (const std::string& item : options.networks) add_network(read_network(item, tensor, pool), data);
  warn_of_repeated_networks(data);
  read_missing(options, pool, data);
  malloc_trim(0);  // returns the memory of the read buffers to the system
  return data;
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
