// The order in which a GPU adds up sums of groups of rows (device/columns.cu), on the host: for groups that several
// processes have made.
#pragma once
#include <algorithm>
#include <vector>

#include "kernel/cuda/device_api.hpp"

namespace ztp::cuda {

// Sums of so many neighbours, one after another, and then of neighbouring pairs until one is left: of each `group`.
inline std::vector<double> add_neighbours(const std::vector<double>& sums, std::size_t columns, std::size_t neighbours,
                                          std::size_t group) {
  const std::size_t count = sums.size() / columns, parts = group / neighbours;
  std::vector<double> result;
  std::vector<double> part(parts);
  for (std::size_t begin = 0; begin < count; begin += group)
    for (std::size_t q = 0; q < columns; ++q) {
      std::fill(part.begin(), part.end(), 0.0);
      for (std::size_t i = 0; i < group && begin + i < count; ++i)
        part[i / neighbours] += sums[(begin + i) * columns + q];
      for (std::size_t step = 1; step < parts; step *= 2)
        for (std::size_t p = 0; p < parts; p += 2 * step) part[p] += part[p + step];
      result.push_back(part[0]);
    }
  return result;
}

// Of groups with so many sums of blocks each: fewer than a group of the device has, or as many; 1: they are what is
// added up from the first.
inline std::vector<double> add_in_order(std::vector<double> sums, std::size_t columns, std::size_t blocks) {
  if (sums.empty()) return std::vector<double>(columns, 0.0);
  if (blocks > 1 && blocks < sums_of_group) sums = add_neighbours(sums, columns, 1, sums_of_group / blocks);
  while (sums.size() > columns) sums = add_neighbours(sums, columns, sums_of_thread, sums_of_group);
  return sums;
}

}  // namespace ztp::cuda
