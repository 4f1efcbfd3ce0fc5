#include "base/shared_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>

namespace ztp {
namespace {

// `problem`: what keeps a library that is there from being loaded.
void* open_library(const std::string& file, std::string& problem) {
  Dl_info here;
  if (dladdr(reinterpret_cast<const void*>(&load_function), &here) != 0 && here.dli_fname != nullptr) {
    std::error_code ignored;
    const std::filesystem::path program = here.dli_fname;
    const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", ignored);
    for (const std::filesystem::path& folder :
         {program.parent_path(), self.parent_path(), self.parent_path() / ".." / "lib"}) {
      if (void* handle = dlopen((folder / file).c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
      const char* const error = dlerror();
      if (std::filesystem::exists(folder / file, ignored) && error != nullptr) problem = error;
    }
  }
  void* const handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  const char* const error = handle == nullptr ? dlerror() : nullptr;
  // The loader names the file that it does not find: this one, or one that it needs.
  if (problem.empty() && error != nullptr && !std::string(error).starts_with(file + ": cannot open")) problem = error;
  return handle;
}

}  // namespace

LoadedFunction load_function(const std::string& file, const std::string& name, const std::string& make) {
  std::string problem;
  void* const handle = open_library(file, problem);
  if (handle == nullptr)
    return {nullptr, problem.empty() ? fmt::format("{} was not found; build it with '{}'", file, make)
                                     : fmt::format("{} cannot be loaded: {}", file, problem)};
  void* const address = dlsym(handle, name.c_str());
  return {address, address == nullptr ? other_version(file, make) : ""};
}

std::string other_version(const std::string& file, const std::string& make) {
  return fmt::format("{} belongs to another version; rebuild it with '{}'", file, make);
}

}  // namespace ztp
