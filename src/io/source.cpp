#include "io/source.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>

#include "base/errors.hpp"
#include "ztp/buffer.hpp"

namespace ztp {

// The raw bytes of the file, in a buffer that a decoder consumes.
struct RawInput {
  static constexpr std::size_t raw_bytes = 256 << 10;

  RawInput(int file_number, std::string file_name) : file(file_number), name(std::move(file_name)), buffer(raw_bytes) {}

  // Makes at least one byte available, unless the file has ended.
  bool refill() {
    if (begin < end) return true;
    begin = 0;
    end = read_into(buffer.data(), buffer.size());
    return end > 0;
  }

  std::size_t read_into(char* out, std::size_t size) const {
    while (true) {
      const ssize_t got = ::read(file, out, size);
      if (got >= 0) return static_cast<std::size_t>(got);
      if (errno != EINTR) throw io_error("{}: cannot read: {}", name, std::strerror(errno));
    }
  }

  char* data() { return buffer.data() + begin; }
  std::size_t size() const { return end - begin; }

  int file;
  std::string name;
  Buffer<char> buffer;
  std::size_t begin = 0;
  std::size_t end = 0;
};

class ByteSource::Decoder {
 public:
  explicit Decoder(RawInput input) : input_(std::move(input)) {}
  virtual ~Decoder() = default;
  virtual std::size_t read(char* out, std::size_t size) = 0;

 protected:
  [[noreturn]] void truncated(const char* kind) const {
    throw input_error("{}: the {} data ends too early; the file is incomplete; fetch it again", input_.name, kind);
  }
  [[noreturn]] void corrupt(const char* kind, const char* why) const {
    throw input_error("{}: corrupt {} data ({}); fetch the file again", input_.name, kind, why);
  }

  RawInput input_;
};

namespace {

class PlainDecoder : public ByteSource::Decoder {
 public:
  using Decoder::Decoder;

  std::size_t read(char* out, std::size_t size) override {
    if (input_.size() == 0) return input_.read_into(out, size);
    const std::size_t count = std::min(size, input_.size());
    std::memcpy(out, input_.data(), count);
    input_.begin += count;
    return count;
  }
};

class GzipDecoder : public ByteSource::Decoder {
 public:
  explicit GzipDecoder(RawInput input) : Decoder(std::move(input)) {
    constexpr int gzip_only = 15 + 16;
    if (inflateInit2(&stream_, gzip_only) != Z_OK) throw std::bad_alloc();
  }
  ~GzipDecoder() override { inflateEnd(&stream_); }

  std::size_t read(char* out, std::size_t size) override {
    const auto room = static_cast<uInt>(std::min<std::size_t>(size, 1u << 30));
    stream_.next_out = reinterpret_cast<Bytef*>(out);
    stream_.avail_out = room;
    while (stream_.avail_out == room) {
      if (between_members_ && !next_member()) return 0;
      const bool more = input_.refill();
      stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
      stream_.avail_in = static_cast<uInt>(input_.size());
      const int code = inflate(&stream_, Z_NO_FLUSH);
      input_.begin = input_.end - stream_.avail_in;
      if (code == Z_MEM_ERROR) throw std::bad_alloc();
      if (code == Z_STREAM_END) {
        between_members_ = true;
      } else if (stream_.avail_out == room) {
        // A bad stream stays bad, so an error met after some output is met again by the next call.
        if (code == Z_DATA_ERROR || code == Z_NEED_DICT) corrupt("gzip", stream_.msg ? stream_.msg : "dictionary");
        if (!more) truncated("gzip");
      }
    }
    return room - stream_.avail_out;
  }

 private:
  // Some tools pad with zero bytes after the last member; anything else must be another member.
  bool next_member() {
    while (input_.refill() && *input_.data() == '\0') {
      ++input_.begin;
      padding_ = true;
    }
    if (input_.size() == 0) return false;
    if (padding_) corrupt("gzip", "bytes behind the padding");
    inflateReset(&stream_);
    between_members_ = false;
    return true;
  }

  z_stream stream_{};
  bool between_members_ = false;
  bool padding_ = false;
};

// Decodes into a buffer of its own. How zstd reads a frame, and what it says of a bad one, depends on the room it is
// given; an error may not depend on the block size of the caller.
class ZstdDecoder : public ByteSource::Decoder {
 public:
  explicit ZstdDecoder(RawInput input)
      : Decoder(std::move(input)), stream_(ZSTD_createDStream()), decoded_(ZSTD_DStreamOutSize()) {
    if (stream_ == nullptr) throw std::bad_alloc();
  }
  ~ZstdDecoder() override { ZSTD_freeDStream(stream_); }

  std::size_t read(char* out, std::size_t size) override {
    if (begin_ == end_) decode();
    const std::size_t count = std::min(size, end_ - begin_);
    std::memcpy(out, decoded_.data() + begin_, count);
    begin_ += count;
    return count;
  }

 private:
  // Fills the buffer with at least one byte, unless the file has ended.
  void decode() {
    begin_ = end_ = 0;
    ZSTD_outBuffer output{decoded_.data(), decoded_.size(), 0};
    while (output.pos == 0) {
      if (failure_ != nullptr) corrupt("zstd", failure_);
      const bool more = input_.refill();
      if (!more && frame_done_) return;
      ZSTD_inBuffer source{input_.data(), input_.size(), 0};
      const std::size_t code = ZSTD_decompressStream(stream_, &output, &source);
      input_.begin += source.pos;
      if (ZSTD_isError(code))
        failure_ = ZSTD_getErrorName(code);
      else if (code != 0 && !more && output.pos == 0)
        truncated("zstd");
      else
        frame_done_ = code == 0;
    }
    end_ = output.pos;
  }

  ZSTD_DStream* stream_;
  Buffer<char> decoded_;
  std::size_t begin_ = 0, end_ = 0;  // of what was decoded and not yet read
  const char* failure_ = nullptr;
  bool frame_done_ = true;
};

bool is_zstd(std::string_view start) {
  const bool skippable = !start.empty() && (start[0] & 0xf0) == 0x50 && start.substr(1).starts_with("\x2a\x4d\x18");
  return skippable || start.starts_with("\x28\xb5\x2f\xfd");
}

// The kind of a file that is not supported; null if it is not recognised.
const char* unsupported_kind(std::string_view start) {
  if (start.starts_with("PK\x03\x04")) return "a zip archive; unpack it (gzip and zstd are supported)";
  if (start.starts_with("\xfd"
                        "7zXZ"))
    return "compressed with xz; decompress it, or use gzip or zstd";
  if (start.starts_with("BZh") && start.size() > 4 && start.substr(4).starts_with("1AY&SY"))
    return "compressed with bzip2; decompress it, or use gzip or zstd";
  if (start.starts_with("ZTPTENSR"))
    return "a tensor file of 'ztp convert', which cannot be used here or piped in; give a text file";
  return nullptr;
}

}  // namespace

ByteSource::ByteSource(const std::string& path)
    : name_(path == "-" ? "standard input" : path),
      opened_(path == "-" ? -1 : ::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (path.empty()) throw usage_error("the file name is empty; give a file, or - for standard input");
  if (path != "-" && opened_ < 0) throw io_error("{}: cannot open: {}", name_, std::strerror(errno));
}

ByteSource::~ByteSource() = default;

void ByteSource::detect() {
  RawInput input(opened_ < 0 ? STDIN_FILENO : static_cast<int>(opened_), name_);
  // A pipe may deliver its first bytes one by one.
  while (input.end < 10) {
    const std::size_t got = input.read_into(input.buffer.data() + input.end, input.buffer.size() - input.end);
    if (got == 0) break;
    input.end += got;
  }
  const std::string_view start(input.data(), input.size());
  if (const char* kind = unsupported_kind(start)) throw input_error("{}: {}", name_, kind);
  if (start.starts_with("\x1f\x8b"))
    decoder_ = std::make_unique<GzipDecoder>(std::move(input));
  else if (is_zstd(start))
    decoder_ = std::make_unique<ZstdDecoder>(std::move(input));
  else
    decoder_ = std::make_unique<PlainDecoder>(std::move(input));
}

std::size_t ByteSource::read(char* out, std::size_t size) {
  if (!decoder_) detect();
  return decoder_->read(out, size);
}

}  // namespace ztp
