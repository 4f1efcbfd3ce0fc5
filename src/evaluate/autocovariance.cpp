#include "evaluate/autocovariance.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

namespace ztp {
namespace {

constexpr std::size_t direct_lags = 100;  // a transform costs about as much as this many plain sums

struct Complex {
  double re = 0;
  double im = 0;
};

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
    root[i] = {std::cos(angle), std::sin(angle)};
  }
  for (std::size_t half = 1; half < size; half *= 2)
    for (std::size_t begin = 0; begin < size; begin += 2 * half)
      for (std::size_t i = 0; i < half; ++i) {
        const Complex w = root[i * (root.size() / half)], a = x[begin + i], b = x[begin + i + half];
        const Complex turned = {w.re * b.re - w.im * b.im, w.re * b.im + w.im * b.re};
        x[begin + i] = {a.re + turned.re, a.im + turned.im};
        x[begin + i + half] = {a.re - turned.re, a.im - turned.im};
      }
}

}  // namespace

Autocovariance::Autocovariance(const std::vector<std::vector<double>>& chains)
    : centred_(chains), length_(chains.front().size()) {
  for (auto& chain : centred_) {
    double sum = 0;
    for (const double x : chain) sum += x;
    // A constant has no rest, whatever the rounding of its mean.
    const bool constant = std::all_of(chain.begin(), chain.end(), [&](double x) { return x == chain.front(); });
    const double mean = constant ? chain.front() : sum / static_cast<double>(length_);
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
    for (std::size_t i = 0; i < x.size(); ++i) power[i].re += x[i].re * x[i].re + x[i].im * x[i].im;
  }
  fourier(power);  // the way back differs by a sign of the angle, which the real part does not see
  const double scale = static_cast<double>(power.size()) * static_cast<double>(length_ * centred_.size());
  all_.resize(length_);
  for (std::size_t lag = 0; lag < length_; ++lag) all_[lag] = power[lag].re / scale;
}

}  // namespace ztp
