// A Markov chain of the batch sampler where components share columns: a sparse core, tied modes, one-hot modes
// (docs/model.md, section 15). What it carries from sweep to sweep are also the columns of the components.
#pragma once
#include <memory>
#include <optional>

#include "sampler/batch_chain.hpp"
#include "sampler/column_moves.hpp"
#include "sampler/tensor_cells.hpp"
#include "sampler/unlisted_cells.hpp"

namespace ztp {

class SharedChain : public BatchChain {
 public:
  SharedChain(const Problem& problem, Kernel& kernel, std::uint32_t number);

  // Columns at random, and every one in a random component, of its entity where a mode is one-hot.
  void start() override;
  void data_changed() override;
  std::vector<CheckpointField> checkpoint_fields() override;
  void restore(std::uint32_t t) override;

  // Columns and counts that the next parameters are drawn from. state().layout has the columns of the last ones.
  FactorLayout& columns() { return columns_; }

 protected:
  // With moves of another kind, for tests that plant bugs in them.
  SharedChain(const Problem& problem, Kernel& kernel, std::uint32_t number, std::unique_ptr<ColumnMoves> moves);

 private:
  const FactorLayout& layout_of_counts() const override { return columns_; }
  // The shares of the columns given the components that use them, and from these the columns of all others.     (M54)
  void draw_structure() override;
  double draw_tensor_counts(bool likelihood) override;
  void move_counts() override;

  std::optional<TensorCells> ones_, missing_;
  UnlistedCells unlisted_;
  std::unique_ptr<ColumnMoves> moves_;
  FactorLayout columns_;
  LatentParts parts_;  // all latent counts of the tensor at the end of a sweep
};

}  // namespace ztp
