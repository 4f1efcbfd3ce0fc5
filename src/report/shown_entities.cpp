#include "report/shown_entities.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "io/dataset_ones.hpp"
#include "report/entity_order.hpp"
#include "report/groups.hpp"
#include "report/mean_factor.hpp"
#include "ztp/error.hpp"

namespace ztp {
namespace {

// Which modes are named; Error (usage) for names of no mode.
std::vector<bool> modes_named(const std::vector<std::string>& names, const std::vector<Mode>& modes, const char* flag) {
  std::vector<bool> named(modes.size(), false);
  for (const std::string& name : names) {
    const auto found = std::find_if(modes.begin(), modes.end(), [&](const Mode& mode) { return mode.name == name; });
    if (found == modes.end()) {
      std::vector<std::string> all;
      for (const Mode& mode : modes) all.push_back(mode.name);
      throw Error(ErrorKind::usage,
                  fmt::format("{} {}: there is no such mode; modes of the run: {}", flag, name, fmt::join(all, ", ")));
    }
    named[static_cast<std::size_t>(found - modes.begin())] = true;
  }
  return named;
}

void decide_order(const std::vector<Mode>& modes, const ReportOptions& options, ShownEntities& shown) {
  const std::vector<bool> with = modes_named(options.ordered, modes, "--ordered"),
                          without = modes_named(options.unordered, modes, "--unordered");
  for (std::size_t k = 0; k < modes.size(); ++k) {
    if (with[k] && without[k])
      throw Error(ErrorKind::usage, fmt::format("{} is given with --ordered and with --unordered", modes[k].name));
    shown.modes[k].ordered = with[k] || (!without[k] && looks_ordered(modes[k]));
  }
}

// Counts ones and neighbours in one pass over the data.
void count_ones(const Dataset& data, const FactorLayout& layout, ShownEntities& shown) {
  const std::size_t K = shown.modes.size();
  for (std::size_t k = 0; k < K; ++k) {
    shown.modes[k].ones.assign(data.tensor.modes[k].labels.size(), 0);
    shown.modes[k].neighbours.assign(data.tensor.modes[k].labels.size(), 0);
  }
  for_ones(data, [&](const std::uint32_t* cells, const std::int64_t*, std::size_t count) {
    for (std::size_t e = 0; e < count; ++e)
      for (std::size_t k = 0; k < K; ++k) ++shown.modes[k].ones[cells[e * K + k]];
  });
  for (std::size_t k = 0; k < K; ++k) {
    if (layout.tied_mode(k) != k) shown.modes[k].tied_ones = shown.modes[layout.tied_mode(k)].ones;
    for (const Network& network : data.networks)
      if (layout.matrix(network.mode) == layout.matrix(k)) add_neighbours(network, shown.modes[k].neighbours);
  }
}

// The `count` ids with the largest numbers.
template <class Numbers>
std::vector<std::uint32_t> largest(std::vector<std::uint32_t> ids, const Numbers& number, std::size_t count) {
  count = std::min(count, ids.size());
  std::partial_sort(
      ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(count), ids.end(),
      [&](std::uint32_t a, std::uint32_t b) { return number[a] != number[b] ? number[a] > number[b] : a < b; });
  ids.resize(count);
  return ids;
}

// The top entities of all listed components or columns.
std::vector<std::uint32_t> top_entities(Posterior& posterior, std::size_t k) {
  if (is_rival(posterior.info().options)) return {};
  const Groups groups = find_groups(posterior);
  if (groups.modes[k].columns.empty()) return {};
  const MeanFactor u(posterior, k, groups.chain);
  std::vector<std::uint32_t> ids;
  for (const std::vector<std::uint32_t>& of_group : u.top(groups.modes[k].columns, entities_of_component))
    ids.insert(ids.end(), of_group.begin(), of_group.end());
  return ids;
}

// Tied modes have the same entities, and show the same in the same order.
void join_tied(const FactorLayout& layout, ShownEntities& shown) {
  for (std::size_t k = 0; k < shown.modes.size(); ++k) {
    const ShownEntities::ModeEntities& other = shown.modes[layout.tied_mode(k)];
    shown.modes[k].ordered = shown.modes[k].ordered || other.ordered;
    for (std::size_t id = 0; id < other.places.size(); ++id)
      if (other.places[id] > 0) shown.modes[k].places[id] = 1;
  }
}

}  // namespace

std::optional<std::uint32_t> ShownEntities::ModeEntities::place_of(std::uint32_t id) const {
  return places[id] > 0 ? std::optional(places[id] - 1) : std::nullopt;
}

std::vector<std::size_t> fair_shares(const std::vector<std::size_t>& sizes, std::size_t most) {
  std::vector<std::size_t> by_size(sizes.size()), shares(sizes.size());
  std::iota(by_size.begin(), by_size.end(), std::size_t{0});
  std::stable_sort(by_size.begin(), by_size.end(), [&](std::size_t a, std::size_t b) { return sizes[a] < sizes[b]; });
  for (std::size_t i = 0; i < by_size.size(); ++i) {
    const std::size_t k = by_size[i];
    shares[k] = std::min(sizes[k], most / (by_size.size() - i));
    most -= shares[k];
  }
  return shares;
}

void add_neighbours(const Network& network, std::vector<std::uint32_t>& neighbours) {
  for (const std::uint32_t end : network.edges) ++neighbours[end];
}

std::vector<std::uint32_t> cold_starts(const ShownEntities::ModeEntities& mode, std::size_t most) {
  std::vector<std::uint32_t> ids;
  for (std::uint32_t id = 0; id < mode.ones.size(); ++id)
    if (!mode.has_ones(id)) ids.push_back(id);
  return largest(std::move(ids), mode.neighbours, most);
}

ShownEntities choose_shown_entities(const Dataset& data, Posterior& posterior, const ReportOptions& options,
                                    std::vector<std::string>& notes) {
  const std::vector<Mode>& modes = posterior.modes();
  ShownEntities shown;
  shown.modes.resize(modes.size());
  decide_order(modes, options, shown);
  const FactorLayout layout = layout_of(posterior);
  count_ones(data, layout, shown);
  std::vector<std::size_t> sizes;
  for (const Mode& mode : modes) sizes.push_back(mode.labels.size());
  const std::vector<std::size_t> shares = fair_shares(sizes, options.entities);
  const bool shared = shares_columns(posterior.info().options);
  for (std::size_t k = 0; k < modes.size(); ++k) {
    ShownEntities::ModeEntities& mode = shown.modes[k];
    // A line with gaps would be misleading, so that ordered modes are shown as a whole.
    const bool all = shares[k] == sizes[k] || (mode.ordered && sizes[k] <= most_in_a_line);
    mode.places.assign(sizes[k], all ? 1 : 0);
    if (all) continue;
    std::vector<std::uint32_t> ids(sizes[k]);
    std::iota(ids.begin(), ids.end(), 0u);
    for (const std::uint32_t id : largest(std::move(ids), mode.ones, shares[k])) mode.places[id] = 1;
    for (const std::uint32_t id : top_entities(posterior, k)) mode.places[id] = 1;
    for (const std::uint32_t id : cold_starts(mode, cold_starts_shown)) mode.places[id] = 1;
  }
  join_tied(layout, shown);
  for (std::size_t k = 0; k < modes.size(); ++k) {
    ShownEntities::ModeEntities& mode = shown.modes[k];
    std::vector<std::uint32_t> in_order(sizes[k]);
    std::iota(in_order.begin(), in_order.end(), 0u);
    if (mode.ordered) in_order = ids_in_order(modes[k].labels);
    for (const std::uint32_t id : in_order) {
      if (mode.places[id] == 0) continue;
      mode.ids.push_back(id);
      mode.places[id] = static_cast<std::uint32_t>(mode.ids.size());
    }
    if (mode.ids.size() < sizes[k])
      notes.push_back(fmt::format(
          "Some entities: {} of the {} entities of {} are shown. They are the {} with the most ones, the top entities "
          "of every {}, and up to {} without ones. 'ztp report --entities N' shows more.",
          mode.ids.size(), sizes[k], modes[k].name, shares[k], shared ? "column" : "component", cold_starts_shown));
  }
  return shown;
}

}  // namespace ztp
