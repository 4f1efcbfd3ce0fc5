// Which components a report lists, and of which chain.
#pragma once
#include <cstddef>
#include <vector>

#include "ztp/posterior.hpp"

namespace ztp {

// The chain whose components are shown, from 0: the first that has draws.
std::size_t chain_shown(const Posterior& posterior);

// Components of that chain that are of use, counted from 0, largest weight first, as
// Posterior::components has them: those with a weight, and those that a network alone uses. None of a rival.
std::vector<std::size_t> listed_components(Posterior& posterior);

// Whether a component of the shown chain has no weight, and some network a mean beta of half a count or more in its
// column.
std::vector<bool> network_only_components(Posterior& posterior);

// For each column of a factor matrix the largest mean beta that a network has in it, in the shown chain.
std::vector<double> largest_beta(Posterior& posterior, std::size_t matrix);

}  // namespace ztp
