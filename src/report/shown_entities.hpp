// Which entities a report speaks of: all of them, or of very many those with most ones, and whatever is a top entity of a component. Of
// ordered modes all, unless they are too many for a line.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ztp/posterior.hpp"
#include "ztp/read.hpp"
#include "ztp/report.hpp"

namespace ztp {

// Places are counted within the shown entities of a mode: the page knows no other numbers.
struct ShownEntities {
  struct ModeEntities {
    std::vector<std::uint32_t> ids;         // place to id: ascending, or of an ordered mode in its order
    std::vector<std::uint64_t> ones;        // training ones of every entity, by id
    std::vector<std::uint32_t> neighbours;  // likewise, edges in the networks of the mode
    bool ordered = false;                   // periods, days: drawn as a line
    std::optional<std::uint32_t> place_of(std::uint32_t id) const;
    std::vector<std::uint32_t> places;  // id to place + 1, or 0
  };
  std::vector<ModeEntities> modes;
};

// Error (usage), if the options name a mode that is none.
ShownEntities choose_shown_entities(const Dataset& data, Posterior& posterior, const ReportOptions& options,
                                    std::vector<std::string>& notes);

// How many entities of modes of these sizes are shown, if at most `most` are: small modes as a whole, and of large ones equally many.
std::vector<std::size_t> fair_shares(const std::vector<std::size_t>& sizes, std::size_t most);

// As many of these components have as top entities, whatever else is shown: what `ztp components` can be compared with.
inline constexpr std::size_t entities_of_component = 30;

// Counts the ends of edges at each entity.
void add_neighbours(const Network& network, std::vector<std::uint32_t>& neighbours);

// Entities without ones: what is said of them comes from their neighbours. Most neighbours first.
inline constexpr std::size_t cold_starts_shown = 200;  // of a mode
std::vector<std::uint32_t> cold_starts(const ShownEntities::ModeEntities& mode, std::size_t most);

}  // namespace ztp
