// What entities belong to: components or, where components share columns, columns of the factor matrices.
#pragma once
#include <optional>
#include <vector>

#include "model/factor_layout.hpp"
#include "ztp/posterior.hpp"

namespace ztp {

// The groups of the entities of a mode: columns of its factor matrix. In CP, column r is component r.
struct ModeGroups {
  std::vector<double> weights;       // of every column: expected latent counts, those of tied modes together
  std::vector<std::size_t> columns;  // those that are listed, from 0, largest weight first; none of a one-hot mode
  std::size_t first = 0;             // index of the first of them in the list of all groups; the others follow
};

struct Groups {
  std::size_t chain = 0;           // the one that is shown
  bool shared = false;             // components share columns: the list has columns, matrix after matrix
  FactorLayout layout;             // of the matrices; if shared, not which column a component uses
  std::vector<ModeGroups> modes;   // tied modes have the same
  std::vector<Column> columns;     // if shared: the list
  std::vector<bool> network_only;  // of each in the list: no weight, and some network has half a count in it

  // Where column q (from 0) of a mode is in the list, if it is there.
  std::optional<std::size_t> index_of(std::size_t mode, std::size_t q) const;
};

// Reads the weights of the draws. Not of a rival, which has no groups.
Groups find_groups(Posterior& posterior);

}  // namespace ztp
