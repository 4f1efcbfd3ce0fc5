// A sum that does not depend on the order of its terms, so that parts of the data can be added up by different threads
// or processes. Each term is rounded to a multiple of 2^-28; after that nothing is lost.
#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace ztp {

class ExactSum {
  __extension__ using int128 = __int128;

 public:
  static constexpr double unit = 0x1p-28;
  // Terms below this can also be rounded by adding this number and taking it away again, and 2^10 of them so rounded
  // are added up by doubles without loss.
  static constexpr double most_in_lanes = 0x1p13, rounder = 0x1.8p24;

  ExactSum() = default;
  ExactSum(double term) { add(term); }  // NOLINT: a number is a sum of one term
  // high 2^32 + low units, and the sum of the terms that are not finite: as a GPU adds them up.
  ExactSum(std::int64_t high, std::uint64_t low, double rest)
      : units_((int128{high} << 32) + static_cast<int128>(low)), rest_(rest) {}

  void add(double term) {
    if (!(std::abs(term) < 0x1p90)) {  // infinite, not a number, or as good as infinite
      rest_ += term;
    } else if (std::abs(term) < 0x1p30) {
      units_ += static_cast<std::int64_t>(std::llrint(term / unit));
    } else {  // a double of this size is a multiple of the unit or rounded to one
      units_ += static_cast<int128>(std::nearbyint(term / unit));
    }
  }
  void add(const ExactSum& other) {
    units_ += other.units_;
    rest_ += other.rest_;
  }

  // As integers that can be added to those of other sums: appended to the values, and taken off their end again.
  static constexpr std::size_t words = 6;
  void put_words(std::vector<std::int64_t>& values) const {
    constexpr int128 low = (int128{1} << 40) - 1;
    for (const int128 part : {units_ & low, units_ >> 40 & low, units_ >> 80})
      values.push_back(static_cast<std::int64_t>(part));
    for (const bool is : {std::isnan(rest_), rest_ > 0, rest_ < 0}) values.push_back(is ? 1 : 0);
  }
  void take_words(std::vector<std::int64_t>& values) {
    const std::int64_t* const word = values.data() + values.size() - words;
    units_ = int128{word[0]} + (int128{word[1]} << 40) + (int128{word[2]} << 80);
    constexpr double infinity = std::numeric_limits<double>::infinity();
    rest_ = (word[3] > 0 ? std::numeric_limits<double>::quiet_NaN() : 0) + (word[4] > 0 ? infinity : 0) -
            (word[5] > 0 ? infinity : 0);
    values.resize(values.size() - words);
  }

  operator double() const { return static_cast<double>(units_) * unit + rest_; }  // NOLINT

 private:
  int128 units_ = 0;
  double rest_ = 0;  // terms that are not finite
};

}  // namespace ztp
