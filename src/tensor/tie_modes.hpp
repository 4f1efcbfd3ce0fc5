// Two modes with the same entities: subject and object of a relation.
#pragma once
#include "ztp/read.hpp"

namespace ztp {

// Gives modes k and l the entities of both, in the order of mode k and then of those that mode l alone has. Ones,
// networks and missing cells get the new ids. Error (config), if the ones stay in a file and their entities differ.
void tie_modes(Dataset& data, std::size_t k, std::size_t l);

// Removes the test cells and listed missing cells that have the same entity in modes k and l.
void remove_self_cells(std::size_t k, std::size_t l, std::size_t K, TestCells& test, Missing& missing);

}  // namespace ztp
