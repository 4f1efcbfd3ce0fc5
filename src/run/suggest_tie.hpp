// Which two modes look as if they had the same entities, as subject and object of a relation do.
#pragma once
#include <optional>

#include "ztp/check.hpp"

namespace ztp {

// The two modes that have most labels in common, if these are more than half of those of the smaller one. Numbers are
// no evidence: users 1 to n and items 1 to n have them in common, too. Of numbers the ones must tell (see the .cpp).
std::optional<CheckReport::SameEntities> find_same_entities(const Dataset& data);

}  // namespace ztp
