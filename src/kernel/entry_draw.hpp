// The parts of an entry's draw that every kernel shares.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "kernel/host_rates.hpp"
#include "model/distributions.hpp"
#include "ztp/error.hpp"

namespace ztp {

// What all entries of a call of Kernel::allocate share.
struct CountTask {
  const HostCells& cells;
  const HostRates& rates;
  Streams streams;
  const DrawSettings& settings;

  const std::uint32_t* cell(std::size_t e) const { return cells.coords + e * rates.u.size(); }
  std::int64_t observed(std::size_t e) const { return cells.observed ? cells.observed[e] : 1; }
  std::uint64_t number(std::size_t e) const { return cells.number(e); }
  Stream stream(std::size_t e) const { return streams.at(number(e)); }
};

// log(exp(z) - 1): the likelihood of a one, with exp(-z) taken out into the rate of all cells.           (M10)
inline double log_expm1(double z) {
  return z > 30 ? z + std::log1p(-std::exp(-z)) : std::log(std::expm1(z));
}

// The rate of one cell in logs, and the shares of its components relative to the largest. For cells whose rate
// underflows (many modes): slow, and exact where the product of floats is not.                                   (M2)
class LogShares {
 public:
  explicit LogShares(const HostRates& rates) : rates_(rates) {}

  // log z of the cell; not a number or an infinity, where there is none.
  double of(const std::uint32_t* cell) {
    make_room();
    double largest = -std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < order_.size(); ++i) {
      double log_rate = rates_.log_weight[order_[i]] - rates_.log_volume;
      for (std::size_t k = 0; k < rates_.u.size(); ++k)
        log_rate += std::log(static_cast<double>(rates_.factor(k, cell[k], order_[i])));
      if (std::isnan(log_rate)) return log_rate;  // std::max would pass over it
      shares_[i] = log_rate;
      largest = std::max(largest, log_rate);
    }
    if (!(largest > -std::numeric_limits<double>::infinity())) return largest;
    double sum = 0;
    for (double& share : shares_) sum += share = std::exp(share - largest);
    return largest + std::log(sum);
  }

  // Of the last cell, in search order: shares()[i] is that of component order()[i].
  const std::vector<std::size_t>& order() const { return order_; }
  std::vector<double>& shares() { return shares_; }
  // Makes both, where the caller fills in shares of his own.
  void make_room() {
    if (order_.empty()) order_ = search_order(rates_.R);
    shares_.resize(rates_.R);
  }

 private:
  const HostRates& rates_;
  std::vector<std::size_t> order_;  // both empty until a cell needs them
  std::vector<double> shares_;
};

// Below exp of this a Poisson draw from 53-bit uniforms is zero for sure.
inline constexpr double log_smallest_mean = -40;

// The latent count of an entry with rate z.                                                          (M3), (M17)
inline std::int64_t draw_entry(Stream& stream, const HostCells& cells, std::size_t e, double z) {
  if (cells.missing) return draw_poisson(stream, z);
  return cells.observed ? cells.observed[e] : draw_zero_truncated_poisson(stream, z);
}

// Observed counts up to here are split unit by unit: one number of the entry's stream and one search for each, in any
// order. More go by conditional binomials.                                                                        (M4)
inline constexpr std::int64_t most_searched = 128;  // fits a byte

// Up to 255 units of an entry by component. They come in any order, and are taken in that of the components. They can
// come in several ways: a unit need not wait for the one before, which often has the same component.
class UnitTally {
 public:
  static constexpr std::size_t ways = 4;
  explicit UnitTally(std::size_t R) : stride_(padded(R)), count_(ways * stride_, 0) {}

  void add(std::size_t r, std::size_t way = 0, bool is_unit = true) {
    std::uint8_t& count = count_[way * stride_ + r];
    count = static_cast<std::uint8_t>(count + is_unit);
  }
  // Calls add(r, count) for all that have units, and forgets them. Eight components are the bytes of a word.
  template <class Add>
  void take(const Add& add) {
    static_assert(std::endian::native == std::endian::little);
    for (std::size_t r = 0; r < stride_; r += 8) {
      std::uint64_t sum = 0;
      for (std::size_t way = 0; way < ways; ++way) {
        std::uint64_t word;
        std::memcpy(&word, count_.data() + way * stride_ + r, 8);
        std::memset(count_.data() + way * stride_ + r, 0, 8);
        sum += word;
      }
      while (sum != 0) {
        const int byte = std::countr_zero(sum) / 8;
        const std::uint64_t count = sum >> (8 * byte) & 0xff;
        add(r + static_cast<std::size_t>(byte), static_cast<std::int64_t>(count));
        sum ^= count << (8 * byte);
      }
    }
  }

 private:
  std::size_t stride_;
  std::vector<std::uint8_t> count_;
};

// What an entry adds to the log-likelihood, without the part that all cells share.                              (M10)
inline double entry_log_likelihood(const HostCells& cells, double z, double log_z, std::int64_t y) {
  if (cells.missing) return z;
  const double count = static_cast<double>(y);
  if (cells.observed) return count * log_z - log_factorial(count);
  return z < 1e-300 ? log_z : log_expm1(z);
}

// Where the sum of float products says less than this, the rate is redone in logs: shares of 2^-64 of it are still
// normal numbers.
inline constexpr double smallest_float_rate = 1e-18;

// Below this so is its likelihood: in a tensor of 10^300 cells and more the rate itself can underflow.
inline constexpr double smallest_rate = 1e-150;

// Whether a rate that floats give, and the sum of products it comes from, can be relied on.
inline bool floats_hold(double sum, double z) {
  return sum > smallest_float_rate && sum < 1e30 && z > smallest_rate;
}

// The expectation of an entry's count: that of a zero-truncated Poisson is z / (1 - exp(-z)).                  (M26)
inline double expected_count(const HostCells& cells, double z, std::int64_t observed) {
  if (cells.missing) return z;
  if (cells.observed) return static_cast<double>(observed);
  return z < 1e-300 ? 1 : z / -std::expm1(-z);
}

// Entries the plain way, in logs, wherever floats do not hold.
class PlainDraw {
 public:
  explicit PlainDraw(const CountTask& task) : task_(task), log_shares_(task.rates), tally_(task.rates.R) {}

  LogShares& log_shares() { return log_shares_; }
  UnitTally& tally() { return tally_; }

  // The count of entry e from its own stream, wherever that is, and its parts, for which add(r, count) is called.
  // Returns what it adds to the log-likelihood.                                                     (M3), (M4), (M17)
  template <class Add>
  double draw(Stream& stream, std::size_t e, const Add& add) {
    const double log_z = log_shares_.of(task_.cell(e));
    if (task_.cells.missing && log_z < log_smallest_mean) return 0;  // surely zero
    if (task_.settings.anywhere && !task_.cells.missing && log_z == -std::numeric_limits<double>::infinity()) {
      add(stream.below(task_.rates.R), task_.observed(e));
      return 0;
    }
    if (!std::isfinite(log_z))
      throw Error(ErrorKind::numeric,
                  fmt::format("sweep {}: {} has rate zero or infinity", stream.sweep(), name_of(e)));
    const double z = std::exp(log_z);
    const std::int64_t y = draw_entry(stream, task_.cells, e, z);
    if (task_.cells.observed && y <= most_searched) {
      for (std::int64_t unit = 0; unit < y; ++unit)
        draw_multinomial(stream, 1, log_shares_.shares(),
                         [&](std::size_t i, std::int64_t) { tally_.add(log_shares_.order()[i]); });
      tally_.take(add);
    } else {
      draw_multinomial(stream, y, log_shares_.shares(),
                       [&](std::size_t i, std::int64_t part) { add(log_shares_.order()[i], part); });
    }
    return entry_log_likelihood(task_.cells, z, log_z, y);
  }

  // The expectations of its parts, for which add(r, mean) is called. Returns what it adds to the log-likelihood. An
  // entry whose rate is zero in all components goes to them in equal parts: with means for parameters that is rounding,
  // never data.    (M26)
  template <class Add>
  double expect(std::size_t e, const Add& add) {
    const double log_z = log_shares_.of(task_.cell(e));
    const std::int64_t y = task_.observed(e);
    if (std::isnan(log_z) || log_z == std::numeric_limits<double>::infinity())
      throw Error(ErrorKind::numeric, fmt::format("{} has a rate that is not a number", name_of(e)));
    std::vector<double>& shares = log_shares_.shares();
    const bool nowhere = log_z == -std::numeric_limits<double>::infinity();
    if (nowhere) std::fill(shares.begin(), shares.end(), 1.0);
    const double z = std::exp(log_z), count = expected_count(task_.cells, z, y);
    double sum = 0;
    for (const double share : shares) sum += share;
    for (std::size_t i = 0; i < shares.size(); ++i) add(log_shares_.order()[i], count * shares[i] / sum);
    return nowhere ? 0 : entry_log_likelihood(task_.cells, z, log_z, y);
  }

 private:
  std::string name_of(std::size_t e) const {
    return fmt::format("{} number {}", task_.cells.missing ? "missing cell" : "one", task_.number(e) + 1);
  }

  const CountTask& task_;
  LogShares log_shares_;
  UnitTally tally_;
};

}  // namespace ztp
