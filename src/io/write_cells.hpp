// The text files that ztp writes in its own input formats.
#pragma once
#include <string>

#include "ztp/tensor.hpp"

namespace ztp {

// One label per line, in the order of ids, from the entity `first` on. Writes a header if the first label could be taken
// for one.
void write_label_file(const std::string& path, const LabelTable& labels, std::uint32_t first = 0);
// A header `#mode...` and the ones, with their counts in a last column if there are any.
void write_ones_file(const std::string& path, const std::vector<Mode>& modes, const Buffer<std::uint32_t>& coords,
                     const Buffer<std::int64_t>& counts);
// A header `#mode... outcome`, and the cells with a last column 0 or 1.
void write_test_file(const std::string& path, const std::vector<Mode>& modes, const TestCells& cells);

}  // namespace ztp
