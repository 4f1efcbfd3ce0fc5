// The entities of a component or column that come from data and not from the prior: its lists and its name are made of
// them.
#pragma once
#include <string>
#include <vector>

#include "report/groups.hpp"
#include "report/relevance.hpp"
#include "ztp/posterior.hpp"

namespace ztp {

// Of these entities of a mode those with counts of their own (CountsBeyondPrior), for each of these columns. u: the
// mean factor of the mode.
std::vector<std::vector<EntityPart>> characteristic_entities(Posterior& posterior, const Groups& groups,
                                                             std::size_t mode, const MeanFactor& u,
                                                             const std::vector<std::size_t>& columns,
                                                             const std::vector<std::uint32_t>& ids);

// The weight of relevance that Sievert and Shirley (2014) found to be read best.
inline constexpr double telling_relevance = 0.6;

// The name of each of these components on the page: the label of the most relevant entity of each unordered mode.
std::vector<std::vector<std::string>> component_names(Posterior& posterior, const Groups& groups,
                                                      const std::vector<std::size_t>& components);
// Likewise of columns of a mode: the labels of their two most relevant entities.
std::vector<std::vector<std::string>> column_names(Posterior& posterior, const Groups& groups, std::size_t mode,
                                                   const std::vector<std::size_t>& columns);

}  // namespace ztp
