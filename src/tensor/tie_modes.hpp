// Two modes with the same entities: subject and object of a relation.
#pragma once
#include "ztp/read.hpp"

namespace ztp {

// Gives both modes the labels of both: those of the first, and then those that the second alone has. Returns the new
// ids of the second; none, if its ids stay. Error (config), if they have no label in common.
std::vector<std::uint32_t> join_labels(Mode& first, Mode& second);

// Gives modes k and l the entities of both, in the order of mode k and then of those that mode l alone has. Ones,
// networks and missing cells get the new ids. Error (config), if the ones stay in a file and their entities differ.
void tie_modes(Dataset& data, std::size_t k, std::size_t l);

// Removes the test cells and listed missing cells that have the same entity in modes k and l.
void remove_self_cells(std::size_t k, std::size_t l, std::size_t K, TestCells& test, Missing& missing);

}  // namespace ztp
