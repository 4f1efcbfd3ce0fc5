#include "report/shown_entities.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "io/dataset_ones.hpp"
#include "report/entity_order.hpp"
#include "report/listed_components.hpp"
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
void count_ones(const Dataset& data, ShownEntities& shown) {
  const std::size_t K = shown.modes.size();
  for (std::size_t k = 0; k < K; ++k) {
    shown.modes[k].ones.assign(data.tensor.modes[k].labels.size(), 0);
    shown.modes[k].neighbours.assign(data.tensor.modes[k].labels.size(), 0);
  }
  for_ones(data, [&](const std::uint32_t* cells, const std::int64_t*, std::size_t count) {
    for (std::size_t e = 0; e < count; ++e)
      for (std::size_t k = 0; k < K; ++k) ++shown.modes[k].ones[cells[e * K + k]];
  });
  for (const Network& network : data.networks) add_neighbours(network, shown.modes[network.mode].neighbours);
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

// The top entities of all listed components.
std::vector<std::uint32_t> top_entities(Posterior& posterior, std::size_t k) {
  const std::vector<std::size_t> listed = listed_components(posterior);
  if (listed.empty()) return {};
  const MeanFactor u(posterior, k, chain_shown(posterior));
  std::vector<std::uint32_t> ids;
  for (const std::vector<std::uint32_t>& of_component : u.top(listed, entities_of_component))
    ids.insert(ids.end(), of_component.begin(), of_component.end());
  return ids;
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
    if (mode.ones[id] == 0) ids.push_back(id);
  return largest(std::move(ids), mode.neighbours, most);
}

ShownEntities choose_shown_entities(const Dataset& data, Posterior& posterior, const ReportOptions& options,
                                    std::vector<std::string>& notes) {
  const std::vector<Mode>& modes = posterior.modes();
  ShownEntities shown;
  shown.modes.resize(modes.size());
  decide_order(modes, options, shown);
  count_ones(data, shown);
  std::vector<std::size_t> sizes;
  for (const Mode& mode : modes) sizes.push_back(mode.labels.size());
  const std::vector<std::size_t> shares = fair_shares(sizes, options.entities);
  for (std::size_t k = 0; k < modes.size(); ++k) {
    ShownEntities::ModeEntities& mode = shown.modes[k];
    std::vector<std::uint32_t> in_order(sizes[k]);
    std::iota(in_order.begin(), in_order.end(), 0u);
    // A line with gaps would be misleading, so that ordered modes are shown as a whole.
    const bool all = shares[k] == sizes[k] || (mode.ordered && sizes[k] <= most_in_a_line);
    mode.places.assign(sizes[k], all ? 1 : 0);
    if (!all) {
      for (const std::uint32_t id : largest(in_order, mode.ones, shares[k])) mode.places[id] = 1;
      for (const std::uint32_t id : top_entities(posterior, k)) mode.places[id] = 1;
      for (const std::uint32_t id : cold_starts(mode, cold_starts_shown)) mode.places[id] = 1;
    }
    if (mode.ordered) in_order = ids_in_order(modes[k].labels);
    for (const std::uint32_t id : in_order) {
      if (mode.places[id] == 0) continue;
      mode.ids.push_back(id);
      mode.places[id] = static_cast<std::uint32_t>(mode.ids.size());
    }
    if (mode.ids.size() < sizes[k])
      notes.push_back(fmt::format(
          "Shown are {} of the {} entities of {}: the {} with most ones, those that a component has most of, "
          "and up to {} without ones. --entities N shows more.",
          mode.ids.size(), sizes[k], modes[k].name, shares[k], cold_starts_shown));
  }
  return shown;
}

}  // namespace ztp
