// The assignment problem: a one-to-one matching with the largest total gain.
#pragma once
#include <cstddef>
#include <optional>
#include <vector>

#include "base/matrix.hpp"

namespace ztp {

// For each row of finite gains its column, no column twice, such that the sum of gains is the largest there is; with
// more rows than columns, some rows have none. Of several such assignments always the same one. Time: the smaller side
// squared times the larger one.
std::vector<std::optional<std::size_t>> best_assignment(const Matrix<double>& gain);

}  // namespace ztp
