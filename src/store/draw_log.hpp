// draws.log: the kept draws of a running fit, as fixed-size records with checksums. The file survives a kill at any
// moment, which an HDF5 file open for writing does not. draws.nc is made from it at the end.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/background.hpp"
#include "base/file.hpp"
#include "base/pool.hpp"
#include "model/state.hpp"
#include "store/chain_rows.hpp"
#include "store/draw_pieces.hpp"
#include "store/trace_columns.hpp"
#include "ztp/progress.hpp"

namespace ztp {

// A record: its head, the pieces of the draw (draw_pieces.hpp), a checksum of each of them, and one of the head and
// these sums.
std::uint64_t record_bytes(const DrawLayout& layout);

// A draw as it is stored.
struct StoredDraw {
  DrawHead head;
  std::vector<std::vector<std::byte>> pieces;
};

class DrawLogWriter {
 public:
  DrawLogWriter(const std::string& path, DrawLayout layout, std::uint64_t length, unsigned threads = 1);
  // Called with each draw that is appended from now on and its number, counted from 0, when all of it is in the file:
  // by any thread, and in any order.
  using Follower = std::function<void(std::size_t, std::shared_ptr<const StoredDraw>)>;
  void follow(Follower follower) { follower_ = std::move(follower); }
  // Threads divide, pack, hash and write the pieces of a draw, each at its place, while the chain goes on. What has
  // failed then is thrown by the next call.
  void append(const State& state, const SweepReport& report);
  void append(const DrawHead& head, const std::vector<float>& values);  // layout.floats() of them
  void sync();                                                          // all that was appended is on the disk
  // The most that waits in memory to be written: about one draw.
  static std::size_t waiting_bytes(const DrawLayout& layout);

 private:
  class Record;
  class Pieces;
  DrawLayout layout_;
  const DrawPieces pieces_;
  AppendFile file_;
  std::uint64_t next_;                         // where the next record begins
  std::size_t appended_ = 0;                   // records
  std::atomic<std::uint64_t> incomplete_ = 0;  // records that are not whole in the file
  Follower follower_;
  Background writing_;
};

// Checks the heads of all records when the file is opened: their numbers are used as indices.
class DrawLogReader {
 public:
  DrawLogReader(const std::string& path, DrawLayout layout);
  std::size_t draws() const { return heads_.size(); }
  const DrawHead& head(std::size_t i) const { return heads_[i]; }
  const DrawLayout& layout() const { return layout_; }
  const DrawPieces& pieces() const { return pieces_; }
  void read(std::size_t i, std::uint64_t first, std::size_t count, float* values) const;
  // Piece p of record i, whose checksum is compared; as it is stored, or its numbers. Safe from several threads.
  std::vector<std::byte> stored_piece(std::size_t i, std::size_t p) const;
  void read_piece(std::size_t i, std::size_t p, float* values) const;
  void verify_sums(std::size_t i) const;         // the checksum of the head of record i and of those of its pieces
  void load(std::size_t i, State& state) const;  // factors (times n), weights of the tensor and columns
  double learned(std::size_t i, std::size_t which) const;

 private:
  std::uint64_t record(std::size_t i) const;
  void unpack_piece(std::size_t i, std::size_t p, const std::vector<std::byte>& stored, std::size_t wanted,
                    float* values) const;
  DrawLayout layout_;
  const DrawPieces pieces_;
  ReadFile file_;
  std::vector<DrawHead> heads_;
};

// Drops the draws that are not wanted, and records that a kill or a power cut has left damaged. Returns how many there
// are of each chain. No file: no draws.
std::vector<std::uint64_t> keep_draws(const std::string& path, const DrawLayout& layout, const KeepsSweep& keeps);

}  // namespace ztp
