// The ones of data that may be in a file: questions are answered in one pass over it and in little memory.
#pragma once
#include <functional>
#include <vector>

#include "base/pool.hpp"
#include "ztp/read.hpp"
#include "ztp/tensor_file.hpp"

namespace ztp {

// Calls use(coords, counts, count) for the first `ones` ones, in the order of the file, chunk by chunk.
void for_chunks(const TensorFile& file, std::uint64_t ones,
                const std::function<void(const std::uint32_t*, const std::int64_t*, std::size_t)>& use);

// The same with all ones of the data, wherever they are.
void for_ones(const Dataset& data,
              const std::function<void(const std::uint32_t*, const std::int64_t*, std::size_t)>& use);

// The first ones of the file, at most so many; none if there is no file. It is shuffled: they are as good as any.
Buffer<std::uint32_t> first_ones_of_file(const Dataset& data, std::size_t most);

// Which of these cells, sorted and each there once, are ones of the data.
std::vector<std::uint8_t> which_are_ones(const Dataset& data, const Buffer<std::uint32_t>& cells, Pool& pool);

// Error (input) if one of the ones is said to be missing.
void check_missing_in_file(const Dataset& data, Pool& pool);

// The last part of the ones and drawn zeros as test cells, sorted; the ones are taken off data.file_ones. The file is
// shuffled: its last ones are a fair sample.
TestCells hold_out_of_file(Dataset& data, double part, std::uint64_t zeros_per_one, std::uint64_t seed, Pool& pool);

}  // namespace ztp
