// What the collapsed moves work on, on the host: the units of the latent counts of the ones (tokens), and the counts
// they are part of.
#pragma once
#include <cstdint>
#include <vector>

#include "base/matrix.hpp"
#include "model/state.hpp"
#include "ztp/tensor.hpp"

namespace ztp {

// The units of the latent counts of all ones, cell after cell: to which one each belongs and to which component.
struct Tokens {
  std::vector<std::uint32_t> entry, component;
  std::size_t size() const { return entry.size(); }
};

// What the moves are given, and do not change.
struct CollapsedInputs {
  const PriorShapes& shapes;                                // a and g in use
  std::vector<std::vector<std::int64_t>> network_ends;  // [k][r]: counts of column r of mode k from networks
  bool only_tokens;                                    // all counts are those of the ones
};

struct TokenCounts {
  const SparseTensor& tensor;
  const CollapsedInputs& inputs;
  Tokens& tokens;
  std::vector<Matrix<double>>& S;  // of each mode: all counts of its rows. Doubles: integers below 2^53 are exact
  Statistics& statistics;          // their totals; its rows are out of date until the moves are done

  // Moves a unit of a cell into a component, or out of it.
  void change(const std::uint32_t* cell, std::size_t r, int by) {
    for (std::size_t k = 0; k < S.size(); ++k) S[k].row(cell[k])[r] += by;
    statistics.tensor[r] += by;
    statistics.from_ones[r] += by;
  }
  const std::uint32_t* cell(std::size_t token) const { return tensor.cell(tokens.entry[token]); }
  // n_k a_k + S_r^(k): what the counts of column r of mode k are divided by.                                     (M22)
  double column_divisor(std::size_t k, std::size_t r) const {
    return static_cast<double>(S[k].rows()) * inputs.shapes.dirichlet[k] + static_cast<double>(statistics.tensor[r]) +
           static_cast<double>(inputs.network_ends[k][r]);
  }
};

}  // namespace ztp
