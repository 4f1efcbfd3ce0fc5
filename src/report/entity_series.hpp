// Entities of a mode in components or columns, as bars and as lines, with their intervals.
#pragma once
#include <vector>

#include "base/json.hpp"
#include "report/relevance.hpp"
#include "report/sections.hpp"

namespace ztp {

using EntityParts = std::vector<std::vector<EntityPart>>;  // for each listed group of a mode

// The shown entities that the list of a group may have.
EntityParts choose_bars(ReportSource& source, std::size_t mode, const MeanFactor& u);
// All shown entities, in their order; nothing, if the mode is not ordered, or lines would have more values than there
// is room for: then a note says so. room: of all lines of a report; it becomes smaller.
inline constexpr std::size_t most_in_lines = 300000;  // values of all lines together; each has an interval
EntityParts choose_lines(ReportSource& source, std::size_t mode, const MeanFactor& u, std::size_t& room);

// The intervals of all bars and lines: they are asked for together, so that there is one pass over the draws.
class EntitySeries {
 public:
  // Which series these are, from here on, one for each listed group of the mode.
  std::size_t add(ReportSource& source, std::size_t mode, EntityParts parts);
  void find_intervals(ReportSource& source);
  Json bars(const ReportSource& source, std::size_t series) const;  // with the places of the entities
  Json line(std::size_t series) const;

 private:
  struct Series {
    std::size_t mode, first;  // first: where its intervals begin
    std::vector<EntityPart> parts;
  };
  Json values(const Series& series, int digits) const;

  std::vector<Series> series_;
  std::vector<FactorPlace> places_;
  std::vector<Interval> found_;
};

}  // namespace ztp
