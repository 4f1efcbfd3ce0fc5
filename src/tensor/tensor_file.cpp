#include "ztp/tensor_file.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <xxhash.h>

#include <algorithm>
#include <cstring>

#include "base/errors.hpp"
#include "tensor/tensor_format.hpp"
#include "ztp/buffer.hpp"

namespace ztp {

struct TensorFile::Impl {
  explicit Impl(const std::string& path) : file(path), format(file) {}

  // The words of a block as they are in the file, checked. Returns its checksum.
  std::uint64_t read_block(std::size_t block, Buffer<std::uint32_t>& words) const;
  void check_ones(std::size_t block, const std::uint32_t* words) const;
  using UsePiece = std::function<void(std::string_view piece, std::uint64_t checksum)>;
  void for_label_pieces(std::size_t mode, const UsePiece& use) const;
  LabelTable read_labels(std::size_t mode) const;
  [[noreturn]] void damaged_block(std::size_t block, const std::string& what) const {
    throw input_error("{}: block {} (of {}) is damaged: {}; convert the data again", file.path(), block + 1,
                      format.blocks(), what);
  }
  [[noreturn]] void damaged_labels(std::size_t mode, const char* what) const {
    throw input_error("{}: the labels of mode {} are damaged: {}; convert the data again", file.path(),
                      format.names[mode], what);
  }

  ReadFile file;
  TensorFormat format;
};

// Pieces are checked before they are used.
void TensorFile::Impl::for_label_pieces(std::size_t mode, const UsePiece& use) const {
  std::uint64_t offset = format.labels_offset(mode), left = format.label_bytes(mode), checksum;
  std::string piece;
  for (std::size_t i = 0; left > 0; ++i) {
    piece.resize(std::min<std::uint64_t>(left, label_piece));
    file.read(offset, piece.data(), piece.size());
    file.read(offset + piece.size(), &checksum, sizeof checksum);
    if (checksum != XXH3_64bits_withSeed(piece.data(), piece.size(), TensorFormat::piece_seed(mode, i)))
      damaged_labels(mode, "wrong checksum");
    use(piece, checksum);
    left -= piece.size();
    offset += piece.size() + checksum_bytes;
  }
}

LabelTable TensorFile::Impl::read_labels(std::size_t mode) const {
  const ModeHead& head = format.modes[mode];
  if (head.numbered) return LabelTable::numbered(head.first, head.size);
  std::vector<std::uint64_t> ends;
  std::string characters;
  ends.reserve(head.size);
  characters.reserve(head.characters);
  std::uint64_t end = 0;
  for_label_pieces(mode, [&](std::string_view piece, std::uint64_t) {
    std::uint32_t length;
    static_assert(label_piece % sizeof length == 0);
    for (; ends.size() < head.size && !piece.empty(); piece.remove_prefix(sizeof length)) {
      std::memcpy(&length, piece.data(), sizeof length);
      if (length == 0) damaged_labels(mode, "an empty label");
      ends.push_back(end += length);
    }
    characters += piece;
  });
  if (end != head.characters) damaged_labels(mode, "the lengths do not add up");
  // Labels are written to text files, one per line, and read back.
  for (const char c : {'\t', '\n', '\r', '\0'})
    if (characters.find(c) != characters.npos) damaged_labels(mode, "a label with a TAB, a line end or a NUL byte");
  return LabelTable::listed(std::move(characters), std::move(ends));
}

TensorFile::TensorFile(const std::string& path) : impl_(std::make_unique<Impl>(path)) {}
TensorFile::~TensorFile() = default;
TensorFile::TensorFile(TensorFile&&) noexcept = default;
TensorFile& TensorFile::operator=(TensorFile&&) noexcept = default;

bool TensorFile::recognises(const std::string& path) {
  struct stat status;
  if (path == "-" || ::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  char start[sizeof tensor_magic];
  if (static_cast<std::size_t>(status.st_size) < sizeof start) return false;
  try {
    ReadFile(path).read(0, start, sizeof start);
  } catch (const Error&) {
    return false;
  }
  return std::memcmp(start, tensor_magic, sizeof start) == 0;
}

const std::string& TensorFile::path() const {
  return impl_->file.path();
}

std::size_t TensorFile::order() const {
  return impl_->format.head.order;
}

std::uint64_t TensorFile::ones() const {
  return impl_->format.head.ones;
}

bool TensorFile::has_counts() const {
  return impl_->format.head.counted != 0;
}

std::uint64_t TensorFile::total_count() const {
  return impl_->format.head.total_count;
}

std::size_t TensorFile::ones_per_block() const {
  return impl_->format.head.ones_per_block;
}

std::size_t TensorFile::blocks() const {
  return impl_->format.blocks();
}

std::uint64_t TensorFile::fingerprint() const {
  return impl_->format.head.fingerprint;
}

const std::string& TensorFile::mode_name(std::size_t k) const {
  return impl_->format.names[k];
}

std::uint32_t TensorFile::mode_size(std::size_t k) const {
  return impl_->format.modes[k].size;
}

std::vector<Mode> TensorFile::modes() const {
  std::vector<Mode> modes;
  for (std::size_t k = 0; k < order(); ++k) modes.push_back({mode_name(k), impl_->read_labels(k)});
  return modes;
}

std::uint64_t TensorFile::Impl::read_block(std::size_t block, Buffer<std::uint32_t>& words) const {
  const std::size_t bytes = format.block_ones(block) * format.one_bytes();
  words.resize((bytes + checksum_bytes) / sizeof(std::uint32_t));
  file.read(format.block_offset(block), words.data(), bytes + checksum_bytes);
  std::uint64_t checksum;
  std::memcpy(&checksum, words.data() + bytes / sizeof(std::uint32_t), sizeof checksum);
  if (checksum != XXH3_64bits_withSeed(words.data(), bytes, block)) damaged_block(block, "wrong checksum");
  check_ones(block, words.data());
  return checksum;
}

// A correct checksum does not prove that the ids are valid.
void TensorFile::Impl::check_ones(std::size_t block, const std::uint32_t* words) const {
  const std::size_t K = format.head.order, ones = format.block_ones(block);
  constexpr std::size_t at_once = 16;  // ones, side by side: this is done to all that is read
  std::uint32_t sizes[max_modes * at_once];
  for (std::size_t x = 0; x < K * at_once; ++x) sizes[x] = format.modes[x % K].size;
  std::uint32_t bad = 0;
  std::size_t first = 0;
  for (; bad == 0 && first + at_once <= ones; first += at_once)
    for (std::size_t x = 0; x < K * at_once; ++x) bad |= words[first * K + x] >= sizes[x];
  for (std::size_t i = bad == 0 ? first : 0; i < ones; ++i)
    for (std::size_t k = 0; k < K; ++k)
      if (words[i * K + k] >= sizes[k])
        damaged_block(block,
                      fmt::format("entity {} of mode {}, which has {}", words[i * K + k], format.names[k], sizes[k]));
  if (!format.head.counted) return;
  for (std::size_t i = 0; i < ones; ++i) {
    std::int64_t count;
    std::memcpy(&count, words + ones * K + 2 * i, sizeof count);
    if (count <= 0 || static_cast<std::uint64_t>(count) > format.head.total_count)
      damaged_block(block, fmt::format("a count of {} of all {}", count, format.head.total_count));
  }
}

void TensorFile::read(std::uint64_t first, std::size_t count, std::uint32_t* coords, std::int64_t* counts) const {
  if (first > ones() || count > ones() - first)
    throw usage_error("{}: ones {} to {} of {} asked for", path(), first, first + count, ones());
  const std::size_t K = order(), per_block = ones_per_block();
  Buffer<std::uint32_t> words;
  while (count > 0) {
    const std::size_t block = first / per_block, begin = first % per_block;
    impl_->read_block(block, words);
    const std::size_t in_block = impl_->format.block_ones(block), part = std::min(count, in_block - begin);
    std::memcpy(coords, words.data() + begin * K, part * K * sizeof *coords);
    coords += part * K;
    if (counts != nullptr) {
      if (has_counts())
        std::memcpy(counts, words.data() + in_block * K + 2 * begin, part * sizeof *counts);
      else
        std::fill(counts, counts + part, 1);
      counts += part;
    }
    first += part;
    count -= part;
  }
}

void TensorFile::verify(const std::function<void(double)>& progress) const {
  const TensorFormat& format = impl_->format;
  const double all = static_cast<double>(format.labels_offset(order()));
  const auto report = [&](std::uint64_t offset) {
    if (progress) progress(static_cast<double>(offset) / all);
  };
  std::uint64_t found = 0;
  Buffer<std::uint32_t> words;
  for (std::size_t block = 0; block < blocks(); ++block) {
    found = TensorFormat::add_to_fingerprint(found, impl_->read_block(block, words));
    report(format.block_offset(block));
  }
  for (std::size_t k = 0; k < order(); ++k) {
    impl_->for_label_pieces(k, [&](std::string_view, std::uint64_t checksum) {
      found = TensorFormat::add_to_fingerprint(found, checksum);
    });
    report(format.labels_offset(k + 1));
  }
  if (format.finish_fingerprint(found) != fingerprint())
    throw input_error("{}: the contents do not match the header; convert the data again", path());
}

}  // namespace ztp
