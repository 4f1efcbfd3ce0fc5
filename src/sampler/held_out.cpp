#include "sampler/held_out.hpp"

#include <cmath>

namespace ztp {

void HeldOut::compute(const Rates& rates) {
  now_.resize(cells_.size());
  kernel_.score(cells_.coords.data(), cells_.size(), rates, now_.data());
  for (double& value : now_) value = -std::expm1(-value);
}

double HeldOut::auc(const std::vector<double>& probability, double divisor) const {
  MetricsCollector collector;
  for (std::size_t e = 0; e < cells_.size(); ++e) collector.add(probability[e] / divisor, cells_.outcome[e] != 0);
  return collector.finish().auc_roc;
}

double HeldOut::score(const Rates& rates) {
  compute(rates);
  return auc(now_, 1);
}

double HeldOut::score_and_keep(const Rates& rates) {
  compute(rates);
  for (std::size_t e = 0; e < sum_.size(); ++e) sum_[e] += now_[e];
  ++draws_;
  return auc(sum_, static_cast<double>(draws_));
}

}  // namespace ztp
