#include "model/layout_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>

#include "base/errors.hpp"

namespace ztp {
namespace {

constexpr std::uint32_t most_columns_by_default = 100, most_own_by_default = 250, most_own = 4096;
constexpr std::uint64_t ones_of_an_own_column = 100;
constexpr std::int64_t components_of_a_column = 20, most_components = 100000;

std::size_t mode_named(const std::vector<ModeSize>& modes, const std::string& name, const std::string& flag) {
  std::string names;
  for (std::size_t k = 0; k < modes.size(); ++k) {
    if (modes[k].name == name) return k;
    names += (k == 0 ? "" : ", ") + modes[k].name;
  }
  throw config_error("{}: no mode \"{}\"; the modes are {}", flag, name, names);
}

// The items of a list, which may have commas in them: "a=40,b=60".
std::vector<std::string> items_of(const std::vector<std::string>& list) {
  std::vector<std::string> items;
  for (const std::string& text : list)
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find(',', begin), text.size());
      items.push_back(text.substr(begin, end - begin));
      begin = end + 1;
    }
  return items;
}

// What is asked for of each mode: "auto", "own" or a number.
std::vector<std::string> asked_columns(const FitOptions& options, const std::vector<ModeSize>& modes,
                                       const std::vector<std::size_t>& tied) {
  std::vector<std::optional<std::string>> asked(modes.size());
  std::string of_all = "auto";
  for (const std::string& item : items_of(options.columns)) {
    const std::size_t equals = item.rfind('=');
    if (equals == std::string::npos) {
      of_all = item;
      continue;
    }
    const std::size_t k = mode_named(modes, item.substr(0, equals), "--columns " + item);
    const std::string value = item.substr(equals + 1);
    for (const std::size_t mode : {k, tied[k]}) {
      if (asked[mode] && *asked[mode] != value)
        throw config_error("--columns {}: mode {} has {} already{}", item, modes[mode].name, *asked[mode],
                           mode == k && tied[k] == k ? "" : "; tied modes have the same columns");
      asked[mode] = value;
    }
  }
  std::vector<std::string> result;
  for (std::size_t k = 0; k < modes.size(); ++k) result.push_back(asked[k].value_or(of_all));
  return result;
}

std::uint32_t number_of_columns(const std::string& text, const ModeSize& mode) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 1)
    throw config_error("--columns {}={}: must be a number from 1 on, own or auto", mode.name, text);
  if (number > mode.entities)
    throw config_error("--columns {0}={1}: mode {0} has {2} entities, and more columns than that are of no use",
                       mode.name, text, mode.entities);
  return number;
}

}  // namespace

std::vector<std::size_t> tied_modes(const FitOptions& options, const std::vector<ModeSize>& modes) {
  std::vector<std::size_t> tied(modes.size());
  std::iota(tied.begin(), tied.end(), std::size_t{0});
  bool any = false;
  for (const std::string& item : options.tie) {
    const std::size_t equals = item.find('=');
    if (equals == std::string::npos) throw config_error("--tie {}: expected MODE=MODE", item);
    const std::size_t first = mode_named(modes, item.substr(0, equals), "--tie " + item);
    const std::size_t second = mode_named(modes, item.substr(equals + 1), "--tie " + item);
    if (first == second) throw config_error("--tie {}: a mode cannot be tied to itself", item);
    if (tied[first] == second) continue;
    if (any) throw config_error("--tie {}: only two modes can be tied", item);
    any = true;
    tied[first] = second;
    tied[second] = first;
  }
  return tied;
}

void complete_layout(FitOptions& options, const std::vector<ModeSize>& modes, std::uint64_t ones) {
  const std::vector<std::size_t> tied = tied_modes(options, modes);
  if (!options.tie.empty() && options.columns.empty()) options.columns = {"auto"};
  if (options.self != SelfCells::automatic && options.tie.empty())
    throw config_error("--self has no effect without --tie");
  if (options.columns == std::vector<std::string>{"auto"} && options.tie.empty()) options.columns.clear();
  std::int64_t most_columns = 0;
  if (!options.columns.empty()) {
    std::vector<std::string> asked = asked_columns(options, modes, tied), filled;
    // Of the modes that are left to us, the smallest may have a column for each entity, if these have ones enough.
    std::size_t smallest = modes.size();
    for (std::size_t k = 0; k < modes.size(); ++k) {
      const bool small =
          modes[k].entities <= most_own_by_default && ones >= ones_of_an_own_column * std::uint64_t{modes[k].entities};
      if (asked[k] == "auto" && tied[k] == k && small && modes.size() > 2 &&
          (smallest == modes.size() || modes[k].entities < modes[smallest].entities))
        smallest = k;
    }
    const bool has_own = std::find(asked.begin(), asked.end(), "own") != asked.end();
    if (smallest < modes.size() && !has_own) asked[smallest] = "own";
    for (std::size_t k = 0; k < modes.size(); ++k) {
      const ModeSize& mode = modes[k];
      if (asked[k] == "auto") asked[k] = fmt::format("{}", std::min(mode.entities, most_columns_by_default));
      if (asked[k] == "own") {
        if (tied[k] != k)
          throw config_error("--columns {}=own: the mode is tied, and then columns are shared", mode.name);
        if (mode.entities > most_own)
          throw config_error("--columns {}=own: of {} entities; at most {} can have columns of their own", mode.name,
                             mode.entities, most_own);
        if (std::count(asked.begin(), asked.end(), "own") == static_cast<std::ptrdiff_t>(modes.size()))
          throw config_error("--columns own: at least one mode must share columns");
      } else {
        most_columns = std::max<std::int64_t>(most_columns, number_of_columns(asked[k], mode));
      }
      filled.push_back(mode.name + "=" + asked[k]);
    }
    options.columns = filled;
  }
  if (options.rank < 0)
    options.rank = most_columns == 0 ? 20 : std::min(components_of_a_column * most_columns, most_components);
  for (std::size_t k = 0; k < modes.size() && shares_columns(options); ++k)
    if (options.columns[k].ends_with("=own") && options.rank < modes[k].entities)
      throw config_error("--rank {}: each of the {} entities of mode {}, which has own columns, needs a component",
                         options.rank, modes[k].entities, modes[k].name);
}

FactorLayout layout_of(const FitOptions& complete, const std::vector<ModeSize>& modes) {
  const std::size_t R = static_cast<std::size_t>(complete.rank);
  std::vector<std::uint32_t> sizes;
  for (const ModeSize& mode : modes) sizes.push_back(mode.entities);
  if (!shares_columns(complete)) return FactorLayout::cp(sizes, R);
  if (complete.columns.size() != modes.size())
    throw config_error("--columns: {} values for {} modes", complete.columns.size(), modes.size());
  const std::vector<std::size_t> tied = tied_modes(complete, modes);
  std::vector<std::size_t> matrix_of_mode, own;
  std::vector<FactorLayout::Size> matrices;
  for (std::size_t k = 0; k < modes.size(); ++k) {
    if (tied[k] < k) {
      matrix_of_mode.push_back(matrix_of_mode[tied[k]]);
      continue;
    }
    const std::string value = complete.columns[k].substr(complete.columns[k].rfind('=') + 1);
    if (value == "own" && sizes[k] > most_own)
      throw config_error("--columns {}: too many entities", complete.columns[k]);
    if (value == "own") own.push_back(k);
    matrix_of_mode.push_back(matrices.size());
    matrices.push_back({sizes[k], value == "own" ? sizes[k] : number_of_columns(value, modes[k])});
  }
  FactorLayout layout(matrix_of_mode, matrices, R,
                      std::vector<std::vector<std::uint32_t>>(modes.size(), std::vector<std::uint32_t>(R, 0)));
  for (const std::size_t k : own) layout.make_one_hot(k);
  return layout;
}

}  // namespace ztp
