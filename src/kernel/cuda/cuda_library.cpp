#include "kernel/cuda/cuda_library.hpp"

#include <fmt/format.h>

#include "base/errors.hpp"
#include "base/shared_library.hpp"
#include "comm/launch.hpp"

namespace ztp::cuda {
namespace {

Library load() {
  Library result;
  const auto [api, missing] = load_api<Api>("libztp_cuda.so", "ztp_cuda_api", api_version, "make cuda");
  result.missing = missing;
  if (api == nullptr) return result;
  char name[256] = "";
  int devices = 0;
  if (api->devices(&devices) == 0 && devices > 0)
    result.device = static_cast<int>(read_launch().local_rank % static_cast<std::size_t>(devices));
  if (api->open(result.device, name, sizeof name) != 0) {
    result.missing = fmt::format("no GPU can be used: {}", api->error());
    return result;
  }
  result.api = api;
  result.devices = static_cast<std::size_t>(devices);
  result.device_name = name;
  return result;
}

}  // namespace

const Library& library() {
  static const Library loaded = load();
  // Every thread begins with the first GPU.
  thread_local const bool chosen = loaded.api == nullptr || loaded.device == 0 || loaded.api->use(loaded.device) == 0;
  static_cast<void>(chosen);
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
      "the GPU ({}) does not have enough memory: {:.1f} of {:.1f} GiB are free; use a smaller --rank, --method online "
      "from a tensor file, or --kernel cpu",
      of.device_name, static_cast<double>(free) * 0x1p-30, static_cast<double>(total) * 0x1p-30);
}

}  // namespace ztp::cuda
