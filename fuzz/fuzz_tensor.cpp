// Tensor files (.ztpt). The checksums, the length and the fingerprint are made right, each unless a bit of the first
// byte says otherwise.
#include <xxhash.h>

#include "harness.hpp"
#include "tensor/tensor_format.hpp"
#include "ztp/read.hpp"
#include "ztp/tensor_file.hpp"

namespace {

using ztp::checksum_bytes;
using ztp::FileHead;
using ztp::ModeHead;

constexpr std::size_t longest = 1 << 16;  // a file that claims to be longer stays as it is

enum Keep : unsigned { keep_head = 1, keep_length = 2, keep_blocks = 4, keep_labels = 8, keep_fingerprint = 16 };

void mend_header_checksum(std::string& bytes, std::size_t header) {
  fuzz::store(bytes, header - checksum_bytes, XXH3_64bits(bytes.data(), header - checksum_bytes));
}

void mend(std::string& bytes, unsigned keep) {
  if (bytes.size() < sizeof(FileHead)) return;
  if (!(keep & keep_head)) {
    std::memcpy(bytes.data(), ztp::tensor_magic, sizeof ztp::tensor_magic);
    fuzz::store(bytes, offsetof(FileHead, version), ztp::tensor_version);
  }
  const auto head = fuzz::load<FileHead>(bytes, 0);
  if (head.order > ztp::max_modes || head.name_bytes > longest) return;
  const std::size_t header = sizeof head + head.order * sizeof(ModeHead) + head.name_bytes + checksum_bytes;
  if (bytes.size() < header && !(keep & keep_length)) bytes.resize(header, 'n');
  if (bytes.size() < header) return;
  if (!(keep & keep_head)) mend_header_checksum(bytes, header);
  if (head.ones > longest || head.ones_per_block == 0 || head.ones_per_block > ztp::most_ones_per_block) return;

  const std::size_t one_bytes = head.order * 4 + (head.counted ? 8 : 0);
  const std::size_t blocks = (head.ones + head.ones_per_block - 1) / head.ones_per_block;
  std::size_t length = header + head.ones * one_bytes + blocks * checksum_bytes;
  std::vector<std::size_t> labels;  // of each mode, 0 if it is numbered
  for (std::size_t k = 0; k < head.order; ++k) {
    const auto mode = fuzz::load<ModeHead>(bytes, sizeof head + k * sizeof(ModeHead));
    if (mode.size > longest || mode.characters > longest) {
      if (mode.numbered == 0) return;
    }
    labels.push_back(mode.numbered ? 0 : mode.size * 4 + mode.characters);
    length += labels.back() + (labels.back() > 0 ? checksum_bytes : 0);
  }
  if (length > longest) return;
  if (!(keep & keep_length)) bytes.resize(length);
  if (bytes.size() != length) return;

  std::uint64_t found = 0;
  std::size_t at = header;
  const auto sum = [&](std::size_t size, std::uint64_t seed, bool as_it_is) {
    if (!as_it_is) fuzz::store(bytes, at + size, XXH3_64bits_withSeed(bytes.data() + at, size, seed));
    found = ztp::TensorFormat::add_to_fingerprint(found, fuzz::load<std::uint64_t>(bytes, at + size));
    at += size + checksum_bytes;
  };
  for (std::size_t b = 0; b < blocks; ++b)
    sum(std::min(head.ones_per_block, head.ones - b * head.ones_per_block) * one_bytes, b, keep & keep_blocks);
  for (std::size_t k = 0; k < head.order; ++k)
    if (labels[k] > 0) sum(labels[k], ztp::TensorFormat::piece_seed(k, 0), keep & keep_labels);
  if (keep & keep_fingerprint) return;
  std::string plain = bytes.substr(0, header - checksum_bytes);
  fuzz::store(plain, offsetof(FileHead, fingerprint), std::uint64_t{0});
  fuzz::store(bytes, offsetof(FileHead, fingerprint), XXH3_64bits_withSeed(plain.data(), plain.size(), found));
  if (!(keep & keep_head)) mend_header_checksum(bytes, header);
}

void read_all(const std::string& path) {
  const ztp::TensorFile file(path);
  REQUIRE(file.order() >= 1 && file.order() <= ztp::max_modes);
  const std::size_t ones = static_cast<std::size_t>(file.ones());
  std::vector<std::uint32_t> coords(ones * file.order());
  std::vector<std::int64_t> counts(ones);
  const bool has_ones = fuzz::accepted([&] { file.read(0, ones, coords.data(), counts.data()); });
  for (std::size_t i = 0; has_ones && i < coords.size(); ++i) REQUIRE(coords[i] < file.mode_size(i % file.order()));
  for (std::size_t i = 0; has_ones && i < ones; ++i) REQUIRE(counts[i] > 0);
  fuzz::accepted([&] { file.verify(); });
  for (ztp::Mode& mode : file.modes()) {
    REQUIRE(!mode.name.empty() && mode.name.find('/') == mode.name.npos && mode.name != "..");
    mode.labels.index();
    for (std::uint32_t j = 0; j < mode.labels.size() && j < 100; ++j) REQUIRE(mode.labels.find(mode.labels[j]) == j);
    if (mode.labels.size() > 0) mode.labels[mode.labels.size() - 1];
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const unsigned keep = input.byte();
  std::string bytes(input.rest());
  mend(bytes, keep & 31);
  ztp::ReadOptions options;
  options.file = fuzz::write_file("tensor", bytes);
  options.stream = (keep & 32) != 0;
  options.counts = (keep & 64) != 0;
  fuzz::accepted([&] { read_all(options.file); });
  if (ztp::TensorFile::recognises(options.file)) fuzz::accepted([&] { ztp::read_dataset(options); });
  return 0;
}
