#include "fetch/unpack.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <memory>
#include <new>

#include "ztp/error.hpp"

namespace ztp {
namespace {

constexpr std::size_t piece_bytes = 256 << 10;
constexpr int gzip_window = 15 + 16;  // zlib: 16 more asks for the gzip wrapping

[[noreturn]] void damaged(const std::string& name, const char* why) {
  throw Error(ErrorKind::input, fmt::format("{}: damaged ({}); run the command again, or use a mirror with --from URL",
                                            name, why == nullptr ? "no reason given" : why));
}

[[noreturn]] void too_large(const std::string& name, std::size_t max_bytes) {
  throw Error(ErrorKind::input,
              fmt::format("{}: unpacks to more than {} bytes, which it should not; it is not the file that is expected",
                          name, max_bytes));
}

struct Inflate {
  z_stream stream{};
  explicit Inflate(int window) {
    if (inflateInit2(&stream, window) != Z_OK) throw std::bad_alloc();
  }
  ~Inflate() { inflateEnd(&stream); }
};

// Several gzip members in a row are one text; zero bytes behind the last are padding.
bool next_member(z_stream& stream, Compression kind) {
  if (kind != Compression::gzip) return false;
  while (stream.avail_in > 0 && *stream.next_in == 0) {
    ++stream.next_in;
    --stream.avail_in;
  }
  return stream.avail_in > 0 && inflateReset(&stream) == Z_OK;
}

struct CloseArchive {
  void operator()(archive* opened) const { archive_read_free(opened); }
};

std::string read_entry(archive* opened, std::size_t max_bytes, const std::string& name) {
  std::string text;
  std::vector<char> piece(piece_bytes);
  while (true) {
    const la_ssize_t got = archive_read_data(opened, piece.data(), piece.size());
    if (got == 0) return text;
    if (got < 0) damaged(name, archive_error_string(opened));
    if (static_cast<std::size_t>(got) > max_bytes - text.size()) too_large(name, max_bytes);
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
}

std::string file_name_of(archive_entry* entry) {
  const char* path = archive_entry_pathname(entry);
  if (path == nullptr || archive_entry_filetype(entry) != AE_IFREG) return {};
  const std::string_view whole(path);
  return std::string(whole.substr(whole.rfind('/') + 1));
}

}  // namespace

std::string inflate_all(std::string_view packed, Compression kind, std::size_t max_bytes, const std::string& name) {
  Inflate inflater(kind == Compression::gzip ? gzip_window : 15);
  z_stream& stream = inflater.stream;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  std::string text;
  std::vector<char> piece(piece_bytes);
  while (true) {
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = static_cast<uInt>(piece.size());
    const int code = inflate(&stream, Z_NO_FLUSH);
    const std::size_t got = piece.size() - stream.avail_out;
    if (got > max_bytes - text.size()) too_large(name, max_bytes);
    text.append(piece.data(), got);
    if (code == Z_STREAM_END) {
      if (!next_member(stream, kind)) return text;
    } else if (code == Z_MEM_ERROR) {
      throw std::bad_alloc();
    } else if (code != Z_OK || (got == 0 && stream.avail_in == 0)) {
      damaged(name, code == Z_BUF_ERROR || code == Z_OK ? "cut short" : stream.msg);
    }
  }
}

std::string gzip_of(std::string_view text) {
  z_stream stream{};
  if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, gzip_window, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc();
  std::string packed(deflateBound(&stream, static_cast<uLong>(text.size())), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const int code = deflate(&stream, Z_FINISH);
  packed.resize(packed.size() - stream.avail_out);
  deflateEnd(&stream);
  if (code != Z_STREAM_END) throw std::bad_alloc();
  return packed;
}

std::map<std::string, std::string> read_archive(std::string_view bytes, Archive kind,
                                                const std::vector<std::string>& wanted, std::size_t max_bytes,
                                                const std::string& name) {
  const std::unique_ptr<archive, CloseArchive> opened(archive_read_new());
  if (!opened) throw std::bad_alloc();
  kind == Archive::zip ? archive_read_support_format_zip(opened.get()) : archive_read_support_format_tar(opened.get());
  if (archive_read_open_memory(opened.get(), bytes.data(), bytes.size()) != ARCHIVE_OK)
    damaged(name, archive_error_string(opened.get()));
  std::map<std::string, std::string> found;
  archive_entry* entry = nullptr;
  int code = 0;
  while ((code = archive_read_next_header(opened.get(), &entry)) == ARCHIVE_OK) {
    const std::string file = file_name_of(entry);
    if (std::find(wanted.begin(), wanted.end(), file) == wanted.end()) continue;
    if (found.contains(file)) damaged(name, fmt::format("{} is in it twice", file).c_str());
    found[file] = read_entry(opened.get(), max_bytes, fmt::format("{} in {}", file, name));
  }
  if (code != ARCHIVE_EOF) damaged(name, archive_error_string(opened.get()));
  for (const std::string& file : wanted)
    if (!found.contains(file))
      throw Error(ErrorKind::input,
                  fmt::format("{}: there is no {} in it; it is not the archive that is expected", name, file));
  return found;
}

}  // namespace ztp
