// draws.nc and means.nc: the kept draws and their means over each chain, in ArviZ's layout.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "store/draw_log.hpp"
#include "ztp/read.hpp"
#include "ztp/run_info.hpp"

namespace ztp {

// netCDF strings are slow: larger modes have no label coordinates.
inline constexpr std::uint32_t most_label_coordinates = 100000;

// Group `posterior`: the variables of DrawLayout (chain, draw, and of a factor MODE, component). Group `sample_stats`:
// lp, occupied (trace_columns.hpp) and sweep. A chain with fewer draws than the longest has NaN there (occupied: 0),
// and sweep 0. Groups `observed_data` and `constant_data`: data_groups.hpp.
class DrawFiles {
 public:
  struct Sizes {
    std::size_t chains = 0, draws = 0;  // of all chains
    std::size_t longest = 0;            // draws of the longest chain
    static Sizes of(const DrawLogReader& log);
    bool operator==(const Sizes&) const = default;
  };
  // Reserves the room that the draws take, and writes labels and whatever else is known before there are draws: it can be
  // made while chains run.
  DrawFiles(const std::string& run_dir, const RunInfo& info, const Dataset& data, const DrawLayout& layout,
            const Sizes& sizes);
  ~DrawFiles();  // removes what is incomplete
  const Sizes& sizes() const { return sizes_; }
  // All that is in a log of these sizes, whose checksums are compared on the way. The files get their names.
  void write(const RunInfo& info, const Dataset& data, const DrawLogReader& log, Pool& pool);
  static double bytes(const DrawLayout& layout, const std::vector<Mode>& modes,
                      unsigned threads);  // of memory, beyond the data

 private:
  class DrawsNc;
  class MeansNc;
  const Sizes sizes_;
  std::unique_ptr<DrawsNc> draws_;
  std::unique_ptr<MeansNc> means_;
};

}  // namespace ztp
