#include "sampler/column_moves.hpp"

#include "base/pool.hpp"

namespace ztp {

ColumnMoves::ColumnMoves(const Problem& problem, std::unique_ptr<TokenScan> scan)
    : pool_(problem.pool), state_(problem), scan_(std::move(scan)) {
  for (std::size_t f = 0; f < problem.layout.matrices(); ++f) steps_.emplace_back(f);
}

void ColumnMoves::run(const Inputs& inputs, const Streams& streams, LatentParts& parts, FactorLayout& layout,
                      Statistics& statistics) {
  state_.load(inputs.shapes, inputs.network_ends, parts, layout, statistics);
  if (inputs.scan) scan_->run(parts, streams.at(0), state_);
  // Matrices have nothing in common here: they may go in parallel, tied modes one after the other.
  const auto move_components = [&](std::size_t f) {
    for (std::size_t k = 0; k < state_.K; ++k)
      if (state_.matrix[k] == f && !state_.is_one_hot(k)) steps_[f].run(parts, k, streams.at(1 + k), state_);
  };
  if (inputs.columns && pool_ != nullptr)
    pool_->for_blocks(steps_.size(), move_components);
  else
    for (std::size_t f = 0; inputs.columns && f < steps_.size(); ++f) move_components(f);
  state_.store(layout, statistics);
}

}  // namespace ztp
