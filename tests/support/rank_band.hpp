// Simultaneous bands for the ranks of simulation-based calibration: Saeilynoja, Buerkner and Vehtari, "Graphical test
// for discrete uniformity and its applications in goodness-of-fit evaluation and multiple sample comparison",
// Statistics and Computing 2022.
//
// N ranks, each uniform on 0, ..., L if all is well. H_j, how many are at most j, is then Binomial(N, (j + 1) / (L +
// 1)), and H_0, H_1, ... is a Markov chain: of the N - H_j ranks left each is j + 1 with probability 1 / (L - j). So
// the probability that the chain stays within any limits is an exact recursion.
#pragma once
#include <cstddef>
#include <utility>
#include <vector>

namespace ztp::test {

class RankBand {
 public:
  RankBand(std::size_t N, std::size_t L);

  // The smallest pointwise p-value along the way of these ranks, counts[rank].
  double smallest_pointwise(const std::vector<std::size_t>& counts) const;
  // The limits of H_j where its pointwise p-value is above gamma, both included.
  std::pair<std::size_t, std::size_t> limits(std::size_t j, double gamma) const;
  // P(uniform ranks leave these limits somewhere), which is the p-value of ranks whose smallest pointwise one is gamma.
  double simultaneous(double gamma) const;
  // The largest gamma, to a hundredth of it, that uniform ranks meet with probability at most `level`.
  double gamma_of(double level) const;

 private:
  std::size_t N_, L_;
  std::vector<double> log_factorial_;
  std::vector<std::vector<double>> pointwise_;  // [j][h]: two-sided, of H_j = h
};

}  // namespace ztp::test
