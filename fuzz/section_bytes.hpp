// Files of sections: walks over them as the reader does, mending checksums on the way.
#pragma once
#include <xxhash.h>

#include <string>
#include <vector>

#include "harness.hpp"

namespace fuzz {

constexpr std::string_view section_magic = "ZTPSECT1";

// Makes the magic bytes and every checksum right, and ends the file with the section "end". Returns the names of the
// sections.
inline std::vector<std::string> mend_sections(std::string& bytes) {
  constexpr std::size_t head = 16;  // name length (u32), zero (u32), payload length (u64)
  std::vector<std::string> names;
  if (bytes.size() < section_magic.size()) bytes.resize(section_magic.size());
  std::memcpy(bytes.data(), section_magic.data(), section_magic.size());
  std::size_t at = section_magic.size();
  while (bytes.size() - at >= head) {
    const auto name_length = load<std::uint32_t>(bytes, at);
    const auto payload = load<std::uint64_t>(bytes, at + 8);
    const std::size_t left = bytes.size() - at - head;
    if (name_length > left || payload > left - name_length || left - name_length - payload < 8) break;
    names.push_back(bytes.substr(at + head, name_length));
    const std::size_t begin = at + head + name_length;
    const std::uint64_t seed = XXH3_64bits(names.back().data(), names.back().size());
    store(bytes, begin + payload, XXH3_64bits_withSeed(bytes.data() + begin, payload, seed));
    at = begin + payload + 8;
    if (names.back() == "end") return names;
  }
  bytes.resize(at);
  const std::string last = "end";
  const std::uint32_t length[2] = {3, 0};
  const std::uint64_t empty = 0, sum = XXH3_64bits_withSeed(nullptr, 0, XXH3_64bits(last.data(), last.size()));
  bytes.append(reinterpret_cast<const char*>(length), 8).append(reinterpret_cast<const char*>(&empty), 8);
  bytes.append(last).append(reinterpret_cast<const char*>(&sum), 8);
  names.push_back(last);
  return names;
}

}  // namespace fuzz
