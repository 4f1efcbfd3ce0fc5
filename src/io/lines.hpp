// Text in blocks of whole lines, and errors with their line and column.
#pragma once
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <string_view>

#include "io/source.hpp"
#include "ztp/buffer.hpp"

namespace ztp {

inline constexpr std::size_t max_line_bytes = 64 << 20;

// Thrown while parsing, and turned into an Error where the file and the number of lines before the block are known.
struct BadLine {
  std::uint64_t line;  // 1-based: within a block while blocks are parsed, within the file in its header
  std::size_t column;  // 1-based byte
  std::string what;
};

Error error_at(const std::string& file, const BadLine& bad, std::uint64_t lines_before = 0);
std::string quoted(std::string_view text);  // for messages: shortened, control characters made visible
// The position of the first byte that is not allowed: NUL, or a carriage return inside a line; npos if there is none.
std::size_t find_bad_byte(std::string_view text);
BadLine bad_byte(char byte, std::uint64_t line, std::size_t column);
BadLine line_too_long(std::uint64_t line);
// The position of the first byte that is not UTF-8; npos if there is none. Fast where the text is ASCII.
std::size_t find_not_utf8(std::string_view text);
inline bool is_utf8(std::string_view text) {
  return find_not_utf8(text) == text.npos;
}
BadLine not_utf8(std::string_view label, std::uint64_t line, std::size_t column);  // of the label

struct TextBlock {
  Buffer<char> bytes;
  std::size_t begin = 0;       // lines before it belong to the header
  std::size_t end = 0;         // after a newline, which is added to the last line of a file if need be
  bool overlong = false;       // the line that follows is longer than max_line_bytes
  std::exception_ptr failure;  // why reading stopped after this block, if not at the end of the file

  std::string_view text() const { return {bytes.data() + begin, end - begin}; }
};

// Yields the first lines of a file one by one (peek, drop), and the rest in blocks (read). Skips a byte order mark.
class LineBlocks {
 public:
  LineBlocks(const std::string& path, std::size_t block_bytes);

  const std::string& name() const { return source_.name(); }
  // The first 64 KiB of the file, or all of it, whatever the size of blocks: enough to recognise how it is written.
  std::string_view beginning() const { return beginning_; }
  bool beginning_is_all() const { return beginning_is_all_; }
  // From now on a line goes on after a line end within double quotes. To be called before the first line is taken.
  void keep_quoted_line_ends() { quotes_ = true; }
  // The first line that was not dropped, without its end; false at the end of the file. Throws BadLine.
  bool peek(std::string_view& line);
  void drop();
  std::uint64_t dropped() const { return dropped_; }
  // The text after the dropped lines, block by block; false at the end. Does not throw for bad input: see TextBlock.
  bool read(TextBlock& block);

 private:
  void read_beginning();
  std::size_t read_bytes(char* out, std::size_t size);
  bool fill(TextBlock& block);
  std::size_t last_line_end(const char* text, std::size_t searched, std::size_t size) const;
  void cut(TextBlock& block, std::size_t size, std::size_t end);
  std::size_t first_line_end(std::string_view text) const;

  ByteSource source_;
  std::size_t block_bytes_;
  std::string buffered_;  // what was read for beginning(), which is a part of it
  std::size_t buffered_used_ = 0;
  std::exception_ptr buffered_failure_;  // why no more could be buffered
  std::string_view beginning_;
  bool beginning_is_all_ = false;
  bool quotes_ = false;
  Buffer<char> carry_;  // the start of a line whose end was not in the block before
  bool ended_ = false;
  TextBlock head_;
  bool head_given_ = false;
  std::uint64_t dropped_ = 0;
};

}  // namespace ztp
