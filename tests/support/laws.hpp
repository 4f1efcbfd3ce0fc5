// The distributions of the model, and whether draws follow them: as p-values, a few for each sample.
#pragma once
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "statistics.hpp"

namespace ztp::test {

// All p-values that a test program looks at. Each fails below total / allowed, so that the whole program raises a false
// alarm with probability at most `total`; which is right only if there are no more of them than `allowed`.
class Alarms : public testing::Environment {
 public:
  Alarms(double total, int allowed) : level_(total / allowed), allowed_(allowed) {}

  double level() const { return level_; }
  void expect_plausible(double p, const std::string& what) {
    ++seen_;
    EXPECT_GE(p, level_) << what;
    if (p >= smallest_) return;
    smallest_ = p;
    where_ = what;
  }

 private:
  void TearDown() override {
    EXPECT_LE(seen_, allowed_);
    fmt::print("{} p-values, limit {:.1e}, the smallest is {:.3g}: {}\n", seen_, level_, smallest_, where_);
  }

  double level_;
  int allowed_;
  int seen_ = 0;
  double smallest_ = 1;
  std::string where_ = "none";
};

// ---- on the integers ------------------------------------------------------------------------------------------------

// P(X <= k) and P(X > k), each without cancellation where it is small, and where the middle lies.
struct Discrete {
  std::function<double(double)> below, above;
  double center, spread;
};

Discrete poisson_law(double mean);

// Of a count that is Poisson(mean) given that the whole of which it is a part, Poisson(whole), is not zero. With
// mean = whole that is the zero-truncated Poisson.
Discrete part_of_a_one_law(double mean, double whole);

Discrete binomial_law(std::int64_t trials, double p);

// A sample that is counted as it comes. Every integer, or where there are too many every quarter of a standard
// deviation, is a cell of a chi-squared test.
class CellCounts {
 public:
  CellCounts(Discrete law, std::string name) : law_(std::move(law)), name_(std::move(name)) {
    const double reach = 6 * law_.spread + 20;
    step_ = std::max(1.0, std::floor(law_.spread / 4));
    for (double end = std::max(0.0, std::floor(law_.center - reach)); end < law_.center + reach; end += step_)
      ends_.push_back(end);
    observed_.assign(ends_.size() + 1, 0);
  }

  void add(std::int64_t value) {
    smallest_ = std::min(smallest_, value);
    largest_ = std::max(largest_, value);
    const double steps = std::ceil((static_cast<double>(value) - ends_.front()) / step_);
    observed_[steps <= 0 ? 0 : std::min(static_cast<std::size_t>(steps), ends_.size())] += 1;
  }

  // Chi-squared, and what its pooling hides: a single draw where there should be none.
  void expect_plausible(Alarms& alarms) const {
    const double N = size();
    alarms.expect_plausible(chi_squared(), name_ + ", chi-squared");
    alarms.expect_plausible(extreme_p(law_.below(static_cast<double>(smallest_)), N), name_ + ", smallest");
    alarms.expect_plausible(extreme_p(law_.above(static_cast<double>(largest_) - 1), N), name_ + ", largest");
  }

  double chi_squared() const {
    const double N = size();
    std::vector<double> expected;
    double below = 0;
    for (const double end : ends_) {
      const double next = law_.below(end);
      expected.push_back(N * (next - below));
      below = next;
    }
    expected.push_back(N * law_.above(ends_.back()));
    return chi_squared_p(expected, observed_);
  }

 private:
  double size() const { return std::accumulate(observed_.begin(), observed_.end(), 0.0); }

  Discrete law_;
  std::string name_;
  double step_ = 1;
  std::vector<double> ends_, observed_;
  std::int64_t smallest_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t largest_ = std::numeric_limits<std::int64_t>::min();
};

// A sample of a multinomial: each part and the sum of the first two parts (how they depend on each other) are binomial,
// and for a few units every way to split them is a cell of a chi-squared test. Probabilities add up to one.
class SplitCounts {
 public:
  SplitCounts(std::int64_t total, std::vector<double> p, const std::string& name)
      : total_(total), p_(std::move(p)), name_(name) {
    for (std::size_t i = 0; i < p_.size(); ++i)
      parts_.emplace_back(binomial_law(total, p_[i]), fmt::format("{}, part {}", name, i));
    parts_.emplace_back(binomial_law(total, p_[0] + p_[1]), name + ", parts 0 and 1");
    double ways = 1;
    for (std::size_t i = 0; i < p_.size(); ++i) ways *= static_cast<double>(total + 1);
    if (ways < 5000) observed_.assign(static_cast<std::size_t>(ways), 0);
  }

  void add(const std::int64_t* parts) {
    std::int64_t sum = 0;
    std::uint64_t way = 0;  // wraps around where it is not used: there are too many ways
    for (std::size_t i = 0; i < p_.size(); ++i) {
      parts_[i].add(parts[i]);
      sum += parts[i];
      way = way * static_cast<std::uint64_t>(total_ + 1) + static_cast<std::uint64_t>(parts[i]);
    }
    parts_.back().add(parts[0] + parts[1]);
    if (sum != total_)
      ++wrong_sums_;
    else if (!observed_.empty())
      observed_[way] += 1;
    draws_ += 1;
  }

  void expect_plausible(Alarms& alarms) const {
    EXPECT_EQ(wrong_sums_, 0) << name_;
    for (const CellCounts& part : parts_) part.expect_plausible(alarms);
    if (!observed_.empty()) alarms.expect_plausible(ways_p(), name_ + ", all ways");
  }

  // The smallest p-value of those that say how the parts vary. For twins.
  double smallest_p() const {
    double p = observed_.empty() ? 1 : ways_p();
    for (const CellCounts& part : parts_) p = std::min(p, part.chi_squared());
    return p;
  }

 private:
  double ways_p() const {
    std::vector<double> expected(observed_.size());
    for (std::size_t way = 0; way < expected.size(); ++way) {
      std::int64_t code = static_cast<std::int64_t>(way), sum = 0;
      double log_p = std::lgamma(static_cast<double>(total_) + 1);
      for (std::size_t i = p_.size(); i-- > 0; code /= total_ + 1) {
        const double part = static_cast<double>(code % (total_ + 1));
        log_p += part * std::log(p_[i]) - std::lgamma(part + 1);
        sum += code % (total_ + 1);
      }
      expected[way] = sum == total_ ? draws_ * std::exp(log_p) : 0;
    }
    return chi_squared_p(expected, observed_);
  }

  std::int64_t total_;
  std::vector<double> p_;
  std::string name_;
  std::vector<CellCounts> parts_;
  std::vector<double> observed_;  // [way to split the total], as a number to base total + 1
  double draws_ = 0;
  int wrong_sums_ = 0;
};

// ---- on the line ----------------------------------------------------------------------------------------------------

// P(X <= x) and P(X > x), each without cancellation.
struct Tails {
  double below, above;
};

// log G has mass where G itself underflows; there P(log G <= x) = e^(a x) / Gamma(a + 1) (1 - e^x a / (a + 1) + ...).
Tails log_gamma_law(double shape, double x);

// The law of log(p / (1 - p)) for p ~ Beta(a, b): where p or 1 - p underflows, by the first term of the incomplete
// beta's series.
Tails log_odds_law(double a, double b, double x);

}  // namespace ztp::test
