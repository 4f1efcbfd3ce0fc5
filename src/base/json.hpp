// Parsing untrusted JSON. All functions throw Error (input) without the name of the file.
#pragma once
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>

namespace ztp {

using Json = nlohmann::ordered_json;

// Refuses JSON that is nested deeper, or has larger objects, than the program ever writes: the library recurses in
// places, and searches the keys of an object linearly.
Json parse_json(const std::string& text);
std::string json_text(const Json& json, int indent = 2);  // bytes that are not UTF-8 replaced

[[noreturn]] void wrong_type(const char* key, const std::string& what);
const Json& member(const Json& json, const char* key);  // of an object that has it
// An unsigned integer in this range. The library itself would wrap around silently.
std::uint64_t whole_number(const Json& json, const char* key, std::uint64_t smallest, std::uint64_t largest);
template <class T>
T whole(const Json& json, const char* key, T smallest = 0, T largest = std::numeric_limits<T>::max()) {
  static_assert(std::is_unsigned_v<T>);
  return static_cast<T>(whole_number(json, key, smallest, largest));
}
double real(const Json& json, const char* key);  // finite
bool boolean(const Json& json, const char* key);
std::string text(const Json& json, const char* key);
const Json& list(const Json& json, const char* key);
const Json& object(const Json& json, const char* key);

}  // namespace ztp
