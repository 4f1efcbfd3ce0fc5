// Files of cells, with labels.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "io/read.hpp"
#include "posterior/posterior_impl.hpp"
#include "ztp/error.hpp"

namespace ztp {

std::string SkippedLines::sentence() const {
  return fmt::format("{}: {} {} skipped, because the run has no entity of that name: {}{}", file, lines,
                     lines == 1 ? "line was" : "lines were", fmt::join(labels, ", "),
                     lines > labels.size() ? ", ..." : "");
}

void Posterior::Impl::read_file(TableSpec spec, const std::function<void(const CellBlock&)>& use) {
  spec.skip_unknown = options.skip_unknown;
  spec.unknown_remedy += spec.unknown_remedy.empty() ? "" : "; ";
  spec.unknown_remedy += "'ztp evaluate' and 'ztp predict' skip such lines with --skip-unknown";
  TableReader reader(spec, pool);
  CellBlock block;
  while (reader.next(block)) use(block);
  std::erase_if(skipped, [&](const SkippedLines& of_file) { return of_file.file == spec.path; });
  const UnknownLines& unknown = reader.unknown_lines();
  if (unknown.lines > 0) skipped.push_back({spec.path, unknown.lines, unknown.labels});
}

void Posterior::Impl::require_cells(const std::string& file, std::size_t cells) const {
  const auto of_file =
      std::find_if(skipped.begin(), skipped.end(), [&](const SkippedLines& other) { return other.file == file; });
  if (cells > 0 || of_file == skipped.end()) return;
  throw Error(ErrorKind::input, fmt::format("{}; no line is left. Is it a file for another run?", of_file->sentence()));
}

const std::vector<SkippedLines>& Posterior::skipped_lines() const {
  return impl_->skipped;
}

void Posterior::predict_file(
    const std::string& file,
    const std::function<void(const std::uint32_t* coords, const Prediction*, std::size_t)>& yield) {
  TableSpec spec = cell_table(file, impl_->modes);
  spec.optional_value = true;
  const std::size_t order = impl_->modes.size();
  std::size_t cells = 0;
  Buffer<std::uint32_t> coords;
  const auto flush = [&] {
    const std::vector<Prediction> predictions = predict(coords.data(), coords.size() / order);
    yield(coords.data(), predictions.data(), predictions.size());
    cells += predictions.size();
    coords.resize(0);
  };
  impl_->read_file(spec, [&](const CellBlock& block) {
    if (!coords.empty() && coords.size() + block.coords.size() > cells_at_a_time() * order) flush();
    coords.append(block.coords.data(), block.coords.size());
  });
  if (!coords.empty()) flush();
  impl_->require_cells(file, cells);
}

std::vector<std::uint32_t> Posterior::read_cells(const std::string& file) {
  TableSpec spec = cell_table(file, impl_->modes);
  spec.optional_value = true;
  std::vector<std::uint32_t> cells;
  impl_->read_file(
      spec, [&](const CellBlock& block) { cells.insert(cells.end(), block.coords.begin(), block.coords.end()); });
  return cells;
}

}  // namespace ztp
