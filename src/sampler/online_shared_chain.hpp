// An online chain where components share columns (docs/model.md, section 15). It carries the columns of the components,
// too, and the running counts of each component by itself, from which components move between columns.
#pragma once
#include <vector>

#include "sampler/online_chain.hpp"
#include "sampler/running_documents.hpp"
#include "sampler/tensor_cells.hpp"
#include "sampler/unlisted_cells.hpp"

namespace ztp {

class OnlineSharedChain final : public OnlineChain {
 public:
  // options: latent counts are drawn.
  OnlineSharedChain(const Problem& problem, const OnlineOptions& options, const DataInMinibatches& data, Kernel& kernel,
                    std::uint32_t number);

  // How often components move between columns, where minibatches are of this size.
  static double moves_in_a_step(std::uint64_t ones, std::int64_t minibatch);

  void start() override;
  std::vector<CheckpointField> checkpoint_fields() override;
  void restore(std::uint32_t t) override;

 private:
  double draw_counts(const Minibatches::Chunk& chunk, const DrawSettings& settings) override;
  double impute_listed(const Minibatches::Chunk& chunk, const DrawSettings& settings) override;
  double impute_unlisted(const DrawSettings& settings) override;
  // And now and then, components move between columns.
  double move_statistics(std::size_t b, bool few, bool likelihood) override;
  void clear_statistics() override;
  void rescale(int bits) override;
  // Those of the rows: what was forgotten of a component stays where it was, when the component moves.
  std::vector<std::int64_t> stored_column_totals(std::size_t f) const override { return column_sums_[f]; }

  // The counts in parts_, which are in the statistics, to the documents and column sums.
  void remember_parts(std::int64_t unit);
  void move_columns();

  UnlistedCells unlisted_;
  LatentParts parts_;                                   // latent counts of the chunk at hand
  std::vector<RunningDocuments> documents_;             // of each mode; none of a one-hot one
  std::vector<std::vector<std::int64_t>> column_sums_;  // of each matrix
};

}  // namespace ztp
