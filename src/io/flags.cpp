#include "io/flags.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/errors.hpp"
#include "io/lines.hpp"
#include "tensor/mode_name.hpp"

namespace ztp {

std::pair<std::string, std::string> split_assignment(const std::string& text, const std::string& flag,
                                                     const std::string& value) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    throw usage_error("{} {}: expected MODE={}", flag, text, value);
  return {text.substr(0, equals), text.substr(equals + 1)};
}

std::string mode_list(const std::vector<Mode>& modes) {
  std::string names;
  for (const Mode& mode : modes) names += (names.empty() ? "" : ", ") + mode.name;
  return names;
}

std::size_t mode_of_flag(const std::vector<Mode>& modes, const std::string& name, const std::string& flag) {
  for (std::size_t k = 0; k < modes.size(); ++k)
    if (modes[k].name == name) return k;
  throw config_error("{}: no mode \"{}\"; the modes are {}", flag, name, mode_list(modes));
}

Network& network_of_flag(const std::string& name, const std::string& flag, const std::string& remedy, Dataset& data) {
  const SparseTensor& tensor = data.tensor;
  std::optional<std::size_t> k = tensor.mode_named(name);
  std::size_t number = 0;  // 0: none is given
  if (const std::size_t colon = name.rfind(':'); !k && colon != name.npos) {
    const char* const end = name.data() + name.size();
    const auto [stop, error] = std::from_chars(name.data() + colon + 1, end, number);
    if (error == std::errc() && stop == end && number > 0) k = tensor.mode_named(name.substr(0, colon));
  }
  if (!k) k = mode_of_flag(tensor.modes, name, flag);
  return network_of_mode(*k, number, flag, remedy, data);
}

Network& network_of_mode(std::size_t k, std::size_t number, const std::string& flag, const std::string& remedy,
                         Dataset& data) {
  std::vector<Network*> networks;
  for (Network& network : data.networks)
    if (network.mode == k) networks.push_back(&network);
  const std::string& mode = data.tensor.modes[k].name;
  if (networks.empty()) throw config_error("{}: mode {} has no network; {}", flag, mode, remedy);
  if (number == 0 && networks.size() > 1)
    throw config_error(
        "{0}: mode {1} has {2} networks; say which is meant: {1}:1=FILE for its first --network, {1}:2=FILE for its "
        "second",
        flag, mode, networks.size());
  if (number > networks.size())
    throw config_error("{}: mode {} has only {} network{}", flag, mode, networks.size(),
                       networks.size() == 1 ? "" : "s");
  return *networks[number == 0 ? 0 : number - 1];
}

std::string mode_name_problem(std::string_view name, const std::vector<std::string>& before) {
  constexpr std::size_t longest_mode_name = 200;  // a file name has at most 255, and there is more in it
  if (name.empty()) return "an empty mode name; give every column of the header a name";
  if (!usable_mode_name(name))
    return fmt::format(
        "the mode name {} cannot be used in file names and MODE=VALUE flags; choose one without "
        "\"/\", \"=\" and line ends that is not \".\" or \"..\"",
        quoted(name));
  // Without these checks, writing or reading the run would fail later.
  if (name.size() > longest_mode_name)
    return fmt::format("the mode name {} has {} bytes, too many for a file name; choose one of at most {}",
                       quoted(name), name.size(), longest_mode_name);
  if (!is_utf8(name)) return "a mode name that is not UTF-8; save the file as UTF-8, or rename the column";
  if (std::find(before.begin(), before.end(), name) != before.end())
    return fmt::format("the mode name {} is given twice; rename one of the columns", quoted(name));
  return "";
}

}  // namespace ztp
