#include "io/layout.hpp"

#include <fmt/format.h>

#include <cctype>

#include "base/errors.hpp"

namespace ztp {

std::string to_lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

std::string plural(std::size_t count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string entities_text(std::size_t count) {
  return fmt::format("{} {}", count, count == 1 ? "entity" : "entities");
}

std::string mode_name(const TableSpec& spec, std::size_t mode) {
  return mode < spec.fixed_modes.size() ? spec.fixed_modes[mode]->name : fmt::format("mode{}", mode + 1);
}

Error no_data_error(const std::string& file) {
  return input_error("{}: no cells; write one cell per line", file);
}

}  // namespace ztp
