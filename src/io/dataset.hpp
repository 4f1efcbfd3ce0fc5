// What reading a tensor is made of, for those who need its parts.
#pragma once
#include "io/table.hpp"
#include "ztp/read.hpp"

namespace ztp {

// How the file of ones is to be read.
TableSpec tensor_table(const ReadOptions& options);

// One label a line; of a line with TABs the first column counts, and a first line that begins with # is a header.
LabelTable read_label_file(const std::string& path);

}  // namespace ztp
