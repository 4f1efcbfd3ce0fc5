// Which entities a report speaks of: all of them, or of very many those with most ones, and whatever is a top entity of a component.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ztp/posterior.hpp"
#include "ztp/report.hpp"

namespace ztp {

// Places are counted within the shown entities of a mode: the page knows no other numbers.
struct Shown {
  struct ModeEntities {
    std::vector<std::uint32_t> ids;   // place to id; ascending
    std::vector<std::uint64_t> ones;  // training ones of every entity, by id
    bool ordered = false;             // periods, days: drawn as a line
    std::optional<std::uint32_t> place_of(std::uint32_t id) const;
  };
  std::vector<ModeEntities> modes;
};

Shown choose_shown(const std::string& run_dir, Posterior& posterior, const ReportOptions& options,
                   std::vector<std::string>& notes);

}  // namespace ztp
