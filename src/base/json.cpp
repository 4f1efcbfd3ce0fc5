#include "base/json.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "ztp/error.hpp"

namespace ztp {
namespace {

constexpr std::size_t deepest = 8;
constexpr std::size_t most_keys = 10000;

[[noreturn]] void wrong(const std::string& what) {
  throw Error(ErrorKind::input, what);
}

const Json& typed(const Json& json, const char* key, bool (Json::*is_type)() const, const char* what) {
  const Json& value = member(json, key);
  if (!(value.*is_type)()) wrong_type(key, what);
  return value;
}

}  // namespace

void wrong_type(const char* key, const std::string& what) {
  wrong(fmt::format("\"{}\" is not {}", key, what));
}

Json parse_json(const std::string& text) {
  std::array<std::size_t, deepest + 2> keys{};
  const auto check = [&](int depth, Json::parse_event_t event, Json&) {
    const auto level = static_cast<std::size_t>(depth);
    if (level > deepest) wrong("nested too deeply");
    if (event == Json::parse_event_t::object_start) keys[level + 1] = 0;
    if (event == Json::parse_event_t::key && ++keys[level] > most_keys) wrong("an object with too many keys");
    return true;
  };
  try {
    return Json::parse(text, check);
  } catch (const Json::exception& error) {
    std::string what = error.what();
    if (what.starts_with("[json.exception.")) what.erase(0, what.find("] ") + 2);
    wrong(what);
  }
}

std::string json_text(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

const Json& member(const Json& json, const char* key) {
  if (!json.is_object()) wrong(fmt::format("expected an object with the key \"{}\"", key));
  const auto found = json.find(key);
  if (found == json.end()) wrong(fmt::format("\"{}\" is missing", key));
  return *found;
}

std::uint64_t whole_number(const Json& json, const char* key, std::uint64_t smallest, std::uint64_t largest) {
  const Json& value = member(json, key);
  const std::uint64_t number = value.is_number_unsigned() ? value.get<std::uint64_t>() : 0;
  if (!value.is_number_unsigned() || number < smallest || number > largest)
    wrong_type(key, fmt::format("an integer from {} to {}", smallest, largest));
  return number;
}

double real(const Json& json, const char* key) {
  return typed(json, key, &Json::is_number, "a number").get<double>();  // the parser refuses what a double cannot hold
}

bool boolean(const Json& json, const char* key) {
  return typed(json, key, &Json::is_boolean, "true or false").get<bool>();
}

std::string text(const Json& json, const char* key) {
  return typed(json, key, &Json::is_string, "a string").get<std::string>();
}

const Json& list(const Json& json, const char* key) {
  return typed(json, key, &Json::is_array, "a list");
}

const Json& object(const Json& json, const char* key) {
  return typed(json, key, &Json::is_object, "an object");
}

}  // namespace ztp
