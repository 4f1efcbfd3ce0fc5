#pragma once

namespace ztp {

// The version of the library, as "1.2.3". A run records which made it: another version may draw other numbers.
const char* version();

}  // namespace ztp
