// What is recorded of each sweep: one list for the columns of trace.tsv, sample_stats of draws.nc and the heads of
// draws.log.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <string_view>

#include "ztp/progress.hpp"

namespace ztp {

struct TraceColumn {
  enum class Stat { none, whole, real };
  std::string_view name;                // in trace.tsv
  std::string_view format;              // in trace.tsv; NaN is an empty field
  double (*value)(const SweepReport&);  // whole numbers, too: they are far below 2^53
  Stat stat = Stat::none;               // whether sample_stats of draws.nc has it, and as int64 or float64
  std::string_view stat_name = {};      // its name in sample_stats
};

// trace.tsv has the learned hyperparameters after these columns; draws.nc has them in the group `posterior`. Chain and
// sweep are no statistics of a draw: they give its place in the file.
inline constexpr TraceColumn trace_columns[] = {
    {"chain", "{:.0f}", [](const SweepReport& report) -> double { return report.chain; }},
    {"sweep", "{:.0f}", [](const SweepReport& report) -> double { return report.sweep; }},
    {"seconds", "{:.6f}", [](const SweepReport& report) { return report.seconds; }},
    // Every digit: rounding would create ties, and change the ranks that R-hat and ESS are computed from.
    {"log_likelihood", "{}", [](const SweepReport& report) { return report.log_likelihood; }, TraceColumn::Stat::real,
     "lp"},
    {"occupied", "{:.0f}", [](const SweepReport& report) { return static_cast<double>(report.occupied); },
     TraceColumn::Stat::whole, "occupied"},
    {"auc_roc", "{:.6f}", [](const SweepReport& report) { return report.auc_roc; }},
    {"total_weight", "{:.6g}", [](const SweepReport& report) { return report.total_weight; }},
    {"network_only", "{:.0f}", [](const SweepReport& report) { return static_cast<double>(report.network_only); }},
};

// Those that are in sample_stats.
inline constexpr std::size_t draw_stat_count =
    std::size(trace_columns) -
    static_cast<std::size_t>(std::ranges::count(trace_columns, TraceColumn::Stat::none, &TraceColumn::stat));
inline constexpr auto draw_stats = [] {
  std::array<TraceColumn, draw_stat_count> columns{};
  std::ranges::copy_if(trace_columns, columns.begin(),
                       [](const TraceColumn& column) { return column.stat != TraceColumn::Stat::none; });
  return columns;
}();

// The head of a record of draws.log, byte for byte.
struct DrawHead {
  std::uint32_t chain;
  std::uint32_t sweep;
  std::array<std::uint64_t, draw_stat_count> stats;  // as in draw_stats: a whole number, or the bits of a float64

  std::uint64_t occupied() const {
    constexpr auto place = std::ranges::find(draw_stats, "occupied", &TraceColumn::name) - draw_stats.begin();
    return stats[place];
  }
};

inline DrawHead draw_head(const SweepReport& report) {
  DrawHead head{report.chain, report.sweep, {}};
  for (std::size_t s = 0; s < draw_stats.size(); ++s) {
    const double value = draw_stats[s].value(report);
    head.stats[s] = draw_stats[s].stat == TraceColumn::Stat::whole ? static_cast<std::uint64_t>(value)
                                                                   : std::bit_cast<std::uint64_t>(value);
  }
  return head;
}

}  // namespace ztp
