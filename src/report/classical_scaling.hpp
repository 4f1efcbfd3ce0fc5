// Classical multidimensional scaling to two dimensions.
#pragma once
#include <array>
#include <vector>

#include "base/matrix.hpp"

namespace ztp {

// A point for each object, from squared distances. The first axis is the longer one. On each axis the object farthest
// from the middle is on the positive side, so that the map is reproducible.
std::vector<std::array<double, 2>> classical_scaling(const Matrix<double>& squared);

}  // namespace ztp
