// JSON that may be damaged or made to do harm. All throw Error (input) without the name of the file.
#pragma once
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>

namespace ztp {

using Json = nlohmann::ordered_json;

// Not deeper nested, and no object larger, than what we write ever is: the library recurses over depth in places, and finds the keys of
// an object one by one.
Json parse_json(const std::string& text);
std::string json_text(const Json& json, int indent = 2);  // bytes that are not UTF-8 replaced

[[noreturn]] void not_a(const char* key, const std::string& what);
const Json& member(const Json& json, const char* key);  // of an object that has it
// A number without a fraction in this range: the library would wrap it around, or convert it in undefined ways.
std::uint64_t whole_number(const Json& json, const char* key, std::uint64_t smallest, std::uint64_t largest);
template <class T>
T whole(const Json& json, const char* key, T smallest = 0, T largest = std::numeric_limits<T>::max()) {
  static_assert(std::is_unsigned_v<T>);
  return static_cast<T>(whole_number(json, key, smallest, largest));
}
double real(const Json& json, const char* key);  // finite
bool truth(const Json& json, const char* key);
std::string text(const Json& json, const char* key);
const Json& list(const Json& json, const char* key);
const Json& object(const Json& json, const char* key);

}  // namespace ztp
