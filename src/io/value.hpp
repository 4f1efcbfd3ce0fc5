// The value column of a cell.
#pragma once
#include <cstdint>
#include <string_view>

#include "io/table.hpp"

namespace ztp {

// Writes the value of a cell: nonzero and none, 0 or 1; counts, the count; zero_one, 0 or 1. Returns what is wrong with
// the text and what to do, or null.
const char* parse_general_value(std::string_view text, ValueKind rule, std::int64_t& value);

inline const char* parse_value(std::string_view text, ValueKind rule, std::int64_t& value) {
  if (text == "1") {  // by far the most common
    value = 1;
    return nullptr;
  }
  return parse_general_value(text, rule, value);
}

}  // namespace ztp
