// The overlap of components of two chains, and their matching.
#pragma once
#include <vector>

#include "base/matrix.hpp"
#include "base/pool.hpp"
#include "ztp/match.hpp"

namespace ztp {

// Normalises every column to sum to one (a column of zeros stays), and takes square roots.
void take_square_roots(Matrix<float>& u, Pool& pool);

// Multiplies overlap[r, s] by the sum over rows of u[i, r] v[i, s]: the factor of one mode in (M46). u and v are
// results of take_square_roots for the same entities. The relative error of a sum is below 2e-5, and does not depend on
// threads.
void multiply_by_overlaps(const Matrix<float>& u, const Matrix<float>& v, Pool& pool, Matrix<double>& overlap);

// The best match of each component of a chain, given its overlaps with another chain and both weights.  (M47), (M48)
std::vector<ComponentMatch> match_by_overlap(const Matrix<double>& overlap, const std::vector<double>& weights,
                                             const std::vector<double>& other_weights);

// The weight of a matched component in an average over chains: sqrt(w_r w'_s) B_rs.                     (M47), (M49)
double common_weight(const ComponentMatch& match);

}  // namespace ztp
