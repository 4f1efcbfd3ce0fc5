// A kernel that writes down which random numbers it was told to draw with.
#pragma once
#include <cstdint>
#include <limits>
#include <tuple>
#include <vector>

#include "forwarding_kernel.hpp"

namespace ztp::test {

class RecordingKernel final : public ForwardingKernel {
 public:
  // Streams first to last - 1 of a key and a step.
  struct Use {
    const char* operation;
    StreamKey key;
    std::uint32_t t;
    std::uint64_t first, last;

    auto order() const { return std::tuple(key.word[0], key.word[1], t, first, last); }
    bool overlaps(const Use& next) const {  // the next in that order
      return key.word[0] == next.key.word[0] && key.word[1] == next.key.word[1] && t == next.t && next.first < last;
    }
  };
  std::vector<Use> uses;

  using ForwardingKernel::ForwardingKernel;

  ExactSum allocate(const Ones& ones, const Rates& rates, StreamKey key, const DrawSettings& settings,
                  const CountSums& sums) override {
    if (ones.count() > 0) uses.push_back({"allocate", key, settings.t, ones.first(), ones.first() + ones.count()});
    return ForwardingKernel::allocate(ones, rates, key, settings, sums);
  }
  void allocate_at_random(const Ones& ones, StreamKey key, const CountSums& sums) override {
    uses.push_back({"allocate_at_random", key, 0, ones.first(), ones.first() + ones.count()});
    ForwardingKernel::allocate_at_random(ones, key, sums);
  }
  void draw_gammas(const Columns& columns, StreamKey key, std::uint32_t t, Factors& u) override {
    uses.push_back({"draw_gammas", key, t, 0, all});
    ForwardingKernel::draw_gammas(columns, key, t, u);
  }
  // Of all columns, or of some that floats did not hold and that are drawn again from the same streams.
  std::vector<double> draw_in_logs(const Columns& columns, const std::vector<std::size_t>& which,
                                   const std::vector<double>& log_rest, StreamKey key, std::uint32_t t,
                                   Factors& u) override {
    if (columns.a < smallest_shape()) uses.push_back({"draw_in_logs", key, t, 0, all});
    return ForwardingKernel::draw_in_logs(columns, which, log_rest, key, t, u);
  }
  double impute_diagonal(const Factors& u, const std::vector<double>& log_beta, StreamKey key,
                         const DrawSettings& settings, Counts& S, std::int64_t* totals) override {
    uses.push_back({"impute_diagonal", key, settings.t, 0, all});
    return ForwardingKernel::impute_diagonal(u, log_beta, key, settings, S, totals);
  }
  void place(const Factors& u, RowMask rows, const std::vector<std::int64_t>& totals, const Streams& streams,
             std::int64_t unit, Counts& S) override {
    uses.push_back({"place", streams.key, streams.t, 0, all});
    ForwardingKernel::place(u, rows, totals, streams, unit, S);
  }

 private:
  static constexpr std::uint64_t all = std::numeric_limits<std::uint64_t>::max();
};

}  // namespace ztp::test
