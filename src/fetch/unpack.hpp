// Compressed data and archives in memory. Everything is bounded, and nothing is ever written under a name from an
// archive.
#pragma once
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ztp {

enum class Compression { gzip, zlib };

// All of it, checksums verified; `name` is for messages. An Error of kind input if it is damaged, cut short or more
// than `max_bytes`.
std::string inflate_all(std::string_view packed, Compression kind, std::size_t max_bytes, const std::string& name);
// As a gzip file whose bytes depend on the text alone.
std::string gzip_of(std::string_view text);

enum class Archive { zip, tar };

// The files of these names in any folder of the archive, which must hold each of them once. Others are passed over.
std::map<std::string, std::string> read_archive(std::string_view bytes, Archive kind,
                                                const std::vector<std::string>& wanted, std::size_t max_bytes,
                                                const std::string& name);

}  // namespace ztp
