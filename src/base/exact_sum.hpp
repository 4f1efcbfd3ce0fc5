// A sum that is the same in whatever order its terms come, so that parts of the data that are added up by threads or by
// processes give what all of them together would. Each term is rounded to a multiple of 2^-28; after that nothing is
// lost.
#pragma once
#include <cmath>
#include <cstdint>

#include "base/random.hpp"

namespace ztp {

class ExactSum {
 public:
  static constexpr double unit = 0x1p-28;
  // Terms below this can also be rounded by adding this number and taking it away again, and 2^10 of them so rounded
  // are added up by doubles without loss.
  static constexpr double most_in_lanes = 0x1p13, rounder = 0x1.8p24;

  ExactSum() = default;
  ExactSum(double term) { add(term); }  // NOLINT: a number is a sum of one term

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

  operator double() const { return static_cast<double>(units_) * unit + rest_; }  // NOLINT

 private:
  __extension__ using int128 = __int128;
  int128 units_ = 0;
  double rest_ = 0;  // what is no number
};

}  // namespace ztp
