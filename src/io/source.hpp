// Bytes of a file or of standard input, decompressed where the first bytes say gzip or zstd.
#pragma once
#include <cstddef>
#include <memory>
#include <string>

#include "ztp/error.hpp"

namespace ztp {

// The magic bytes decide, not the name: a misnamed file still reads, and standard input may be compressed. Several gzip
// members or zstd frames in a row are one text, as `cat a.gz b.gz` makes them.
class ByteSource {
 public:
  explicit ByteSource(const std::string& path);  // "-" is standard input
  ~ByteSource();
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  const std::string& name() const { return name_; }  // for messages
  // At least one byte, unless the end is reached. A failure is thrown only after every byte before it was handed out,
  // so that a bad line in front of it can be reported first.
  std::size_t read(char* out, std::size_t size);

  class Decoder;  // one for each kind of compression, in source.cpp

 private:
  void detect();

  std::string name_;
  int file_;
  bool owned_;
  std::unique_ptr<Decoder> decoder_;
};

}  // namespace ztp
