#include "fetch/mat_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "fetch/unpack.hpp"
#include "ztp/error.hpp"

namespace ztp {
namespace {

// Names and numbers of "MAT-File Format" (The MathWorks), level 5.
enum Type : std::uint32_t {
  int8 = 1,
  uint8,
  int16,
  uint16,
  int32,
  uint32,
  float32,
  float64 = 9,
  int64 = 12,
  uint64,
  matrix,
  compressed,
  utf8,
  utf16,
};
enum Class : std::uint32_t { cell_class = 1, char_class = 4, first_numeric = 6, last_numeric = 15 };
constexpr std::size_t header_bytes = 128;

struct Element {
  std::uint32_t type = 0;
  std::string_view data;
};

// Elements one behind the other.
class Elements {
 public:
  Elements(std::string_view bytes, bool swapped, const std::string& file)
      : bytes_(bytes), swapped_(swapped), file_(file) {}

  bool done() const { return bytes_.empty(); }
  bool swapped() const { return swapped_; }
  const std::string& file() const { return file_; }

  Element next() {
    if (bytes_.size() < 8) damaged("an element is cut off");
    const auto first = value<std::uint32_t>(bytes_, 0);
    if (first >> 16 != 0) {  // small: type, size and up to four bytes in the place of the tag
      const std::size_t size = first >> 16;
      if (size > 4) damaged("a small element is too large");
      const Element small{first & 0xffff, bytes_.substr(4, size)};
      bytes_.remove_prefix(8);
      return small;
    }
    const std::size_t size = value<std::uint32_t>(bytes_, 4);
    if (size > bytes_.size() - 8) damaged("an element is cut off");
    const Element element{first, bytes_.substr(8, size)};
    // Elements begin at multiples of 8, but for compressed ones; behind the last there may be no padding.
    const std::size_t padded = first == compressed ? size : (size + 7) / 8 * 8;
    bytes_.remove_prefix(std::min(8 + padded, bytes_.size()));
    return element;
  }

  template <class T>
  T value(std::string_view bytes, std::size_t at) const {
    char raw[sizeof(T)];
    std::memcpy(raw, bytes.data() + at, sizeof(T));
    if (swapped_) std::reverse(raw, raw + sizeof(T));
    T number;
    std::memcpy(&number, raw, sizeof(T));
    return number;
  }

  [[noreturn]] void damaged(const char* why) const {
    throw Error(ErrorKind::input,
                fmt::format("{}: damaged ({}); run the command again, or use a mirror with --from URL", file_, why));
  }

 private:
  std::string_view bytes_;
  bool swapped_;
  const std::string& file_;
};

template <class T>
std::vector<double> converted(const Elements& in, std::string_view data) {
  std::vector<double> numbers(data.size() / sizeof(T));
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<double>(in.value<T>(data, i * sizeof(T)));
  return numbers;
}

// MATLAB stores numbers in the smallest type that holds them, whatever the class of the array.
std::vector<double> numbers_of(const Elements& in, const Element& element) {
  switch (element.type) {
    case int8:
      return converted<std::int8_t>(in, element.data);
    case uint8:
      return converted<std::uint8_t>(in, element.data);
    case utf8:
      return converted<std::uint8_t>(in, element.data);
    case int16:
      return converted<std::int16_t>(in, element.data);
    case uint16:
      return converted<std::uint16_t>(in, element.data);
    case utf16:
      return converted<std::uint16_t>(in, element.data);
    case int32:
      return converted<std::int32_t>(in, element.data);
    case uint32:
      return converted<std::uint32_t>(in, element.data);
    case float32:
      return converted<float>(in, element.data);
    case float64:
      return converted<double>(in, element.data);
    case int64:
      return converted<std::int64_t>(in, element.data);
    case uint64:
      return converted<std::uint64_t>(in, element.data);
    default:
      in.damaged("numbers of an unknown type");
  }
}

void append_utf8(std::string& text, std::uint32_t code) {
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += static_cast<char>(0xc0 | code >> 6);
    text += static_cast<char>(0x80 | (code & 0x3f));
  } else {
    text += static_cast<char>(0xe0 | code >> 12);
    text += static_cast<char>(0x80 | (code >> 6 & 0x3f));
    text += static_cast<char>(0x80 | (code & 0x3f));
  }
}

// Rows of a matrix of characters, without the blanks that make them equally long.
std::vector<std::string> rows_of(const Elements& in, const Element& element, const std::vector<std::size_t>& dims) {
  if (dims.size() != 2) in.damaged("text with other than two dimensions");
  if (dims[0] == 0 || dims[1] == 0) return {};
  if (element.type == utf8 && dims[0] == 1) return {std::string(element.data)};
  if (element.type == float32 || element.type == float64) in.damaged("text of an unknown type");
  const std::vector<double> codes = numbers_of(in, element);
  if (codes.size() / dims[0] < dims[1]) in.damaged("text is cut off");
  std::vector<std::string> rows(dims[0]);
  for (std::size_t i = 0; i < dims[0]; ++i) {
    for (std::size_t j = 0; j < dims[1]; ++j) {
      const double code = codes[i + j * dims[0]];
      append_utf8(rows[i], code >= 0 && code < 0x10000 ? static_cast<std::uint32_t>(code) : '?');
    }
    rows[i].erase(rows[i].find_last_not_of(' ') + 1);
  }
  return rows;
}

struct Header {
  std::uint32_t kind;
  std::vector<std::size_t> dims;
  std::size_t cells = 1;
  std::string name;
};

Header read_header(Elements& parts) {
  Header header;
  const Element about = parts.next(), sizes = parts.next();
  if (about.type != uint32 || about.data.size() < 4) parts.damaged("an array without flags");
  if (sizes.type != int32) parts.damaged("an array without sizes");
  header.kind = parts.value<std::uint32_t>(about.data, 0) & 0xff;
  for (const double size : numbers_of(parts, sizes)) {
    if (!(size >= 0)) parts.damaged("a negative size");
    header.dims.push_back(static_cast<std::size_t>(size));
    if (__builtin_mul_overflow(header.cells, header.dims.back(), &header.cells)) parts.damaged("an impossible size");
  }
  header.name = std::string(parts.next().data);
  return header;
}

// A cell array counts as one of strings if all of it is text of one row, or nothing.
std::vector<std::string> strings_of(Elements& parts, std::size_t cells) {
  std::vector<std::string> strings;
  for (std::size_t i = 0; i < cells; ++i) {
    const Element element = parts.next();
    if (element.type != matrix) parts.damaged("a cell that is no array");
    Elements inner(element.data, parts.swapped(), parts.file());
    const Header header = read_header(inner);
    if (header.cells != 0 && header.kind != char_class) return {};
    const std::vector<std::string> rows =
        header.cells == 0 ? std::vector<std::string>{""} : rows_of(inner, inner.next(), header.dims);
    if (rows.size() != 1) return {};
    strings.push_back(rows[0]);
  }
  return strings;
}

void read_array(const Element& element, bool swapped, const std::string& file, const std::vector<std::string>& wanted,
                std::map<std::string, MatArray>& arrays) {
  Elements parts(element.data, swapped, file);
  const Header header = read_header(parts);
  if (std::find(wanted.begin(), wanted.end(), header.name) == wanted.end()) return;
  MatArray& array = arrays[header.name];
  array.dims = header.dims;
  if (header.kind == cell_class) {
    array.strings = strings_of(parts, header.cells);
  } else if (header.kind == char_class) {
    array.strings = rows_of(parts, parts.next(), header.dims);
  } else if (header.kind >= first_numeric && header.kind <= last_numeric) {
    array.numbers = numbers_of(parts, parts.next());
    if (array.numbers.size() != header.cells) parts.damaged("an array of another size than it says");
  }
}

}  // namespace

std::map<std::string, MatArray> read_mat_file(std::string_view bytes, const std::vector<std::string>& wanted,
                                              std::size_t max_bytes, const std::string& file) {
  const std::string_view order = bytes.size() < header_bytes ? "" : bytes.substr(126, 2);
  const bool little = order == "IM";
  const unsigned char version = order.empty() ? 0 : static_cast<unsigned char>(bytes[little ? 125 : 124]);
  if ((!little && order != "MI") || version != 1)
    throw Error(ErrorKind::input, fmt::format("{}: not a MATLAB 5 file; it is not the file that is expected", file));
  const bool swapped = little != (std::endian::native == std::endian::little);
  std::map<std::string, MatArray> arrays;
  Elements elements(bytes.substr(header_bytes), swapped, file);
  while (!elements.done()) {
    const Element element = elements.next();
    if (element.type == matrix) read_array(element, swapped, file, wanted, arrays);
    if (element.type != compressed) continue;
    const std::string inner = inflate_all(element.data, Compression::zlib, max_bytes, file);
    Elements unpacked(inner, swapped, file);
    const Element packed = unpacked.next();
    if (packed.type == matrix) read_array(packed, swapped, file, wanted, arrays);
  }
  return arrays;
}

}  // namespace ztp
