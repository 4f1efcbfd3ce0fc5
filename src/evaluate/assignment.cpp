#include "evaluate/assignment.hpp"

#include <limits>

namespace ztp {
namespace {

constexpr std::size_t nobody = std::numeric_limits<std::size_t>::max();

// Costs with at most as many rows as columns. Rows come in one after the other, each along the shortest augmenting path
// from it to a free column. Prices keep the reduced costs, cost - row_price - column_price, from being negative, and
// zero where a row has its column, so that paths are found as Dijkstra does, and the rows so far are always assigned in
// the best way.
class ShortestPaths {
 public:
  ShortestPaths(std::size_t rows, std::size_t columns)
      : row_price_(rows, 0.0), column_price_(columns, 0.0), owner_(columns, nobody) {}

  template <class Cost>
  void add_row(std::size_t row, const Cost& cost) {
    const std::size_t columns = owner_.size();
    distance_.assign(columns, std::numeric_limits<double>::infinity());
    before_.assign(columns, nobody);
    done_.assign(columns, false);
    std::size_t at = row, column = nobody;  // the row that the path has reached, and the column by which it did
    double length = 0;
    do {
      std::size_t next = nobody;
      for (std::size_t c = 0; c < columns; ++c) {
        if (done_[c]) continue;
        const double step = length + cost(at, c) - row_price_[at] - column_price_[c];
        if (step < distance_[c]) {
          distance_[c] = step;
          before_[c] = column;
        }
        if (next == nobody || distance_[c] < distance_[next]) next = c;
      }
      column = next;
      length = distance_[column];
      done_[column] = true;
      at = owner_[column];
    } while (at != nobody);
    change_prices(row, length);
    for (; column != nobody; column = before_[column])
      owner_[column] = before_[column] == nobody ? row : owner_[before_[column]];
  }

  const std::vector<std::size_t>& owners() const { return owner_; }  // of the columns

 private:
  void change_prices(std::size_t row, double length) {
    row_price_[row] += length;
    for (std::size_t c = 0; c < owner_.size(); ++c) {
      if (!done_[c]) continue;
      if (owner_[c] != nobody) row_price_[owner_[c]] += length - distance_[c];
      column_price_[c] -= length - distance_[c];
    }
  }

  std::vector<double> row_price_, column_price_;
  std::vector<std::size_t> owner_;   // the row that has a column
  std::vector<double> distance_;     // of a column from the row that comes in
  std::vector<std::size_t> before_;  // the column before it on the way
  std::vector<bool> done_;
};

}  // namespace

std::vector<std::optional<std::size_t>> best_assignment(const Matrix<double>& gain) {
  const bool tall = gain.rows() > gain.columns();
  const std::size_t few = tall ? gain.columns() : gain.rows(), many = tall ? gain.rows() : gain.columns();
  ShortestPaths paths(few, many);
  for (std::size_t i = 0; i < few; ++i)
    paths.add_row(i, [&](std::size_t x, std::size_t y) { return tall ? -gain.row(y)[x] : -gain.row(x)[y]; });
  std::vector<std::optional<std::size_t>> result(gain.rows());
  for (std::size_t y = 0; y < many; ++y) {
    const std::size_t x = paths.owners()[y];
    if (x != nobody) result[tall ? y : x] = tall ? x : y;
  }
  return result;
}

}  // namespace ztp
