// What --checkpoint and --memory say.
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
// What this process could have in all: what it has and what the machine has left, or what its control group allows.
double memory_of_machine();
double resident_memory();  // of this process now

std::string human_bytes(double bytes);  // 1.2 GiB

}  // namespace ztp
