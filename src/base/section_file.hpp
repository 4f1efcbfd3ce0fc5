// A binary file of named sections, each with its own checksum: the data copy and the checkpoints of a run directory.
//   "ZTPSECT1", then for each section: name length (u32), zero (u32), payload length (u64), name, payload, XXH3 of name
//   and payload (u64); the last section is called "end" and is empty. Numbers are little-endian. Names are filled up
//   with zero bytes, so that payloads begin at multiples of eight.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/file.hpp"
#include "base/hash.hpp"
#include "ztp/buffer.hpp"

namespace ztp {

class SectionWriter {
 public:
  explicit SectionWriter(const std::string& path);
  void section(const std::string& name, const void* data, std::size_t bytes);
  // The same in pieces: `bytes` of them in all, then end_section.
  void begin_section(const std::string& name, std::uint64_t bytes);
  void add(const void* data, std::size_t bytes);
  void end_section();
  template <class T>
  void values(const std::string& name, const T* data, std::size_t count) {
    section(name, data, count * sizeof(T));
  }
  void commit();

 private:
  AtomicFile file_;
  Hash hash_;
  std::uint64_t length_ = 0;  // of the file so far
};

// Reads the table of sections when it is opened, and a section, with its checksum, on request. Sizes are compared with
// that of the file before anything is allocated.
class SectionReader {
 public:
  explicit SectionReader(const std::string& path);
  bool has(const std::string& name) const { return sections_.count(name) != 0; }
  std::uint64_t bytes(const std::string& name) const { return find(name).bytes; }
  void read(const std::string& name, void* data, std::size_t bytes) const;  // exactly this many, or an error
  // The same in pieces: calls use(data, bytes) for pieces of a multiple of `unit` bytes, but for the last. The checksum
  // is compared at the end: what was used before an error does not count.
  void read_pieces(const std::string& name, std::size_t unit,
                   const std::function<void(const char* data, std::size_t bytes)>& use) const;
  std::string text(const std::string& name) const;
  void verify() const;  // the checksums of all sections, a piece at a time
  template <class T>
  Buffer<T> values(const std::string& name) const {
    Buffer<T> result(bytes(name) / sizeof(T));
    read(name, result.data(), result.size() * sizeof(T));
    return result;
  }
  // Without reading them: memory that the system can take back. The checksum is not compared.
  template <class T>
  Buffer<T> mapped(const std::string& name) const {
    const std::size_t size = bytes(name) / sizeof(T);
    if (size == 0 || find(name).offset % alignof(T) != 0) return values<T>(name);
    const std::shared_ptr<void> memory = file_.map(find(name).offset, size * sizeof(T));
    return Buffer<T>::of(memory, static_cast<T*>(memory.get()), size);
  }

 private:
  struct Section {
    std::uint64_t offset;
    std::uint64_t bytes;
  };
  const Section& find(const std::string& name) const;
  [[noreturn]] void damaged(const std::string& what) const;

  ReadFile file_;
  std::map<std::string, Section> sections_;
};

}  // namespace ztp
