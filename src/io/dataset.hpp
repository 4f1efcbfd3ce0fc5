// What reading a tensor is made of, for those who need its parts.
#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "io/table.hpp"
#include "ztp/read.hpp"

namespace ztp {

// How the file of ones is to be read.
TableSpec tensor_table(const ReadOptions& options);

// One label a line; of a line with TABs the first column counts, and a first line that begins with # is a header.
LabelTable read_label_file(const std::string& path);
// The same lines one by one, with their numbers; `take_header` gets the header, if there is one.
void read_label_lines(const std::string& path,
                      const std::function<void(std::string_view label, std::size_t line)>& take,
                      const std::function<void(std::string_view header)>& take_header = {});

// The mode of that name, or an error of kind config that names the flag (as it was typed) and the modes.
std::size_t mode_of_flag(const SparseTensor& tensor, const std::string& name, const std::string& flag);
// A cell by its labels, for messages.
std::string cell_text(const std::vector<Mode>& modes, const std::uint32_t* cell);

}  // namespace ztp
