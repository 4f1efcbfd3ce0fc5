#include "evaluate/convergence.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <numeric>

namespace ztp {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

constexpr std::size_t direct_lags = 100;  // a transform costs about as much as this many plain sums

using Complex = std::complex<double>;

// In place, without scaling; the size is a power of two. Decimation in time (Cooley and Tukey).
void fourier(std::vector<Complex>& x) {
  const std::size_t size = x.size();
  for (std::size_t i = 1, reversed = 0; i < size; ++i) {
    std::size_t bit = size >> 1;
    for (; (reversed & bit) != 0; bit >>= 1) reversed ^= bit;
    reversed ^= bit;
    if (i < reversed) std::swap(x[i], x[reversed]);
  }
  std::vector<Complex> root(size / 2);
  for (std::size_t i = 0; i < root.size(); ++i) {
    const double angle = -2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(size);
    root[i] = std::polar(1.0, angle);
  }
  for (std::size_t half = 1; half < size; half *= 2)
    for (std::size_t begin = 0; begin < size; begin += 2 * half)
      for (std::size_t i = 0; i < half; ++i) {
        const Complex turned = root[i * (root.size() / half)] * x[begin + i + half];
        x[begin + i + half] = x[begin + i] - turned;
        x[begin + i] += turned;
      }
}

DrawsOfChains cut_to_shortest(const DrawsOfChains& draws) {
  std::size_t shortest = draws.empty() ? 0 : draws.front().size();
  for (const auto& chain : draws) shortest = std::min(shortest, chain.size());
  DrawsOfChains result;
  for (const auto& chain : draws) result.emplace_back(chain.begin(), chain.begin() + static_cast<long>(shortest));
  return result;
}

// Drift within a chain is disagreement between its halves. The middle draw of an odd number is left out.
DrawsOfChains split(const DrawsOfChains& draws) {
  DrawsOfChains halves;
  for (const auto& chain : draws) {
    const long half = static_cast<long>(chain.size() / 2);
    halves.emplace_back(chain.begin(), chain.begin() + half);
    halves.emplace_back(chain.end() - half, chain.end());
  }
  return halves;
}

std::vector<double> together(const DrawsOfChains& draws) {
  std::vector<double> all;
  for (const auto& chain : draws) all.insert(all.end(), chain.begin(), chain.end());
  return all;
}

bool constant(const DrawsOfChains& draws) {
  for (const auto& chain : draws)
    for (const double x : chain)
      if (x != draws.front().front()) return false;
  return true;
}

double mean_of(const std::vector<double>& x) {
  return std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
}

// Divisor n - 1, and exactly zero for a constant.
double variance(const std::vector<double>& x) {
  if (x.size() < 2) return nan;
  if (std::all_of(x.begin(), x.end(), [&](double value) { return value == x.front(); })) return 0;
  const double mean = mean_of(x);
  double sum = 0;
  for (const double value : x) sum += (value - mean) * (value - mean);
  return sum / static_cast<double>(x.size() - 1);
}

// Linear interpolation between order statistics (type 7 of Hyndman and Fan), in scipy's arithmetic.
double quantile_of(std::vector<double> x, double q) {
  std::sort(x.begin(), x.end());
  const double position = q * static_cast<double>(x.size() - 1) + 1;
  const std::size_t below = std::clamp<std::size_t>(static_cast<std::size_t>(position), 1, x.size() - 1);
  const double weight = std::clamp(position - static_cast<double>(below), 0.0, 1.0);
  return (1 - weight) * x[below - 1] + weight * x[below];
}

// Normal scores of the ranks among all draws, mean ranks for ties: z = Phi^-1((r - 3/8) / (S + 1/4)) (V, section 4.1).
DrawsOfChains normal_scores(DrawsOfChains draws) {
  std::vector<double*> sorted;
  for (auto& chain : draws)
    for (double& x : chain) sorted.push_back(&x);
  std::sort(sorted.begin(), sorted.end(), [](const double* a, const double* b) { return *a < *b; });
  const double count = static_cast<double>(sorted.size());
  for (std::size_t begin = 0, end = 0; begin < sorted.size(); begin = end) {
    const double value = *sorted[begin];
    while (end < sorted.size() && *sorted[end] == value) ++end;
    const double rank = 0.5 * static_cast<double>(begin + 1 + end);
    const double score = normal_quantile((rank - 0.375) / (count + 0.25));
    for (std::size_t i = begin; i < end; ++i) *sorted[i] = score;
  }
  return draws;
}

// Distances from the median: a difference in scale becomes one in location (V, section 4.2).
DrawsOfChains folded(DrawsOfChains draws) {
  const double median = quantile_of(together(draws), 0.5);
  for (auto& chain : draws)
    for (double& x : chain) x = std::abs(x - median);
  return draws;
}

// R-hat^2 = ((N - 1) / N W + B / N) / W with W the mean variance within chains and B / N the variance of their means
// (V, section 3.1).
double plain_r_hat(const DrawsOfChains& chains) {
  std::vector<double> means, variances;
  for (const auto& chain : chains) {
    variances.push_back(variance(chain));
    means.push_back(variances.back() == 0 ? chain.front() : mean_of(chain));
  }
  const double length = static_cast<double>(chains.front().size());
  const double within = mean_of(variances), between = length * variance(means);
  return std::sqrt((between / within + length - 1) / length);  // 0 / 0 where all draws are equal
}

// Geyer's initial positive sequence: autocorrelations rho_t = 1 - (W - mean over chains of the autocovariance at t) /
// var+, in pairs, up to the first pair whose sum is negative (V, section 3.2). The result ends with the even one of
// that pair where it is positive, which improves the estimate for antithetic chains.
std::vector<double> positive_sequence(const DrawsOfChains& chains) {
  Autocovariance covariance(chains);
  const std::size_t length = chains.front().size();
  const double n = static_cast<double>(length);
  const double within = covariance(0) * n / (n - 1);
  std::vector<double> means;
  for (const auto& chain : chains) means.push_back(mean_of(chain));
  const double total = covariance(0) + variance(means);  // var+ = (N - 1) / N W + B / N
  const auto correlation = [&](std::size_t lag) { return 1 - (within - covariance(lag)) / total; };
  std::vector<double> rho = {1};
  double even = 1, odd = correlation(1);
  for (std::size_t t = 1; t + 3 < length && even + odd > 0; t += 2) {
    rho.push_back(odd);
    even = correlation(t + 1);
    odd = correlation(t + 2);
    rho.push_back(even + odd >= 0 || even > 0 ? even : 0);
  }
  return rho;
}

// Effective sample size S / tau, tau = -1 + 2 sum of the pairs, made monotone, and the last even one (V, section 3.2).
double plain_ess(const DrawsOfChains& chains) {
  const double draws = static_cast<double>(chains.size() * chains.front().size());
  // An indicator may be constant where the draws are not: ties at the largest value, say. It hides nothing.
  if (constant(chains)) return draws;
  std::vector<double> rho = positive_sequence(chains);
  const std::size_t last = rho.size() - 1;  // even
  for (std::size_t t = 2; t + 2 <= last; t += 2)
    if (rho[t] + rho[t + 1] > rho[t - 2] + rho[t - 1]) rho[t] = rho[t + 1] = 0.5 * (rho[t - 2] + rho[t - 1]);
  const double pairs = std::accumulate(rho.begin(), rho.end() - 1, 0.0);
  // The bound keeps antithetic chains from an absurd size: ESS is at most S log10 S.
  return draws / std::max(-1 + 2 * pairs + rho[last], 1 / std::log10(draws));
}

// ESS of the estimate of P(x <= q), with q the quantile at `probability` of all draws (V, section 4.3).
double quantile_ess(DrawsOfChains draws, double probability) {
  const double q = quantile_of(together(draws), probability);
  for (auto& chain : draws)
    for (double& x : chain) x = x <= q ? 1 : 0;
  return plain_ess(split(draws));
}

}  // namespace

// A rational start (Abramowitz and Stegun 26.2.23, error below 4.5e-4), then Halley's steps, which cube the error.
double normal_quantile(double p) {
  if (p > 0.5) return -normal_quantile(1 - p);
  const double t = std::sqrt(-2 * std::log(p));
  double z = (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308))) - t;
  for (int step = 0; step < 2; ++step) {
    const double error = 0.5 * std::erfc(-z / std::numbers::sqrt2) - p;
    const double newton = error * std::sqrt(2 * std::numbers::pi) * std::exp(0.5 * z * z);
    z -= newton / (1 + 0.5 * z * newton);
  }
  return z;
}

Autocovariance::Autocovariance(const DrawsOfChains& chains) : centred_(chains), length_(chains.front().size()) {
  for (auto& chain : centred_) {
    // A constant has no rest, whatever the rounding of its mean.
    const bool constant = std::all_of(chain.begin(), chain.end(), [&](double x) { return x == chain.front(); });
    const double mean = constant ? chain.front() : mean_of(chain);
    for (double& x : chain) x -= mean;
  }
}

double Autocovariance::operator()(std::size_t lag) {
  if (lag < direct_lags) return direct(lag);
  if (all_.empty()) transform();
  return all_[lag];
}

double Autocovariance::direct(std::size_t lag) const {
  double sum = 0;
  for (const auto& chain : centred_)
    for (std::size_t i = 0; i + lag < length_; ++i) sum += chain[i] * chain[i + lag];
  return sum / static_cast<double>(length_ * centred_.size());
}

// Wiener and Khinchin: autocovariances are the transform of the power spectrum, zeros behind the chain keeping its end
// from meeting its start. Spectra may be added before the way back, and two real chains travel as one complex one: the
// real part of its autocovariance is the sum of theirs.
void Autocovariance::transform() {
  std::vector<Complex> power(std::bit_ceil(2 * length_)), x(power.size());
  for (std::size_t c = 0; c < centred_.size(); c += 2) {
    std::fill(x.begin(), x.end(), Complex{});
    for (std::size_t i = 0; i < length_; ++i)
      x[i] = {centred_[c][i], c + 1 < centred_.size() ? centred_[c + 1][i] : 0.0};
    fourier(x);
    for (std::size_t i = 0; i < x.size(); ++i) power[i] += std::norm(x[i]);
  }
  fourier(power);  // the way back differs by a sign of the angle, which the real part does not see
  const double scale = static_cast<double>(power.size()) * static_cast<double>(length_ * centred_.size());
  all_.resize(length_);
  for (std::size_t lag = 0; lag < length_; ++lag) all_[lag] = power[lag].real() / scale;
}

Convergence convergence(const DrawsOfChains& given) {
  const DrawsOfChains draws = cut_to_shortest(given);
  const std::vector<double> all = together(draws);
  if (all.empty() || !std::all_of(all.begin(), all.end(), [](double x) { return std::isfinite(x); }))
    return {nan, nan, nan, nan, nan, nan};
  const double mean = constant(draws) ? all.front() : mean_of(all), sd = std::sqrt(variance(all));
  if (draws.front().size() < 4 || constant(draws)) return {mean, sd, nan, nan, nan, nan};
  const DrawsOfChains halves = split(draws);
  const DrawsOfChains scores = normal_scores(halves);
  Convergence result = {mean, sd, 0, 0, 0, 0};
  result.mcse =
      sd / std::sqrt(plain_ess(halves));  // the mean is not of ranks: ESS of the draws as they are (V, section 4.1)
  // Two chains that are constant fold to one value, which has no R-hat: fmax passes over it.
  result.r_hat = std::fmax(plain_r_hat(scores), plain_r_hat(normal_scores(folded(halves))));
  result.ess_bulk = plain_ess(scores);
  result.ess_tail = std::min(quantile_ess(draws, 0.05), quantile_ess(draws, 0.95));
  return result;
}

}  // namespace ztp
