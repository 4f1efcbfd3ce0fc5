// Checks the contents of data.bin.
#pragma once
#include <string>

#include "ztp/read.hpp"

namespace ztp {

// Error (input), unless the data are what Dataset promises: ids in range, records sorted and distinct, positive counts.
// Other code uses the ids as indices, and a correct checksum does not prove that they are valid.
void check_stored_data(const Dataset& data, const std::string& path);

}  // namespace ztp
