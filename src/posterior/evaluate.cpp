#include <algorithm>

#include "io/read.hpp"
#include "posterior/posterior_impl.hpp"
#include "store/data.hpp"

namespace ztp {
namespace {

constexpr std::size_t cells_for_means = std::size_t{8} << 20;

}  // namespace

void Posterior::Impl::collect(const std::uint32_t* coords, const std::uint8_t* outcome, std::size_t count,
                              MetricsCollector& collector) {
  const std::vector<double> mean = mean_probabilities(coords, count);
  for (std::size_t e = 0; e < count; ++e) collector.add(mean[e], outcome[e] != 0);
}

MetricsCollector Posterior::collect(const std::string& file) {
  TableReader reader(test_table(file.empty() ? stored_test_file(impl_->run_dir, impl_->info) : file, impl_->modes),
                     impl_->pool);
  MetricsCollector collector;
  TestCells cells;
  const auto flush = [&] {
    impl_->collect(cells.coords.data(), cells.outcome.data(), cells.size(), collector);
    cells.coords.resize(0);
    cells.outcome.resize(0);
  };
  CellBlock block;
  while (reader.next(block)) {
    append_cells(block, cells);
    if (cells.size() >= cells_for_means) flush();
  }
  if (cells.size() > 0) flush();
  return collector;
}

Metrics Posterior::evaluate(const std::string& file) {
  return collect(file).finish();
}

Metrics Posterior::evaluate(const TestCells& cells) {
  impl_->check_cells(cells);
  const std::size_t order = impl_->modes.size();
  MetricsCollector collector;
  for (std::size_t first = 0; first < cells.size(); first += cells_for_means)
    impl_->collect(cells.coords.data() + first * order, cells.outcome.data() + first,
                   std::min(cells_for_means, cells.size() - first), collector);
  return collector.finish();
}

}  // namespace ztp
