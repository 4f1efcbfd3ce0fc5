// Moves between columns, where components share them: of single counts between components, and of components between
// columns, with the parameters integrated out (docs/model.md, section 15).
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "sampler/column_state.hpp"
#include "sampler/column_step.hpp"
#include "sampler/token_scan.hpp"

namespace ztp {

class ColumnMoves {
 public:
  explicit ColumnMoves(const Problem& problem) : ColumnMoves(problem, std::make_unique<TokenScan>(problem)) {}
  // With a scan of another kind, for tests that plant bugs in it.
  ColumnMoves(const Problem& problem, std::unique_ptr<TokenScan> scan);

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

 private:
  Pool* pool_;
  ColumnState state_;
  std::unique_ptr<TokenScan> scan_;
  std::vector<ColumnStep> steps_;  // of each matrix
};

}  // namespace ztp
