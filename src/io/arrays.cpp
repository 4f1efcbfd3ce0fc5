#include "ztp/arrays.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/errors.hpp"
#include "io/assemble.hpp"
#include "io/flags.hpp"
#include "io/lines.hpp"
#include "io/table.hpp"
#include "tensor/records.hpp"

namespace ztp {
namespace {

// Labels that a text file cannot hold would fail only when the run is read back.
void check_labels(const Mode& mode, const std::string& source) {
  if (mode.labels.size() > max_mode_size)
    throw usage_error("{}: mode {} has more than {} entities", source, mode.name, max_mode_size);
  std::string scratch;
  for (std::uint32_t j = 0; j < mode.labels.size() && !mode.labels.is_numbered(); ++j) {
    const std::string_view label = mode.labels.name(j, scratch);
    if (label.empty() || label.find_first_of(std::string_view("\t\n\r\0", 4)) != label.npos)
      throw usage_error(
          "{}: the label {} of entity {} (from 0) of mode {} cannot be written to a file; give it a name without TABs, "
          "line ends and NUL bytes",
          source, quoted(label), j, mode.name);
  }
}

// Checks rows of ids, one id for each of these modes.
void check_ids(const Buffer<std::uint32_t>& ids, const std::vector<const Mode*>& columns, const std::string& source) {
  const std::size_t width = columns.size();
  if (ids.size() % width != 0)
    throw usage_error("{}: {} ids cannot be split into rows of {}", source, ids.size(), width);
  std::vector<std::uint32_t> sizes;
  for (const Mode* mode : columns) sizes.push_back(mode->labels.size());
  for (std::size_t i = 0; i < ids.size(); i += width)
    for (std::size_t c = 0; c < width; ++c)
      if (ids[i + c] >= sizes[c])
        throw usage_error("{}: row {} (from 0) has the id {} of mode {}, which has {} entities", source, i / width,
                          ids[i + c], columns[c]->name, sizes[c]);
}

void check_counts(const Buffer<std::int64_t>& values, const std::string& source) {
  constexpr std::int64_t largest_count = std::int64_t{1} << 62;
  for (std::size_t e = 0; e < values.size(); ++e)
    if (values[e] < 0 || values[e] > largest_count)
      throw input_error("{}: the value {} of row {} (from 0) is not a count: it must be an integer from 0 to 2^62",
                        source, values[e], e);
}

void take_ones(Arrays& arrays, bool counts, Dataset& data) {
  const std::string& source = arrays.source;
  const std::size_t K = arrays.modes.size();
  check_ids(arrays.coords, columns_of(arrays.modes), source);
  if (arrays.coords.empty()) throw input_error("{}: no cells", source);
  if (!arrays.values.empty()) {
    if (arrays.values.size() != arrays.coords.size() / K)
      throw usage_error("{}: {} values, but {} cells", source, arrays.values.size(), arrays.coords.size() / K);
    if (counts) check_counts(arrays.values, source);
    Buffer<std::int64_t>& values = arrays.values;
    data.zeros = remove_records(arrays.coords, K, [&](std::size_t e) { return values[e] == 0; });
    values.resize(static_cast<std::size_t>(std::remove(values.begin(), values.end(), 0) - values.begin()));
  } else if (counts) {
    arrays.values.resize(arrays.coords.size() / K);
    std::fill(arrays.values.begin(), arrays.values.end(), 1);
  }
  data.tensor.modes = std::move(arrays.modes);
  data.tensor.coords = std::move(arrays.coords);
  if (counts) data.tensor.counts = std::move(arrays.values);
  arrays.values = {};  // sorting needs the room
  data.lines = data.tensor.nnz();
  require_ones(data, source);
  normalize_ones({source, counts, false}, data);
}

void take_networks(Arrays& arrays, Dataset& data) {
  for (std::size_t m = 0; m < arrays.networks.size(); ++m) {
    Arrays::Edges& given = arrays.networks[m];
    if (given.source.empty()) given.source = fmt::format("network {}", m + 1);
    check_edges(given, data.tensor.modes);
    Network network;
    network.mode = given.mode;
    network.source = given.source;
    network.edges = std::move(given.pairs);
    add_network(std::move(network), data);
  }
  warn_of_repeated_networks(data);
}

void take_missing_slices(const Arrays& arrays, Dataset& data) {
  static const std::string source = "missing entities";
  const std::size_t K = data.tensor.order();
  data.missing.slices.resize(K);
  if (arrays.missing_slices.empty()) return;
  if (arrays.missing_slices.size() != K)
    throw usage_error("{}: {} lists for {} modes", source, arrays.missing_slices.size(), K);
  for (std::size_t k = 0; k < K; ++k) {
    const Mode& mode = data.tensor.modes[k];
    std::vector<ListedEntity> listed;
    for (const std::uint32_t id : arrays.missing_slices[k]) {
      if (id >= mode.labels.size())
        throw usage_error("{}: the id {} of mode {}, which has {} entities", source, id, mode.name, mode.labels.size());
      listed.push_back({id, &source, 0});
    }
    set_missing_slices(k, listed, arrays.source, data);
  }
}

void take_missing(Arrays& arrays, Dataset& data) {
  take_missing_slices(arrays, data);
  if (!arrays.missing.empty()) {
    check_ids(arrays.missing, columns_of(data.tensor.modes), "missing");
    data.missing.cells = std::move(arrays.missing);
    normalize_missing_cells("missing", arrays.source, data);
  }
  for (std::size_t m = 0; m < data.networks.size(); ++m) {
    Network& network = data.networks[m];
    if (arrays.networks[m].missing.empty()) continue;
    const std::string source = fmt::format("{} (missing)", network.source);
    const Mode* const mode = &data.tensor.modes[network.mode];
    check_ids(arrays.networks[m].missing, {mode, mode}, source);
    network.missing = std::move(arrays.networks[m].missing);
    normalize_missing_pairs(source, network, data);
  }
}

}  // namespace

void check_modes(std::vector<Mode>& modes, const std::string& source) {
  if (modes.size() < 2 || modes.size() > max_modes)
    throw usage_error("{}: {} modes, but a tensor has 2 to {}", source, modes.size(), max_modes);
  std::vector<std::string> names;
  for (const Mode& mode : modes) {
    if (mode.name.empty()) throw usage_error("{}: mode {} (from 0) has no name", source, names.size());
    if (const std::string wrong = mode_name_problem(mode.name, names); !wrong.empty())
      throw usage_error("{}: {}", source, wrong);
    names.push_back(mode.name);
    check_labels(mode, source);
  }
  Pool pool(1);
  index_labels(modes, source, pool);
}

void check_edges(const Arrays::Edges& edges, const std::vector<Mode>& modes) {
  if (edges.mode >= modes.size()) throw usage_error("{}: there is no mode {} (from 0)", edges.source, edges.mode);
  const Mode* const mode = &modes[edges.mode];
  check_ids(edges.pairs, {mode, mode}, edges.source);
}

Dataset make_dataset(Arrays arrays, bool counts) {
  check_modes(arrays.modes, arrays.source);
  Dataset data;
  take_ones(arrays, counts, data);
  take_networks(arrays, data);
  take_missing(arrays, data);
  return data;
}

}  // namespace ztp
