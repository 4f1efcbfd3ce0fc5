#include "sampler/shared_chain.hpp"

#include <algorithm>
#include <cmath>

#include "model/distributions.hpp"
#include "sampler/shared_columns.hpp"

namespace ztp {

SharedChain::SharedChain(const Problem& problem, Kernel& kernel, std::uint32_t number)
    : SharedChain(problem, kernel, number, std::make_unique<ColumnMoves>(problem)) {}

SharedChain::SharedChain(const Problem& problem, Kernel& kernel, std::uint32_t number,
                         std::unique_ptr<ColumnMoves> moves)
    : BatchChain(problem, kernel, number, false),
      unlisted_(problem),
      moves_(std::move(moves)),
      columns_(problem.layout) {
  parts_.K = problem.layout.modes();
  if (problem.missing != nullptr)
    missing_.emplace(HostCells{.coords = problem.missing->cells.data(),
                               .count = problem.missing->cells.size() / parts_.K,
                               .missing = true},
                     problem.layout, kernel);
  SharedChain::data_changed();
}

void SharedChain::data_changed() {
  BatchChain::data_changed();
  const SparseTensor& tensor = *problem_.tensor;
  ones_.emplace(HostCells{.coords = tensor.coords.data(),
                          .observed = tensor.counts.empty() ? nullptr : tensor.counts.data(),
                          .count = tensor.nnz()},
                problem_.layout, kernel_);
}

void SharedChain::start() {
  draw_first_columns(counts_, columns_);
  statistics_.clear();
  t_ = 0;
  if (starts_from_prior()) return;
  ones_->allocate_at_random(columns_, counts_.key(Purpose::start), statistics_);
  statistics_.from_ones = statistics_.tensor;
  for (const NetworkPart& network : networks_) network.start(statistics_);
}

void SharedChain::draw_structure() {
  FactorLayout& layout = state_.layout = columns_;
  const std::size_t R = layout.components();
  for (std::size_t k = 0; k < layout.modes(); ++k) {
    const std::span<std::uint32_t> columns = layout.columns_of_mode(k);
    std::vector<double> share(layout.size_of_mode(k).columns, column_concentration);
    for (std::size_t r = 0; r < R; ++r)
      if (statistics_.tensor[r] > 0) share[columns[r]] += 1;
    const StreamKey key = counts_.key(Purpose::empty_columns, k);
    Stream of_shares(key, t_, R);
    double sum = 0;
    for (double& value : share) sum += value = std::exp(draw_log_gamma(of_shares, value));
    double running = 0;
    for (double& value : share) value = running += value / sum;
    for (std::size_t r = 0; r < R; ++r) {
      if (statistics_.tensor[r] > 0) continue;
      const auto found = std::upper_bound(share.begin(), share.end() - 1, Stream(key, t_, r).uniform() * share.back());
      columns[r] = static_cast<std::uint32_t>(found - share.begin());
    }
  }
}

double SharedChain::draw_tensor_counts(bool likelihood) {
  parts_.clear();
  for (const auto& rows : statistics_.rows) rows->clear();
  double log_likelihood =
      ones_->allocate(state_, counts_.key(Purpose::counts), settings(likelihood), statistics_, parts_);
  statistics_.from_ones = statistics_.tensor;
  parts_.of_ones = parts_.size();
  double not_data = 0;
  if (missing_)
    not_data +=
        missing_->allocate(state_, counts_.key(Purpose::missing_cells), settings(likelihood), statistics_, parts_);
  parts_.in_statistics = parts_.size();
  not_data += unlisted_.draw(state_, number_, t_, parts_);
  return log_likelihood - (rates().total - not_data);
}

void SharedChain::move_counts() {
  columns_ = state_.layout;
  moves_->run({state_.shapes, network_ends(), problem_.collapsed, problem_.move_columns && t_ > problem_.columns_after},
              {counts_.key(Purpose::column_moves), t_}, parts_, columns_, statistics_);
}

std::vector<CheckpointField> SharedChain::checkpoint_fields() {
  std::vector<CheckpointField> fields = BatchChain::checkpoint_fields();
  add_column_fields(columns_, fields);
  return fields;
}

void SharedChain::restore(std::uint32_t t) {
  BatchChain::restore(t);
  if (!columns_are_there(columns_)) throw damaged_checkpoint();
}

}  // namespace ztp
