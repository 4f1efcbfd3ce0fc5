#include "report/mean_factor.hpp"

#include "report/top_rows.hpp"
#include "store/draw_layout.hpp"

namespace ztp {

FactorLayout layout_of(const Posterior& posterior) {
  return draw_layout(posterior.info()).factors;
}

MeanFactor::MeanFactor(Posterior& posterior, std::size_t mode, std::size_t chain)
    : layout_(layout_of(posterior)),
      mode_(mode),
      P_(layout_.size_of_mode(mode).columns),
      u_(posterior.mean_factor(mode, chain)) {}

double MeanFactor::weighted_sum(std::uint32_t id, const std::vector<double>& weights) const {
  double sum = 0;
  for (std::size_t r = 0; r < weights.size(); ++r) sum += weights[r] * static_cast<double>((*this)(id, r));
  return sum;
}

std::vector<std::vector<std::uint32_t>> MeanFactor::top(const std::vector<std::size_t>& components,
                                                        std::size_t count) const {
  std::vector<std::size_t> columns;
  for (const std::size_t r : components) columns.push_back(layout_.column(mode_, r));
  return top_rows(u_, P_, columns, count);
}

}  // namespace ztp
