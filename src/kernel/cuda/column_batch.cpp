#include "kernel/cuda/column_batch.hpp"

#include <algorithm>

namespace ztp::cuda {

void ColumnBatch::add(const ColumnTask& task, const Streams& streams, CudaFactors& u) {
  u.block_sums.reserve(column_sums_room(u.rows()) * u.columns());
  u.factor.reserve(u.columns());
  waiting_.push_back({&u,
                      {task, streams.key, streams.t, u.unsettled(), u.block_sums.data(), nullptr, u.factor.data(),
                       Kernel::smallest_sum},
                      0});
  u.unsettle();
}

void ColumnBatch::start() {
  if (waiting_.empty()) return;
  std::size_t columns = 0;
  for (Entry& entry : waiting_) {
    entry.at = columns;
    columns += entry.u->columns();
  }
  sums_.reserve(columns);
  std::vector<ColumnJob> jobs;
  for (Entry& entry : waiting_) {
    entry.job.sums = sums_.data() + entry.at;
    jobs.push_back(entry.job);
  }
  check(library().api->draw_columns(jobs.data(), jobs.size()), "columns");
  drawn_ = std::move(waiting_);
  waiting_.clear();
  host_sums_.clear();
}

std::vector<double> ColumnBatch::take(const CudaFactors& u) {
  start();
  const auto entry = std::find_if(drawn_.begin(), drawn_.end(), [&](const Entry& of) { return of.u == &u; });
  if (host_sums_.empty()) {
    host_sums_.resize(drawn_.back().at + drawn_.back().u->columns());
    sums_.read(host_sums_.data(), host_sums_.size());
  }
  const auto first = host_sums_.begin() + static_cast<std::ptrdiff_t>(entry->at);
  return {first, first + static_cast<std::ptrdiff_t>(u.columns())};
}

}  // namespace ztp::cuda
