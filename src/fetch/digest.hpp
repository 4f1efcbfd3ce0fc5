// Checksums as published beside data sets: lower-case hexadecimal.
#pragma once
#include <string>
#include <string_view>

namespace ztp {

std::string md5_of(std::string_view bytes);
std::string sha256_of(std::string_view bytes);

}  // namespace ztp
