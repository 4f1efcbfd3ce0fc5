// States and entries for kernels to work on, with everything that the bounded draw distinguishes: the kind of entry, how many blocks
// of components there are, and rates for which bounds help or do not. Functions of a seed; no chance.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kernel/kernel.hpp"
#include "model/draws.hpp"
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

  std::size_t size() const { return coords.size() / u.size(); }
  Entries entries() const { return {coords.data(), counts.empty() ? nullptr : counts.data(), size(), missing}; }
  Rates rates() const {
    std::vector<const Matrix<float>*> pointers;
    for (const auto& matrix : u) pointers.push_back(&matrix);
    return make_rates(pointers, log_weight);
  }
  std::vector<std::size_t> sizes() const {
    std::vector<std::size_t> result;
    for (const auto& matrix : u) result.push_back(matrix.rows());
    return result;
  }
};

inline StreamKey world_key(std::uint64_t seed, std::uint32_t what) {
  return stream_key(seed, what, Purpose::simulate);
}

// Sorted entries, as a tensor's are, and factors from the prior. Observed counts are mostly one, which is what bounds are for.
inline World make_world(const WorldCase& c, std::uint64_t seed) {
  static constexpr std::size_t rows_of_mode[] = {41, 301, 9, 2, 8};
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
};

inline Drawn allocate(Kernel& kernel, const World& world, StreamKey key, How how = {}, std::uint32_t sweep = 3) {
  Drawn result;
  const Rates rates = world.rates();
  Sums sums;
  Allocation parts;
  for (const auto& u : world.u) result.rows.emplace_back(u.rows(), rates.R);
  for (auto& rows : result.rows) sums.rows.push_back(&rows);
  result.totals.assign(rates.R, 0);
  sums.totals = result.totals.data();
  sums.parts = &parts;
  Entries entries = world.entries();
  entries.bounded = how.bounded;
  entries.likelihood = how.likelihood;
  entries.anywhere = how.anywhere;
  std::vector<RowIndex> index;
  if (how.indexed) {
    index = index_rows(entries.coords, entries.count, world.sizes());
    entries.by_row = &index;
    sums.fresh = true;
    for (auto& rows : result.rows)
      for (std::size_t j = 0; j < rows.rows(); ++j) rows.row(j)[j % rates.R] = 99;
  }
  result.log_likelihood = kernel.allocate(entries, rates, key, sweep, sums);
  for (const auto& block : parts) result.parts.insert(result.parts.end(), block.begin(), block.end());
  return result;
}

// The units that one has given to another component than the other, or has and the other has not.
inline double units_moved(const Drawn& a, const Drawn& b) {
  const auto same = [](const Part& x, const Part& y) {
    return x.entry == y.entry && x.component == y.component && x.count == y.count;
  };
  if (std::equal(a.parts.begin(), a.parts.end(), b.parts.begin(), b.parts.end(), same)) return 0;
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
inline bool same_counts(const Drawn& a, const Drawn& b) {
  bool same = a.totals == b.totals;
  for (std::size_t k = 0; k < a.rows.size(); ++k) same = same && same_bits(a.rows[k], b.rows[k]);
  return same;
}

}  // namespace ztp::test
