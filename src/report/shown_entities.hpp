// Which entities a report shows: all of them or, if there are very many, those with most ones and the top entities of
// the components. Ordered modes are shown as a whole, unless they have too many entities for a line.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ztp/posterior.hpp"
#include "ztp/read.hpp"
#include "ztp/report.hpp"

namespace ztp {

// The page numbers the shown entities of a mode: these numbers are called places.
struct ShownEntities {
  struct ModeEntities {
    std::vector<std::uint32_t> ids;         // place to id: ascending, or of an ordered mode in its order
    std::vector<std::uint64_t> ones;        // training ones of every entity, by id
    std::vector<std::uint64_t> tied_ones;   // likewise, of the mode that is tied to it; empty, if none is
    std::vector<std::uint32_t> neighbours;  // likewise, edges in the networks of the mode
    bool ordered = false;                   // periods, days: drawn as a line
    std::optional<std::uint32_t> place_of(std::uint32_t id) const;
    bool has_ones(std::uint32_t id) const { return ones[id] > 0 || (!tied_ones.empty() && tied_ones[id] > 0); }
    std::vector<std::uint32_t> places;  // id to place + 1, or 0
  };
  std::vector<ModeEntities> modes;
};

// Error (usage), if the options name a mode that does not exist.
ShownEntities choose_shown_entities(const Dataset& data, Posterior& posterior, const ReportOptions& options,
                                    std::vector<std::string>& notes);

// How many entities of modes of these sizes are shown, `most` in all: small modes as a whole, equally many of large
// ones.
std::vector<std::size_t> fair_shares(const std::vector<std::size_t>& sizes, std::size_t most);

// The number of top entities of each component, as in `ztp components`. They are always shown.
inline constexpr std::size_t entities_of_component = 30;

// Adds the degree of each entity in the network.
void add_neighbours(const Network& network, std::vector<std::uint32_t>& neighbours);

// Entities without ones, also in a mode that is tied to theirs, which are predicted from their neighbours alone. Most
// neighbours first.
inline constexpr std::size_t cold_starts_shown = 200;  // of a mode
std::vector<std::uint32_t> cold_starts(const ShownEntities::ModeEntities& mode, std::size_t most);

}  // namespace ztp
