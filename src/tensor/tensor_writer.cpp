#include "tensor/tensor_writer.hpp"

#include <xxhash.h>

#include <cstring>
#include <limits>

#include "base/errors.hpp"

namespace ztp {

TensorWriter::TensorWriter(const std::string& path, const std::vector<Mode>& modes, bool counted,
                           std::size_t ones_per_block)
    : modes_(modes), format_(modes, counted, ones_per_block), file_(path) {
  file_.write(std::string(format_.header_bytes(), '\0'));  // the true one is written over it in commit()
  coords_.reserve(ones_per_block * format_.one_bytes() / sizeof coords_[0]);
  if (counted) counts_.reserve(ones_per_block);
}

void TensorWriter::add(const std::uint32_t* cell, std::int64_t count) {
  coords_.append(cell, modes_.size());
  if (format_.head.counted) counts_.push_back(count);
  format_.head.total_count += format_.head.counted ? static_cast<std::uint64_t>(count) : 1;
  ++format_.head.ones;
  if (coords_.size() == format_.head.ones_per_block * modes_.size()) write_block();
}

void TensorWriter::write_block() {
  const std::size_t words = coords_.size(), count_bytes = counts_.size() * sizeof(std::int64_t);
  coords_.resize(words + count_bytes / sizeof coords_[0]);
  if (count_bytes > 0) std::memcpy(coords_.data() + words, counts_.data(), count_bytes);
  write_checked(coords_.data(), coords_.size() * sizeof coords_[0], block_++);
  coords_.resize(0);
  counts_.resize(0);
}

void TensorWriter::write_checked(const void* data, std::size_t bytes, std::uint64_t seed) {
  const std::uint64_t checksum = XXH3_64bits_withSeed(data, bytes, seed);
  file_.write(data, bytes);
  file_.write(&checksum, sizeof checksum);
  fingerprint_ = TensorFormat::add_to_fingerprint(fingerprint_, checksum);
}

void TensorWriter::write_labels(std::size_t mode) {
  const LabelTable& labels = modes_[mode].labels;
  std::string piece, scratch;
  std::size_t pieces = 0;
  const auto write = [&](std::string_view bytes) {
    while (!bytes.empty()) {
      const std::string_view part = bytes.substr(0, label_piece - piece.size());
      piece += part;
      bytes.remove_prefix(part.size());
      if (piece.size() < label_piece) continue;
      write_checked(piece.data(), piece.size(), TensorFormat::piece_seed(mode, pieces++));
      piece.clear();
    }
  };
  for (std::uint32_t j = 0; j < labels.size(); ++j) {
    const std::size_t size = labels.name(j, scratch).size();
    if (size > std::numeric_limits<std::uint32_t>::max())
      throw input_error("a label of mode {} is longer than 4 GiB", modes_[mode].name);
    const std::uint32_t length = static_cast<std::uint32_t>(size);
    write({reinterpret_cast<const char*>(&length), sizeof length});
  }
  for (std::uint32_t j = 0; j < labels.size(); ++j) write(labels.name(j, scratch));
  if (!piece.empty()) write_checked(piece.data(), piece.size(), TensorFormat::piece_seed(mode, pieces));
}

void TensorWriter::commit() {
  if (!coords_.empty()) write_block();
  for (std::size_t k = 0; k < modes_.size(); ++k)
    if (!modes_[k].labels.is_numbered()) write_labels(k);
  format_.head.fingerprint = format_.finish_fingerprint(fingerprint_);
  const std::string header = format_.header();
  file_.rewrite(0, header.data(), header.size());
  file_.commit();
}

}  // namespace ztp
