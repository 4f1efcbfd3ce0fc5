#include "sampler/held_out.hpp"

#include "ztp/error.hpp"

namespace ztp {

void HeldOut::compute(const Chain& chain) {
  chain.probabilities(cells_.coords.data(), cells_.size(), now_.data());
}

double HeldOut::auc(const std::vector<double>& probability, double divisor) const {
  MetricsCollector collector;
  for (std::size_t e = 0; e < cells_.size(); ++e) collector.add(probability[e] / divisor, cells_.outcome[e] != 0);
  return collector.finish().auc_roc;
}

double HeldOut::score(const Chain& chain) {
  compute(chain);
  return auc(now_, 1);
}

double HeldOut::score_and_keep(const Chain& chain) {
  compute(chain);
  if (sum_.size() != cells_.size())
    throw Error(ErrorKind::input, "the checkpoint is damaged: it is not of these held-out cells; fit again");
  for (std::size_t e = 0; e < sum_.size(); ++e) sum_[e] += now_[e];
  ++draws_;
  return auc(sum_, static_cast<double>(draws_));
}

}  // namespace ztp
