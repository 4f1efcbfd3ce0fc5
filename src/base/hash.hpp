// XXH3 of bytes that come in pieces, or are in a file.
#pragma once
#include <xxhash.h>

#include <algorithm>
#include <cstdint>
#include <memory>

#include "base/file.hpp"

namespace ztp {

inline std::uint64_t hash_of(const void* data, std::size_t bytes) {
  return XXH3_64bits(data, bytes);
}

class Hash {
 public:
  explicit Hash(std::uint64_t seed = 0) : state_(XXH3_createState()) { XXH3_64bits_reset_withSeed(state_.get(), seed); }
  void add(const void* data, std::size_t bytes) { XXH3_64bits_update(state_.get(), data, bytes); }
  void add(const ReadFile& file, std::uint64_t offset, std::uint64_t bytes) {
    constexpr std::uint64_t most = 1 << 20;  // at a time
    Buffer<char> buffer(std::min(bytes, most));
    for (std::uint64_t done = 0; done < bytes; done += buffer.size()) {
      const std::size_t part = std::min<std::uint64_t>(buffer.size(), bytes - done);
      file.read(offset + done, buffer.data(), part);
      add(buffer.data(), part);
    }
  }
  std::uint64_t sum() const { return XXH3_64bits_digest(state_.get()); }

 private:
  struct Free {
    void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
  };
  std::unique_ptr<XXH3_state_t, Free> state_;
};

}  // namespace ztp
