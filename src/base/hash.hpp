// XXH3 of bytes that come in pieces.
#pragma once
#include <xxhash.h>

#include <cstdint>
#include <memory>

namespace ztp {

class Hash {
 public:
  explicit Hash(std::uint64_t seed = 0) : state_(XXH3_createState()) { XXH3_64bits_reset_withSeed(state_.get(), seed); }
  void add(const void* data, std::size_t bytes) { XXH3_64bits_update(state_.get(), data, bytes); }
  std::uint64_t sum() const { return XXH3_64bits_digest(state_.get()); }

 private:
  struct Free {
    void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
  };
  std::unique_ptr<XXH3_state_t, Free> state_;
};

}  // namespace ztp
