// Rows that a running fit has appended to trace.tsv and cells.tsv: chain and sweep come first, and chains that run side
// by side take turns. When a run is resumed, rows of a chain after the sweep where it goes on are dropped.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace ztp {

using KeepsSweep = std::function<bool(std::uint32_t chain, std::uint32_t sweep)>;

// Drops the rows that are not wanted, and those that a kill or a power cut has left incomplete. Returns how many there
// are of each chain. No file: no rows.
std::vector<std::uint64_t> keep_rows(const std::string& path, std::size_t chains, const KeepsSweep& keeps);

// The last number that each chain has in a column; NaN where it has none.
std::vector<double> last_values(const std::string& path, std::size_t chains, std::string_view column);

// Puts the rows into the order of chains, as if these had run one after the other.
void sort_rows(const std::string& path, std::size_t chains);

}  // namespace ztp
