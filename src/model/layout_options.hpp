// The layout of factors that the options of a fit ask for: --columns, --tie and --rank.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "model/factor_layout.hpp"
#include "ztp/options.hpp"

namespace ztp {

struct ModeSize {
  std::string name;
  std::uint32_t entities;
  bool has_network = false;
};

// The rank of a rival, and the one that --rank auto tries first.
constexpr std::int64_t rank_of_rival = 20, first_rank_tried = 25;

// Fills in columns, self and rank: afterwards `columns` is empty for CP, or has "MODE=P" or "MODE=own" for every mode.
// Of CP a rank that is not given is the first that is tried (run/choose_rank.hpp).
// ones: of the data. Throws Error (config) that names the flag.
void complete_layout(FitOptions& options, const std::vector<ModeSize>& modes, std::uint64_t ones);
// For each mode, the one it is tied to; itself, if it is to none.
std::vector<std::size_t> tied_modes(const FitOptions& options, const std::vector<ModeSize>& modes);
// Of complete options. All components in the first column, where they share them.
FactorLayout layout_of(const FitOptions& complete, const std::vector<ModeSize>& modes);

}  // namespace ztp
