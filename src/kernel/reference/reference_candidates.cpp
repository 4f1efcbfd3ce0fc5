#include "kernel/reference/reference_candidates.hpp"

#include <cmath>

namespace ztp {

ReferenceCandidates::ReferenceCandidates(Kernel& kernel, const FactorLayout& layout, const CandidateSettings& settings)
    : kernel_(kernel), n_(layout.size_of_mode(settings.mode).rows), chains_(settings.chains) {}

std::size_t ReferenceCandidates::most_queries() const {
  return 16;
}

void ReferenceCandidates::begin(const QueryBatch& batch) {
  batch_ = batch;
  added_ = chain_ = 0;
  sums_.assign(batch.count * n_, 0.0);
  logits_.assign(batch.count * n_, 0.0);
}

void ReferenceCandidates::add(const State& draw) {
  const std::size_t K = draw.layout.modes();
  std::vector<std::uint32_t> cells;
  for (std::size_t b = 0; b < batch_.count; ++b)
    for (std::uint32_t j = 0; j < n_; ++j) {
      const std::uint32_t* other = batch_.others + b * (K - 1);
      for (std::size_t k = 0; k < K; ++k) cells.push_back(k == batch_.mode ? j : *other++);
    }
  std::vector<double> z(sums_.size());
  kernel_.score(cells.data(), z.size(), tensor_rates(draw), z.data());
  for (std::size_t i = 0; i < z.size(); ++i) sums_[i] -= std::expm1(-z[i]);
  if (++added_ != chains_.end[chain_] || !chains_.logits) return;
  const std::size_t first = chain_ == 0 ? 0 : chains_.end[chain_ - 1];
  for (std::size_t i = 0; i < z.size(); ++i) {
    logits_[i] += logit_of_chain(sums_[i] / static_cast<double>(added_ - first));
    sums_[i] = 0;
  }
  ++chain_;
}

std::vector<float> ReferenceCandidates::scores(std::size_t query) {
  const std::vector<double>& all = chains_.logits ? logits_ : sums_;
  const auto first = all.begin() + static_cast<std::ptrdiff_t>(query * n_);
  return {first, first + static_cast<std::ptrdiff_t>(n_)};
}

std::vector<std::vector<TiedOnes>> ReferenceCandidates::standings() {
  std::vector<std::vector<TiedOnes>> result;
  for (std::size_t b = 0; b < batch_.count; ++b) {
    std::vector<float> of_query = scores(b);
    result.push_back(tied_ones(of_query, batch_.tests.of(b), batch_.known.of(b)));
  }
  return result;
}

}  // namespace ztp
