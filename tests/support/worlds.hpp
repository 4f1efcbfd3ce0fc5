// Factors, entries and counts for kernels to work on, with everything that they distinguish: the kind of entry, the
// layout of the factors, how many modes and blocks of components there are, rates for which bounds help or do not, and
// rates that floats do not hold. Functions of a seed; no chance. Beside them, what kernels should make of them, in
// plain loops.
#pragma once
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "kernel/draw_columns.hpp"
#include "kernels.hpp"
#include "model/distributions.hpp"
#include "tensor/records.hpp"

namespace ztp::test {

enum class Kind { ones, counts, missing };
constexpr Kind all_kinds[] = {Kind::ones, Kind::counts, Kind::missing};

// cp: a matrix for each mode. pairs: two modes on one matrix. tied: three modes, of which the first and the last use
// one matrix. shared: fewer columns than components. tied_shared: both, and the two modes of one matrix use other
// columns of it.
enum class Shape { cp, pairs, tied, shared, tied_shared };

struct WorldCase {
  std::size_t K, R, entries;
  Kind kind = Kind::ones;
  double rate = 1;  // of a cell, in the mean; from 10^4 on some observed counts are beyond 32 bits
  Shape shape = Shape::cp;
  bool tiny =
      false;  // products over the modes pass below the smallest float, and every third weight is too small for one, too

  std::string name() const {
    return fmt::format("K = {}, R = {}, {} entries of kind {}, rate {}, shape {}{}", K, R, entries,
                       static_cast<int>(kind), rate, static_cast<int>(shape), tiny ? ", tiny" : "");
  }
};

// Every shape but cp, with each kind.
inline std::vector<WorldCase> shape_cases(std::size_t R, std::size_t entries, double rate = 1) {
  std::vector<WorldCase> cases;
  for (const Kind kind : all_kinds)
    for (const Shape shape : {Shape::pairs, Shape::tied, Shape::shared, Shape::tied_shared})
      cases.push_back({shape == Shape::pairs ? 2u : 3u, R, entries, kind, rate, shape});
  return cases;
}

// Every kind of entry and layout, and rates that floats do not hold.
inline std::vector<WorldCase> few_cases(std::size_t R, std::size_t entries) {
  std::vector<WorldCase> cases = shape_cases(R, entries);
  for (const std::size_t K : {2, 3, 5})
    for (const Kind kind : all_kinds)
      for (const bool tiny : {false, true}) cases.push_back({K, R, entries, kind, 1, Shape::cp, tiny});
  return cases;
}

inline FactorLayout layout_of(const WorldCase& c) {
  static constexpr std::uint32_t rows[] = {41, 301, 9, 2, 8, 1, 3, 40, 6, 2, 9, 4};
  const std::size_t R = c.R;
  if (c.shape == Shape::cp) return FactorLayout::cp({rows, rows + c.K}, R);
  if (c.shape == Shape::pairs) return FactorLayout::pairs(301, R);
  if (c.shape == Shape::tied) return FactorLayout({0, 1, 0}, {{41, R}, {301, R}}, R);
  std::vector<FactorLayout::Size> sizes = {{41, 1 + R / 2}, {301, 1 + R / 3}, {9, R}};
  std::vector<std::vector<std::uint32_t>> columns(3);
  for (std::uint32_t r = 0; r < R; ++r)
    for (std::uint32_t k = 0; k < 3; ++k)
      columns[k].push_back((5 * r + k) % static_cast<std::uint32_t>(k == 1 ? 1 + R / 3 : 1 + R / 2));
  if (c.shape == Shape::shared) return FactorLayout({0, 1, 2}, sizes, R, columns);
  sizes.pop_back();
  return FactorLayout({0, 1, 0}, sizes, R, columns);
}

struct World {
  FactorLayout layout;
  std::vector<Matrix<float>> u;  // of each matrix
  std::vector<double> log_weight;
  std::vector<std::uint32_t> coords;
  std::vector<std::int64_t> counts;
  bool missing = false;

  std::size_t modes() const { return layout.modes(); }
  std::size_t R() const { return log_weight.size(); }
  std::size_t size() const { return coords.size() / modes(); }
  HostCells cells(bool indexed = false) const {
    return {coords.data(), counts.empty() ? nullptr : counts.data(), size(), missing, 0, indexed};
  }
};

inline StreamKey world_key(std::uint64_t seed, std::uint32_t what) {
  return stream_key(seed, what, Purpose::simulate);
}

// Sorted entries, as a tensor's are, and factors from the prior. Observed counts are mostly one, which is what bounds
// are for.
inline World make_world(const WorldCase& c, std::uint64_t seed) {
  World world;
  world.layout = layout_of(c);
  world.missing = c.kind == Kind::missing;
  Pool pool(1);
  const auto reference = make_kernel(KernelName::reference, pool);
  for (std::size_t f = 0; f < world.layout.matrices(); ++f) {
    const auto [rows, columns] = world.layout.size(f);
    const auto S = reference->counts(rows, columns, true);
    const auto u = reference->factors(rows, columns);
    draw_columns(*reference, {*S, 0.3}, {}, world_key(seed, 1), static_cast<std::uint32_t>(f), *u);
    world.u.push_back(on_host(*u));
  }
  double log_volume = 0;
  for (std::size_t k = 0; k < world.modes(); ++k)
    log_volume += std::log(static_cast<double>(world.layout.size_of_mode(k).rows));
  for (std::size_t e = 0; e < c.entries; ++e) {
    Stream stream(world_key(seed, 2), 0, e);
    for (std::size_t k = 0; k < world.modes(); ++k)
      world.coords.push_back(static_cast<std::uint32_t>(stream.below(world.layout.size_of_mode(k).rows)));
    if (c.kind == Kind::counts)
      world.counts.push_back(stream.below(4) == 0 ? 1 + static_cast<std::int64_t>(stream.below(20)) : 1);
  }
  sort_records(world.coords.data(), c.entries, world.modes(), c.kind == Kind::counts ? world.counts.data() : nullptr);
  for (std::size_t e = 0; c.rate >= 1e4 && e < world.counts.size(); e += 1000) world.counts[e] += std::int64_t{1} << 31;
  for (std::size_t r = 0; r < c.R; ++r) {
    Stream stream(world_key(seed, 3), 0, r);
    world.log_weight.push_back(log_volume + std::log(c.rate / static_cast<double>(c.R)) + draw_normal(stream));
    if (c.tiny && r % 3 == 1) world.log_weight[r] -= 300;
  }
  for (auto& u : world.u)
    for (std::size_t j = 0; c.tiny && j < u.rows(); j += 2)
      for (std::size_t q = 0; q < u.columns(); ++q) u.row(j)[q] *= 1e-10f;
  return world;
}

// Mostly zero, some of them enormous, and values on both sides of 256. Every fifth column is empty.
inline Matrix<std::int64_t> sparse_counts(std::size_t rows, std::size_t P, std::uint64_t seed) {
  Matrix<std::int64_t> S(rows, P);
  for (std::size_t j = 0; j < rows; ++j)
    for (std::size_t q = 0; q < P; ++q) {
      Stream stream(world_key(seed, 5), static_cast<std::uint32_t>(q), j);
      if (q % 5 == 4 || stream.below(3) != 0) continue;
      const std::uint64_t which = stream.below(50);
      S.row(j)[q] = which == 0 ? 10'000'000'000 : static_cast<std::int64_t>(which < 5 ? 252 + which : stream.below(20));
    }
  return S;
}

// Counts that are worth 2^-16 each or so: none, fractions of a count, a few, and billions.
inline Matrix<std::int64_t> fine_counts(std::size_t rows, std::size_t P, std::uint64_t seed) {
  Matrix<std::int64_t> S(rows, P);
  for (std::size_t j = 0; j < rows; ++j)
    for (std::size_t q = 0; q < P; ++q) {
      Stream stream(world_key(seed, 6), static_cast<std::uint32_t>(q), j);
      const std::uint64_t most = std::uint64_t{1} << (1 + 3 * stream.below(stream.below(20) == 0 ? 16 : 7));
      if (q % 5 != 4 && stream.below(3) > 0) S.row(j)[q] = static_cast<std::int64_t>(stream.below(most));
    }
  return S;
}

// ---- what kernels make of it ----------------------------------------------------------------------------------------

// A world where a kernel can work on it. Refers to the world.
struct Loaded {
  std::vector<std::unique_ptr<Factors>> factors;
  std::unique_ptr<Ones> ones;
  Rates rates;

  Loaded(Kernel& kernel, const World& world, const HostCells& cells) : ones(kernel.upload(cells, world.layout)) {
    std::vector<const Factors*> pointers;
    for (const auto& u : world.u) pointers.push_back(factors.emplace_back(upload(kernel, u)).get());
    rates = make_rates(world.layout, pointers, world.log_weight);
  }
};

// What allocate gives.
struct Drawn {
  std::vector<Matrix<std::int64_t>> rows;  // of each matrix
  std::vector<std::int64_t> totals;
  std::vector<Part> parts;  // in one piece
  double log_likelihood = 0;

  double units() const {
    double sum = 0;
    for (const std::int64_t total : totals) sum += static_cast<double>(total);
    return sum;
  }
};

// The sums, if each count were worth so many.
inline Drawn times(std::int64_t unit, const Drawn& once) {
  Drawn result{{}, once.totals, {}, 0};
  for (std::int64_t& total : result.totals) total *= unit;
  for (const auto& rows : once.rows) {
    Matrix<std::int64_t>& to = result.rows.emplace_back(rows.rows(), rows.columns());
    std::transform(rows.row(0), rows.row(rows.rows()), to.row(0), [unit](std::int64_t n) { return unit * n; });
  }
  return result;
}

// Where a kernel adds up the counts of a world. If they are to be overwritten, they hold something before.
class KernelSums {
 public:
  KernelSums(Kernel& kernel, const World& world, bool wide = false, bool fresh = false)
      : totals_(world.R(), 0), sums_{&world.layout, {}, totals_.data()} {
    for (const auto& u : world.u) {
      Matrix<std::int64_t> before(u.rows(), u.columns());
      for (std::size_t j = 0; fresh && j < u.rows(); ++j) before.row(j)[j % u.columns()] = 99;
      sums_.rows.push_back(rows_.emplace_back(upload(kernel, before, wide)).get());
    }
  }
  KernelSums(const KernelSums&) = delete;

  const CountSums& sums() const { return sums_; }
  Drawn drawn(double log_likelihood = 0, const Allocation& parts = {}) const {
    Drawn result{{}, totals_, {}, log_likelihood};
    for (const auto& counts : rows_) result.rows.push_back(on_host(*counts));
    for (const auto& block : parts) result.parts.insert(result.parts.end(), block.begin(), block.end());
    return result;
  }

 private:
  std::vector<std::unique_ptr<Counts>> rows_;
  std::vector<std::int64_t> totals_;
  CountSums sums_;
};

struct AllocateCase {
  bool bounded = false, indexed = false, fresh = false, wide = false, expected = false;
  std::int64_t unit = 1;
  bool likelihood = true, anywhere = false;
  std::uint64_t first = 0;  // the number of the first entry
};

inline Drawn allocate(Kernel& kernel, const World& world, StreamKey key, AllocateCase c = {}, std::uint32_t t = 3) {
  HostCells cells = world.cells(c.indexed);
  cells.first = c.first;
  const Loaded loaded(kernel, world, cells);
  const KernelSums sums(kernel, world, c.wide, c.fresh);
  Allocation parts;
  const DrawSettings settings{t,         c.unit,     c.expected, c.likelihood,
                              c.bounded, c.anywhere, c.fresh,    c.expected ? nullptr : &parts};
  const double log_likelihood = kernel.allocate(*loaded.ones, loaded.rates, key, settings, sums.sums());
  return sums.drawn(log_likelihood, parts);
}

// ---- what they should make of it ------------------------------------------------------------------------------------

// log z of the components of entry e.                                                                              (M2)
inline std::vector<double> plain_log_rates(const World& world, std::size_t e) {
  std::vector<double> result = world.log_weight;
  for (std::size_t k = 0; k < world.modes(); ++k) {
    const Matrix<float>& u = world.u[world.layout.matrix(k)];
    const float* row = u.row(world.coords[e * world.modes() + k]);
    for (std::size_t r = 0; r < world.R(); ++r)
      result[r] += std::log(static_cast<double>(row[world.layout.column(k, r)]) / static_cast<double>(u.rows()));
  }
  return result;
}

// log z of a cell from those of its components.
inline double log_sum(const std::vector<double>& log_rates) {
  const double most = *std::max_element(log_rates.begin(), log_rates.end());
  double sum = 0;
  for (const double log_rate : log_rates) sum += std::exp(log_rate - most);
  return std::isfinite(most) ? most + std::log(sum) : most;
}

// log z of each entry.
inline std::vector<double> plain_log_z(const World& world) {
  std::vector<double> result;
  for (std::size_t e = 0; e < world.size(); ++e) result.push_back(log_sum(plain_log_rates(world, e)));
  return result;
}

// Zero for all that a world's counts are added into.
inline Drawn nothing_drawn(const World& world) {
  Drawn result{{}, std::vector<std::int64_t>(world.R(), 0), {}, 0};
  for (const auto& u : world.u) result.rows.emplace_back(u.rows(), u.columns());
  return result;
}

// Adds counts of component r of entry e where the layout says.
inline void add_plainly(const World& world, std::size_t e, std::size_t r, std::int64_t count, Drawn& sums) {
  for (std::size_t k = 0; k < world.modes(); ++k)
    sums.rows[world.layout.matrix(k)].row(world.coords[e * world.modes() + k])[world.layout.column(k, r)] += count;
  sums.totals[r] += count;
}

inline bool same_counts(const Drawn& a, const Drawn& b) {
  return a.totals == b.totals && std::equal(a.rows.begin(), a.rows.end(), b.rows.begin(), b.rows.end(),
                                            [](const auto& x, const auto& y) { return same_bits(x, y); });
}

// Parts are positive and in the order of the entries, and in every matrix and in total they are what the sums say; a
// one has a unit at least, and observed counts are all given out.
inline void expect_parts_are_the_sums(const Drawn& drawn, const World& world, const std::string& name) {
  Drawn sums = nothing_drawn(world);
  std::vector<std::int64_t> of_entry(world.size(), 0);
  std::uint32_t last = 0;
  for (const Part& part : drawn.parts) {
    ASSERT_GT(part.count, 0) << name;
    ASSERT_LT(part.component, world.R()) << name;
    ASSERT_GE(part.entry, last) << name;
    last = part.entry;
    add_plainly(world, part.entry, part.component, part.count, sums);
    of_entry[part.entry] += part.count;
  }
  EXPECT_TRUE(same_counts(sums, drawn)) << name;
  if (!world.counts.empty()) {
    EXPECT_EQ(of_entry, world.counts) << name;
  } else if (!world.missing) {
    EXPECT_GE(*std::min_element(of_entry.begin(), of_entry.end()), 1) << name;
  }
}

inline bool same_parts(const Drawn& a, const Drawn& b) {
  const auto same = [](const Part& x, const Part& y) {
    return x.entry == y.entry && x.component == y.component && x.count == y.count;
  };
  return std::equal(a.parts.begin(), a.parts.end(), b.parts.begin(), b.parts.end(), same);
}

// The units that one has given to another component than the other, or has and the other has not.
inline double units_moved(const Drawn& a, const Drawn& b) {
  if (same_parts(a, b)) return 0;
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> difference;
  for (const Part& part : a.parts) difference[{part.entry, part.component}] += static_cast<double>(part.count);
  for (const Part& part : b.parts) difference[{part.entry, part.component}] -= static_cast<double>(part.count);
  double gained = 0, lost = 0;
  for (const auto& [where, units] : difference) (units > 0 ? gained : lost) += std::abs(units);
  return std::max(gained, lost);
}

}  // namespace ztp::test
