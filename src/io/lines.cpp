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
  if (byte == '\0')
    return {line, column,
            "a NUL byte; the file must be text in UTF-8, not binary, and not UTF-16 (then: iconv -f UTF-16 -t "
            "UTF-8 OLD > NEW)"};
  return {line, column, "a carriage return inside the line; lines must end in LF, or CR LF"};
}

namespace {

// The bytes of the UTF-8 character at the start of the text; 0 if there is none.
std::size_t utf8_size(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const unsigned first = byte(0), second = byte(1);
  const std::size_t size = first < 0x80   ? 1
                           : first < 0xc2 ? 0
                           : first < 0xe0 ? 2
                           : first < 0xf0 ? 3
                           : first < 0xf5 ? 4
                                          : 0;
  for (std::size_t i = 1; i < size; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  // Not the long form of a short character, no half of a UTF-16 pair, nothing above U+10FFFF.
  const bool wrong = (first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
                     (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f);
  return wrong ? 0 : size;
}

}  // namespace

std::size_t find_not_utf8(std::string_view text) {
  constexpr std::uint64_t high_bits = 0x8080808080808080u;
  for (std::size_t at = 0; at < text.size();) {
    std::uint64_t word = 0;
    const std::size_t some = std::min(text.size() - at, sizeof word);
    std::memcpy(&word, text.data() + at, some);
    if ((word & high_bits) == 0) {
      at += some;
      continue;
    }
    const std::size_t size = utf8_size(text.substr(at));
    if (size == 0) return at;
    at += size;
  }
  return text.npos;
}

BadLine not_utf8(std::string_view label, std::uint64_t line, std::size_t column) {
  const std::size_t at = find_not_utf8(label);
  return {
      line, column + at,
      fmt::format("not UTF-8: the byte 0x{:02x}; convert the file, from Latin-1 for example with: iconv -f LATIN1 -t "
                  "UTF-8 OLD > NEW",
                  static_cast<unsigned char>(label[at]))};
}

BadLine line_too_long(std::uint64_t line) {
  return {line, 1, fmt::format("a line of more than {} MiB; is this a text file?", max_line_bytes >> 20)};
}

LineBlocks::LineBlocks(const std::string& path, std::size_t block_bytes)
    : source_(path), block_bytes_(std::clamp<std::size_t>(block_bytes, 1, max_line_bytes)) {
  read_beginning();
}

void LineBlocks::read_beginning() {
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  constexpr std::size_t most = 64 << 10;
  buffered_.resize(most);
  std::size_t size = 0;
  try {
    while (size < most && !beginning_is_all_) {
      const std::size_t got = source_.read(buffered_.data() + size, most - size);
      beginning_is_all_ = got == 0;
      size += got;
    }
  } catch (...) {
    buffered_failure_ = std::current_exception();
  }
  buffered_.resize(size);
  beginning_ = buffered_;
  if (!beginning_.starts_with(byte_order_mark)) return;
  beginning_.remove_prefix(byte_order_mark.size());
  buffered_used_ = byte_order_mark.size();
}

std::size_t LineBlocks::read_bytes(char* out, std::size_t size) {
  const std::size_t buffered = std::min(size, buffered_.size() - buffered_used_);
  if (buffered > 0) {
    std::memcpy(out, buffered_.data() + buffered_used_, buffered);
    buffered_used_ += buffered;
    return buffered;
  }
  if (buffered_failure_) std::rethrow_exception(buffered_failure_);
  return beginning_is_all_ ? 0 : source_.read(out, size);
}

bool LineBlocks::fill(TextBlock& block) {
  block.begin = block.end = 0;
  block.overlong = false;
  block.failure = nullptr;
  if (ended_) return false;
  std::size_t size = carry_.size();
  std::size_t target = std::max(block_bytes_, size + 1);
  std::size_t end = 0;
  block.bytes.resize(target);
  if (size > 0) std::memcpy(block.bytes.data(), carry_.data(), size);
  std::size_t searched = size;
  try {
    while (end == 0 && !ended_ && size <= max_line_bytes) {
      // A block without a single end of a line grows until it has one.
      if (size == target) target = std::min(2 * target, max_line_bytes + 1);
      block.bytes.resize(target);
      searched = size;
      while (size < target && !ended_) {
        const std::size_t got = read_bytes(block.bytes.data() + size, target - size);
        ended_ = got == 0;
        size += got;
      }
      end = last_line_end(block.bytes.data(), searched, size);
    }
  } catch (...) {
    block.failure = std::current_exception();
    ended_ = true;
    end = last_line_end(block.bytes.data(), searched, size);
  }
  cut(block, size, end);
  return block.end > block.begin || block.failure || block.overlong;
}

// Behind the last line that ends in the text; 0 if none does. There is no end before `searched`. With quotes, a line
// ends where the number of quotes before it is even.
std::size_t LineBlocks::last_line_end(const char* text, std::size_t searched, std::size_t size) const {
  std::size_t end = size;
  if (!quotes_) {
    while (end > searched && text[end - 1] != '\n') --end;
    return end > searched ? end : 0;
  }
  bool inside = std::count(text, text + size, '"') % 2 != 0;
  for (; end > 0; --end) {
    if (text[end - 1] == '"') inside = !inside;
    if (text[end - 1] == '\n' && !inside) return end;
  }
  return 0;
}

// Ends the block at `end`, and keeps the rest for the next block.
void LineBlocks::cut(TextBlock& block, std::size_t size, std::size_t end) {
  carry_.resize(0);
  block.end = end;
  if (block.failure) return;
  block.overlong = !ended_ && end == 0;
  // The last line of a file; or a quote that may never be closed, which the parser tells the place of.
  if (ended_ || (block.overlong && quotes_ && std::memchr(block.bytes.data(), '"', size) != nullptr)) {
    if (size > 0 && block.bytes[size - 1] != '\n') {
      block.bytes.resize(size + 1);
      block.bytes[size++] = '\n';
    }
    block.end = size;
  } else if (!block.overlong) {
    carry_.append(block.bytes.data() + end, size - end);
  }
  if (block.overlong) ended_ = true;
}

// The end of the first line of a text that ends with a newline.
std::size_t LineBlocks::first_line_end(std::string_view text) const {
  if (!quotes_) return text.find('\n');
  bool inside = false;
  for (std::size_t at = 0; at + 1 < text.size(); ++at) {
    if (text[at] == '"') inside = !inside;
    if (text[at] == '\n' && !inside) return at;
  }
  return text.size() - 1;
}

bool LineBlocks::peek(std::string_view& line) {
  while (head_.begin == head_.end) {
    if (head_.failure) std::rethrow_exception(head_.failure);
    if (head_.overlong) throw line_too_long(dropped_ + 1);
    if (!fill(head_)) return false;
  }
  const std::string_view text = head_.text();
  line = text.substr(0, first_line_end(text));
  if (const std::size_t bad = find_bad_byte(line); bad != line.npos) {
    const std::size_t begin = line.substr(0, bad).rfind('\n') + 1;  // npos + 1 is 0
    const auto before = std::count(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(bad), '\n');
    throw bad_byte(line[bad], dropped_ + 1 + static_cast<std::uint64_t>(before), bad - begin + 1);
  }
  if (line.ends_with('\r')) line.remove_suffix(1);
  return true;
}

void LineBlocks::drop() {
  const char* const begin = head_.text().data();
  const std::size_t size = first_line_end(head_.text()) + 1;
  head_.begin += size;
  dropped_ += static_cast<std::uint64_t>(std::count(begin, begin + size, '\n'));
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
