// Moves between columns, where components share them: of single counts between components, and of components between
// columns, with u, lambda, p and the shares of the columns integrated out (docs/model.md, section 15).
#pragma once
#include <cstdint>
#include <vector>

#include "base/matrix.hpp"
#include "model/state.hpp"
#include "sampler/document_weights.hpp"
#include "sampler/latent_parts.hpp"
#include "sampler/problem.hpp"

namespace ztp {

// What the prior says of the columns of components: c(r, k) ~ pi_k ~ Dirichlet(1, ..., 1).                       (M50)
inline constexpr double column_concentration = 1;

class ColumnMoves {
 public:
  explicit ColumnMoves(const Problem& problem);
  virtual ~ColumnMoves() = default;

  struct Inputs {
    const PriorShapes& shapes;                            // a and g in use
    std::vector<std::vector<std::int64_t>> network_ends;  // [f][q]: counts of column q of matrix f from networks
    bool scan;                                            // move single counts of ones                           (M52)
    bool columns;                                         // move components                                      (M53)
  };
  // parts: all latent counts of the tensor. Those that are not in the statistics yet are added. Changes parts,
  // statistics and the columns of the layout.
  void run(const Inputs& inputs, const Streams& streams, LatentParts& parts, FactorLayout& layout,
           Statistics& statistics);

 protected:  // for tests that plant bugs
  // The predictive probabilities of the second of two tied modes, when the first one is in the same column.
  virtual void set_tied_predictives(const std::uint32_t* cell, std::vector<double>& tied) const;
  // One of the components without counts, at random.
  virtual std::size_t pick_empty(const std::vector<std::uint32_t>& empty, Stream& stream) const;
  const std::vector<std::vector<double>>& predictives() const { return predictive_; }
  std::size_t second_tied() const { return second_tied_; }

 private:
  void load(const Inputs& inputs, const LatentParts& parts, const FactorLayout& layout, Statistics& statistics);
  void store(FactorLayout& layout, Statistics& statistics) const;
  void change(const std::uint32_t* cell, std::size_t r, double by);
  void empty_entry(std::size_t r);   // its last count has gone
  void occupy_entry(std::size_t r);  // its first one is to come

  // ---- the scan over counts
  void scan(LatentParts& parts, Stream stream);
  void move_unit(const std::uint32_t* cell, std::size_t r, double by);  // change, and what follows from it
  void set_predictives(const std::uint32_t* cell);
  double weight(std::size_t r) const;
  double new_weight(const std::uint32_t* cell) const;
  double column_share(std::size_t k, std::size_t q) const;
  std::size_t open_entry(const std::uint32_t* cell, Stream& stream);

  // ---- the step over components
  void move_components(const LatentParts& parts, std::size_t k, Stream& stream);
  // Counts of component r in the rows of mode k, sorted, to another column.
  void move_component(std::size_t k, std::size_t r, const std::vector<RowCount>& document, Stream& stream,
                      std::vector<double>& weights);

  std::size_t K_, R_;
  std::size_t one_hot_;                           // the mode; K: none
  std::size_t first_tied_, second_tied_;          // modes that share a matrix; K: none
  std::vector<std::size_t> matrix_;               // of each mode
  double shape_ = 0;                              // g
  std::vector<double> a_;                         // of each matrix
  std::vector<Matrix<double>> S_;                 // of each matrix; none of a one-hot one
  std::vector<std::vector<double>> sum_;          // of its columns
  std::vector<std::vector<double>> divisor_;      // 1 / (n a + sum), during the scan
  std::vector<std::vector<std::uint32_t>> c_;     // [k][r]
  std::vector<double> s_;                         // of each component
  std::vector<std::int64_t> from_ones_;           // likewise
  std::vector<std::vector<double>> used_;         // [k][q]: components with counts that use column q
  double occupied_ = 0;                           // components with counts
  std::vector<std::vector<std::uint32_t>> list_;  // components with counts: of each entity of a one-hot mode, or all
  std::vector<std::uint32_t> empty_;              // components without
  std::vector<std::uint32_t> place_;              // of each component in its list
  // of the cell at hand
  std::vector<std::vector<double>> predictive_;  // [k][q]: B
  std::vector<double> tied_;                     // of the second tied mode, in the column of the first
  std::vector<double> weights_;
};

}  // namespace ztp
