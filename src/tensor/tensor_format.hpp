// The file of a shuffled tensor, .ztpt. Numbers are little-endian.
//   header    FileHead, a ModeHead for each mode, the modes' names end to end, XXH3 of all that (u64)
//   blocks    of `ones_per_block` ones each, the last of the rest: coordinates (u32, K per one), counts (i64, one per
//             one, if there are counts), XXH3 of these (u64) with the number of the block as its seed, so that swapped
//             blocks are noticed
//   labels    for each named mode the lengths of its labels (u32 each), then their characters, in pieces of label_piece
//             bytes, each followed by its XXH3 (u64)
// All places follow from the header. Ones are distinct, sorted by (shuffle_hash, cell): any stretch is a fair sample.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "base/file.hpp"
#include "ztp/labels.hpp"

namespace ztp {

static_assert(std::endian::native == std::endian::little);

struct FileHead {
  char magic[8];
  std::uint32_t version;
  std::uint32_t order;
  std::uint64_t ones;
  std::uint64_t total_count;
  std::uint64_t ones_per_block;
  std::uint32_t counted;  // 0 or 1
  std::uint32_t name_bytes;
  std::uint64_t fingerprint;
};

struct ModeHead {
  std::uint32_t name_length;
  std::uint32_t numbered;  // 0 or 1; the labels of a numbered mode are first, first + 1, ...
  std::uint32_t first;
  std::uint32_t size;
  std::uint64_t characters;  // of all labels of a named mode
};

inline constexpr char tensor_magic[8] = {'Z', 'T', 'P', 'T', 'E', 'N', 'S', 'R'};
inline constexpr std::uint32_t tensor_version = 1;
inline constexpr std::size_t label_piece = 1 << 20;
inline constexpr std::size_t most_ones_per_block = 1 << 24;
inline constexpr std::size_t checksum_bytes = sizeof(std::uint64_t);

// The header, and the places that follow from it.
struct TensorFormat {
  FileHead head = {};
  std::vector<ModeHead> modes;
  std::vector<std::string> names;

  TensorFormat(const std::vector<Mode>& tensor_modes, bool counted, std::size_t ones_per_block);
  // Checks all of the header, and that the file is as long as it says.
  explicit TensorFormat(const ReadFile& file);

  std::string header() const;  // with its checksum
  std::uint64_t header_bytes() const;

  std::size_t one_bytes() const {
    return head.order * sizeof(std::uint32_t) + (head.counted ? sizeof(std::int64_t) : 0);
  }
  std::size_t blocks() const { return (head.ones + head.ones_per_block - 1) / head.ones_per_block; }
  std::size_t block_ones(std::size_t block) const {
    return std::min(head.ones_per_block, head.ones - block * head.ones_per_block);
  }
  std::uint64_t block_offset(std::size_t block) const {
    return header_bytes() + block * (head.ones_per_block * one_bytes() + checksum_bytes);
  }
  std::uint64_t labels_offset(std::size_t mode) const;  // of mode K: the length of the file
  std::uint64_t label_bytes(std::size_t mode) const;    // without checksums

  // The seed of the checksum of a piece of labels: different from those of all other pieces and blocks.
  static std::uint64_t piece_seed(std::size_t mode, std::size_t piece) {
    return ((std::uint64_t{mode} + 1) << 48) + piece;
  }
  // A number that changes with any of the checksums and their order; the header comes last.
  static std::uint64_t add_to_fingerprint(std::uint64_t fingerprint, std::uint64_t checksum);
  std::uint64_t finish_fingerprint(std::uint64_t fingerprint) const;

 private:
  std::string header_without_checksum() const;
  void read_modes(const std::string& header, const std::string& path);
  void check_length(const ReadFile& file) const;
};

}  // namespace ztp
