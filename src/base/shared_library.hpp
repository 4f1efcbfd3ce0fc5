// Libraries that are loaded on demand, so that the program itself does not depend on what they need.
#pragma once
#include <string>

namespace ztp {

struct LoadedFunction {
  void* address = nullptr;
  std::string missing;  // if there is none: why, in words, and what helps
};

// The function `name` of the library `file`, which is looked for beside the program or the Python module, in lib beside
// the folder of the program, and else where the loader looks. `make`: the command that builds it.
LoadedFunction load_function(const std::string& file, const std::string& name, const std::string& make);

std::string other_version(const std::string& file, const std::string& make);

template <class Api>
struct LoadedApi {
  const Api* api = nullptr;
  std::string missing;
};

// The table of functions that a library's one function gives. A library of another version is refused.
template <class Api>
LoadedApi<Api> load_api(const std::string& file, const std::string& name, int version, const std::string& make) {
  const LoadedFunction function = load_function(file, name, make);
  if (function.address == nullptr) return {nullptr, function.missing};
  const Api* const api = reinterpret_cast<const Api* (*)()>(function.address)();
  if (api == nullptr || api->version != version) return {nullptr, other_version(file, make)};
  return {api, ""};
}

}  // namespace ztp
