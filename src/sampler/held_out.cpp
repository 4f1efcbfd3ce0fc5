#include "sampler/held_out.hpp"

#include <limits>

#include "ztp/error.hpp"

namespace ztp {

void HeldOut::compute(const Chain& chain) {
  chain.probabilities(cells_.coords.data(), cells_.size(), now_.data());
}

double HeldOut::auc(std::span<const double> probability, double divisor) const {
  MetricsCollector collector;
  for (std::size_t e = 0; e < cells_.size(); ++e) collector.add(probability[e] / divisor, cells_.outcome[e] != 0);
  return collector.finish().auc_roc;
}

double HeldOut::score(const Chain& chain) {
  compute(chain);
  return auc(now_, 1);
}

void HeldOut::keep(const Chain& chain) {
  compute(chain);
  for (std::size_t e = 0; e < now_.size(); ++e) sum_.of_cells[e] += now_[e];
  ++sum_.draws;
}

void HeldOut::add(const HeldOutSum& more) {
  if (more.of_cells.size() != cells_.size())
    throw Error(ErrorKind::input, "the checkpoint is damaged: it belongs to other held-out cells; fit again");
  for (std::size_t e = 0; e < more.of_cells.size(); ++e) sum_.of_cells[e] += more.of_cells[e];
  sum_.draws += more.draws;
}

double HeldOut::auc_of_mean() const {
  if (sum_.draws == 0) return std::numeric_limits<double>::quiet_NaN();
  return auc(sum_.of_cells, static_cast<double>(sum_.draws));
}

}  // namespace ztp
