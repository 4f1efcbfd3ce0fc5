// Valid names of modes. They become file names (labels/NAME.txt), columns of text files and MODE=VALUE flags, and may
// come from untrusted files.
#pragma once
#include <string_view>

namespace ztp {

inline bool usable_mode_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." &&
         name.find_first_of(std::string_view("/=\t\n\r\0", 6)) == std::string_view::npos;
}

}  // namespace ztp
