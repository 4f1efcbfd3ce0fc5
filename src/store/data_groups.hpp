// The groups of draws.nc beside the draws: observed_data and constant_data.
#pragma once
#include <cstdint>

#include "store/draw_layout.hpp"
#include "store/netcdf.hpp"
#include "ztp/read.hpp"
#include "ztp/run_info.hpp"

namespace ztp {

// Longer lists are not stored in draws.nc, since the run directory has them. The group then has an attribute
// left_out_NAME with the number of rows.
inline constexpr std::uint64_t most_stored_rows = 1'000'000;

// observed_data: along the dimension `one` the row in each mode, from 0, named as the mode's dimension is; `count` of
// counts.
void write_observed_data(NetcdfFile& file, int group, const RunInfo& info, const Dataset& data);
// constant_data: sizes, fixed hyperparameters, networks, what is missing. The table is in docs/commands.md.
void write_constant_data(NetcdfFile& file, int group, const RunInfo& info, const Dataset& data);

}  // namespace ztp
