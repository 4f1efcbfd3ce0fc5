// Modes whose entities have an order, as days have: a report draws them as lines.
#pragma once
#include <cstdint>
#include <vector>

#include "ztp/labels.hpp"

namespace ztp {

inline constexpr std::uint32_t most_in_a_line = 3000;  // entities; a line with more points cannot be read

// Whether the entities of a mode are times: by their labels (dates, months, quarters, years, ranges of years, names of
// months and weekdays), or by the name of the mode if the labels are numbers. Numbers alone are not enough: they may be
// ids of users.
bool looks_ordered(const Mode& mode);

// The ids in the order of their labels: of times, and of numbers with or without a common text around them. Other
// labels have no order: the ids stay as they are.
std::vector<std::uint32_t> ids_in_order(const LabelTable& labels);

}  // namespace ztp
