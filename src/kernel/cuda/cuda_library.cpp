#include "kernel/cuda/cuda_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>

#include "base/errors.hpp"

namespace ztp::cuda {
namespace {

constexpr const char* file_name = "libztp_cuda.so";

// Beside the program or the Python module, and in lib beside the folder of the program; else where the loader looks.
// `problem`: what keeps a library that is there from being loaded.
void* open_library(std::string& problem) {
  Dl_info here;
  if (dladdr(reinterpret_cast<const void*>(&library), &here) != 0 && here.dli_fname != nullptr) {
    std::error_code ignored;
    std::filesystem::path program = here.dli_fname;
    const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", ignored);
    for (const std::filesystem::path& folder :
         {program.parent_path(), self.parent_path(), self.parent_path() / ".." / "lib"}) {
      if (void* handle = dlopen((folder / file_name).c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
      const char* const error = dlerror();
      if (std::filesystem::exists(folder / file_name, ignored) && error != nullptr) problem = error;
    }
  }
  return dlopen(file_name, RTLD_NOW | RTLD_LOCAL);
}

Library load() {
  Library result;
  std::string problem;
  void* const handle = open_library(problem);
  if (handle == nullptr) {
    result.missing = problem.empty() ? fmt::format("{} is not there; build it with 'make cuda'", file_name)
                                     : fmt::format("{} cannot be loaded: {}", file_name, problem);
    return result;
  }
  const auto function = reinterpret_cast<decltype(&ztp_cuda_api)>(dlsym(handle, "ztp_cuda_api"));
  const Api* const api = function == nullptr ? nullptr : function();
  if (api == nullptr || api->version != api_version) {
    result.missing = fmt::format("{} is of another version; build it again with 'make cuda'", file_name);
    return result;
  }
  char name[256] = "";
  if (api->open(0, name, sizeof name) != 0) {
    result.missing = fmt::format("no GPU can be used: {}", api->error());
    return result;
  }
  result.api = api;
  result.device_name = name;
  return result;
}

}  // namespace

const Library& library() {
  static const Library loaded = load();
  return loaded;
}

void check(int failed, const std::string& what) {
  if (failed == 0) return;
  const Library& of = library();
  const std::string error = of.api->error();
  if (error != "out of memory") throw config_error("the GPU ({}) failed, {}: {}", of.device_name, what, error);
  std::size_t free = 0, total = 0;
  of.api->memory(&free, &total);
  throw config_error(
      "the GPU ({}) has not enough memory: {:.1f} of {:.1f} GiB are free; take a smaller --rank, "
      "--method online from a tensor file, or --kernel cpu",
      of.device_name, static_cast<double>(free) * 0x1p-30, static_cast<double>(total) * 0x1p-30);
}

}  // namespace ztp::cuda
