// What a kept draw consists of.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "ztp/labels.hpp"
#include "ztp/options.hpp"

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

// Names of the learned hyperparameters, in the order of learned_values: columns of the trace and variables of draws.nc.
std::vector<std::string> learned_names(const FitOptions& complete, const std::vector<Mode>& modes,
                                       std::size_t networks);
DrawLayout draw_layout(const FitOptions& complete, const std::vector<Mode>& modes, std::size_t networks);

}  // namespace ztp
