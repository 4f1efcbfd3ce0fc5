// The parameters a simulated tensor is drawn with, each a pure function of the options.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "ztp/simulate.hpp"

namespace ztp {

// What a stream of Purpose::simulate is for (the `mode` of its key). Part of the meaning of a seed: only append.
namespace simulate_stream {
inline constexpr std::uint32_t shares = 0, order = 1, scatter = 2, parts = 3, columns = 256, points = 512, pairs = 4,
                               edge_parts = 768, edge_ends = 1024;
}

// Checks options, with errors of kind usage or config.
void check(const SimulateOptions& options);
// mode1, mode2, ... where none are given.
std::vector<std::string> mode_names(const SimulateOptions& options);

class Truth {
 public:
  explicit Truth(const SimulateOptions& options);

  const SimulateOptions& options() const { return options_; }
  StreamKey key(std::uint32_t what) const { return stream_key(options_.seed, 0, Purpose::simulate, what); }
  const std::vector<double>& shares() const { return shares_; }  // of the components; they add up to one
  // Entities with positive weight in a column of mode k. The same for all components.
  std::uint64_t support(std::size_t k) const { return support_[k]; }
  bool has_relations() const { return options_.kind == SimulateKind::relations; }
  // Components share columns where there are relations: how many there are in mode k, and which is that of component r.
  std::size_t columns(std::size_t k) const;
  std::size_t column_number(std::size_t k, std::size_t r) const;
  TrueFactorColumn column(std::size_t k, std::size_t number) const;

 private:
  Buffer<std::uint32_t> block(std::size_t k, std::uint64_t start) const;

  SimulateOptions options_;
  std::vector<double> shares_;
  std::vector<std::uint64_t> support_;
  std::vector<std::vector<std::uint32_t>> block_order_;  // planted: where component r's block lies in mode k
  std::vector<std::array<std::uint32_t, 2>> pairs_;      // relations: communities of subjects and objects
};

}  // namespace ztp
