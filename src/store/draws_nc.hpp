// draws.nc and means.nc: the kept draws and their means over each chain, in ArviZ's layout.
#pragma once
#include <string>
#include <vector>

#include "store/draw_log.hpp"
#include "ztp/read.hpp"
#include "ztp/run_info.hpp"

namespace ztp {

// Group `posterior`: the variables of DrawLayout (chain, draw, and of a factor MODE, component). Group `sample_stats`:
// lp, occupied (trace_columns.hpp) and sweep. A chain with fewer draws than the longest has NaN there (occupied: 0),
// and sweep 0. Groups `observed_data` and `constant_data`: data_groups.hpp.
// The checksums of the log are compared on the way.
void write_draws(const std::string& run_dir, const RunInfo& info, const Dataset& data, const DrawLogReader& log,
                 Pool& pool);
double bytes_for_writing(const DrawLayout& layout, unsigned threads);

}  // namespace ztp
