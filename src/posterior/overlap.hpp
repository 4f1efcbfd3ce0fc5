// How much the components of two chains have in common, and who is who.
#pragma once
#include <vector>

#include "base/matrix.hpp"
#include "base/pool.hpp"
#include "ztp/match.hpp"

namespace ztp {

// Makes every column sum to one, a column of zeros excepted, and takes the roots.
void take_roots(Matrix<float>& u, Pool& pool);

// Multiplies overlap[r, s] by the sum over rows of u[i, r] v[i, s]: one mode's part of (M46), of two factors as take_roots leaves them
// whose rows are the same entities. Sums are within 2e-5 of themselves, and do not depend on threads.
void multiply_by_overlaps(const Matrix<float>& u, const Matrix<float>& v, Pool& pool, Matrix<double>& overlap);

// The best match of each component of a chain, given all overlaps with another and the weights lambda of both.  (M47), (M48)
std::vector<ComponentMatch> match_by_overlap(const Matrix<double>& overlap, const std::vector<double>& weights,
                                             const std::vector<double>& other_weights);

// What a matched component counts in an average over chains: sqrt(w_r w'_s) B_rs.                       (M47), (M49)
double common_weight(const ComponentMatch& match);

}  // namespace ztp
