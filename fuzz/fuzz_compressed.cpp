// The same text behind gzip or zstd: the bytes go to the decompressor as they are, but for the checksum and length at
// the end of a gzip member, which are made right (unless the third byte is odd), so that changed data get past them.
#include <zlib.h>

#include "text_table.hpp"

namespace {

constexpr std::size_t gzip_trailer = 8;

// Only for a first member whose header has no optional parts, which is what most inputs come from.
void mend_gzip(std::string& bytes) {
  constexpr std::size_t plain_header = 10;
  if (bytes.size() < plain_header || !bytes.starts_with("\x1f\x8b\x08") || bytes[3] != 0) return;
  z_stream stream{};
  if (inflateInit2(&stream, -15) != Z_OK) return;
  stream.next_in = reinterpret_cast<Bytef*>(bytes.data() + plain_header);
  stream.avail_in = static_cast<uInt>(bytes.size() - plain_header);
  Bytef text[1 << 14];
  uLong checksum = crc32(0, nullptr, 0);
  int code = Z_OK;
  for (int rounds = 0; code == Z_OK && rounds < 64; ++rounds) {
    stream.next_out = text;
    stream.avail_out = sizeof text;
    code = inflate(&stream, Z_NO_FLUSH);
    checksum = crc32(checksum, text, static_cast<uInt>(sizeof text) - stream.avail_out);
  }
  const std::size_t end = bytes.size() - stream.avail_in;
  const auto length = static_cast<std::uint32_t>(stream.total_out);
  inflateEnd(&stream);
  if (code != Z_STREAM_END) return;
  if (bytes.size() < end + gzip_trailer) bytes.resize(end + gzip_trailer);
  fuzz::store(bytes, end, static_cast<std::uint32_t>(checksum));
  fuzz::store(bytes, end + 4, length);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const unsigned first = input.byte(), second = input.byte(), as_it_is = input.byte() & 1;
  std::string bytes(input.rest());
  if (as_it_is == 0) mend_gzip(bytes);
  fuzz::Cells ignored;
  const ztp::TableSpec spec = fuzz::chosen_table(fuzz::write_file("cells", bytes), first, second);
  fuzz::accepted([&] { fuzz::read_cells(spec, ignored); });
  return 0;
}
