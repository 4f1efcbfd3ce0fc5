// When a file is made, as it is written into it.
#pragma once
#include <string>

namespace ztp {

// The current time in UTC, ISO 8601; or that of the environment variable SOURCE_DATE_EPOCH, which makes files
// reproducible byte for byte. Error (usage), if that is not a time.
std::string time_of_creation();

}  // namespace ztp
