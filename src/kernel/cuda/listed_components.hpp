// Components in the order in which a GPU goes through them: by the entity of a one-hot mode that they belong to, and
// then by their column in an open mode, so that what is added up lies side by side.                                (M2)
#pragma once
#include <cstdint>
#include <vector>

#include "model/rates.hpp"

namespace ztp::cuda {

struct ListedComponents {
  // open: the mode that is open; layout.modes(): none, each group is one segment then.
  ListedComponents(const FactorLayout& layout, std::size_t open, const std::vector<double>& log_weight, double scale);

  std::vector<std::size_t> given;                  // the modes that are, in their order
  std::size_t group_mode;                          // which of these is one-hot; given.size(): none
  std::vector<double> weight;                      // of each component, in the new order, relative to the largest
  std::vector<std::vector<std::uint32_t>> column;  // of each given mode: of each component; empty: component r has r
  std::vector<std::uint32_t> segment;              // of components: where each begins, and the end
  std::vector<std::uint32_t> open_column;          // of each segment
  std::vector<std::uint32_t> group;                // of segments: where each begins, and the end
  double scale;                                    // z = scale sum weight prod u
};

// Of draws: the largest weight is in the scale, as in OpenRates.
ListedComponents listed_components(const State& draw, std::size_t open);

}  // namespace ztp::cuda
