#include "model/layout_options.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>

#include "base/errors.hpp"
#include "base/tied_modes.hpp"

namespace ztp {
namespace {

// Columns by default: large modes have more, but not if that makes more than so many factors.
constexpr std::uint32_t columns_by_default = 100, columns_of_a_large_mode = 400, large_mode = 10000;
constexpr std::uint32_t factors_by_default = 40'000'000;
constexpr std::uint32_t most_own_by_default = 250, most_own = 4096;
constexpr std::uint64_t ones_of_an_own_column = 100;
constexpr std::int64_t components_of_a_column = 20, most_components = 100000;

// Besides numbers, what can be asked for of a mode.
constexpr std::uint32_t automatic = 0, own = std::numeric_limits<std::uint32_t>::max();

std::uint32_t default_columns(std::uint32_t entities) {
  if (entities <= large_mode) return std::min(entities, columns_by_default);
  return std::clamp(factors_by_default / entities, columns_by_default, columns_of_a_large_mode);
}

std::string names_of(const std::vector<ModeSize>& modes) {
  std::string names;
  for (const ModeSize& mode : modes) names += (names.empty() ? "" : ", ") + mode.name;
  return names;
}

std::size_t mode_named(const std::vector<ModeSize>& modes, const std::string& name, const std::string& flag) {
  for (std::size_t k = 0; k < modes.size(); ++k)
    if (modes[k].name == name) return k;
  throw config_error("{}: no mode \"{}\"; the modes are {}", flag, name, names_of(modes));
}

// The items of a list, which may have commas in them: "a=40,b=60".
std::vector<std::string> items_of(const std::vector<std::string>& list) {
  std::vector<std::string> items;
  for (const std::string& text : list)
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find(',', begin), text.size());
      if (begin == end) throw config_error("--columns {}: a part of the list is empty", text);
      items.push_back(text.substr(begin, end - begin));
      begin = end + 1;
    }
  return items;
}

// What an item asks for: "40", "own", "subject=auto".
std::uint32_t value_of(const std::string& item) {
  const std::string text = item.substr(item.rfind('=') + 1);
  if (text == "auto") return automatic;
  if (text == "own") return own;
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc::result_out_of_range && text[0] != '-') return own - 1;
  if (error != std::errc() || end != text.data() + text.size() || number < 1)
    throw config_error("--columns {}: must be a number of columns (1 or more), own or auto", item);
  return std::min(number, own - 1);
}

// What item asks for of mode k, which it names.
std::uint32_t value_for(const std::string& item, const ModeSize& mode) {
  const std::uint32_t value = value_of(item);
  if (value != own && value > mode.entities)
    throw config_error("--columns {0}: mode {1} has {2} entities, so at most {2} columns", item, mode.name,
                       mode.entities);
  if (value == own && mode.entities > most_own)
    throw config_error(
        "--columns {}: 'own' is for modes of at most {} entities, and {} has {}; give a number of columns", item,
        most_own, mode.name, mode.entities);
  return value;
}

// What is asked for of each mode. A number for all modes is an upper bound in modes of fewer entities.
std::vector<std::uint32_t> asked_columns(const FitOptions& options, const std::vector<ModeSize>& modes,
                                         const std::vector<std::size_t>& tied) {
  std::vector<std::optional<std::uint32_t>> asked(modes.size());
  std::optional<std::uint32_t> of_all;
  for (const std::string& item : items_of(options.columns)) {
    const std::size_t equals = item.rfind('=');
    if (equals == std::string::npos) {
      if (of_all) throw config_error("--columns {}: the columns of all modes are given twice", item);
      of_all = value_of(item);
      if (of_all == own)
        throw config_error("--columns own: give the mode, as MODE=own; the modes are {}", names_of(modes));
      continue;
    }
    const std::size_t k = mode_named(modes, item.substr(0, equals), "--columns " + item);
    const std::uint32_t value = value_for(item, modes[k]);
    if (value == own && tied[k] != k)
      throw config_error("--columns {}: mode {} is tied to {}, and tied modes share columns; give a number", item,
                         modes[k].name, modes[tied[k]].name);
    if (asked[k] && asked[k] != value)
      throw config_error("--columns {}: the columns of mode {} are given twice", item, modes[k].name);
    if (asked[tied[k]] && asked[tied[k]] != value)
      throw config_error("--columns {}: mode {} is tied to {}, and tied modes have the same columns", item,
                         modes[k].name, modes[tied[k]].name);
    asked[k] = value;
  }
  std::vector<std::uint32_t> result;
  for (std::size_t k = 0; k < modes.size(); ++k) {
    const auto& of_mode = asked[k] ? asked[k] : asked[tied[k]];
    result.push_back(of_mode.value_or(std::min(of_all.value_or(automatic), modes[k].entities)));
  }
  return result;
}

// Of the modes that are left to us, the smallest may have a column for each entity, if these have ones enough.
void choose_own_columns(std::vector<std::uint32_t>& asked, const FitOptions& options,
                        const std::vector<ModeSize>& modes, const std::vector<std::size_t>& tied, std::uint64_t ones) {
  if (modes.size() < 3 || options.start == Start::prior || std::count(asked.begin(), asked.end(), own) > 0) return;
  std::size_t smallest = modes.size();
  for (std::size_t k = 0; k < modes.size(); ++k) {
    const std::uint32_t entities = modes[k].entities;
    const bool possible = asked[k] == automatic && tied[k] == k && !modes[k].has_network &&
                          (options.rank < 0 || options.rank >= entities);
    const bool worth_it = entities <= most_own_by_default && ones >= ones_of_an_own_column * std::uint64_t{entities};
    if (possible && worth_it && (smallest == modes.size() || entities < modes[smallest].entities)) smallest = k;
  }
  if (smallest < modes.size()) asked[smallest] = own;
}

// One mode at most: the ones of an entity of it look at its components alone.
void check_own_columns(const std::vector<std::uint32_t>& asked, const FitOptions& options,
                       const std::vector<ModeSize>& modes) {
  const auto first = std::find(asked.begin(), asked.end(), own);
  if (first == asked.end()) return;
  const ModeSize& mode = modes[static_cast<std::size_t>(first - asked.begin())];
  const auto second = std::find(first + 1, asked.end(), own);
  if (second != asked.end())
    throw config_error("--columns {}=own: mode {} has own columns already, and only one mode can; give a number",
                       modes[static_cast<std::size_t>(second - asked.begin())].name, mode.name);
  if (options.rank >= 0 && options.rank < mode.entities)
    throw config_error(
        "--rank {0}: with --columns {1}=own each of the {2} entities of mode {1} needs a component; give --rank {2} or "
        "more, or {1} a number of columns",
        options.rank, mode.name, mode.entities);
}

}  // namespace

std::vector<std::size_t> tied_modes(const FitOptions& options, const std::vector<ModeSize>& modes) {
  std::vector<std::string> names;
  for (const ModeSize& mode : modes) names.push_back(mode.name);
  return tied_modes(options.tie, names);
}

void complete_layout(FitOptions& options, const std::vector<ModeSize>& modes, std::uint64_t ones) {
  const std::vector<std::size_t> tied = tied_modes(options, modes);
  if (options.self_cells != SelfCells::automatic && options.tie.empty())
    throw config_error("--self-cells has no effect without --tie");
  if (!options.tie.empty() && options.columns.empty()) options.columns = {"auto"};
  if (options.columns == std::vector<std::string>{"auto"} && options.tie.empty()) options.columns.clear();
  std::uint32_t most_columns = 0;
  if (!options.columns.empty()) {
    std::vector<std::uint32_t> asked = asked_columns(options, modes, tied);
    choose_own_columns(asked, options, modes, tied, ones);
    check_own_columns(asked, options, modes);
    options.columns.clear();
    for (std::size_t k = 0; k < modes.size(); ++k) {
      if (asked[k] == automatic) asked[k] = default_columns(modes[k].entities);
      if (asked[k] != own) most_columns = std::max(most_columns, asked[k]);
      options.columns.push_back(modes[k].name + "=" + (asked[k] == own ? "own" : std::to_string(asked[k])));
    }
  }
  if (options.rank >= 0) return;
  options.rank = most_columns > 0 ? std::min(components_of_a_column * most_columns, most_components)
                                  : (is_rival(options) ? rank_of_rival : first_rank_tried);
}

FactorLayout layout_of(const FitOptions& complete, const std::vector<ModeSize>& modes) {
  const std::size_t R = static_cast<std::size_t>(complete.rank);
  std::vector<std::uint32_t> sizes;
  for (const ModeSize& mode : modes) sizes.push_back(mode.entities);
  if (!shares_columns(complete)) return FactorLayout::cp(sizes, R);
  if (complete.columns.size() != modes.size())
    throw config_error("--columns: {} values for {} modes", complete.columns.size(), modes.size());
  const std::vector<std::size_t> tied = tied_modes(complete, modes);
  std::vector<std::size_t> matrix_of_mode;
  std::vector<FactorLayout::Size> matrices;
  std::optional<std::size_t> one_hot;
  for (std::size_t k = 0; k < modes.size(); ++k) {
    if (tied[k] < k) {
      matrix_of_mode.push_back(matrix_of_mode[tied[k]]);
      continue;
    }
    const std::uint32_t value = value_for(complete.columns[k], modes[k]);
    if (value == automatic) throw config_error("--columns {}: not filled in", complete.columns[k]);
    if (value == own) one_hot = k;
    matrix_of_mode.push_back(matrices.size());
    matrices.push_back({sizes[k], value == own ? sizes[k] : value});
  }
  FactorLayout layout(matrix_of_mode, matrices, R,
                      std::vector<std::vector<std::uint32_t>>(modes.size(), std::vector<std::uint32_t>(R, 0)));
  if (one_hot) layout.make_one_hot(*one_hot);
  return layout;
}

}  // namespace ztp
