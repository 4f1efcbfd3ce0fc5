#include "tensor/tensor_format.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <cstring>

#include "base/errors.hpp"
#include "tensor/mode_name.hpp"

namespace ztp {
namespace {

constexpr std::uint64_t most_ones = std::uint64_t{1} << 50;   // and characters of a mode: no offset passes 2^63
constexpr std::uint64_t most_count = std::uint64_t{1} << 62;  // of all counts together
constexpr std::uint32_t most_name_bytes = 1 << 24;

[[noreturn]] void damaged_header(const std::string& path, const std::string& what) {
  throw input_error("{}: the header is damaged: {}; convert the data again", path, what);
}

template <class T>
void append_bytes(std::string& text, const T& value) {
  text.append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace

TensorFormat::TensorFormat(const std::vector<Mode>& tensor_modes, bool counted, std::size_t ones_per_block) {
  if (ones_per_block == 0 || ones_per_block > most_ones_per_block)
    throw usage_error("ones in a block must be from 1 to {}", most_ones_per_block);
  std::memcpy(head.magic, tensor_magic, sizeof head.magic);
  head.version = tensor_version;
  head.order = static_cast<std::uint32_t>(tensor_modes.size());
  head.ones_per_block = ones_per_block;
  head.counted = counted ? 1 : 0;
  std::string scratch;
  for (const Mode& mode : tensor_modes) {
    const LabelTable& labels = mode.labels;
    ModeHead described = {static_cast<std::uint32_t>(mode.name.size()), labels.is_numbered() ? 1u : 0u,
                          labels.first_number(), labels.size(), 0};
    if (!labels.is_numbered())
      for (std::uint32_t j = 0; j < labels.size(); ++j) described.characters += labels.name(j, scratch).size();
    modes.push_back(described);
    names.push_back(mode.name);
    head.name_bytes += described.name_length;
  }
}

std::uint64_t TensorFormat::header_bytes() const {
  return sizeof(FileHead) + modes.size() * sizeof(ModeHead) + head.name_bytes + checksum_bytes;
}

std::string TensorFormat::header_without_checksum() const {
  std::string text;
  append_bytes(text, head);
  for (const ModeHead& mode : modes) append_bytes(text, mode);
  for (const std::string& name : names) text += name;
  return text;
}

std::string TensorFormat::header() const {
  std::string text = header_without_checksum();
  append_bytes(text, XXH3_64bits(text.data(), text.size()));
  return text;
}

std::uint64_t TensorFormat::add_to_fingerprint(std::uint64_t fingerprint, std::uint64_t checksum) {
  return XXH3_64bits_withSeed(&checksum, sizeof checksum, fingerprint);
}

std::uint64_t TensorFormat::finish_fingerprint(std::uint64_t fingerprint) const {
  TensorFormat plain = *this;
  plain.head.fingerprint = 0;
  const std::string text = plain.header_without_checksum();
  return XXH3_64bits_withSeed(text.data(), text.size(), fingerprint);
}

std::uint64_t TensorFormat::label_bytes(std::size_t mode) const {
  return modes[mode].numbered ? 0 : modes[mode].size * sizeof(std::uint32_t) + modes[mode].characters;
}

std::uint64_t TensorFormat::labels_offset(std::size_t mode) const {
  std::uint64_t offset = header_bytes() + head.ones * one_bytes() + blocks() * checksum_bytes;
  for (std::size_t k = 0; k < mode; ++k) {
    const std::uint64_t bytes = label_bytes(k);
    offset += bytes + (bytes + label_piece - 1) / label_piece * checksum_bytes;
  }
  return offset;
}

TensorFormat::TensorFormat(const ReadFile& file) {
  const std::string& path = file.path();
  const std::uint64_t length = file.length();
  std::memset(&head, 0, sizeof head);
  file.read(0, &head, std::min<std::uint64_t>(length, sizeof head));
  if (length < sizeof head.magic || std::memcmp(head.magic, tensor_magic, sizeof head.magic) != 0)
    throw input_error("{}: not a file of 'ztp convert', or its start is damaged; convert the data again", path);
  if (length < sizeof head) damaged_header(path, "it is cut off");
  if (head.version != tensor_version)
    throw input_error("{}: made by another version of ztp (format {}, this one reads {}); convert the data again", path,
                      head.version, tensor_version);
  // Sizes first: nothing is allocated for a number that cannot be right.
  if (head.order == 0 || head.order > max_modes || head.name_bytes > most_name_bytes || head.ones > most_ones ||
      head.ones_per_block == 0 || head.ones_per_block > most_ones_per_block || head.counted > 1 ||
      head.total_count < head.ones || head.total_count > (head.counted ? most_count : head.ones))
    damaged_header(path, "its numbers are out of range");
  const std::uint64_t bytes = sizeof head + head.order * sizeof(ModeHead) + head.name_bytes + checksum_bytes;
  if (length < bytes) damaged_header(path, "it is cut off");
  std::string text(bytes, '\0');
  file.read(0, text.data(), text.size());
  std::uint64_t checksum;
  std::memcpy(&checksum, text.data() + text.size() - checksum_bytes, sizeof checksum);
  if (checksum != XXH3_64bits(text.data(), text.size() - checksum_bytes)) damaged_header(path, "wrong checksum");
  read_modes(text, path);
  check_length(file);
}

void TensorFormat::read_modes(const std::string& header, const std::string& path) {
  modes.resize(head.order);
  std::memcpy(modes.data(), header.data() + sizeof head, modes.size() * sizeof(ModeHead));
  std::size_t begin = sizeof head + modes.size() * sizeof(ModeHead);
  const std::size_t end = begin + head.name_bytes;
  for (const ModeHead& mode : modes) {
    if (mode.name_length > end - begin || mode.numbered > 1 || mode.size > max_mode_size ||
        mode.characters > most_ones || std::uint64_t{mode.first} + mode.size > std::uint64_t{1} << 32)
      damaged_header(path, "the modes do not match");
    names.push_back(header.substr(begin, mode.name_length));
    if (!usable_mode_name(names.back()) || std::find(names.begin(), names.end() - 1, names.back()) != names.end() - 1)
      damaged_header(path, fmt::format("mode {} has an invalid name", names.size()));
    begin += mode.name_length;
  }
  if (begin != end) damaged_header(path, "the modes do not match");
}

void TensorFormat::check_length(const ReadFile& file) const {
  const std::uint64_t length = file.length(), whole = labels_offset(modes.size());
  if (length == whole) return;
  const auto refuse = [&](const std::string& what) {
    throw input_error("{}: {}: {} bytes instead of {}; copy it again, or convert the data again", file.path(), what,
                      length, whole);
  };
  if (length > whole) refuse("longer than its header says");
  if (length < labels_offset(0)) {
    const std::size_t block = (length - header_bytes()) / (head.ones_per_block * one_bytes() + checksum_bytes);
    refuse(fmt::format("cut off in block {} (of {})", block + 1, blocks()));
  }
  std::size_t k = 0;
  while (length >= labels_offset(k + 1)) ++k;
  refuse(fmt::format("cut off in the labels of mode {}", names[k]));
}

}  // namespace ztp
