// Autocovariances of chains, averaged over the chains, one lag at a time.
#pragma once
#include <cstddef>
#include <vector>

namespace ztp {

// Estimates with divisor N at every lag (biased, as Geyer's truncation wants it). The first lags are plain sums; a
// chain that mixes so slowly that it needs more gets all of them at once by a Fourier transform. So the cost is N times
// the lags asked for or N log N, whichever is less.
class Autocovariance {
 public:
  explicit Autocovariance(const std::vector<std::vector<double>>& chains);  // of equal lengths, at least one draw each
  double operator()(std::size_t lag);                                       // lag < N

 private:
  double direct(std::size_t lag) const;
  void transform();

  std::vector<std::vector<double>> centred_;
  std::size_t length_;       // N
  std::vector<double> all_;  // every lag, once the Fourier transform was taken
};

}  // namespace ztp
