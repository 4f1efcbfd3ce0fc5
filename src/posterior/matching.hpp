// What the matching of components and that of columns have in common.
#pragma once
#include <string>
#include <vector>

#include "base/matrix.hpp"
#include "ztp/labels.hpp"
#include "ztp/match.hpp"
#include "ztp/tensor.hpp"

namespace ztp {

Matrix<double> all_ones(std::size_t rows, std::size_t columns);

// For each mode of a run the one of the same name of another. Error (config), if there is none.
std::vector<std::size_t> same_modes(const std::vector<Mode>& modes, const std::vector<Mode>& others);

// The rows of a factor in the order of other labels; zeros for entities that it does not have.
Matrix<float> rows_in_order_of(const LabelTable& wanted, const Matrix<float>& u, const LabelTable& labels);

// Stability (M48) and weights over chains, of components or of columns of a reference, given its matches with each
// other chain.
std::vector<Matching::Summary> summaries(const std::vector<std::vector<ComponentMatch>>& matches,
                                         const std::vector<double>& weights,
                                         const std::vector<std::vector<double>>& other_weights);

}  // namespace ztp
