// The largest numbers of each column of a factor.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ztp {

// For each of these columns of a matrix (rows of `width` numbers) the rows with the largest numbers, at most `count`,
// largest first. Reads the matrix once, in order.
std::vector<std::vector<std::uint32_t>> top_rows(const std::vector<float>& matrix, std::size_t width,
                                                 const std::vector<std::size_t>& columns, std::size_t count);

}  // namespace ztp
