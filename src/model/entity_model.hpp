// Where a mode is one-hot, a cell gets its rate from the components of its entity of that mode alone: for each entity,
// a smaller model over the other modes.
#pragma once
#include <cstdint>
#include <vector>

#include "model/rates.hpp"

namespace ztp {

struct EntityModel {
  std::vector<std::uint32_t> components;  // of the whole model, that its components are
  FactorLayout layout;                    // over the other modes, in their order
  std::vector<std::size_t> matrices;      // of the whole model, that those of its layout are

  // Of its cells; the factors and weights are those of the whole model. Refers to the layout and the factors.
  Rates rates(const std::vector<const Factors*>& factors, const std::vector<double>& log_weight) const;
};

// Of each entity of the first one-hot mode. Without one, the whole model as that of entity 0.
std::vector<EntityModel> entity_models(const FactorLayout& layout);

// Cells entity by entity, without their coordinate in the one-hot mode. Without one, as they are.
struct CellsByEntity {
  CellsByEntity(const std::uint32_t* coords, std::size_t count, const FactorLayout& layout);

  std::vector<std::uint32_t> order;   // which cell comes next
  std::vector<std::uint32_t> coords;  // of the other modes, in that order
  std::vector<std::size_t> begin;     // of the cells of each entity; one more than there are entities
};

}  // namespace ztp
