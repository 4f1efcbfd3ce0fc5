#include "options/options_json.hpp"

#include "options/options.hpp"
#include "ztp/error.hpp"
#include "ztp/option_fields.hpp"

namespace ztp {
namespace {

std::int64_t signed_number(const Json& json, const char* key) {
  const Json& value = member(json, key);
  const bool fits = value.is_number_integer() &&
                    (!value.is_number_unsigned() || value.get<std::uint64_t>() <= std::uint64_t{1} << 62);
  if (!fits) wrong_type(key, "an integer");
  return value.get<std::int64_t>();
}

std::vector<std::string> texts(const Json& json, const char* key) {
  std::vector<std::string> result;
  for (const Json& item : list(json, key)) {
    if (!item.is_string()) wrong_type(key, "a list of strings");
    result.push_back(item.get<std::string>());
  }
  return result;
}

}  // namespace

FitOptions options_from_object(const Json& json) {
  if (!json.is_object()) throw Error(ErrorKind::input, "the options are not an object");
  FitOptions options;
  for (const OptionField& field : fit_option_fields()) {
    const char* key = field.name.c_str();
    const auto read = [&]<class Value>(Value FitOptions::*at) {
      if constexpr (std::is_enum_v<Value>)
        field.choose(options, text(json, key));
      else if constexpr (std::is_same_v<Value, std::int64_t>)
        options.*at = signed_number(json, key);
      else if constexpr (std::is_same_v<Value, std::uint64_t>)
        options.*at = whole<std::uint64_t>(json, key);
      else if constexpr (std::is_same_v<Value, double>)
        options.*at = real(json, key);
      else if constexpr (std::is_same_v<Value, std::string>)
        options.*at = text(json, key);
      else
        options.*at = texts(json, key);
    };
    if (json.contains(field.name)) std::visit(read, field.member);  // a run may be older than the option
  }
  check_ranges(options);
  return options;
}

Json options_to_object(const FitOptions& options) {
  Json json;
  for (const OptionField& field : fit_option_fields()) {
    const auto write = [&]<class Value>(Value FitOptions::*at) {
      if constexpr (std::is_enum_v<Value>)
        json[field.name] = name_of(options.*at);
      else
        json[field.name] = options.*at;
    };
    std::visit(write, field.member);
  }
  return json;
}

std::string options_to_json(const FitOptions& options) {
  return json_text(options_to_object(options), -1);
}

FitOptions options_from_json(const std::string& text) {
  return options_from_object(parse_json(text));
}

}  // namespace ztp
