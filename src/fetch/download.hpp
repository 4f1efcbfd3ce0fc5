// One file from an http or https server, into memory.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace ztp {

struct DownloadLimits {
  std::size_t max_bytes = 0;
  unsigned timeout = 60;  // seconds without a byte
};

// Thrown when `stop` said so.
struct DownloadStopped {};

// An error of kind usage unless the address begins with http:// or https://.
void check_address(const std::string& url);

// The whole body, or an Error that names the address: kind io for everything between here and the server, input for a
// file that is larger than it may be. Redirections are followed, ten of them at most, and never from https to http.
// `progress` gets the bytes so far and all of them, 0 where the server does not tell.
std::string download(const std::string& url, const DownloadLimits& limits,
                     const std::function<void(std::uint64_t bytes, std::uint64_t total)>& progress,
                     const std::function<bool()>& stop);

}  // namespace ztp
