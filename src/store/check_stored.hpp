// Is what data.bin holds a data set that the program can work with?
#pragma once
#include <string>

#include "ztp/read.hpp"

namespace ztp {

// What is read back from data.bin must be what Dataset promises: the rest of the program uses ids as indices. Right checksums and a right
// fingerprint say only that the file is as somebody wrote it. Error (input) names the file.
void check_stored(const Dataset& data, const std::string& path);

}  // namespace ztp
