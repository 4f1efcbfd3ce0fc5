#include "run/json_values.hpp"

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

[[noreturn]] void not_a(const char* key, const std::string& what) {
  wrong(fmt::format("\"{}\" is not {}", key, what));
}

}  // namespace

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
  if (!json.is_object()) wrong(fmt::format("\"{}\" is asked for where there is no object", key));
  const auto found = json.find(key);
  if (found == json.end()) wrong(fmt::format("\"{}\" is missing", key));
  return *found;
}

std::uint64_t whole_number(const Json& json, const char* key, std::uint64_t smallest, std::uint64_t largest) {
  const Json& value = member(json, key);
  const std::uint64_t number = value.is_number_unsigned() ? value.get<std::uint64_t>() : 0;
  if (!value.is_number_unsigned() || number < smallest || number > largest)
    not_a(key, fmt::format("a whole number from {} to {}", smallest, largest));
  return number;
}

double real(const Json& json, const char* key) {
  const Json& value = member(json, key);
  if (!value.is_number()) not_a(key, "a number");
  return value.get<double>();  // the parser has refused what a double cannot hold
}

bool truth(const Json& json, const char* key) {
  const Json& value = member(json, key);
  if (!value.is_boolean()) not_a(key, "true or false");
  return value.get<bool>();
}

std::string text(const Json& json, const char* key) {
  const Json& value = member(json, key);
  if (!value.is_string()) not_a(key, "a text");
  return value.get<std::string>();
}

const Json& list(const Json& json, const char* key) {
  const Json& value = member(json, key);
  if (!value.is_array()) not_a(key, "a list");
  return value;
}

const Json& object(const Json& json, const char* key) {
  const Json& value = member(json, key);
  if (!value.is_object()) not_a(key, "an object");
  return value;
}

namespace {

void read_option(const Json& json, const char* key, std::int64_t& option) {
  const Json& value = member(json, key);
  const bool fits = value.is_number_integer() &&
                    (!value.is_number_unsigned() || value.get<std::uint64_t>() <= std::uint64_t{1} << 62);
  if (!fits) not_a(key, "a whole number");
  option = value.get<std::int64_t>();
}

void read_option(const Json& json, const char* key, std::uint64_t& option) {
  option = whole<std::uint64_t>(json, key);
}

void read_option(const Json& json, const char* key, double& option) {
  option = real(json, key);
}

void read_option(const Json& json, const char* key, std::string& option) {
  option = text(json, key);
}

void read_option(const Json& json, const char* key, std::vector<std::string>& option) {
  option.clear();
  for (const Json& item : list(json, key)) {
    if (!item.is_string()) not_a(key, "a list of texts");
    option.push_back(item.get<std::string>());
  }
}

}  // namespace

FitOptions options_from(const Json& json) {
  if (!json.is_object()) wrong("the options are not an object");
  FitOptions options;
  for (const OptionField& field : fit_option_fields())
    if (json.contains(field.name))  // a run may be older than the option
      std::visit([&](auto at) { read_option(json, field.name.c_str(), options.*at); }, field.member);
  check_option_ranges(options);
  return options;
}

Json options_as(const FitOptions& options) {
  Json json;
  for (const OptionField& field : fit_option_fields())
    std::visit([&](auto member) { json[field.name] = options.*member; }, field.member);
  return json;
}

std::string options_to_json(const FitOptions& options) {
  return json_text(options_as(options), -1);
}

FitOptions options_from_json(const std::string& text) {
  return options_from(parse_json(text));
}

}  // namespace ztp
