// How the probabilities of a cell in the draws are combined into one. Within a chain they are averaged. Over chains,
// which sit in different local optima of the posterior, either probabilities are averaged, too, which is the posterior
// mean (M16), or their logits: docs/model.md, section 16, says which and why.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "evaluate/calibration_map.hpp"

namespace ztp {

// The mean of a chain enters the average of logits within these limits: one chain that is certain must not outvote all
// others, and sums of floats tell no more.
inline constexpr double least_chain_mean = 1e-12, most_chain_mean = 1 - 1e-5;
inline double logit_of_chain(double mean) {
  return logit_of(std::clamp(mean, least_chain_mean, most_chain_mean));
}

// Which draws belong to which chain.
struct ChainDraws {
  std::vector<std::size_t> end;  // of each chain: one after its last draw; draws come chain after chain
  bool logits = false;           // whether logits of chains are averaged

  // Of draws that come chain after chain: chain_of(d) is that of draw d.
  template <class ChainOf>
  static ChainDraws of(std::size_t draws, ChainOf&& chain_of, bool logits) {
    ChainDraws result{{}, logits};
    for (std::size_t d = 0; d < draws; ++d)
      if (d + 1 == draws || chain_of(d + 1) != chain_of(d)) result.end.push_back(d + 1);
    return result;
  }

  std::size_t draws() const { return end.empty() ? 0 : end.back(); }

  // The combined probability of a cell that has probability(d) at draw d.
  template <class Probability>
  double combine(Probability&& probability) const {
    double sum = 0;
    std::size_t d = 0;
    for (const std::size_t chain_end : end) {
      const std::size_t begin = d;
      double of_chain = 0;
      for (; d < chain_end; ++d) of_chain += probability(d);
      sum += logits ? logit_of_chain(of_chain / static_cast<double>(chain_end - begin)) : of_chain;
    }
    return finish(sum);
  }
  // From the sum over chains of their logits, or over draws of their probabilities.
  double finish(double sum) const {
    return logits ? probability_of_logit(sum / static_cast<double>(end.size())) : sum / static_cast<double>(draws());
  }
};

// The same for many cells, draw by draw.
class ChainAverage {
 public:
  ChainAverage(const ChainDraws& chains, std::size_t cells) : chains_(chains), sum_(cells, 0.0), now_(cells, 0.0) {}

  double* of_chain() { return now_.data(); }  // a draw adds the probability of each cell
  // After every draw. Cells can be taken in parts: [begin, end).
  void end_of_draw(std::size_t draw, std::size_t begin, std::size_t end) {
    const auto chain = std::upper_bound(chains_.end.begin(), chains_.end.end(), draw);
    if (draw + 1 != *chain) return;
    const double draws = static_cast<double>(*chain - (chain == chains_.end.begin() ? 0 : *(chain - 1)));
    for (std::size_t e = begin; e < end; ++e) {
      sum_[e] += chains_.logits ? logit_of_chain(now_[e] / draws) : now_[e];
      now_[e] = 0;
    }
  }
  double of(std::size_t e) const { return chains_.finish(sum_[e]); }  // after the last draw

 private:
  const ChainDraws& chains_;
  std::vector<double> sum_, now_;
};

}  // namespace ztp
