#pragma once

namespace ztp {

// Of the library, as "1.2.3". A run says which made it: another version may draw other numbers.
const char* version();

}  // namespace ztp
