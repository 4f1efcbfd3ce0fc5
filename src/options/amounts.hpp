// What --checkpoint, --memory and --zeros say.
#pragma once
#include <cstdint>
#include <string>

namespace ztp {

struct Interval {
  std::uint32_t sweeps = 0;  // zero: by time
  double seconds = 0;
};
// "50": sweeps; "30s", "10m", "2h": time. Error (config) that names the flag.
Interval checkpoint_interval(const std::string& text);

// "8G", "1.5GiB", "500M", "2000000": bytes, each letter 1024 times the one before. Error (config) that names the flag.
double memory_limit(const std::string& text);

// What --zeros says, where it is a number; Error (config), if it is neither that nor auto nor all.
double zeros_per_one_of(const std::string& choice);

}  // namespace ztp
