// Modes whose entities have an order, as days have: a report draws them as lines.
#pragma once
#include <cstdint>
#include <vector>

#include "ztp/labels.hpp"

namespace ztp {

inline constexpr std::uint32_t most_in_a_line = 3000;  // entities: a line with more is no line

// Whether the entities of a mode are times, by their labels (dates, months, quarters, years, ranges of years; names of months and of days
// of the week) or by the mode's name and labels that are numbers. Numbers alone say nothing: they may as well name users.
bool looks_ordered(const Mode& mode);

// The ids in the order of what the labels say: of times, and of numbers with or without a text around them that all have. Other labels
// say nothing of an order: that of the ids then.
std::vector<std::uint32_t> ids_in_order(const LabelTable& labels);

}  // namespace ztp
