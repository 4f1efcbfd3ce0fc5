#pragma once

namespace ztp {

// Of the library, as "1.2.3". A run says which made it: draws are the same within a version alone.
const char* version();

}  // namespace ztp
