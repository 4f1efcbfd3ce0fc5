#include "options/options_json.hpp"

#include "options/options.hpp"
#include "ztp/error.hpp"
#include "ztp/option_fields.hpp"

namespace ztp {
namespace {

void read_option(const Json& json, const char* key, std::int64_t& option) {
  const Json& value = member(json, key);
  const bool fits = value.is_number_integer() &&
                    (!value.is_number_unsigned() || value.get<std::uint64_t>() <= std::uint64_t{1} << 62);
  if (!fits) wrong_type(key, "a whole number");
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
    if (!item.is_string()) wrong_type(key, "a list of texts");
    option.push_back(item.get<std::string>());
  }
}

}  // namespace

FitOptions options_from_object(const Json& json) {
  if (!json.is_object()) throw Error(ErrorKind::input, "the options are not an object");
  FitOptions options;
  for (const OptionField& field : fit_option_fields()) {
    const auto read = [&]<class Value>(Value FitOptions::*at) {
      if constexpr (std::is_enum_v<Value>)
        field.choose(options, text(json, field.name.c_str()));
      else
        read_option(json, field.name.c_str(), options.*at);
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
