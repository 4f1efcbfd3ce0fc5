#include "base/tied_modes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/errors.hpp"

namespace ztp {

std::vector<std::size_t> tied_modes(const std::vector<std::string>& tie, const std::vector<std::string>& modes) {
  std::vector<std::size_t> tied(modes.size());
  std::iota(tied.begin(), tied.end(), std::size_t{0});
  const std::string names = fmt::format("{}", fmt::join(modes, ", "));
  bool any = false;
  for (const std::string& item : tie) {
    const auto mode_named = [&](const std::string& name) {
      const auto found = std::find(modes.begin(), modes.end(), name);
      if (found == modes.end()) throw config_error("--tie {}: no mode \"{}\"; the modes are {}", item, name, names);
      return static_cast<std::size_t>(found - modes.begin());
    };
    const std::size_t equals = item.find('=');
    if (equals == std::string::npos || equals != item.rfind('='))
      throw config_error("--tie {}: expected MODE=MODE; the modes are {}", item, names);
    const std::size_t first = mode_named(item.substr(0, equals)), second = mode_named(item.substr(equals + 1));
    if (first == second) throw config_error("--tie {}: a mode cannot be tied to itself", item);
    if (tied[first] == second) continue;
    if (any) throw config_error("--tie {}: only two modes can be tied, and {} are", item, tie.front());
    any = true;
    tied[first] = second;
    tied[second] = first;
  }
  return tied;
}

}  // namespace ztp
