#include "kernel/ranks/row_cut.hpp"

#include <algorithm>
#include <numeric>

#include "kernel/host_arrays.hpp"

namespace ztp {
namespace {

std::vector<std::size_t> prime_factors(std::size_t number) {
  std::vector<std::size_t> factors;
  for (std::size_t p = 2; p * p <= number; ++p)
    for (; number % p == 0; number /= p) factors.push_back(p);
  if (number > 1) factors.push_back(number);
  std::reverse(factors.begin(), factors.end());
  return factors;
}

// The ends of so many slabs with about as many ones each, at multiples of the rows of a share.
std::vector<std::uint64_t> slab_ends(std::size_t k, const FactorLayout& layout, const std::uint32_t* coords,
                                     std::size_t count, std::size_t slabs, Comm& comm) {
  const std::uint64_t n = layout.size_of_mode(k).rows, share = rows_of_share(n);
  std::vector<std::int64_t> ones((n + share - 1) / share, 0);
  for (std::size_t e = count * comm.rank() / comm.size(); e < count * (comm.rank() + 1) / comm.size(); ++e)
    ++ones[coords[e * layout.modes() + k] / share];
  comm.add_up(ones.data(), ones.size());
  if (count == 0) std::fill(ones.begin(), ones.end(), 1);  // by rows, where the ones are not in memory
  const double all = static_cast<double>(count == 0 ? ones.size() : count);
  std::vector<std::uint64_t> ends;
  std::int64_t passed = 0;
  std::size_t next = 0;
  for (std::size_t slab = 1; slab < slabs; ++slab) {
    const double wanted = all * static_cast<double>(slab) / static_cast<double>(slabs);
    while (next < ones.size() && static_cast<double>(passed) + static_cast<double>(ones[next]) / 2 < wanted)
      passed += ones[next++];
    ends.push_back(std::min(next * share, n));
  }
  ends.push_back(n);
  return ends;
}

// Slab by slab: the rows of a slab are shared out evenly among its ranks.
RowCut cut_rows(std::size_t k, const FactorLayout& layout, const Grid& grid, std::size_t ranks) {
  const std::uint64_t share = rows_of_share(layout.size_of_mode(k).rows);
  RowCut cut;
  std::uint64_t begin = 0;
  for (std::size_t slab = 0; slab < grid.slabs(k); ++slab) {
    std::vector<std::size_t> owners;
    for (std::size_t rank = 0; rank < ranks; ++rank)
      if (grid.slab_of_rank(k, rank) == slab) owners.push_back(rank);
    const std::uint64_t first = begin, end = grid.slab_end(k, slab), units = (end - first + share - 1) / share;
    for (std::size_t i = 0; i < owners.size(); ++i) {
      const std::uint64_t until = std::min(first + units * (i + 1) / owners.size() * share, end);
      cut.shares.push_back({begin, until, owners[i]});
      begin = until;
    }
  }
  return cut;
}

}  // namespace

std::vector<std::size_t> slabs_of_modes(const FactorLayout& layout, std::size_t ranks) {
  std::vector<std::size_t> slabs(layout.modes(), 1);
  const auto rows_of_slab = [&](std::size_t k) {
    return static_cast<double>(layout.size_of_mode(k).rows) / static_cast<double>(slabs[k]);
  };
  for (const std::size_t factor : prime_factors(ranks)) {
    std::size_t longest = 0;
    for (std::size_t k = 1; k < slabs.size(); ++k)
      if (rows_of_slab(k) > rows_of_slab(longest)) longest = k;
    slabs[longest] *= factor;
  }
  return slabs;
}

Range RowCut::of(std::size_t rank) const {
  for (const Share& share : shares)
    if (share.owner == rank) return {share.begin, share.end};
  return {0, 0};
}

const RowCut::Share& RowCut::share_of(std::uint64_t row) const {
  return *std::upper_bound(shares.begin(), shares.end(), row,
                           [](std::uint64_t value, const Share& share) { return value < share.end; });
}

std::size_t Grid::rank_of(const std::uint32_t* cell) const {
  std::size_t rank = 0;
  for (std::size_t k = 0; k < modes(); ++k) {
    const auto slab = std::upper_bound(ends_[k].begin(), ends_[k].end(), cell[k]) - ends_[k].begin();
    rank = rank * slabs(k) + static_cast<std::size_t>(slab);
  }
  return rank;
}

std::size_t Grid::slab_of_rank(std::size_t k, std::size_t rank) const {
  for (std::size_t other = modes() - 1; other > k; --other) rank /= slabs(other);
  return rank % slabs(k);
}

std::size_t rows_of_share(std::uint64_t all_rows) {
  return std::max(rows_per_place, rows_of_sum(all_rows));
}

double room_for_copies(const FactorLayout& layout, std::size_t ones, std::size_t ranks, double memory) {
  constexpr double enough = 256 << 20;
  double all = static_cast<double>(ones * (8 + 8 * layout.modes()));
  for (std::size_t f = 0; f < layout.matrices(); ++f)
    all += 8.0 * static_cast<double>(layout.size(f).rows * padded(layout.size(f).columns));
  return std::min(std::max({enough, all / static_cast<double>(ranks) / 8, memory / 32}), memory / 16);
}

Partition make_partition(const FactorLayout& layout, const std::uint32_t* coords, std::size_t count, Comm& comm,
                         double memory) {
  const std::size_t ranks = comm.size();
  std::int64_t negative = -static_cast<std::int64_t>(memory);
  comm.largest(&negative, 1);
  const double least_memory = -static_cast<double>(negative);
  Partition result{ranks, layout, {}, {}, {}, room_for_copies(layout, count, ranks, least_memory)};
  const std::vector<std::size_t> slabs = slabs_of_modes(layout, ranks);
  std::vector<std::vector<std::uint64_t>> ends;
  for (std::size_t k = 0; k < slabs.size(); ++k) ends.push_back(slab_ends(k, layout, coords, count, slabs[k], comm));
  result.grid = Grid(std::move(ends));
  for (std::size_t f = 0; f < layout.matrices(); ++f)
    result.cuts.push_back(cut_rows(layout.first_mode(f), layout, result.grid, ranks));
  result.ones.assign(ranks, 0);
  for (std::size_t e = count * comm.rank() / ranks; e < count * (comm.rank() + 1) / ranks; ++e)
    ++result.ones[result.grid.rank_of(coords + e * layout.modes())];
  comm.add_up(result.ones.data(), ranks);
  return result;
}

double Partition::busiest() const {
  const double all = static_cast<double>(std::accumulate(ones.begin(), ones.end(), std::int64_t{0}));
  const double most = static_cast<double>(*std::max_element(ones.begin(), ones.end()));
  return all == 0 ? 1 : most * static_cast<double>(ones.size()) / all;
}

}  // namespace ztp
