// What the fuzz targets share. A target writes the bytes it is given into a file, and reads that file as the program
// would: a ztp::Error is a good answer to bad bytes, anything else that is thrown ends the process and counts as a
// crash.
#pragma once
#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/pool.hpp"
#include "ztp/error.hpp"

namespace fuzz {

// Stops the process with a message: a reader accepted what it promises to refuse.
#define REQUIRE(condition)                                                           \
  do {                                                                               \
    if (!(condition)) {                                                              \
      std::fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                  \
    }                                                                                \
  } while (false)

// A folder of this process, in memory where the system has a place for that. It is removed at the end; fuzz/run.sh sees
// to those of processes that did not come to it.
inline const std::string& folder() {
  struct Folder {
    std::string path;
    Folder() {
      const char* given = std::getenv("TMPDIR");
      path = std::string(given != nullptr                      ? given
                         : std::filesystem::exists("/dev/shm") ? "/dev/shm"
                                                               : "/tmp") +
             "/ztp-fuzz-XXXXXX";
      REQUIRE(::mkdtemp(path.data()) != nullptr);
    }
    ~Folder() {
      std::error_code ignored;
      std::filesystem::remove_all(path, ignored);
    }
  };
  static const Folder made;
  return made.path;
}

// Writes the file anew and returns its path.
inline std::string write_file(const std::string& name, std::string_view bytes) {
  const std::string path = folder() + "/" + name;
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  REQUIRE(fd >= 0);
  REQUIRE(::write(fd, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  ::close(fd);
  return path;
}

inline ztp::Pool& pool() {
  static ztp::Pool one_thread(1);
  return one_thread;
}

// The bytes of an input: first those that choose what to do, then what to read.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : rest_(reinterpret_cast<const char*>(data), size) {}
  unsigned byte() {
    if (rest_.empty()) return 0;
    const auto value = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    return value;
  }
  std::string_view rest() const { return rest_; }
  // Up to a line of three dashes, or all that is left: for targets that read several files.
  std::string_view part() {
    constexpr std::string_view separator = "---\n";
    const std::size_t at = rest_.find(separator);
    const std::string_view result = rest_.substr(0, at);
    rest_.remove_prefix(at == rest_.npos ? rest_.size() : at + separator.size());
    return result;
  }

 private:
  std::string_view rest_;
};

// Whether it was done without an Error; `message` then says what was wrong.
template <class Action>
bool accepted(const Action& action, std::string* message = nullptr) {
  try {
    action();
    return true;
  } catch (const ztp::Error& error) {
    REQUIRE(error.what()[0] != '\0');
    if (message != nullptr) *message = error.what();
    return false;
  }
}

template <class T>
T load(const std::string& bytes, std::size_t offset) {
  T value;
  REQUIRE(offset <= bytes.size() && sizeof value <= bytes.size() - offset);
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

template <class T>
void store(std::string& bytes, std::size_t offset, const T& value) {
  REQUIRE(offset <= bytes.size() && sizeof value <= bytes.size() - offset);
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}

}  // namespace fuzz
