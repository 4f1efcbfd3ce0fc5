// The text files that ztp writes in its own input formats.
#pragma once
#include <string>

#include "ztp/tensor.hpp"

namespace ztp {

// One label a line, in id order, from the entity `first` on. A first line that begins with # is a header: one is
// written if the first label looks so.
void write_label_file(const std::string& path, const LabelTable& labels, std::uint32_t first = 0);
// `#mode...` and the ones; with counts a last column.
void write_ones_file(const std::string& path, const std::vector<Mode>& modes, const Buffer<std::uint32_t>& coords,
                     const Buffer<std::int64_t>& counts);
// `#mode... outcome`, and the cells with a last column 0 or 1.
void write_test_file(const std::string& path, const std::vector<Mode>& modes, const TestCells& cells);

}  // namespace ztp
