// Arrays of a MATLAB 5 file (the format of MATLAB 5 to 7.2, plain or compressed, of either byte order).
#pragma once
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ztp {

struct MatArray {
  std::vector<std::size_t> dims;
  std::vector<double> numbers;       // of a numeric or logical array; the first index runs fastest
  std::vector<std::string> strings;  // of a cell array of strings, or the rows of a matrix of characters
};

// The arrays of these names, as far as they are in the file; those of another kind (structures, sparse matrices) are
// left empty. An Error of kind input that names the file where it is damaged, of another format, or unpacks to more
// than `max_bytes`.
std::map<std::string, MatArray> read_mat_file(std::string_view bytes, const std::vector<std::string>& wanted,
                                              std::size_t max_bytes, const std::string& file);

}  // namespace ztp
