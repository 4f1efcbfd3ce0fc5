// Questions to the ones of a tensor file, answered in one pass over it and in little memory.
#pragma once
#include <functional>
#include <span>
#include <vector>

#include "base/pool.hpp"
#include "ztp/read.hpp"
#include "ztp/tensor_file.hpp"

namespace ztp {

// Calls use(coords, counts, count) for the first `ones` ones, in the order of the file, chunk by chunk.
void for_chunks(const TensorFile& file, std::uint64_t ones,
                const std::function<void(const std::uint32_t*, const std::int64_t*, std::size_t)>& use);

// Which of these cells, sorted and each there once, are among the first `ones` ones.
std::vector<std::uint8_t> which_are_ones(const TensorFile& file, std::uint64_t ones, const Buffer<std::uint32_t>& cells,
                                         Pool& pool);

// Error (input) if one of the ones is said to be missing.
void check_missing_in_file(const Dataset& data, Pool& pool);

// The last part of the ones and drawn zeros as test cells, sorted; the ones are taken off data.file_ones. The file is shuffled: its
// last ones are a fair sample.
TestCells hold_out_of_file(Dataset& data, double part, std::uint64_t zeros_per_one, std::uint64_t seed, Pool& pool);

}  // namespace ztp
