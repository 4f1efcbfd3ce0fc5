#include "io/assemble.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/errors.hpp"
#include "io/id_map.hpp"
#include "io/lines.hpp"
#include "tensor/missing.hpp"
#include "tensor/records.hpp"

namespace ztp {

std::string cell_text(const std::vector<Mode>& modes, const std::uint32_t* cell) {
  std::string text;
  for (std::size_t k = 0; k < modes.size(); ++k) text += (k == 0 ? "" : ", ") + modes[k].labels[cell[k]];
  return text;
}

void index_labels(std::vector<Mode>& modes, const std::string& source, Pool& pool) {
  pool.for_blocks(modes.size(), [&](std::size_t k) {
    try {
      modes[k].labels.index();
    } catch (const Error& error) {
      throw Error(error.kind(), fmt::format("{}: mode {}: {}", source, modes[k].name, error.what()));
    }
  });
}

void require_ones(const Dataset& data, const std::string& source) {
  if (data.ones() == 0) throw input_error("{}: no ones: every value is zero", source);
}

void add_to_total(std::int64_t& total, std::int64_t count, const std::string& source) {
  if (__builtin_add_overflow(total, count, &total) || total > (std::int64_t{1} << 62))
    throw input_error("{}: the counts add up to more than 2^62; scale them down", source);
}

std::vector<std::string> cell_warnings(const OnesSource& source, std::uint64_t duplicates, std::uint64_t zeros) {
  std::vector<std::string> warnings;
  if (duplicates > 0)
    warnings.push_back(fmt::format("{}: {} repeated cells are {}{}", source.name, duplicates,
                                   source.counts ? "added up" : "merged",
                                   source.lines ? " ('ztp check' lists the lines)" : ""));
  if (zeros > 0) warnings.push_back(fmt::format("{}: {} cells with value zero are ignored", source.name, zeros));
  return warnings;
}

void normalize_ones(const OnesSource& source, Dataset& data) {
  std::int64_t total = 0;
  for (const std::int64_t count : data.tensor.counts) add_to_total(total, count, source.name);
  data.duplicates = data.tensor.sort_and_merge();
  for (std::string& warning : cell_warnings(source, data.duplicates, data.zeros))
    data.warnings.push_back(std::move(warning));
}

DroppedPairs sort_and_merge_pairs(Buffer<std::uint32_t>& pairs) {
  DroppedPairs dropped;
  dropped.self = remove_records(pairs, 2, [&](std::size_t i) { return pairs[2 * i] == pairs[2 * i + 1]; });
  for (std::size_t i = 0; i < pairs.size(); i += 2)
    if (pairs[i] > pairs[i + 1]) std::swap(pairs[i], pairs[i + 1]);
  dropped.repeated = sort_and_merge_records(pairs, 2);
  return dropped;
}

void add_network(Network network, Dataset& data) {
  const DroppedPairs dropped = sort_and_merge_pairs(network.edges);
  if (network.size() == 0)
    throw input_error("{}: no edge between two different entities; a network needs at least one", network.source);
  if (dropped.self > 0)
    data.warnings.push_back(fmt::format("{}: {} self-loops are ignored", network.source, dropped.self));
  if (dropped.repeated > 0)
    data.warnings.push_back(fmt::format("{}: {} repeated edges are merged (a b and b a are the same edge)",
                                        network.source, dropped.repeated));
  data.networks.push_back(std::move(network));
}

void warn_of_repeated_networks(Dataset& data) {
  for (std::size_t i = 0; i < data.networks.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (data.networks[i].source == data.networks[j].source)
        data.warnings.push_back(
            fmt::format("{} is given as a network twice: its edges count twice as evidence", data.networks[i].source));
}

namespace {

std::string and_more(std::uint64_t more, const char* noun) {
  return more == 0
             ? ""
             : fmt::format(", and so {} {} more {}{}", more == 1 ? "is" : "are", more, noun, more == 1 ? "" : "s");
}

// What two sorted lists of records have in common.
struct CommonRecords {
  std::size_t count = 0;
  const std::uint32_t* first = nullptr;
};

CommonRecords common_records(const Buffer<std::uint32_t>& a, const Buffer<std::uint32_t>& b, std::size_t width) {
  CommonRecords common;
  const std::uint32_t *x = a.begin(), *y = b.begin();
  while (x != a.end() && y != b.end()) {
    const auto order = std::lexicographical_compare_three_way(x, x + width, y, y + width);
    if (order == 0 && common.count++ == 0) common.first = x;
    if (order <= 0) x += width;
    if (order >= 0) y += width;
  }
  return common;
}

std::string where(const ListedEntity& entity) {
  return entity.line == 0 ? *entity.source : fmt::format("{}:{}:1", *entity.source, entity.line);
}

// Error, if one of the listed entities has ones, in `ones_source`. `slices`: their ids, sorted and distinct.
void check_slices(const SparseTensor& tensor, std::size_t k, const std::vector<ListedEntity>& listed,
                  const std::vector<std::uint32_t>& slices, const std::string& ones_source) {
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
  throw input_error(
      "{}: {} {} is listed as missing but has {} one{} in {}{}; take the ones out of the tensor, or the entity off the "
      "list",
      where(*first), tensor.modes[k].name, ztp::quoted(tensor.modes[k].labels[first->id]), count, count == 1 ? "" : "s",
      ones_source, more == 0 ? "" : fmt::format(" (likewise {} more of the list)", more));
}

}  // namespace

void set_missing_slices(std::size_t k, const std::vector<ListedEntity>& listed, const std::string& ones_source,
                        Dataset& data) {
  const SparseTensor& tensor = data.tensor;
  if (listed.empty()) return;
  std::vector<std::uint32_t>& slices = data.missing.slices[k];
  for (const ListedEntity& entity : listed) slices.push_back(entity.id);
  std::sort(slices.begin(), slices.end());
  slices.erase(std::unique(slices.begin(), slices.end()), slices.end());
  if (slices.size() == tensor.modes[k].labels.size())
    throw input_error(
        "{}: all {} entities of mode {} are missing, so there is nothing to learn from; take some off the list",
        *listed.back().source, slices.size(), tensor.modes[k].name);
  check_slices(tensor, k, listed, slices, ones_source);
}

void normalize_missing_cells(const std::string& source, const std::string& ones_source, Dataset& data) {
  const SparseTensor& tensor = data.tensor;
  const std::size_t repeated = sort_and_merge_missing(tensor, data.missing);
  if (repeated > 0) data.warnings.push_back(fmt::format("{}: {} repeated cells are merged", source, repeated));
  const CommonRecords ones = common_records(data.missing.cells, tensor.coords, tensor.order());
  if (ones.count > 0)
    throw input_error(
        "{}: the cell ({}) is listed as missing but is a one in {}{}; remove it from one of the two files", source,
        cell_text(tensor.modes, ones.first), ones_source, and_more(ones.count - 1, "cell"));
}

void normalize_missing_pairs(const std::string& source, Network& network, Dataset& data) {
  const DroppedPairs dropped = sort_and_merge_pairs(network.missing);
  if (dropped.self > 0)
    data.warnings.push_back(
        fmt::format("{}: {} pairs of an entity with itself are ignored: they are never data", source, dropped.self));
  if (dropped.repeated > 0)
    data.warnings.push_back(
        fmt::format("{}: {} repeated pairs are merged (a b and b a are the same pair)", source, dropped.repeated));
  const CommonRecords edges = common_records(network.missing, network.edges, 2);
  const LabelTable& labels = data.tensor.modes[network.mode].labels;
  if (edges.count > 0)
    throw input_error(
        "{}: the pair ({}, {}) is listed as missing but is an edge in {}{}; remove it from one of the two files",
        source, labels[edges.first[0]], labels[edges.first[1]], network.source, and_more(edges.count - 1, "pair"));
}

}  // namespace ztp
