// Do counts and components found by way of bounds (kernel/bounded_draw.hpp) follow the law of those found without?
//
// Seed 20240229, 10^5 draws and more for each setting. At most 1500 p-values are looked at in this file and each fails
// below 1e-3 / 1500: the whole file raises a false alarm with probability at most 1e-3. The seed is fixed and nothing
// is retried. Every instruction set and the reference draw from streams of their own: from the same ones they would
// make the same draws.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

#include "kernel/bounded_draw.hpp"
#include "laws.hpp"
#include "worlds.hpp"

namespace ztp::test {
namespace {

constexpr std::uint64_t seed = 20240229;
Alarms* const alarms = new Alarms(1e-3, 1500);
const auto* const registered = testing::AddGlobalTestEnvironment(alarms);

// ---- the cells ------------------------------------------------------------------------------------------------------

// How the factors of a cell's K rows look. loose: in every mode other components are large, so that bounds promise much
// more than there is. tight: the same ones are, and bounds are the truth, but for their margin. uneven: blocks from
// hardly anything to most of the rate, components of rate zero among them.
enum class Look { loose, tight, uneven };

// One cell, drawn again and again.
struct Cell {
  Look look;
  std::size_t K, R;
  double z;
  World world = {};               // its entry is all zeros
  std::vector<double> rate = {};  // of the components, in double from the very floats that the kernels read

  std::string name() const {
    static constexpr const char* names[] = {"loose", "tight", "uneven"};
    return fmt::format("{}, K = {}, R = {}, rate {}", names[static_cast<int>(look)], K, R, z);
  }
};

double factor(const Cell& cell, std::size_t k, std::size_t r) {
  const double some = 0.5 + Stream(stream_key(seed, 0, Purpose::simulate), static_cast<std::uint32_t>(k), r).uniform();
  const std::size_t turn = r % (cell.K + 1);
  if (cell.look == Look::loose) return turn == k ? some * std::pow(256, 1.0 / static_cast<double>(cell.K)) : some;
  if (cell.look == Look::tight) return turn == 0 ? 3 : 0.8 + 0.01 * static_cast<double>(r % 7);
  return r % 11 == 3 && k == 0 ? 0 : some * std::exp(-2.0 * static_cast<double>(r * 5 / 16 % 7));
}

Cell make_cell(Look look, std::size_t K, std::size_t R, double z) {
  Cell cell{look, K, R, z};
  cell.world.layout = FactorLayout::cp(std::vector<std::uint32_t>(K, 1), R);
  cell.rate.assign(R, 1.0);
  for (std::size_t k = 0; k < K; ++k) {
    Matrix<float>& u = cell.world.u.emplace_back(1, R);
    for (std::size_t r = 0; r < R; ++r) {
      u.row(0)[r] = static_cast<float>(factor(cell, k, r));
      cell.rate[r] *= static_cast<double>(u.row(0)[r]);
    }
  }
  // Weights of two sizes; the larger is one in floats, too.
  double sum = 0;
  for (std::size_t r = 0; r < R; ++r) sum += cell.rate[r] /= r % 3 == 1 ? 2 : 1;
  for (std::size_t r = 0; r < R; ++r) {
    cell.world.log_weight.push_back(std::log(z / sum) - (r % 3 == 1 ? std::log(2.0) : 0));
    cell.rate[r] *= z / sum;
  }
  return cell;
}

// ---- what is looked at ----------------------------------------------------------------------------------------------

using Units = std::vector<std::uint32_t>;  // of one draw: a component for each

// Given how many there are, the units of a draw are independent and have the shares of the rate for components. So: the
// count; the components of all units, and of the units of draws with one, two and more, if these depend on each other;
// and the pairs in draws of two, by lanes of components.
class Draws {
 public:
  Draws(const Cell& cell, Kind kind, const std::string& name)
      : cell_(cell),
        kind_(kind),
        name_(fmt::format("{}: kind {}, {}", name, static_cast<int>(kind), cell.name())),
        count_(kind == Kind::missing ? poisson_law(cell.z) : part_of_a_one_law(cell.z, cell.z), name_ + ", count"),
        pairs_(groups * groups, 0.0) {
    for (auto& observed : observed_) observed.assign(cell.R, 0.0);
  }

  void add(const Units& units) {
    count_.add(static_cast<std::int64_t>(units.size()));
    for (const std::uint32_t r : units) observed_[std::min<std::size_t>(units.size(), 3) - 1][r] += 1;
    if (units.size() == 2) pairs_[units[0] % groups * groups + units[1] % groups] += 1;
  }

  // Name and p-value of everything that is looked at, but for the count's extremes.
  std::vector<std::pair<std::string, double>> p_values() const {
    std::vector<std::pair<std::string, double>> result;
    if (kind_ != Kind::counts) result.emplace_back(name_ + ", count", count_.chi_squared());
    for (std::size_t i = 0; i < 3; ++i)
      result.emplace_back(fmt::format("{}, components of {}", name_, i + 1), components_p(observed_[i]));
    std::vector<double> all(cell_.R, 0.0);
    for (const auto& observed : observed_)
      for (std::size_t r = 0; r < cell_.R; ++r) all[r] += observed[r];
    result.emplace_back(name_ + ", components", components_p(all));
    result.emplace_back(name_ + ", pairs", pairs_p());
    return result;
  }
  void expect_plausible() const {
    if (kind_ != Kind::counts) count_.expect_plausible(*alarms);
    for (const auto& [name, p] : p_values())
      if (name != name_ + ", count") alarms->expect_plausible(p, name);
    for (const auto& observed : observed_)
      for (std::size_t r = 0; r < cell_.R; ++r) EXPECT_TRUE(cell_.rate[r] > 0 || observed[r] == 0) << name_;
  }
  double smallest_p() const {
    double smallest = 1;
    for (const auto& [name, p] : p_values()) smallest = std::min(smallest, p);
    return smallest;
  }

 private:
  static constexpr std::size_t groups = 5;

  double components_p(const std::vector<double>& observed) const {
    const double units = std::accumulate(observed.begin(), observed.end(), 0.0);
    std::vector<double> expected;
    for (const double rate : cell_.rate) expected.push_back(units * rate / cell_.z);
    return chi_squared_p(expected, observed);
  }
  // The two units of a draw are in no order that counts.
  double pairs_p() const {
    std::array<double, groups> share{};
    for (std::size_t r = 0; r < cell_.R; ++r) share[r % groups] += cell_.rate[r] / cell_.z;
    const double draws = std::accumulate(pairs_.begin(), pairs_.end(), 0.0);
    std::vector<double> expected, observed;
    for (std::size_t a = 0; a < groups; ++a)
      for (std::size_t b = a; b < groups; ++b) {
        expected.push_back(draws * share[a] * share[b] * (a == b ? 1 : 2));
        observed.push_back(pairs_[a * groups + b] + (a == b ? 0 : pairs_[b * groups + a]));
      }
    return chi_squared_p(expected, observed);
  }

  const Cell& cell_;
  Kind kind_;
  std::string name_;
  CellCounts count_;
  std::array<std::vector<double>, 3> observed_;  // components of draws of one unit, of two, of more
  std::vector<double> pairs_;
};

// ---- the kernels ----------------------------------------------------------------------------------------------------

// Observed counts are one.
Draws draws_of(Kernel& kernel, const Cell& cell, Kind kind, StreamKey key, std::uint32_t setting, std::size_t count,
               const std::string& name) {
  const std::vector<std::uint32_t> coords(count * cell.K, 0);
  const std::vector<std::int64_t> one(count, 1);
  const Loaded loaded(kernel, cell.world,
                      {coords.data(), kind == Kind::counts ? one.data() : nullptr, count, kind == Kind::missing});
  const KernelSums sums(kernel, cell.world);
  Allocation parts;
  kernel.allocate(*loaded.ones, loaded.rates, key,
                  {.t = setting, .likelihood = false, .bounded = true, .parts = &parts}, sums.sums());
  std::vector<Units> drawn(count);
  for (const auto& block : parts)
    for (const Part& part : block)
      drawn[part.entry].insert(drawn[part.entry].end(), static_cast<std::size_t>(part.count), part.component);
  Draws result(cell, kind, name);
  for (const Units& units : drawn) result.add(units);
  return result;
}

// Rates for which there is one candidate, some, or about as many as bounds are used for.
const std::vector<Cell>& cells() {
  static const std::vector<Cell> list = [] {
    std::vector<Cell> result;
    for (const double z : {0.02, 0.4}) {
      result.push_back(make_cell(Look::loose, 2, 100, z));
      result.push_back(make_cell(Look::loose, 3, 300, z / 2));
      result.push_back(make_cell(Look::uneven, 3, 100, z));
    }
    result.push_back(make_cell(Look::loose, 3, 40, 1.5));
    result.push_back(make_cell(Look::loose, 5, 100, 0.05));
    result.push_back(make_cell(Look::uneven, 2, 300, 2));
    result.push_back(make_cell(Look::tight, 3, 40, 0.02));
    result.push_back(make_cell(Look::tight, 2, 100, 6));
    return result;
  }();
  return list;
}

TEST(BoundedDraws, FollowTheLawInEveryInstructionSet) {
  Pool pool(1);
  std::uint32_t number = 0;
  for_each_bounding_kernel(pool, [&](Kernel& kernel, const std::string& target) {
    const StreamKey key = stream_key(seed, 1 + number++, Purpose::simulate);
    std::uint32_t setting = 0;
    for (const Cell& cell : cells())
      for (const Kind kind : all_kinds)
        draws_of(kernel, cell, kind, key, setting++, 1 << 17, target).expect_plausible();
  });
}

TEST(BoundedDraws, FollowTheLawInTheReference) {
  Pool pool(1);
  const auto reference = make_kernel(KernelName::reference, pool);
  const StreamKey key = stream_key(seed, 100, Purpose::simulate);
  std::uint32_t setting = 0;
  const Cell loose = make_cell(Look::loose, 2, 100, 0.4), uneven = make_cell(Look::uneven, 3, 100, 0.4);
  for (const Kind kind : all_kinds)
    draws_of(*reference, loose, kind, key, setting++, 100'000, "reference").expect_plausible();
  draws_of(*reference, uneven, Kind::ones, key, setting++, 100'000, "reference").expect_plausible();
}

// ---- the twins ------------------------------------------------------------------------------------------------------

enum class Bug {
  none,
  keeps_all,         // every candidate is kept: bounds taken for rates
  bound_too_small,   // bounds are a fifth smaller than the norms say: the last components of a block lose
  one_unit_instead,  // where no candidate is kept, one unit by the rates: the count is not drawn anew
  total_of_before,   // largest bounds replaced by the truth, but not in the total that the count comes from
};
constexpr const char* bug_names[] = {"none", "keeps all", "bound too small", "one unit instead", "total of before"};

// The bounded draw once more, of one cell and in plain code, with a bug.
class Twin {
 public:
  Twin(const Cell& cell, Kind kind, Bug bug) : cell_(cell), kind_(kind), bug_(bug) {
    const std::size_t blocks = (cell.R + components_per_block - 1) / components_per_block;
    for (std::size_t b = 0; b < blocks; ++b) bounds_.push_back(bound(b) * (bug == Bug::bound_too_small ? 0.8 : 1));
    total_ = std::accumulate(bounds_.begin(), bounds_.end(), 0.0);
    std::vector<double> unknown = bounds_;
    for (std::size_t known = 0; known < std::min(blocks_known, blocks); ++known) {
      const auto b = static_cast<std::size_t>(std::max_element(unknown.begin(), unknown.end()) - unknown.begin());
      bounds_[b] = 0;
      for_each_of(b, [&](std::size_t r) { bounds_[b] += cell_.rate[r]; });
      unknown[b] = -1;
    }
    if (bug != Bug::total_of_before) total_ = std::accumulate(bounds_.begin(), bounds_.end(), 0.0);
  }

  // How many of the candidates are kept.
  double kept() const { return cell_.z / std::accumulate(bounds_.begin(), bounds_.end(), 0.0); }
  double total() const { return total_; }

  Units draw(Stream& stream) const {
    std::int64_t candidates = 1;
    if (kind_ == Kind::missing) candidates = draw_poisson(stream, total_);
    if (kind_ == Kind::ones) candidates = draw_zero_truncated_poisson(stream, total_);
    Units units;
    for (std::int64_t i = 0; i < candidates; ++i) {
      std::size_t block = 0;
      draw_multinomial(stream, 1, bounds_, [&](std::size_t b, std::int64_t) { block = b; });
      double sum = 0;
      for_each_of(block, [&](std::size_t r) { sum += cell_.rate[r]; });
      double place = stream.uniform() * (bug_ == Bug::keeps_all ? sum : bounds_[block]);
      for_each_of(block, [&](std::size_t r) {
        const bool before = place >= 0;
        place -= cell_.rate[r];
        if (before && place < 0) units.push_back(static_cast<std::uint32_t>(r));
      });
    }
    if (!units.empty() || kind_ == Kind::missing) return units;
    const bool once = kind_ == Kind::counts || bug_ == Bug::one_unit_instead;
    draw_multinomial(stream, once ? 1 : draw_zero_truncated_poisson(stream, cell_.z), cell_.rate,
                     [&](std::size_t r, std::int64_t n) {
                       units.insert(units.end(), static_cast<std::size_t>(n), static_cast<std::uint32_t>(r));
                     });
    return units;
  }

 private:
  template <class Do>
  void for_each_of(std::size_t block, Do action) const {
    for (std::size_t r = block * components_per_block; r < std::min(cell_.R, (block + 1) * components_per_block); ++r)
      action(r);
  }
  // The product of Euclidean norms, each with its part of the weights.
  double bound(std::size_t block) const {
    const double K = static_cast<double>(cell_.K);
    double product = 1;
    for (const auto& u : cell_.world.u) {
      double sum = 0;
      for_each_of(block, [&](std::size_t r) {
        sum += std::exp(2 / K * cell_.world.log_weight[r]) * std::pow(static_cast<double>(u.row(0)[r]), 2);
      });
      product *= std::sqrt(sum);
    }
    return product;
  }

  const Cell& cell_;
  Kind kind_;
  Bug bug_;
  std::vector<double> bounds_;
  double total_ = 0;
};

double smallest_p(const Cell& cell, Kind kind, Bug bug) {
  const Twin twin(cell, kind, bug);
  Draws draws(cell, kind, "twin");
  for (std::size_t e = 0; e < 100'000; ++e) {
    Stream stream(stream_key(seed, 200, Purpose::simulate), static_cast<std::uint32_t>(bug), e);
    draws.add(twin.draw(stream));
  }
  return draws.smallest_p();
}

// The cells above are what they are said to be: candidates are often rejected, or hardly ever, and bounds are in use.
TEST(Twins, BoundsAreLooseAndTight) {
  for (const Cell& cell : cells()) {
    const Twin twin(cell, Kind::ones, Bug::none);
    fmt::print("  {}: {:.3f} of candidates kept\n", cell.name(), twin.kept());
    EXPECT_LT(twin.total(), largest_bounded_rate) << cell.name();
    EXPECT_TRUE(cell.look != Look::tight || twin.kept() > 0.95) << cell.name();
    EXPECT_TRUE(cell.look != Look::loose || cell.R <= 40 || twin.kept() < 0.5) << cell.name();
  }
}

TEST(Twins, BoundedDrawsWithABugAreRejected) {
  const Cell cell = make_cell(Look::loose, 2, 100, 0.4);
  for (const Kind kind : all_kinds)
    EXPECT_GE(smallest_p(cell, kind, Bug::none), alarms->level()) << static_cast<int>(kind);
  const auto expect_rejected = [&](Kind kind, Bug bug) {
    EXPECT_LT(smallest_p(cell, kind, bug), alarms->level())
        << bug_names[static_cast<int>(bug)] << ", kind " << static_cast<int>(kind);
  };
  for (const Kind kind : all_kinds) expect_rejected(kind, Bug::keeps_all);
  for (const Kind kind : {Kind::ones, Kind::missing}) expect_rejected(kind, Bug::total_of_before);
  expect_rejected(Kind::ones, Bug::one_unit_instead);
  // Bounds are too small only where there is nothing to spare.
  const Cell tight = make_cell(Look::tight, 2, 100, 0.4);
  for (const Kind kind : all_kinds)
    EXPECT_LT(smallest_p(tight, kind, Bug::bound_too_small), alarms->level()) << static_cast<int>(kind);
}

}  // namespace
}  // namespace ztp::test
