// Parsing of --checkpoint, --memory and --zeros.
#pragma once
#include <cstdint>
#include <string>

namespace ztp {

struct CheckpointInterval {
  std::uint32_t sweeps = 0;  // zero: by time
  double seconds = 0;
};
// "50": sweeps; "30s", "10m", "2h": time. Error (config) that names the flag.
CheckpointInterval checkpoint_interval(const std::string& text);

// "8G", "1.5GiB", "500M", "2000000": bytes, each letter 1024 times the one before. Error (config) that names the flag.
double memory_limit(const std::string& text);

// The number in --zeros, or the default of auto and all. Error (config), if it is none of these.
double zeros_per_one_of(const std::string& choice);

}  // namespace ztp
