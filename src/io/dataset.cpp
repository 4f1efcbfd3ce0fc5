#include "io/dataset.hpp"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <filesystem>

#include "base/file.hpp"
#include "io/missing.hpp"
#include "ztp/error.hpp"
#include "ztp/read.hpp"

namespace ztp {
namespace {

namespace fs = std::filesystem;

Format format_named(const std::string& name) {
  if (name.empty()) return Format::detect;
  if (name == "tsv") return Format::tsv;
  if (name == "tns") return Format::tns;
  if (name == "mtx") return Format::mtx;
  throw Error(ErrorKind::usage, fmt::format("--format {}: use tsv, tns or mtx", name));
}

}  // namespace

std::size_t mode_of_flag(const SparseTensor& tensor, const std::string& name, const std::string& flag) {
  if (const auto k = tensor.mode_named(name)) return *k;
  std::string names;
  for (const Mode& mode : tensor.modes) names += (names.empty() ? "" : ", ") + mode.name;
  throw Error(ErrorKind::config, fmt::format("{}: no mode \"{}\"; the modes are {}", flag, name, names));
}

std::string cell_text(const std::vector<Mode>& modes, const std::uint32_t* cell) {
  std::string text;
  for (std::size_t k = 0; k < modes.size(); ++k) text += (k == 0 ? "" : ", ") + modes[k].labels[cell[k]];
  return text;
}

void read_label_lines(const std::string& path, const std::function<void(std::string_view, std::size_t)>& take,
                      const std::function<void(std::string_view)>& take_header) {
  std::string text = read_text(path);
  if (text.starts_with("\xef\xbb\xbf")) text.erase(0, 3);
  std::size_t line_number = 0;
  bool any = false;
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line(text.data() + begin, end - begin);
    begin = end + 1;
    ++line_number;
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    line = line.substr(0, line.find('\t'));
    if (line.empty()) continue;
    if (line_number == 1 && line[0] == '#') {
      if (take_header) take_header(line);
      continue;
    }
    if (line.find('\0') != line.npos)
      throw Error(ErrorKind::input, fmt::format("{}:{}: a NUL byte", path, line_number));
    take(line, line_number);
    any = true;
  }
  if (!any) throw Error(ErrorKind::input, fmt::format("{}: no labels", path));
}

LabelTable read_label_file(const std::string& path) {
  LabelTable labels;
  read_label_lines(path, [&](std::string_view label, std::size_t line) {
    const std::uint32_t before = labels.size();
    if (labels.add(label) != before)
      throw Error(ErrorKind::input, fmt::format("{}:{}:1: label \"{}\" is there twice", path, line, label));
  });
  return labels;
}

namespace {

// The label files given, by mode name. A directory holds MODE.txt for each mode.
std::vector<std::pair<std::string, LabelTable>> read_label_files(const std::vector<std::string>& given) {
  std::vector<std::pair<std::string, LabelTable>> tables;
  for (const std::string& item : given) {
    std::error_code no_access;
    if (fs::is_directory(item, no_access)) {
      for (const auto& entry : fs::directory_iterator(item))
        if (entry.path().extension() == ".txt")
          tables.emplace_back(entry.path().stem().string(), read_label_file(entry.path().string()));
      if (tables.empty()) throw Error(ErrorKind::input, fmt::format("--labels {}: no MODE.txt file in there", item));
    } else {
      const auto [mode, file] = split_assignment(item, "--labels");
      tables.emplace_back(mode, read_label_file(file));
    }
  }
  return tables;
}

// Replaces the labels found in the file by the full list, and the ids in the tensor with them.
void apply_labels(SparseTensor& tensor, const std::string& mode_name, LabelTable full, const std::string& file) {
  const std::size_t k = mode_of_flag(tensor, mode_name, fmt::format("--labels {}=...", mode_name));
  LabelTable& found = tensor.modes[k].labels;
  std::vector<std::uint32_t> new_id(found.size());
  std::vector<bool> used(found.is_numbered() ? found.size() : 0, false);
  if (found.is_numbered())  // every number up to the largest has an id, but only those that occur need a label
    for (std::size_t e = 0; e < tensor.nnz(); ++e) used[tensor.cell(e)[k]] = true;
  std::string scratch;
  for (std::uint32_t j = 0; j < found.size(); ++j) {
    if (found.is_numbered() && !used[j]) continue;
    const std::string_view label = found.name(j, scratch);
    const auto id = full.find(label);
    if (!id)
      throw Error(ErrorKind::input, fmt::format("{}: {} \"{}\" is not in the list of labels given for that mode", file,
                                                mode_name, label));
    new_id[j] = *id;
  }
  for (std::size_t i = k; i < tensor.coords.size(); i += tensor.order()) tensor.coords[i] = new_id[tensor.coords[i]];
  found = std::move(full);
}

Network read_network(const std::string& item, const SparseTensor& tensor, Pool& pool,
                     std::vector<std::string>& warnings) {
  const auto [mode_name, file] = split_assignment(item, "--network");
  const std::size_t k = mode_of_flag(tensor, mode_name, "--network " + item);
  TableSpec spec;
  spec.path = file;
  spec.closed = {&tensor.modes[k].labels, &tensor.modes[k].labels};
  spec.closed_names = {mode_name, mode_name};
  TableReader reader(spec, pool);
  Network network;
  network.mode = k;
  network.source = file;
  CellBlock block;
  while (reader.next(block))
    for (std::size_t i = 0; i < block.coords.size(); i += 2) {
      const std::uint32_t a = block.coords[i], b = block.coords[i + 1];
      if (a == b) {
        ++network.self_loops;
        continue;
      }
      network.edges.push_back(std::min(a, b));
      network.edges.push_back(std::max(a, b));
    }
  network.duplicates = sort_and_merge_records(network.edges, 2);
  if (network.size() == 0)
    throw Error(ErrorKind::input, fmt::format("{}: no edge between two different entities", file));
  if (network.self_loops > 0) warnings.push_back(fmt::format("{}: {} self-loops ignored", file, network.self_loops));
  if (network.duplicates > 0)
    warnings.push_back(fmt::format("{}: {} repeated edges merged (a b and b a are one)", file, network.duplicates));
  return network;
}

// Reads all cells of the tensor file, in file order.
void read_cells(const ReadOptions& options, Pool& pool, Dataset& data) {
  TableReader reader(tensor_table(options), pool);
  SparseTensor& tensor = data.tensor;
  CellBlock block;
  while (reader.next(block)) {
    tensor.coords.append(block.coords.data(), block.coords.size());
    if (options.counts) tensor.counts.append(block.values.data(), block.values.size());
  }
  data.zeros = reader.zero_cells();
  tensor.modes = reader.take_modes();
  data.lines = tensor.nnz();
}

void check_total(const SparseTensor& tensor, const std::string& file) {
  std::int64_t total = 0;
  for (const std::int64_t count : tensor.counts)
    if (__builtin_add_overflow(total, count, &total) || total > (std::int64_t{1} << 62))
      throw Error(ErrorKind::input, fmt::format("{}: the counts add up to more than 2^62", file));
}

}  // namespace

TableSpec tensor_table(const ReadOptions& options) {
  TableSpec spec;
  spec.path = options.file;
  spec.format = format_named(options.format);
  spec.values = options.counts ? Values::counts : options.values ? Values::nonzero : Values::none;
  spec.index_base = static_cast<std::uint32_t>(options.index_base);
  return spec;
}

std::pair<std::string, std::string> split_assignment(const std::string& text, const std::string& flag) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    throw Error(ErrorKind::usage, fmt::format("{} {}: expected {} MODE=...", flag, text, flag));
  return {text.substr(0, equals), text.substr(equals + 1)};
}

Dataset read_dataset(const ReadOptions& options) {
  Pool pool(options.threads);
  Dataset data;
  read_cells(options, pool, data);
  SparseTensor& tensor = data.tensor;
  if (tensor.nnz() == 0) throw Error(ErrorKind::input, fmt::format("{}: no ones: every value is zero", options.file));
  for (auto& [mode, labels] : read_label_files(options.labels))
    apply_labels(tensor, mode, std::move(labels), options.file);
  check_total(tensor, options.file);
  data.duplicates = tensor.sort_and_merge();
  if (data.duplicates > 0)
    data.warnings.push_back(fmt::format("{}: {} repeated cells {} ('ztp check' lists their lines)", options.file,
                                        data.duplicates, options.counts ? "added up" : "merged"));
  if (data.zeros > 0)
    data.warnings.push_back(fmt::format("{}: {} cells with value zero ignored", options.file, data.zeros));
  for (const std::string& item : options.networks)
    data.networks.push_back(read_network(item, tensor, pool, data.warnings));
  for (std::size_t i = 0; i < data.networks.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (data.networks[i].source == data.networks[j].source)
        data.warnings.push_back(
            fmt::format("{} is given as a network twice: its edges count twice as evidence", data.networks[i].source));
  read_missing(options, pool, data);
  malloc_trim(0);  // the buffers of reading are gone; let their pages go, too
  return data;
}

TestCells read_test_cells(const std::string& file, const std::vector<Mode>& modes, unsigned threads) {
  Pool pool(threads);
  TableSpec spec;
  spec.path = file;
  spec.values = Values::zero_one;
  spec.header_names_modes = true;
  for (const Mode& mode : modes) {
    spec.closed.push_back(&mode.labels);
    spec.closed_names.push_back(mode.name);
  }
  TableReader reader(spec, pool);
  TestCells cells;
  CellBlock block;
  while (reader.next(block)) {
    cells.coords.append(block.coords.data(), block.coords.size());
    for (const std::int64_t value : block.values) cells.outcome.push_back(value != 0 ? 1 : 0);
  }
  return cells;
}

}  // namespace ztp
