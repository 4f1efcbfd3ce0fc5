// The time: seconds for measuring, and the date for files.
#pragma once
#include <chrono>
#include <string>

namespace ztp {

// Seconds of a monotonic clock.
inline double clock_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// The current time in UTC, ISO 8601; or that of the environment variable SOURCE_DATE_EPOCH, which makes files
// reproducible byte for byte. Error (usage), if that is not a time.
std::string time_of_creation();

}  // namespace ztp
