// Adding up the components of ones in the rows they belong to, for few components.
#pragma once
#include <utility>
#include <vector>

#include "base/matrix.hpp"
#include "kernel/host_arrays.hpp"

namespace ztp::cpu {

inline constexpr std::size_t most_columns_in_lanes = 32;

// Rows of S with the entries that an index gives them. S has at most most_columns_in_lanes columns.
struct RowsToAdd {
  const RowIndex& index;
  const std::uint8_t* unit;  // of each entry: Drawn::unit
  bool fresh;                // rows are overwritten
  Matrix<std::int32_t>& S;
};

// Adds one to S[j, component] for each entry of these rows. Entries that are not one unit are left out, and listed with
// their rows.
void add_rows(const RowsToAdd& task, std::size_t begin, std::size_t end,
              std::vector<std::pair<std::size_t, std::uint32_t>>& left_out);

}  // namespace ztp::cpu
