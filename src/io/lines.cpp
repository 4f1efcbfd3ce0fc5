#include "io/lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/errors.hpp"

namespace ztp {

Error error_at(const std::string& file, const BadLine& bad, std::uint64_t lines_before) {
  return input_error("{}:{}:{}: {}", file, lines_before + bad.line, bad.column, bad.what);
}

std::string quoted(std::string_view text) {
  constexpr std::size_t longest = 60;
  std::size_t size = text.size();
  if (size > longest) {
    size = longest;
    while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xc0) == 0x80) --size;  // not inside a UTF-8 character
  }
  std::string result = "\"";
  for (const char c : text.substr(0, size)) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    else
      result += c;
  }
  return result + (size < text.size() ? "...\"" : "\"");
}

// Lines that end in a carriage return alone would be read as one long line.
std::size_t find_bad_byte(std::string_view text) {
  const std::size_t nul = text.find('\0');
  std::string_view before = text.substr(0, nul);
  for (std::size_t at = before.find('\r'); at != before.npos; at = before.find('\r', at + 1))
    if (at + 1 < text.size() && text[at + 1] != '\n') return at;
  return nul;
}

BadLine bad_byte(char byte, std::uint64_t line, std::size_t column) {
  if (byte == '\0') return {line, column, "a NUL byte; the file must be text, UTF-8 or ASCII (not UTF-16, not binary)"};
  return {line, column, "a carriage return inside the line; lines must end in LF, or CR LF"};
}

bool is_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto byte = [&](std::size_t i) {
      return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0u;
    };
    const unsigned first = byte(0), second = byte(1);
    const std::size_t size = first < 0x80   ? 1
                             : first < 0xc2 ? 0
                             : first < 0xe0 ? 2
                             : first < 0xf0 ? 3
                             : first < 0xf5 ? 4
                                            : 0;
    if (size == 0) return false;
    for (std::size_t i = 1; i < size; ++i)
      if ((byte(i) & 0xc0) != 0x80) return false;
    // Not the long form of a short character, no half of a UTF-16 pair, nothing above U+10FFFF.
    if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) || (first == 0xf0 && second < 0x90) ||
        (first == 0xf4 && second > 0x8f))
      return false;
    at += size;
  }
  return true;
}

BadLine line_too_long(std::uint64_t line) {
  return {line, 1, fmt::format("a line of more than {} MiB; is this a text file?", max_line_bytes >> 20)};
}

LineBlocks::LineBlocks(const std::string& path, std::size_t block_bytes)
    : source_(path), block_bytes_(std::clamp<std::size_t>(block_bytes, 1, max_line_bytes)) {}

bool LineBlocks::fill(TextBlock& block) {
  block.begin = block.end = 0;
  block.overlong = false;
  block.failure = nullptr;
  if (ended_) return false;
  std::size_t size = carry_.size();
  std::size_t target = std::max(block_bytes_, size + 1);
  bool has_newline = false;
  block.bytes.resize(target);
  if (size > 0) std::memcpy(block.bytes.data(), carry_.data(), size);
  std::size_t searched = size;
  try {
    while (!has_newline && !ended_ && size <= max_line_bytes) {
      // A block without a single newline grows until it has one.
      if (size == target) target = std::min(2 * target, max_line_bytes + 1);
      block.bytes.resize(target);
      searched = size;
      while (size < target && !ended_) {
        const std::size_t got = source_.read(block.bytes.data() + size, target - size);
        ended_ = got == 0;
        size += got;
      }
      has_newline = std::memchr(block.bytes.data() + searched, '\n', size - searched) != nullptr;
    }
  } catch (...) {
    block.failure = std::current_exception();
    ended_ = true;
  }
  cut(block, size, searched);
  if (!started_ && block.text().starts_with("\xef\xbb\xbf")) block.begin = 3;
  started_ = true;
  return block.end > block.begin || block.failure || block.overlong;
}

// Ends the block after its last newline, and keeps the rest for the next block. There is no newline before `searched`.
void LineBlocks::cut(TextBlock& block, std::size_t size, std::size_t searched) {
  carry_.resize(0);
  if (ended_ && !block.failure) {
    if (size > 0 && block.bytes[size - 1] != '\n') {
      block.bytes.resize(size + 1);
      block.bytes[size++] = '\n';
    }
    block.end = size;
    return;
  }
  std::size_t end = size;
  while (end > searched && block.bytes[end - 1] != '\n') --end;
  block.end = end > searched ? end : 0;
  if (block.failure) return;
  block.overlong = block.end == 0;
  if (block.overlong)
    ended_ = true;
  else
    carry_.append(block.bytes.data() + end, size - end);
}

bool LineBlocks::peek(std::string_view& line) {
  while (head_.begin == head_.end) {
    if (head_.failure) std::rethrow_exception(head_.failure);
    if (head_.overlong) throw line_too_long(dropped_ + 1);
    if (!fill(head_)) return false;
  }
  const std::string_view text = head_.text();
  line = text.substr(0, text.find('\n'));
  if (const std::size_t bad = find_bad_byte(line); bad != line.npos) throw bad_byte(line[bad], dropped_ + 1, bad + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return true;
}

void LineBlocks::drop() {
  head_.begin += head_.text().find('\n') + 1;
  ++dropped_;
}

bool LineBlocks::read(TextBlock& block) {
  if (!head_given_) {
    head_given_ = true;
    if (head_.begin < head_.end || head_.failure || head_.overlong) {
      std::swap(block, head_);
      return true;
    }
  }
  return fill(block);
}

}  // namespace ztp
