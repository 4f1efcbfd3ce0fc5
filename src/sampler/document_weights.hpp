// How well the counts of a component go with each column of a mode, the columns integrated out.                  (M53)
#pragma once
#include <cstdint>
#include <vector>

#include "base/matrix.hpp"

namespace ztp {

// Counts of a component in a row of a mode.
struct RowCount {
  std::uint32_t row;
  std::int64_t count;
};

// weights[q] *= G(n a + S_q) / G(n a + S_q + s) prod_j G(a + S[j, q] + m_j) / G(a + S[j, q]), but for a factor that all
// share. S: without these counts; sum: of its columns; document: the m_j, no row twice. O(columns x counts).
void multiply_by_document(const Matrix<double>& S, const std::vector<double>& sum, double a,
                          const std::vector<RowCount>& document, std::vector<double>& weights);

}  // namespace ztp
