// Where a mode is one-hot, a cell gets its rate from the components of its entity of that mode alone: for each entity,
// a smaller model over the other modes.
#pragma once
#include <cstdint>
#include <vector>

#include "model/rates.hpp"

namespace ztp {

struct EntityModel {
  std::vector<std::uint32_t> components;  // the numbers of its components in the whole model
  FactorLayout layout;                    // over the other modes, in their order
  std::vector<std::size_t> matrices;      // the numbers of its matrices in the whole model

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

// z of cells by score(coords, count, rates, z), entity by entity of the one-hot mode, each with its own components
// alone. Without such a mode, of all cells at once.
template <class Score>
void score_by_entity(const std::uint32_t* coords, std::size_t count, const Rates& rates, double* z,
                     const Score& score) {
  if (rates.layout->one_hot_mode() == rates.modes()) return score(coords, count, rates, z);
  const CellsByEntity by_entity(coords, count, *rates.layout);
  const std::vector<EntityModel> models = entity_models(*rates.layout);
  std::vector<double> of_entity;
  for (std::size_t entity = 0; entity < models.size(); ++entity) {
    const EntityModel& model = models[entity];
    const std::size_t begin = by_entity.begin[entity], cells = by_entity.begin[entity + 1] - begin;
    of_entity.assign(cells, 0.0);
    if (cells > 0 && !model.components.empty())
      score(by_entity.coords.data() + begin * model.layout.modes(), cells, model.rates(rates.factors, rates.log_weight),
            of_entity.data());
    for (std::size_t e = 0; e < cells; ++e) z[by_entity.order[begin + e]] = of_entity[e];
  }
}

}  // namespace ztp
