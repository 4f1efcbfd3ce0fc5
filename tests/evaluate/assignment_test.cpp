// The best assignment against all there are.
#include "evaluate/assignment.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "base/random.hpp"

namespace ztp {
namespace {

Matrix<double> transposed(const Matrix<double>& gain) {
  Matrix<double> result(gain.columns(), gain.rows());
  for (std::size_t i = 0; i < gain.rows(); ++i)
    for (std::size_t j = 0; j < gain.columns(); ++j) result.row(j)[i] = gain.row(i)[j];
  return result;
}

double best_of_all(const Matrix<double>& gain) {
  if (gain.rows() > gain.columns()) return best_of_all(transposed(gain));
  std::vector<std::size_t> order(gain.columns());
  std::iota(order.begin(), order.end(), std::size_t{0});
  double best = -1e300;
  do {
    double sum = 0;
    for (std::size_t i = 0; i < gain.rows(); ++i) sum += gain.row(i)[order[i]];
    best = std::max(best, sum);
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

// Of an assignment that gives no column twice, and as many as there can be.
double sum_of_best(const Matrix<double>& gain) {
  const auto assignment = best_assignment(gain);
  EXPECT_EQ(assignment.size(), gain.rows());
  std::set<std::size_t> given;
  double sum = 0;
  for (std::size_t i = 0; i < assignment.size(); ++i) {
    if (!assignment[i]) continue;
    EXPECT_LT(*assignment[i], gain.columns());
    EXPECT_TRUE(given.insert(*assignment[i]).second) << "column " << *assignment[i] << " is given twice";
    sum += gain.row(i)[*assignment[i]];
  }
  EXPECT_EQ(given.size(), std::min(gain.rows(), gain.columns()));
  return sum;
}

// Seed 5. 21 matrices of each size up to 7 x 7: uniform gains of either sign, gains of a few values (many ties), and
// products of random weights, most of them near zero, which is what matching has.
TEST(Assignment, IsTheBestOfAll) {
  Stream stream(stream_key(5, 0, Purpose::simulate), 0, 0);
  for (std::size_t rows = 1; rows <= 7; ++rows)
    for (std::size_t columns = 1; columns <= 7; ++columns)
      for (int trial = 0; trial < 21; ++trial) {
        Matrix<double> gain(rows, columns);
        for (std::size_t i = 0; i < rows; ++i)
          for (std::size_t j = 0; j < columns; ++j) {
            const double uniform = stream.uniform();
            gain.row(i)[j] = trial % 3 == 0   ? 2 * uniform - 1
                             : trial % 3 == 1 ? static_cast<double>(stream.below(3))
                                              : std::pow(uniform, 40);
          }
        ASSERT_NEAR(sum_of_best(gain), best_of_all(gain), 1e-12) << rows << " x " << columns << ", trial " << trial;
      }
}

TEST(Assignment, OfDegenerateGains) {
  EXPECT_TRUE(best_assignment(Matrix<double>(0, 0)).empty());
  EXPECT_FALSE(best_assignment(Matrix<double>(1, 0))[0]);
  std::set<std::size_t> columns;  // all zero: whichever it is, it is one to one
  for (const auto& column : best_assignment(Matrix<double>(5, 5))) columns.insert(column.value());
  EXPECT_EQ(columns, (std::set<std::size_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(sum_of_best(Matrix<double>(5, 5)), 0);
  Matrix<double> spread(3, 3);  // 1e-12 is no rounding error beside 1
  spread.row(0)[0] = 1;
  spread.row(1)[2] = 1e-12;
  spread.row(2)[1] = 1e-12;
  const std::vector<std::optional<std::size_t>> expected = {0, 2, 1};
  EXPECT_EQ(best_assignment(spread), expected);
}

// Seed 6. A permutation that is hidden in noise, at a size for which nobody looks at all assignments.
TEST(Assignment, FindsAPermutationOfThreeHundred) {
  const std::size_t n = 300;
  Stream stream(stream_key(6, 0, Purpose::simulate), 0, 0);
  std::vector<std::size_t> planted(n);
  std::iota(planted.begin(), planted.end(), std::size_t{0});
  for (std::size_t i = n; i-- > 1;) std::swap(planted[i], planted[stream.below(i + 1)]);
  Matrix<double> gain(n, n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) gain.row(i)[j] = stream.uniform() + (planted[i] == j ? 1.0 : 0.0);
  const auto found = best_assignment(gain);
  for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(found[i], planted[i]);
}

}  // namespace
}  // namespace ztp
