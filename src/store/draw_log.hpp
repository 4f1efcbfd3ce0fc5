// draws.log: the kept draws of a running fit, as fixed-size records with checksums. The file survives a kill at any
// moment, which an HDF5 file open for writing does not. draws.nc is made from it at the end.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/background.hpp"
#include "base/file.hpp"
#include "model/state.hpp"
#include "store/chain_rows.hpp"
#include "store/draw_layout.hpp"
#include "store/trace_columns.hpp"
#include "ztp/progress.hpp"

namespace ztp {

// The size of a record: its head, the numbers of the draw and a checksum.
std::uint64_t record_bytes(const DrawLayout& layout);

class DrawLogWriter {
 public:
  DrawLogWriter(const std::string& path, DrawLayout layout, std::uint64_t length);
  // A thread hashes and writes while the chain goes on. What has failed then is thrown by the next call.
  void append(const State& state, const SweepReport& report);
  void append(const DrawHead& head, const std::vector<float>& values);  // layout.floats() of them; at once
  void sync();                                                          // all that was appended is on the disk
  // The most that waits in memory to be written: about one draw.
  static std::size_t waiting_bytes(const DrawLayout& layout);

 private:
  DrawLayout layout_;
  AppendFile file_;
  Background writing_;
};

// Checks the heads of all records when the file is opened: their numbers are used as indices.
class DrawLogReader {
 public:
  DrawLogReader(const std::string& path, DrawLayout layout);
  std::size_t draws() const { return heads_.size(); }
  const DrawHead& head(std::size_t i) const { return heads_[i]; }
  const DrawLayout& layout() const { return layout_; }
  void read(std::size_t i, std::uint64_t first, std::size_t count, float* values) const;
  void verify(std::size_t i) const;              // throws if the checksum of record i is wrong
  void load(std::size_t i, State& state) const;  // factors (times n), weights of the tensor and columns
  double learned(std::size_t i, std::size_t which) const;

 private:
  std::uint64_t record(std::size_t i) const;
  DrawLayout layout_;
  ReadFile file_;
  std::vector<DrawHead> heads_;
};

// Drops the draws that are not wanted, and records that a kill or a power cut has left damaged. Returns how many there
// are of each chain. No file: no draws.
std::vector<std::uint64_t> keep_draws(const std::string& path, const DrawLayout& layout, const KeepsSweep& keeps);

}  // namespace ztp
