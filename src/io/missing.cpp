#include "io/missing.hpp"

#include <fmt/format.h>

#include <deque>

#include "io/assemble.hpp"
#include "io/flags.hpp"
#include "io/lines.hpp"
#include "io/pairs.hpp"
#include "io/read.hpp"
#include "ztp/error.hpp"

namespace ztp {
namespace {

constexpr const char* unknown_remedy =
    "an entity without ones is known only through --labels, or through the sizes in the header of a .tns or .mtx file";

void read_slice_file(const std::string& path, const Mode& mode, std::vector<ListedEntity>& listed) {
  const LabelTable& labels = mode.labels;
  read_label_lines(
      path,
      [&](std::string_view label, std::size_t line) {
        const auto id = labels.find(label);
        if (!id)
          throw Error(ErrorKind::input,
                      fmt::format("{}:{}:1: unknown {} {}: not among the {} entities of mode {}; {}", path, line,
                                  mode.name, ztp::quoted(label), labels.size(), mode.name, unknown_remedy));
        listed.push_back({*id, &path, line});
      },
      [&](std::string_view header) {
        if (labels.find(header))
          throw Error(ErrorKind::input,
                      fmt::format("{}:1:1: a first line that begins with # is a header, but {} is also "
                                  "an entity; put a header line before it",
                                  path, ztp::quoted(header)));
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

void read_missing_cells(const ReadOptions& options, Pool& pool, Dataset& data) {
  const SparseTensor& tensor = data.tensor;
  TableSpec spec = cell_table(options.missing, tensor.modes);
  spec.optional_value = true;  // a test file is a list of cells, too
  spec.unknown_remedy = unknown_remedy;
  TableReader reader(spec, pool);
  CellBlock block;
  while (reader.next(block)) data.missing.cells.append(block.coords.data(), block.coords.size());
  normalize_missing_cells(options.missing, options.file, data);
}

void read_missing_pairs(const std::string& item, Pool& pool, Dataset& data) {
  const auto [name, file] = split_assignment(item, "--missing-pairs");
  Network& network = network_of_flag(name, "--missing-pairs " + item, "give it with --network " + name + "=FILE", data);
  const Mode& mode = data.tensor.modes[network.mode];
  TableSpec spec = pair_table(file, mode);
  spec.optional_value = true;
  spec.unknown_remedy = unknown_remedy;
  read_pairs(spec, pool, network.missing);
  normalize_missing_pairs(file, network, data);
}

}  // namespace

void read_missing(const ReadOptions& options, Pool& pool, Dataset& data) {
  data.missing.slices.resize(data.tensor.order());
  read_slices(options, data);
  if (!options.missing.empty()) read_missing_cells(options, pool, data);
  for (const std::string& item : options.missing_pairs) read_missing_pairs(item, pool, data);
}

}  // namespace ztp
