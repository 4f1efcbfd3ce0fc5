// Kept draws while a fit runs: fixed-size, checksummed records appended to one file, which survives a kill at any moment.
// (HDF5 does not, while it is open for writing; draws.nc is made from this file in the end.)
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/file.hpp"
#include "model/state.hpp"
#include "ztp/progress.hpp"

namespace ztp {

// The numbers of one draw, all float32: lambda and p (R each), beta and h of each network, learned hyperparameters, then u of each
// mode (n_k x R).
struct DrawLayout {
  static constexpr std::size_t most_chains = 1000;  // as --chains allows
  std::size_t R = 0;
  std::vector<std::uint32_t> sizes;  // n_k
  std::size_t networks = 0;
  std::size_t learned = 0;  // how many hyperparameters are learned
  std::size_t chains = most_chains;

  std::uint64_t weights(std::size_t set) const { return 2 * R * set; }  // 0: the tensor; 1 + m: network m
  std::uint64_t hyperparameters() const { return weights(1 + networks); }
  std::uint64_t factor(std::size_t k) const;  // where u of mode k begins
  std::uint64_t floats() const { return factor(sizes.size()); }
  std::uint64_t bytes() const { return 4 * floats(); }
};

struct DrawHead {
  std::uint32_t chain;
  std::uint32_t sweep;
  double log_likelihood;
  std::uint64_t occupied;
};

class DrawLogWriter {
 public:
  DrawLogWriter(const std::string& path, DrawLayout layout, std::uint64_t length);
  void append(const State& state, const SweepReport& report);
  void append(const DrawHead& head, const std::vector<float>& values);  // layout.floats() of them
  void sync() { file_.sync(); }
  std::uint64_t length() const { return file_.length(); }

 private:
  DrawLayout layout_;
  AppendFile file_;
};

// What the head of a record says is checked when the file is opened, for others use it as an index.
class DrawLogReader {
 public:
  DrawLogReader(const std::string& path, DrawLayout layout);
  std::size_t draws() const { return heads_.size(); }
  const DrawHead& head(std::size_t i) const { return heads_[i]; }
  const DrawLayout& layout() const { return layout_; }
  void read(std::size_t i, std::uint64_t first, std::size_t count, float* values) const;
  void verify(std::size_t i) const;  // throws if the checksum of record i is wrong

 private:
  std::uint64_t record(std::size_t i) const;
  DrawLayout layout_;
  ReadFile file_;
  std::vector<DrawHead> heads_;
};

}  // namespace ztp
