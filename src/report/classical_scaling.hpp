// A map of things of which distances are known: classical multidimensional scaling to two dimensions.
#pragma once
#include <array>
#include <vector>

#include "base/matrix.hpp"

namespace ztp {

// A place for each, from the squares of their distances. The first axis is the longer one; on each, what is farthest from the middle is on
// the positive side, so that the map is the same whenever it is made.
std::vector<std::array<double, 2>> classical_scaling(const Matrix<double>& squared);

}  // namespace ztp
