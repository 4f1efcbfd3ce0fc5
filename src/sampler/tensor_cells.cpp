#include "sampler/tensor_cells.hpp"

namespace ztp {
namespace {

CountSums sums_of_entity(const EntityModel& model, Statistics& statistics, std::vector<std::int64_t>& totals) {
  totals.assign(model.components.size(), 0);
  CountSums sums{&model.layout, {}, totals.data()};
  for (const std::size_t f : model.matrices) sums.rows.push_back(statistics.rows[f].get());
  return sums;
}

void add_totals(const EntityModel& model, const std::vector<std::int64_t>& totals, Statistics& statistics) {
  for (std::size_t i = 0; i < totals.size(); ++i) statistics.tensor[model.components[i]] += totals[i];
}

}  // namespace

TensorCells::TensorCells(const HostCells& cells, const FactorLayout& layout, Kernel& kernel)
    : cells_(cells), kernel_(kernel), by_entity_(cells.coords, cells.count, layout) {
  for (const std::uint32_t e : by_entity_.order)
    if (cells.observed != nullptr) observed_.push_back(cells.observed[e]);
  const std::vector<EntityModel> models = entity_models(layout);
  for (std::size_t entity = 0; entity < models.size(); ++entity) {
    const std::size_t begin = by_entity_.begin[entity], end = by_entity_.begin[entity + 1];
    if (begin == end) continue;
    auto ones = kernel.upload({.coords = by_entity_.coords.data() + begin * models[entity].layout.modes(),
                               .observed = observed_.empty() ? nullptr : observed_.data() + begin,
                               .count = end - begin,
                               .missing = cells.missing,
                               .first = cells.first + begin},
                              models[entity].layout);
    groups_.push_back({entity, begin, std::move(ones)});
  }
}

double TensorCells::allocate(const State& state, StreamKey key, const DrawSettings& settings, Statistics& statistics,
                             LatentParts& parts) const {
  const std::vector<EntityModel> models = entity_models(state.layout);
  std::vector<const Factors*> factors;
  for (const auto& of_matrix : state.factors) factors.push_back(of_matrix.get());
  std::vector<const Group*> drawn;
  for (const Group& group : groups_)
    if (!models[group.entity].components.empty()) drawn.push_back(&group);  // else cells of rate zero: missing ones
  std::vector<std::vector<std::int64_t>> totals(drawn.size());
  std::vector<CountGroup> groups;
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    const EntityModel& model = models[drawn[i]->entity];
    groups.push_back({drawn[i]->ones.get(), model.rates(factors, state.tensor.log_weight),
                      sums_of_entity(model, statistics, totals[i])});
  }
  kernel_.allocate_groups(groups, key, settings);
  double log_likelihood = 0;
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    const EntityModel& model = models[drawn[i]->entity];
    add_totals(model, totals[i], statistics);
    for (const auto& block : groups[i].parts)
      for (const Part& part : block)
        parts.add(cells_.coords + by_entity_.order[drawn[i]->begin + part.entry] * parts.K,
                  model.components[part.component], part.count);
    log_likelihood += groups[i].log_likelihood;
  }
  return log_likelihood;
}

void TensorCells::allocate_at_random(const FactorLayout& layout, StreamKey key, Statistics& statistics) const {
  const std::vector<EntityModel> models = entity_models(layout);
  std::vector<std::int64_t> totals;
  for (const Group& group : groups_) {
    const EntityModel& model = models[group.entity];
    kernel_.allocate_at_random(*group.ones, key, sums_of_entity(model, statistics, totals));
    add_totals(model, totals, statistics);
  }
}

}  // namespace ztp
