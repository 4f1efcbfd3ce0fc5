#include "store/check_stored_data.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "io/assemble.hpp"
#include "ztp/error.hpp"

namespace ztp {
namespace {

[[noreturn]] void damaged(const std::string& path, const std::string& what) {
  throw Error(ErrorKind::input, fmt::format("{}: damaged: {}", path, what));
}

// Complete records with ids below the sizes, sorted and distinct.
void check_records(std::span<const std::uint32_t> ids, const std::vector<std::uint32_t>& sizes, const std::string& what,
                   const std::string& path) {
  const std::size_t width = sizes.size();
  if (ids.size() % width != 0) damaged(path, fmt::format("the {} are cut off", what));
  for (std::size_t i = 0; i < ids.size(); i += width) {
    const std::uint32_t* record = ids.data() + i;
    for (std::size_t k = 0; k < width; ++k)
      if (record[k] >= sizes[k])
        damaged(path, fmt::format("the {} have entity {} where there are {}", what, record[k], sizes[k]));
    if (i > 0 && !std::lexicographical_compare(record - width, record, record, record + width))
      damaged(path, fmt::format("the {} are not in order", what));
  }
}

void check_pairs(std::span<const std::uint32_t> ids, std::uint32_t size, const std::string& what,
                 const std::string& path) {
  check_records(ids, {size, size}, what, path);
  for (std::size_t i = 0; i < ids.size(); i += 2)
    if (ids[i] >= ids[i + 1]) damaged(path, fmt::format("the {} have a pair that is not in order", what));
}

void check_counts(const SparseTensor& tensor, const std::string& path) {
  if (!tensor.counts.empty() && tensor.counts.size() != tensor.nnz())
    damaged(path, fmt::format("{} counts of {} ones", tensor.counts.size(), tensor.nnz()));
  std::int64_t total = 0;
  for (const std::int64_t count : tensor.counts) {
    if (count <= 0) damaged(path, fmt::format("a count of {}", count));
    add_to_total(total, count, path);
  }
}

// The modes may have grown since the file was made.
void check_file(const Dataset& data, const std::vector<std::uint32_t>& sizes) {
  const TensorFile& file = *data.file;
  bool fits = file.order() == sizes.size() && data.file_ones <= file.ones();
  for (std::size_t k = 0; fits && k < sizes.size(); ++k) fits = file.mode_size(k) <= sizes[k];
  if (!fits)
    throw Error(ErrorKind::input, fmt::format("{}: not the tensor that the run was started with", file.path()));
}

}  // namespace

void check_stored_data(const Dataset& data, const std::string& path) {
  const std::vector<std::uint32_t> sizes = data.tensor.sizes();
  check_records(data.tensor.coords, sizes, "ones", path);
  check_counts(data.tensor, path);
  check_records(data.missing.cells, sizes, "missing cells", path);
  for (std::size_t k = 0; k < data.missing.slices.size(); ++k)
    check_records(data.missing.slices[k], {sizes[k]}, "missing slices", path);
  for (const Network& network : data.networks) {
    check_pairs(network.edges, sizes[network.mode], "edges", path);
    check_pairs(network.missing, sizes[network.mode], "missing pairs", path);
  }
  if (data.file != nullptr) check_file(data, sizes);
}

}  // namespace ztp
