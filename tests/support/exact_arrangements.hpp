// Which columns the components with counts use, in tiny models whose components share columns: three components, three
// modes, two columns in every matrix. Their exact posteriors (exact_shared_counts.hpp, exact_shared_ones.hpp) are
// laws of such arrangements.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <vector>

namespace ztp::test {

// The columns of a component in all modes, as bits, and those of the components with counts, sorted.
using Columns3 = std::size_t;
using Arrangement = std::vector<Columns3>;

inline std::size_t column_of(Columns3 columns, std::size_t k) {
  return columns >> k & 1;
}

constexpr std::size_t exact_R = 3, exact_P = 2;

// All arrangements of at most three components. Each is another one, which comes before it, and one component more.
class Arrangements {
 public:
  explicit Arrangements(std::size_t K) : K_(K) { extend({}, 0); }

  std::size_t size() const { return list_.size(); }
  const Arrangement& operator[](std::size_t i) const { return list_[i]; }
  std::size_t shorter(std::size_t i) const { return shorter_[i]; }
  // How probable it is, if so many components have counts, and these are known.
  double prior(std::size_t i) const { return prior_[i]; }
  std::size_t find(Arrangement arrangement) const {
    std::sort(arrangement.begin(), arrangement.end());
    return place_.at(arrangement);
  }

 private:
  void extend(const Arrangement& arrangement, std::size_t shorter) {
    const std::size_t place = place_[arrangement] = list_.size();
    list_.push_back(arrangement);
    shorter_.push_back(shorter);
    prior_.push_back(prior_of(arrangement));
    if (arrangement.size() == exact_R) return;
    for (Columns3 next = arrangement.empty() ? 0 : arrangement.back(); next < std::size_t{1} << K_; ++next) {
      Arrangement longer = arrangement;
      longer.push_back(next);
      extend(longer, place);
    }
  }
  // Polya's law of the columns in each mode, and the orders that the components may come in.
  double prior_of(Arrangement arrangement) const {
    double prior = 1;
    for (std::size_t k = 0; k < K_; ++k) {
      std::array<double, exact_P> used{};
      for (const Columns3 columns : arrangement) ++used[column_of(columns, k)];
      prior *= std::tgamma(1 + used[0]) * std::tgamma(1 + used[1]) / std::tgamma(2 + used[0] + used[1]);
    }
    double orders = 1;
    while (std::next_permutation(arrangement.begin(), arrangement.end())) ++orders;
    return prior * orders;
  }

  std::size_t K_;
  std::vector<Arrangement> list_;
  std::vector<std::size_t> shorter_;
  std::vector<double> prior_;
  std::map<Arrangement, std::size_t> place_;
};

}  // namespace ztp::test
