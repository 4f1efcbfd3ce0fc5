// draws.nc and means.nc: the kept draws and their means over each chain, in ArviZ's layout.
#pragma once
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/background.hpp"
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
  // Reserves the room that the draws take, and writes labels and whatever else is known before there are draws: it can
  // be made while chains run.
  DrawFiles(const std::string& run_dir, const RunInfo& info, const Dataset& data, const DrawLayout& layout,
            const Sizes& sizes);
  ~DrawFiles();  // removes what is incomplete
  // Takes a draw of a log, by its number there, while the chains run: what `write` would otherwise do at the end.
  // Chains must come one after the other. Safe from several threads; waits while much is to be written.
  void follow(std::size_t number, std::shared_ptr<const StoredDraw> draw);
  static std::size_t following_bytes(const DrawLayout& layout);  // the most that waits
  // Whether `write` can be called with this log: it has the right sizes, and all or none of its draws were followed.
  bool fit(const DrawLogReader& log);
  void discard();  // what has been written
  // All that is in the log, whose checksums are compared on the way. The files get their names.
  void write(const RunInfo& info, const Dataset& data, const DrawLogReader& log, Pool& pool);
  static double bytes(const DrawLayout& layout, const std::vector<Mode>& modes,
                      unsigned threads);  // of memory, beyond the data

 private:
  class DrawsNc;
  class MeansNc;
  void put(const StoredDraw& draw);
  void put_chain(std::size_t c, const DrawLogReader& log, const std::vector<std::size_t>& records);

  const Sizes sizes_;
  const DrawPieces pieces_;
  std::unique_ptr<DrawsNc> draws_;
  std::unique_ptr<MeansNc> means_;
  std::mutex mutex_;
  std::map<std::size_t, std::shared_ptr<const StoredDraw>> early_;  // draws before which one is missing
  std::size_t next_ = 0;                                            // the number that comes next
  std::vector<std::size_t> followed_;                               // draws of each chain
  std::atomic<bool> failed_ = false;                                // to follow: the log has all draws
  Background following_;
};

}  // namespace ztp
