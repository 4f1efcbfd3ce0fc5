#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "evaluate/test_design.hpp"
#include "io/dataset_ones.hpp"
#include "io/read.hpp"
#include "model/self_cells.hpp"
#include "posterior/cell_set.hpp"
#include "posterior/posterior_impl.hpp"
#include "store/data.hpp"
#include "tensor/missing.hpp"
#include "ztp/error.hpp"

namespace ztp {
// A cell that the model gives the probability p, in all of the tensor, is a one that was held out with the probability
// h p, where h is the part of the ones that was, and a one of the training data with (1 - h) p. Training ones are left
// out, so what is left has the probability h p / (1 - (1 - h) p).
std::vector<HeadOfList> Posterior::head(const std::vector<std::size_t>& sizes, const std::string& file) {
  impl_->require_rates("the head of the list");
  for (const std::size_t size : sizes)
    if (size == 0) throw Error(ErrorKind::usage, "the head of the list: ask for one cell or more");
  const std::size_t K = modes().size();
  const std::string path = file.empty() ? stored_test_file(impl_->run_dir, info()) : file;
  CellSet ones(K), zeros(K);
  impl_->read_file(test_table(path, modes(), has_counts(info().options)), [&](const CellBlock& block) {
    for (std::size_t e = 0; e < block.cells(K); ++e)
      (block.values[e] != 0 ? ones : zeros).add(block.coords.data() + e * K);
  });
  ones.finish();
  zeros.finish();
  if (ones.size() == 0) throw Error(ErrorKind::config, fmt::format("{}: there are no ones to find", path));
  const std::vector<std::optional<std::uint32_t>> all_open(K);
  const Dataset data = data_matching(impl_->run_dir, info(), all_open);
  CellSet missing(K);
  missing.add(data.missing.cells.data(), data.missing.cells.size() / K);
  missing.finish();
  const MissingSelfCells self(impl_->layout, info().options.self_cells == SelfCells::missing);
  const auto skip = [&](const std::uint32_t* cell) {
    return self.contains(cell) || data.tensor.contains(cell) || in_missing_slice(data.missing, cell) ||
           (missing.contains(cell) && !ones.contains(cell) && !zeros.contains(cell));
  };
  const std::size_t most = *std::max_element(sizes.begin(), sizes.end());
  const std::vector<ScoredCell> found = impl_->top_cells({all_open, most}, skip);

  const TestDesign design = design_of(info(), file.empty(), ones.size(), std::max<std::size_t>(zeros.size(), 1));
  std::vector<HeadOfList> heads;
  for (const std::size_t size : sizes) heads.push_back({std::min(size, found.size()), 0, 0});
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double h = design.part_of_ones, p = impl_->uses_map() ? (*impl_->calibration->map)(found[i].score)
                                                                : expected_share(found[i].score, design);
    const double expected = h * p / (1 - (1 - h) * p);
    const bool one = ones.contains(found[i].cell.data());
    for (HeadOfList& head : heads)
      if (i < head.cells) {
        head.expected += expected;
        head.found += one;
      }
  }
  return heads;
}

}  // namespace ztp
