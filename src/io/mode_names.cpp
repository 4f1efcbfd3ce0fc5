#include "io/mode_names.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "io/lines.hpp"
#include "tensor/mode_name.hpp"

namespace ztp {

constexpr std::size_t longest_mode_name = 200;  // a file name has at most 255, and there is more in it

std::string mode_name_problem(std::string_view name, const std::vector<std::string>& before) {
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
