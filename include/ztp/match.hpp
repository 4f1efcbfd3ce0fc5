// Which component of one chain is which of another: docs/model.md, section 14. Posterior makes these.
#pragma once
#include <cstddef>
#include <optional>
#include <vector>

namespace ztp {

// A component, and the component of another chain (of the same run or another) that it is matched with. Components are
// counted from 0 here: Component::number is one more. A weight share is the part that a component has of all weight of
// its chain.
struct ComponentMatch {
  std::size_t component = 0;
  // Empty if the other chain has fewer components and none was left; the numbers are then 0.
  std::optional<std::size_t> partner;
  double overlap = 0;       // of their distributions over cells: 1 if they are the same, 0 if no cell is in both
  double agreement = 0;     // the overlap, and less where their weight shares differ: 1 if both are the same
  double weight_share = 0;  // of the component
  double partner_weight_share = 0;
};

// An entry of the core of a chain (if components share columns), and the entry of another chain whose columns are
// matched with its own.
struct CoreMatch {
  std::vector<std::size_t> columns;  // of each mode, from 1, as in CoreEntry
  std::vector<std::size_t> partner;  // likewise; empty, where a column has no partner, and the numbers are 0 then
  double overlap = 0;                // of their distributions over cells: the product of those of the columns
  double agreement = 0;              // the overlap, and less where their weight shares differ; 0 if the other has none
  double weight_share = 0;           // of all weight of the chain
  double partner_weight_share = 0;
};

// The chains of a run, matched with one of them, and what they say together.
struct Matching {
  std::size_t reference = 0;                         // the chain whose components the others' are matched with, from 0
  std::vector<std::size_t> others;                   // all other chains that have draws
  std::vector<std::vector<ComponentMatch>> matches;  // for each of them, one for each component of the reference

  // A component of the reference, and those that are matched with it.
  struct Summary {
    double stability = 0;    // mean agreement with the other chains; NaN without any, and for an empty component
    double weight_mean = 0;  // of lambda, over all chains
    double weight_sd = 0;    // between chains; NaN if there is one only
  };
  std::vector<Summary> components;  // in the order of the reference
};

}  // namespace ztp
