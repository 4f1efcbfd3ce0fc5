#include "model/entity_model.hpp"

#include <algorithm>
#include <numeric>

namespace ztp {

Rates EntityModel::rates(const std::vector<const Factors*>& factors, const std::vector<double>& log_weight) const {
  std::vector<const Factors*> mine;
  std::vector<double> of_mine;
  for (const std::size_t f : matrices) mine.push_back(factors[f]);
  for (const std::uint32_t r : components) of_mine.push_back(log_weight[r]);
  return make_rates(layout, std::move(mine), of_mine);
}

std::vector<EntityModel> entity_models(const FactorLayout& layout) {
  const std::size_t K = layout.modes(), one_hot = layout.one_hot_mode();
  std::vector<EntityModel> models(one_hot == K ? 1 : layout.size_of_mode(one_hot).rows);
  for (std::size_t r = 0; r < layout.components(); ++r)
    models[one_hot == K ? 0 : layout.column(one_hot, r)].components.push_back(static_cast<std::uint32_t>(r));
  std::vector<std::size_t> matrix_of_mode, matrices;
  std::vector<FactorLayout::Size> sizes;
  for (std::size_t k = 0; k < K; ++k) {
    if (k == one_hot) continue;
    const auto found = std::find(matrices.begin(), matrices.end(), layout.matrix(k));
    matrix_of_mode.push_back(static_cast<std::size_t>(found - matrices.begin()));
    if (found != matrices.end()) continue;
    matrices.push_back(layout.matrix(k));
    sizes.push_back(layout.size_of_mode(k));
  }
  for (EntityModel& model : models) {
    std::vector<std::vector<std::uint32_t>> columns;
    for (std::size_t k = 0; k < K; ++k) {
      if (k == one_hot) continue;
      std::vector<std::uint32_t>& of_mode = columns.emplace_back();
      for (const std::uint32_t r : model.components) of_mode.push_back(static_cast<std::uint32_t>(layout.column(k, r)));
    }
    model.matrices = matrices;
    model.layout = FactorLayout(matrix_of_mode, sizes, model.components.size(), std::move(columns));
  }
  return models;
}

CellsByEntity::CellsByEntity(const std::uint32_t* cells, std::size_t count, const FactorLayout& layout) {
  const std::size_t K = layout.modes(), one_hot = layout.one_hot_mode();
  order.resize(count);
  if (one_hot == K) {
    std::iota(order.begin(), order.end(), 0u);
    coords.assign(cells, cells + count * K);
    begin = {0, count};
    return;
  }
  begin.assign(layout.size_of_mode(one_hot).rows + 1, 0);
  for (std::size_t e = 0; e < count; ++e) ++begin[cells[e * K + one_hot] + 1];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<std::size_t> next(begin.begin(), begin.end() - 1);
  for (std::size_t e = 0; e < count; ++e) order[next[cells[e * K + one_hot]]++] = static_cast<std::uint32_t>(e);
  for (const std::uint32_t e : order)
    for (std::size_t k = 0; k < K; ++k)
      if (k != one_hot) coords.push_back(cells[e * K + k]);
}

}  // namespace ztp
