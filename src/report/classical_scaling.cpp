#include "report/classical_scaling.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

namespace ztp {

std::vector<std::array<double, 2>> classical_scaling(const Matrix<double>& squared) {
  const Eigen::Index n = static_cast<Eigen::Index>(squared.rows());
  std::vector<std::array<double, 2>> places(squared.rows(), {0, 0});
  if (n < 2) return places;
  Eigen::MatrixXd B(n, n);  // products of the places, seen from their middle
  for (Eigen::Index i = 0; i < n; ++i)
    for (Eigen::Index j = 0; j < n; ++j) {
      const std::size_t a = static_cast<std::size_t>(std::max(i, j)), b = static_cast<std::size_t>(std::min(i, j));
      B(i, j) = i == j ? 0 : -0.5 * squared.row(a)[b];
    }
  const Eigen::VectorXd mean = B.rowwise().mean();
  const double grand_mean = mean.mean();
  for (Eigen::Index i = 0; i < n; ++i)
    for (Eigen::Index j = 0; j < n; ++j) B(i, j) += grand_mean - mean(i) - mean(j);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(B);  // eigenvalues ascend
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const Eigen::Index which = n - 1 - static_cast<Eigen::Index>(axis);
    const double length = solver.eigenvalues()(which);
    if (!(length > 1e-12)) continue;  // all are at one place, or on a line
    const Eigen::VectorXd along = solver.eigenvectors().col(which) * std::sqrt(length);
    Eigen::Index farthest = 0;
    for (Eigen::Index i = 1; i < n; ++i)
      if (std::abs(along(i)) > std::abs(along(farthest)) + 1e-9) farthest = i;
    const double sign = along(farthest) < 0 ? -1 : 1;
    for (Eigen::Index i = 0; i < n; ++i) places[static_cast<std::size_t>(i)][axis] = sign * along(i);
  }
  return places;
}

}  // namespace ztp
