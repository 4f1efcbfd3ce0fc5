// The method of Ermis and Bouchard (2014): logistic CP by quadratic upper bounds of the loss over all cells, which the
// Gram matrices of the factors sum up without looking at zeros. With one bound for all cells it is Quad-App; with one
// for each block of a partition, found greedily, PW-QuadApp. What is minimised (M40), and where the bounds come from,
// is in docs/model.md, section 13.
#pragma once
#include <cstdint>
#include <vector>

#include "baselines/partition.hpp"
#include "baselines/quad_bound.hpp"
#include "baselines/rival_chain.hpp"
#include "kernel/host_arrays.hpp"

namespace ztp {

class QuadChain : public RivalChain {
 public:
  // `ridge`: the penalty of the factors' squares, positive. `blocks`: how many blocks there are in the end; 1 is
  // Quad-App.
  // Memory: 8 (K + 1) R^2 bytes a block, and a bit for each block and entity of the largest mode.
  QuadChain(const RivalProblem& problem, double ridge, std::size_t blocks, Pool& pool, std::uint32_t number);

  void start() override;
  // One iteration: rows of every mode, intercept, bounds; a few times, before it, splits.
  // O(nnz R K + R^2 (sum_k n_k + missing cells) + R^2 blocks x classes). Returns minus the surrogate, an upper bound of
  // the penalised loss, if it is asked for.
  double step(bool likelihood) override;
  const char* step_name() const override { return "iteration"; }
  std::vector<CheckpointField> checkpoint_fields() override;
  void restore(std::uint32_t t) override;

  std::size_t blocks() const { return partition_.blocks(); }
  std::size_t block_of(const std::uint32_t* cell) const;                   // O(blocks)
  const std::vector<double>& mean_square() const { return mean_square_; }  // of each block

 protected:
  // Each minimises the surrogate over what it names, exactly but for rounding to float; none raises it.
  void update_rows(std::size_t k);  // (M43)
  void update_intercept();          // (M44), after sum_blocks
  void update_bounds();             // (M44), likewise
  void grow(std::size_t wanted);    // (M45): divides blocks until there are so many
  // What the others need to know of the factors: after any change of them.
  void update_moments(std::size_t k);
  void sum_blocks();
  double surrogate() const;  // the bound of (M40), after update_bounds

 private:
  // Moments of vectors x: (how many, sum of x, sum of x x'). Those of all cells of a block, where x is a product over
  // modes, are the products of the modes' moments.                                                              (M42)
  std::size_t width() const { return 1 + problem_.R + problem_.R * problem_.R; }
  struct Totals {
    double cells = 0, z = 0, z2 = 0;  // of the observed cells of a block, with z = theta - b
    double energy(double b) const { return cells * b * b + 2 * b * z + z2; }
  };
  struct Piece {  // some entities of a class, which one thread takes care of
    std::uint32_t of;
    std::size_t begin, end;
  };

  std::size_t missing_count() const { return problem_.missing == nullptr ? 0 : problem_.missing->size() / order(); }
  const std::uint32_t* missing_cell(std::size_t i) const { return problem_.missing->data() + i * order(); }
  std::vector<Piece> pieces(std::size_t k, std::size_t rows) const;
  void product(const std::uint32_t* cell, std::size_t without, double* x) const;
  void others_of_block(std::size_t block, std::size_t k, double* moments) const;
  void update_piece(std::size_t k, const Piece& piece, const Matrix<double>& others);
  void add_ones(std::size_t k, std::size_t j, double* right) const;
  void take_off_missing(std::size_t k, std::size_t j, double* left, double* right) const;
  void rebuild();

  Cut find_cut(std::size_t block, std::size_t k, const std::vector<double>& missing_energy) const;
  void find_cuts(const std::vector<std::size_t>& of, const std::vector<double>& missing_energy,
                 std::vector<Cut>& cuts) const;
  void record_split(std::size_t block, const Cut& cut);
  void apply_split(std::size_t s);
  void divide_moments(std::size_t block, std::size_t k);
  bool moves(std::size_t s, std::uint32_t j) const { return (sides_[s * words_ + j / 64] >> (j % 64) & 1) != 0; }

  const double ridge_;
  const std::size_t most_blocks_;
  std::vector<std::size_t> sizes_;
  std::vector<RowIndex> ones_, hidden_;  // ones and missing cells by row, of each mode
  Partition partition_;
  std::vector<std::uint16_t> missing_block_;  // of each missing cell
  std::vector<Matrix<double>> moments_;  // of each mode: most blocks x width, of the factors of the block's entities
  std::vector<Totals> totals_;           // of each block
  std::vector<double> curvature_;        // of each block's bound
  bool stale_ = true;                    // what a checkpoint carries may have been written to

  // CheckpointField, and so of the size they may have at most.
  std::size_t words_;                  // for one bit an entity
  std::vector<std::uint32_t> splits_;  // how many; then of each the block and the mode. Split s makes block s + 1
  std::vector<std::uint64_t> sides_;   // of each split, the entities that go to the new block
  std::vector<double> mean_square_;    // of each block, where its bound touches: the mean of theta^2
};

}  // namespace ztp
