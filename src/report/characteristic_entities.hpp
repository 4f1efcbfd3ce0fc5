// Entities that a component has by more than the prior: what its lists and its name are made of.
#pragma once
#include <string>
#include <vector>

#include "report/relevance.hpp"
#include "ztp/posterior.hpp"

namespace ztp {

// Of these entities of a mode those with counts of their own (CountsBeyondPrior), for each of these components of a chain: columns of u, the mean
// factor of the mode.
std::vector<std::vector<EntityPart>> characteristic_entities(Posterior& posterior, std::size_t chain, std::size_t mode,
                                                             const std::vector<float>& u,
                                                             const std::vector<std::size_t>& columns,
                                                             const std::vector<std::uint32_t>& ids);

// The weight of relevance that Sievert and Shirley (2014) found to be read best.
inline constexpr double telling_relevance = 0.6;

// For each of these components the labels that the page calls it by: of each mode without an order the most relevant entity.
std::vector<std::vector<std::string>> component_names(Posterior& posterior, std::size_t chain,
                                                      const std::vector<std::size_t>& columns);

}  // namespace ztp
