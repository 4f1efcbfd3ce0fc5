#include "io/missing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <numeric>

#include "io/flags.hpp"
#include "io/id_map.hpp"
#include "io/lines.hpp"
#include "io/pairs.hpp"
#include "io/read.hpp"
#include "tensor/missing.hpp"
#include "ztp/error.hpp"

namespace ztp {
namespace {

constexpr const char* unknown_remedy =
    "an entity without ones is known only through --labels, or through the sizes in the header of a .tns or .mtx file";

std::string and_more(std::uint64_t more, const char* noun) {
  return more == 0
             ? ""
             : fmt::format(", and so {} {} more {}{}", more == 1 ? "is" : "are", more, noun, more == 1 ? "" : "s");
}

// What two sorted lists of records have in common.
struct Common {
  std::size_t count = 0;
  const std::uint32_t* first = nullptr;
};

Common common_records(const Buffer<std::uint32_t>& a, const Buffer<std::uint32_t>& b, std::size_t width) {
  Common common;
  const std::uint32_t *x = a.begin(), *y = b.begin();
  while (x != a.end() && y != b.end()) {
    const auto order = std::lexicographical_compare_three_way(x, x + width, y, y + width);
    if (order == 0 && common.count++ == 0) common.first = x;
    if (order <= 0) x += width;
    if (order >= 0) y += width;
  }
  return common;
}

// An entity listed as missing, and where.
struct ListedEntity {
  std::uint32_t id;
  const std::string* file;
  std::uint64_t line;
};

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

// Error, if an entity of these slices, which are those listed, sorted and each once, has ones. `ones_file` is where the
// ones are from.
void check_slices(const SparseTensor& tensor, std::size_t k, const std::vector<ListedEntity>& listed,
                  const std::vector<std::uint32_t>& slices, const std::string& ones_file) {
  std::vector<std::uint32_t> places(slices.size());
  std::iota(places.begin(), places.end(), 1u);
  const IdMap place(slices, places, tensor.modes[k].labels.size());  // 0: not listed
  std::vector<std::uint64_t> ones(slices.size() + 1, 0);
  for (std::size_t e = 0; e < tensor.nnz(); ++e) ++ones[place[tensor.cell(e)[k]]];
  const auto has_ones = [&](const ListedEntity& entity) { return ones[place[entity.id]] > 0; };
  const auto first = std::find_if(listed.begin(), listed.end(), has_ones);
  if (first == listed.end()) return;
  const std::uint64_t count = ones[place[first->id]];
  std::uint64_t more = 0;
  ones[place[first->id]] = 0;
  for (const ListedEntity& entity : listed) {
    if (has_ones(entity)) ++more;
    ones[place[entity.id]] = 0;  // an entity that is listed twice counts once
  }
  throw Error(
      ErrorKind::input,
      fmt::format("{}:{}:1: {} {} is listed as missing but has {} one{} in {}{}; take the ones out of the tensor, "
                  "or the entity off the list",
                  *first->file, first->line, tensor.modes[k].name, ztp::quoted(tensor.modes[k].labels[first->id]),
                  count, count == 1 ? "" : "s", ones_file,
                  more == 0 ? "" : fmt::format(" (likewise {} more of the list)", more)));
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
  for (std::size_t k = 0; k < tensor.order(); ++k) {
    if (listed[k].empty()) continue;
    std::vector<std::uint32_t>& slices = data.missing.slices[k];
    for (const ListedEntity& entity : listed[k]) slices.push_back(entity.id);
    std::sort(slices.begin(), slices.end());
    slices.erase(std::unique(slices.begin(), slices.end()), slices.end());
    if (slices.size() == tensor.modes[k].labels.size())
      throw Error(
          ErrorKind::input,
          fmt::format("{}: all {} entities of mode {} are missing: nothing is left to learn from; take some off "
                      "the list",
                      *listed[k].back().file, slices.size(), tensor.modes[k].name));
    check_slices(tensor, k, listed[k], slices, options.file);
  }
}

void read_missing_cells(const ReadOptions& options, Pool& pool, Dataset& data) {
  const SparseTensor& tensor = data.tensor;
  TableSpec spec = cell_table(options.missing, tensor.modes);
  spec.optional_value = true;  // a test file is a list of cells, too
  spec.unknown_remedy = unknown_remedy;
  TableReader reader(spec, pool);
  CellBlock block;
  while (reader.next(block)) data.missing.cells.append(block.coords.data(), block.coords.size());
  const std::size_t repeated = sort_and_merge_missing(tensor, data.missing);
  if (repeated > 0) data.warnings.push_back(fmt::format("{}: {} repeated cells merged", options.missing, repeated));
  const Common ones = common_records(data.missing.cells, tensor.coords, tensor.order());
  if (ones.count > 0)
    throw Error(
        ErrorKind::input,
        fmt::format("{}: the cell ({}) is listed as missing but is a one in {}{}; take each of them out of one of "
                    "the two files",
                    options.missing, cell_text(tensor.modes, ones.first), options.file,
                    and_more(ones.count - 1, "cell")));
}

void read_missing_pairs(const std::string& item, Pool& pool, Dataset& data) {
  const auto [name, file] = split_assignment(item, "--missing-pairs");
  Network& network = network_of_flag(name, "--missing-pairs " + item, "give it with --network " + name + "=FILE", data);
  const Mode& mode = data.tensor.modes[network.mode];
  TableSpec spec = pair_table(file, mode);
  spec.optional_value = true;
  spec.unknown_remedy = unknown_remedy;
  const LeftOut left_out = read_pairs(spec, pool, network.missing);
  if (left_out.self > 0)
    data.warnings.push_back(
        fmt::format("{}: {} pairs of an entity with itself ignored: they are never data", file, left_out.self));
  if (left_out.repeated > 0)
    data.warnings.push_back(fmt::format("{}: {} repeated pairs merged (a b and b a are one)", file, left_out.repeated));
  const Common edges = common_records(network.missing, network.edges, 2);
  if (edges.count > 0)
    throw Error(
        ErrorKind::input,
        fmt::format("{}: the pair ({}, {}) is listed as missing but is an edge in {}{}; take each of them out of one "
                    "of the two files",
                    file, mode.labels[edges.first[0]], mode.labels[edges.first[1]], network.source,
                    and_more(edges.count - 1, "pair")));
}

}  // namespace

void read_missing(const ReadOptions& options, Pool& pool, Dataset& data) {
  data.missing.slices.resize(data.tensor.order());
  read_slices(options, data);
  if (!options.missing.empty()) read_missing_cells(options, pool, data);
  for (const std::string& item : options.missing_pairs) read_missing_pairs(item, pool, data);
}

}  // namespace ztp
