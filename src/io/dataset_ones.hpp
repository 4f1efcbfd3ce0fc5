// The ones of a Dataset, in memory or in a tensor file, which is read in one pass and in little memory.
#pragma once
#include <functional>
#include <vector>

#include "base/pool.hpp"
#include "ztp/read.hpp"
#include "ztp/tensor_file.hpp"

namespace ztp {

using UseOnes = std::function<void(const std::uint32_t* coords, const std::int64_t* counts, std::size_t count)>;
// Calls use() for the first `ones` ones, in the order of the file, chunk by chunk.
void for_file_chunks(const TensorFile& file, std::uint64_t ones, const UseOnes& use);
// The same for all ones of the data, in memory and in the file.
void for_ones(const Dataset& data, const UseOnes& use);

// The first ones of the file, which is shuffled: a random sample of at most `most`. None if there is no file.
Buffer<std::uint32_t> first_ones_of_file(const Dataset& data, std::size_t most);

// Which of these cells, which are sorted and distinct, are ones of the data.
std::vector<std::uint8_t> which_are_ones(const Dataset& data, const Buffer<std::uint32_t>& cells, Pool& pool);

// Error (input), if a one of the file is listed as missing.
void check_missing_in_file(const Dataset& data, Pool& pool);

// Test cells, sorted: the last ones of the file, which are then no longer in data.file_ones, and drawn zeros.
TestCells hold_out_of_file(Dataset& data, double part, std::uint64_t zeros_per_one, std::uint64_t seed, Pool& pool);

}  // namespace ztp
