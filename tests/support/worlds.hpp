// States and entries for kernels to work on, with everything that they distinguish: the kind of entry, how many modes
// and blocks of components there are, rates for which bounds help or do not, and rates that floats do not hold.
// Functions of a seed; no chance.
#pragma once
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kernel/kernel.hpp"
#include "model/distributions.hpp"
#include "tensor/records.hpp"
#include "ztp/tensor.hpp"

namespace ztp::test {

enum class Kind { ones, counts, missing };

struct WorldCase {
  std::size_t K, R, entries;
  Kind kind = Kind::ones;
  double rate = 1;     // of a cell, in the mean
  double shape = 0.3;  // of the columns' Dirichlet: the smaller, the fewer components make up a rate
  std::string name() const {
    return fmt::format("K = {}, R = {}, {} entries of kind {}, rate {}", K, R, entries, static_cast<int>(kind), rate);
  }
};

struct World {
  std::vector<Matrix<float>> u;
  std::vector<double> log_weight;
  std::vector<std::uint32_t> coords;
  std::vector<std::int64_t> counts;
  bool missing = false;
  bool network = false;  // entries are edges: both ends are rows of the one matrix

  std::size_t order() const { return network ? 2 : u.size(); }
  std::size_t size() const { return coords.size() / order(); }
  Entries entries() const { return {coords.data(), counts.empty() ? nullptr : counts.data(), size(), missing}; }
  Rates rates() const {
    std::vector<const Matrix<float>*> pointers;
    for (std::size_t k = 0; k < order(); ++k) pointers.push_back(network ? &u[0] : &u[k]);
    return make_rates(pointers, log_weight);
  }
  std::vector<std::size_t> sizes() const {
    std::vector<std::size_t> result;
    for (std::size_t k = 0; k < order(); ++k) result.push_back(u[network ? 0 : k].rows());
    return result;
  }
};

inline StreamKey world_key(std::uint64_t seed, std::uint32_t what) {
  return stream_key(seed, what, Purpose::simulate);
}

// Sorted entries, as a tensor's are, and factors from the prior. Observed counts are mostly one, which is what bounds
// are for.
inline World make_world(const WorldCase& c, std::uint64_t seed) {
  static constexpr std::size_t rows_of_mode[] = {41, 301, 9, 2, 8, 1, 3, 40, 6, 2, 9, 4};
  World world;
  world.missing = c.kind == Kind::missing;
  Pool pool(1);
  const auto reference = make_kernel("reference", pool);
  double log_volume = 0;
  for (std::size_t k = 0; k < c.K; ++k) {
    const Matrix<std::int64_t> S(rows_of_mode[k], c.R);
    world.u.emplace_back(S.rows(), c.R);
    reference->draw_columns({S, c.shape}, world_key(seed, 1), static_cast<std::uint32_t>(k), world.u.back());
    log_volume += std::log(static_cast<double>(S.rows()));
  }
  for (std::size_t e = 0; e < c.entries; ++e) {
    Stream stream(world_key(seed, 2), 0, e);
    for (const auto& u : world.u) world.coords.push_back(static_cast<std::uint32_t>(stream.below(u.rows())));
    if (c.kind == Kind::counts)
      world.counts.push_back(stream.below(4) == 0 ? 1 + static_cast<std::int64_t>(stream.below(20)) : 1);
  }
  sort_records(world.coords.data(), c.entries, c.K, c.kind == Kind::counts ? world.counts.data() : nullptr);
  for (std::size_t r = 0; r < c.R; ++r) {
    Stream stream(world_key(seed, 3), 0, r);
    world.log_weight.push_back(log_volume + std::log(c.rate / static_cast<double>(c.R)) + draw_normal(stream));
  }
  return world;
}

// Edges over the entities of one mode, as many as asked for; a few of them twice, which does no harm here.
inline World make_network_world(std::size_t R, std::size_t edges, std::uint64_t seed) {
  World world = make_world({2, R, 0}, seed);
  world.network = true;
  world.u.erase(world.u.begin());
  const std::uint64_t n = world.u[0].rows();
  for (std::size_t e = 0; e < edges; ++e) {
    Stream stream(world_key(seed, 4), 0, e);
    const std::uint64_t i = stream.below(n - 1);
    world.coords.push_back(static_cast<std::uint32_t>(i));
    world.coords.push_back(static_cast<std::uint32_t>(i + 1 + stream.below(n - 1 - i)));
  }
  sort_records(world.coords.data(), edges, 2, nullptr);
  return world;
}

// Products over the modes pass below the smallest float, and every third weight is too small for one as well.
inline void make_rates_tiny(World& world) {
  for (auto& u : world.u)
    for (std::size_t j = 0; j < u.rows(); j += 2)
      for (std::size_t r = 0; r < u.columns(); ++r) u.row(j)[r] *= 1e-10f;
  for (std::size_t r = 1; r < world.log_weight.size(); r += 3) world.log_weight[r] -= 300;
}

// What allocate gives.
struct Drawn {
  std::vector<Matrix<std::int64_t>> rows;
  std::vector<std::int64_t> totals;
  std::vector<Part> parts;  // in one piece
  double log_likelihood = 0;

  double units() const {
    double sum = 0;
    for (const std::int64_t total : totals) sum += static_cast<double>(total);
    return sum;
  }
};

// `indexed`: with rows found by an index, and with sums that hold something else before.
struct How {
  bool bounded = true, indexed = false, likelihood = true, anywhere = false;
  std::int64_t unit = 1;
  bool expected = false;
};

inline Drawn allocate(Kernel& kernel, const World& world, StreamKey key, How how = {}, std::uint32_t sweep = 3) {
  Drawn result;
  const Rates rates = world.rates();
  Sums sums;
  Allocation parts;
  for (const auto& u : world.u) result.rows.emplace_back(u.rows(), rates.R);
  for (std::size_t k = 0; k < world.order(); ++k) sums.rows.push_back(&result.rows[world.network ? 0 : k]);
  result.totals.assign(rates.R, 0);
  sums.totals = result.totals.data();
  sums.parts = how.expected ? nullptr : &parts;
  sums.unit = how.unit;
  sums.expected = how.expected;
  Entries entries = world.entries();
  entries.bounded = how.bounded;
  entries.likelihood = how.likelihood;
  entries.anywhere = how.anywhere;
  std::vector<RowIndex> index;
  if (how.indexed) {
    index = index_rows(entries.coords, entries.count, world.sizes(), world.network);
    entries.by_row = &index;
    sums.fresh = true;
    for (auto& rows : result.rows)
      for (std::size_t j = 0; j < rows.rows(); ++j) rows.row(j)[j % rates.R] = 99;
  }
  result.log_likelihood = kernel.allocate(entries, rates, key, sweep, sums);
  for (const auto& block : parts) result.parts.insert(result.parts.end(), block.begin(), block.end());
  return result;
}

// Parts are positive and in the order of the entries, and in every mode and in total they are what the sums say; a one
// has a unit at least, and observed counts are all given out.
inline void expect_parts_are_the_sums(const Drawn& drawn, const World& world, const std::string& name) {
  const std::size_t K = world.order(), R = drawn.totals.size();
  std::vector<Matrix<std::int64_t>> rows;
  for (const auto& u : world.u) rows.emplace_back(u.rows(), R);
  std::vector<std::int64_t> totals(R, 0), of_entry(world.size(), 0);
  std::uint32_t last = 0;
  for (const Part& part : drawn.parts) {
    ASSERT_GT(part.count, 0) << name;
    ASSERT_LT(part.component, R) << name;
    ASSERT_GE(part.entry, last) << name;
    last = part.entry;
    for (std::size_t k = 0; k < K; ++k)
      rows[world.network ? 0 : k].row(world.coords[part.entry * K + k])[part.component] += part.count;
    totals[part.component] += part.count;
    of_entry[part.entry] += part.count;
  }
  EXPECT_EQ(totals, drawn.totals) << name;
  for (std::size_t k = 0; k < rows.size(); ++k)
    EXPECT_TRUE(rows[k].bytes() == drawn.rows[k].bytes() &&
                std::memcmp(rows[k].row(0), drawn.rows[k].row(0), rows[k].bytes()) == 0)
        << name << ", mode " << k;
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

template <class T>
bool same_bits(const Matrix<T>& a, const Matrix<T>& b) {
  return a.bytes() == b.bytes() && std::memcmp(a.row(0), b.row(0), a.bytes()) == 0;
}
inline bool same_bits(double a, double b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}
inline bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}
inline bool same_counts(const Drawn& a, const Drawn& b) {
  bool same = a.totals == b.totals;
  for (std::size_t k = 0; k < a.rows.size(); ++k) same = same && same_bits(a.rows[k], b.rows[k]);
  return same;
}

}  // namespace ztp::test
