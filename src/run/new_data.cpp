#include "run/new_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "io/assemble.hpp"
#include "io/dataset_ones.hpp"
#include "io/flags.hpp"
#include "io/grow_modes.hpp"
#include "io/read.hpp"
#include "io/table.hpp"
#include "tensor/records.hpp"
#include "ztp/error.hpp"

namespace ztp {
namespace {

constexpr const char* no_network = "the run was fitted without one";

// Removes the records for which known(i) holds, in place. Returns how many.
template <class Known>
std::uint64_t remove_known(Buffer<std::uint32_t>& fresh, std::size_t width, const Known& known) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i * width < fresh.size(); ++i) {
    const std::uint32_t* record = fresh.data() + i * width;
    if (known(i)) continue;
    std::copy_n(record, width, fresh.data() + kept++ * width);
  }
  const std::uint64_t removed = fresh.size() / width - kept;
  fresh.resize(kept * width);
  return removed;
}

void take_new_ones(IncomingData& fresh, const Dataset& old, Pool& pool, NewData& new_data, UpdateSummary& summary) {
  summary.warnings = std::move(fresh.ones.warnings);
  summary.notes = std::move(fresh.ones.notes);
  SparseTensor& tensor = new_data.tensor;
  SparseTensor& found = fresh.ones.tensor;
  if (found.coords.empty()) return;
  std::vector<Mode*> columns;
  for (Mode& mode : tensor.modes) columns.push_back(&mode);
  translate_and_grow(columns_of(found.modes), columns, fresh.source, found.coords);
  tensor.coords = std::move(found.coords);
  tensor.counts = std::move(found.counts);
  tensor.sort_and_merge();
  if (!tensor.counts.empty()) return;  // more counts of a known cell are new data
  const std::vector<std::uint8_t> known = which_are_ones(old, tensor.coords, pool);
  summary.known_ones = remove_known(tensor.coords, tensor.order(), [&](std::size_t e) { return known[e] != 0; });
}

void take_new_edges(IncomingData& fresh, const Dataset& old, NewData& new_data, UpdateSummary& summary) {
  for (const Network& network : old.networks) new_data.networks.push_back({network.mode, network.source, {}, {}});
  for (IncomingData::Edges& given : fresh.edges) {
    const Network& network = old.networks[given.network];
    Buffer<std::uint32_t>& edges = new_data.networks[given.network].edges;
    Mode& mode = new_data.tensor.modes[network.mode];
    const Mode* const found = given.found.empty() ? &fresh.ones.tensor.modes[network.mode] : nullptr;
    translate_and_grow(found == nullptr ? columns_of(given.found) : std::vector<const Mode*>{found, found},
                       {&mode, &mode}, given.source, given.pairs);
    edges.append(given.pairs.data(), given.pairs.size());
    const std::uint64_t self_loops = sort_and_merge_pairs(edges).self;
    if (self_loops > 0)
      summary.warnings.push_back(fmt::format("{}: {} self-loops are ignored", given.source, self_loops));
    summary.known_edges += remove_known(
        edges, 2, [&](std::size_t e) { return find_record(network.edges, 2, edges.data() + 2 * e) < network.size(); });
  }
}

}  // namespace

IncomingData read_incoming(const ReadOptions& files, Dataset& old, Pool& pool) {
  IncomingData fresh;
  fresh.source = files.file.empty() ? files.networks.front() : files.file;
  if (!files.file.empty()) {
    ReadOptions ones_alone = files;
    ones_alone.networks.clear();
    fresh.ones = read_dataset(ones_alone);
  }
  for (const std::string& item : files.networks) {
    const auto [name, file] = split_assignment(item, "--network");
    const Network& network = network_of_flag(name, "--network " + item, no_network, old);
    IncomingData::Edges& edges = fresh.edges.emplace_back();
    edges.network = static_cast<std::size_t>(&network - old.networks.data());
    edges.source = file;
    TableSpec spec;
    spec.path = file;
    spec.known = &old.tensor.modes[network.mode].labels;
    TableReader reader(spec, pool);
    edges.found = read_coords(reader, edges.pairs);
    log_file(reader, "network", fresh.ones);
  }
  return fresh;
}

IncomingData incoming_from_arrays(Arrays arrays, bool counts, Dataset& old) {
  const std::vector<Mode>& of_run = old.tensor.modes;
  if (arrays.modes.size() != of_run.size())
    throw Error(ErrorKind::input,
                fmt::format("{}: {} modes, but the run has {}", arrays.source, arrays.modes.size(), of_run.size()));
  for (std::size_t k = 0; k < of_run.size(); ++k)
    if (arrays.modes[k].name == fmt::format("mode{}", k + 1)) arrays.modes[k].name = of_run[k].name;  // it has no name
  IncomingData fresh;
  fresh.source = arrays.source;
  std::vector<Arrays::Edges> networks = std::exchange(arrays.networks, {});
  if (arrays.coords.empty() && arrays.values.empty()) {
    check_modes(arrays.modes, arrays.source);
    fresh.ones.tensor.modes = std::move(arrays.modes);
    if (!networks.empty()) fresh.source = networks.front().source;
  } else {
    fresh.ones = make_dataset(std::move(arrays), counts);
  }
  for (Arrays::Edges& given : networks) {
    check_edges(given, fresh.ones.tensor.modes);
    const Network& network = network_of_mode(given.mode, given.which, given.source, no_network, old);
    const auto number = static_cast<std::size_t>(&network - old.networks.data());
    fresh.edges.push_back({number, std::move(given.source), {}, std::move(given.pairs)});
  }
  return fresh;
}

NewData extract_new_data(IncomingData fresh, const Dataset& old, Pool& pool, UpdateSummary& summary) {
  NewData new_data;
  new_data.source = fresh.source;
  new_data.tensor.modes = old.tensor.modes;
  take_new_ones(fresh, old, pool, new_data, summary);
  take_new_edges(fresh, old, new_data, summary);
  summary.ones = new_data.tensor.nnz();
  for (const Network& network : new_data.networks) summary.edges += network.size();
  for (std::size_t k = 0; k < new_data.tensor.order(); ++k)
    summary.entities.emplace_back(new_data.tensor.modes[k].name,
                                  new_data.tensor.modes[k].labels.size() - old.tensor.modes[k].labels.size());
  return new_data;
}

std::uint64_t merge_new_data(const NewData& new_data, Dataset& data) {
  const SparseTensor& tensor = new_data.tensor;
  const std::size_t K = tensor.order();
  std::uint64_t found = 0;
  data.tensor.modes = tensor.modes;
  data.tensor.coords.append(tensor.coords.data(), tensor.coords.size());
  data.tensor.counts.append(tensor.counts.data(), tensor.counts.size());
  data.tensor.sort_and_merge();
  for (std::size_t m = 0; m < data.networks.size(); ++m) {
    Network& network = data.networks[m];
    network.edges.append(new_data.networks[m].edges.data(), new_data.networks[m].edges.size());
    sort_and_merge_records(network.edges, 2);
    remove_known(network.missing, 2, [&](std::size_t i) {
      return find_record(std::as_const(network.edges), 2, network.missing.data() + 2 * i) < network.size();
    });
  }
  for (std::size_t k = 0; k < data.missing.slices.size(); ++k) {
    auto& slices = data.missing.slices[k];
    if (slices.empty()) continue;
    std::vector<std::uint8_t> met(tensor.modes[k].labels.size(), 0);
    for (std::size_t e = 0; e < tensor.nnz(); ++e) met[tensor.cell(e)[k]] = 1;
    found += std::erase_if(slices, [&](std::uint32_t j) { return met[j] != 0; });
  }
  return found + remove_known(data.missing.cells, K,
                              [&](std::size_t i) { return tensor.contains(data.missing.cells.data() + i * K); });
}

}  // namespace ztp
