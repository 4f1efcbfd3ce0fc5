#include "ztp/version.hpp"

#include <array>
#include <cstdio>

#include "base/version.hpp"

namespace ztp {

const char* version() {
  return ZTP_VERSION;
}

bool continues(const std::string& made_by, const std::string& program) {
  using Numbers = std::array<unsigned, 3>;
  const auto numbers = [](const std::string& text, Numbers& of) {
    return std::sscanf(text.c_str(), "%u.%u.%u", &of[0], &of[1], &of[2]) == 3;
  };
  Numbers before{}, now{};
  return numbers(made_by, before) && numbers(program, now) && before[0] == now[0] && before <= now;
}

}  // namespace ztp
