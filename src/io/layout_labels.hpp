// The layout of files of labels, whatever separates their columns.
#pragma once
#include "io/first_rows.hpp"
#include "io/layout.hpp"

namespace ztp {

// `layout` says how columns are separated. `usual_header`: files of this format usually have a header; else only a
// first line that begins with # is one.
FileLayout layout_of_labels(LineBlocks& lines, const TableSpec& spec, FileLayout layout, bool usual_header);

}  // namespace ztp
