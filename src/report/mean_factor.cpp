#include "report/mean_factor.hpp"

#include "report/top_rows.hpp"
#include "store/draw_layout.hpp"

namespace ztp {

FactorLayout layout_of(const Posterior& posterior) {
  return draw_layout(posterior.info()).factors;
}

MeanFactor::MeanFactor(Posterior& posterior, std::size_t mode, std::size_t chain)
    : P_(layout_of(posterior).size_of_mode(mode).columns), u_(posterior.mean_factor(mode, chain)) {}

double MeanFactor::weighted_sum(std::uint32_t id, const std::vector<double>& weights) const {
  double sum = 0;
  for (std::size_t q = 0; q < weights.size(); ++q) sum += weights[q] * static_cast<double>((*this)(id, q));
  return sum;
}

std::vector<std::vector<std::uint32_t>> MeanFactor::top(const std::vector<std::size_t>& columns,
                                                        std::size_t count) const {
  return top_rows(u_, P_, columns, count);
}

}  // namespace ztp
