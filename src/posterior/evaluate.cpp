#include <algorithm>

#include "io/read.hpp"
#include "posterior/posterior_impl.hpp"
#include "store/data.hpp"

namespace ztp {
namespace {

constexpr std::size_t cells_for_means = std::size_t{8} << 20;

}  // namespace

void Posterior::Impl::collect(const TestCells& cells, MetricsCollector& collector) {
  for (std::size_t first = 0; first < cells.size(); first += cells_for_means) {
    const std::size_t count = std::min(cells_for_means, cells.size() - first);
    const std::vector<double> mean = mean_probabilities(cells.coords.data() + first * modes.size(), count);
    for (std::size_t e = 0; e < count; ++e) collector.add(mean[e], cells.outcome[first + e] != 0);
  }
}

MetricsCollector Posterior::collect(const std::string& file) {
  TableReader reader(test_table(file.empty() ? stored_test_file(impl_->run_dir, impl_->info) : file, impl_->modes),
                     impl_->pool);
  MetricsCollector collector;
  TestCells cells;
  CellBlock block;
  while (reader.next(block)) {
    append_cells(block, cells);
    if (cells.size() < cells_for_means) continue;
    impl_->collect(cells, collector);
    cells = {};
  }
  impl_->collect(cells, collector);
  return collector;
}

Metrics Posterior::evaluate(const std::string& file) {
  return collect(file).finish();
}

Metrics Posterior::evaluate(const TestCells& cells) {
  impl_->check_cells(cells);
  MetricsCollector collector;
  impl_->collect(cells, collector);
  return collector.finish();
}

}  // namespace ztp
