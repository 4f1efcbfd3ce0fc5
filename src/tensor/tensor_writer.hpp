// Writes the file that TensorFile reads. It takes its name only in commit().
#pragma once
#include <string>
#include <vector>

#include "base/file.hpp"
#include "tensor/tensor_format.hpp"
#include "ztp/buffer.hpp"

namespace ztp {

class TensorWriter {
 public:
  // Keeps a reference to the modes until commit().
  TensorWriter(const std::string& path, const std::vector<Mode>& modes, bool counted, std::size_t ones_per_block);
  // Adds the next one, by (shuffle_hash, cell), without repetition. `count` is ignored in a file without counts.
  void add(const std::uint32_t* cell, std::int64_t count);
  void commit();  // the rest of the file, and its name

  // After commit().
  std::uint64_t ones() const { return format_.head.ones; }
  std::uint64_t total_count() const { return format_.head.total_count; }
  std::size_t blocks() const { return format_.blocks(); }
  std::uint64_t bytes() const { return file_.bytes(); }
  std::uint64_t fingerprint() const { return format_.head.fingerprint; }

 private:
  void write_block();
  void write_labels(std::size_t mode);
  void write_checked(const void* data, std::size_t bytes, std::uint64_t seed);

  const std::vector<Mode>& modes_;
  TensorFormat format_;
  AtomicFile file_;
  std::size_t block_ = 0;         // its number
  Buffer<std::uint32_t> coords_;  // of this block
  Buffer<std::int64_t> counts_;
  std::uint64_t fingerprint_ = 0;  // so far
};

}  // namespace ztp
