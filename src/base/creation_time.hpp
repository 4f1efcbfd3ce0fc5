// When a file is made, as it is written into it.
#pragma once
#include <string>

namespace ztp {

// Now in UTC, ISO 8601, or what SOURCE_DATE_EPOCH says: the usual way to ask for files that are the same byte for byte
// whenever they are made. Error (usage), if that is not a time.
std::string time_of_creation();

}  // namespace ztp
