// The bytes of a file or of standard input, decompressed if they are gzip or zstd.
#pragma once
#include <cstddef>
#include <memory>
#include <string>

#include "base/file.hpp"
#include "ztp/error.hpp"

namespace ztp {

// The magic bytes decide, not the name: standard input may be compressed, too. Several gzip members or zstd frames are
// read as one text, as `cat a.gz b.gz` makes them.
class ByteSource {
 public:
  explicit ByteSource(const std::string& path);  // "-" is standard input
  ~ByteSource();

  const std::string& name() const { return name_; }  // for messages
  // At least one byte, unless the end is reached. An error is thrown only after all bytes before it were returned, so
  // that a bad line before it is reported first.
  std::size_t read(char* out, std::size_t size);

  class Decoder;  // one for each kind of compression, in source.cpp

 private:
  void detect();

  std::string name_;
  FileDescriptor opened_;  // negative for standard input
  std::unique_ptr<Decoder> decoder_;
};

}  // namespace ztp
