// Columns that were probably misread, such as counts read as labels.
#pragma once
#include <string>
#include <vector>

#include "ztp/labels.hpp"
#include "ztp/read.hpp"

namespace ztp {

// A question, if the last mode of a file is probably a column of counts or other numbers; else empty.
std::string value_column_hint(const ReadOptions& options, const std::vector<Mode>& modes);

}  // namespace ztp
