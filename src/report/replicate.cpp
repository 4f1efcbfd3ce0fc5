#include "report/replicate.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <ranges>

#include "base/random.hpp"
#include "kernel/host_arrays.hpp"
#include "model/distributions.hpp"
#include "model/self_cells.hpp"
#include "simulate/alias.hpp"
#include "simulate/distinct_cells.hpp"
#include "tensor/missing.hpp"

namespace ztp {
namespace {

constexpr std::size_t chunk = 4096;  // points that come of one stream

class MissingCells {
 public:
  // in_order: cells are asked for in ascending order.
  MissingCells(const ReplicatePlan& plan, const FactorLayout& layout, bool in_order)
      : K_(plan.tensor.order()),
        missing_(plan.missing),
        cells_(plan.missing.cells),
        self_(layout, plan.self_missing),
        in_order_(in_order) {}

  bool contains(const std::uint32_t* cell) {
    if (self_.contains(cell) || in_missing_slice(missing_, cell)) return true;
    const std::size_t count = cells_.size() / K_;
    const auto below = [&](std::size_t i) {
      const std::uint32_t* listed = cells_.data() + i * K_;
      return std::lexicographical_compare(listed, listed + K_, cell, cell + K_);
    };
    if (in_order_) {
      while (next_ < count && below(next_)) ++next_;
    } else {
      const auto all = std::views::iota(std::size_t{0}, count);
      next_ = static_cast<std::size_t>(std::ranges::partition_point(all, below) - all.begin());
    }
    return next_ < count && std::equal(cell, cell + K_, cells_.data() + next_ * K_);
  }

 private:
  std::size_t K_;
  const Missing& missing_;
  const Buffer<std::uint32_t>& cells_;
  MissingSelfCells self_;
  bool in_order_;
  std::size_t next_ = 0;
};

AliasTable table_of(const Matrix<float>& u, std::size_t q) {
  TrueFactorColumn column{Buffer<std::uint32_t>(u.rows()), Buffer<double>(u.rows())};
  double sum = 0;
  for (std::size_t j = 0; j < u.rows(); ++j) sum += static_cast<double>(u.row(j)[q]);
  for (std::size_t j = 0; j < u.rows(); ++j) {
    column.ids[j] = static_cast<std::uint32_t>(j);
    column.u[j] = static_cast<double>(u.row(j)[q]) / sum;
  }
  return AliasTable(column);
}

// All points of a replicate, component after component. Each column has one table, however many components use it.
template <class Set>
void draw_points(const State& state, const ReplicatePlan& plan, std::uint32_t replicate, Pool& pool, Set& points) {
  const std::size_t K = state.layout.modes(), R = state.layout.components();
  const StreamKey totals = stream_key(plan.seed, 0, Purpose::replicates, static_cast<std::uint32_t>(K));
  std::vector<std::size_t> begin = {0};
  for (std::size_t r = 0; r < R; ++r) {
    Stream stream(totals, replicate, r);
    const double lambda = std::exp(state.tensor.log_weight[r]);
    begin.push_back(begin.back() + static_cast<std::size_t>(draw_poisson(stream, lambda)));
  }
  points.grow(begin.back());
  for (std::size_t k = 0; k < K; ++k) {
    const StreamKey key = stream_key(plan.seed, 0, Purpose::replicates, static_cast<std::uint32_t>(k));
    std::vector<std::vector<std::size_t>> users(state.layout.size_of_mode(k).columns);  // components with points
    for (std::size_t r = 0; r < R; ++r)
      if (begin[r] < begin[r + 1]) users[state.layout.column(k, r)].push_back(r);
    pool.for_blocks(users.size(), [&](std::size_t q) {
      if (users[q].empty()) return;
      std::array<std::uint32_t, chunk> ids;
      const AliasTable table = table_of(values_of(state.of_mode(k)), q);
      for (const std::size_t r : users[q])
        for (std::size_t first = begin[r], block = 0; first < begin[r + 1]; first += chunk, ++block) {
          const std::size_t count = std::min(chunk, begin[r + 1] - first);
          table.draw(key, replicate, static_cast<std::uint64_t>(r) << 40 | block, count, ids.data());
          points.set(first, count, k, ids.data());
        }
    });
  }
}

template <class Set>
Buffer<std::uint32_t> cells_in(const State& state, const ReplicatePlan& plan, std::uint32_t replicate, Pool& pool,
                               Set points) {
  draw_points(state, plan, replicate, pool, points);
  if (!plan.counts) points.merge(0);
  const std::size_t K = state.layout.modes();
  MissingCells missing(plan, state.layout, !plan.counts);
  Buffer<std::uint32_t> cells(points.size() * K);
  std::size_t kept = 0;
  for (std::size_t e = 0; e < points.size(); ++e) {
    std::uint32_t* cell = cells.data() + kept * K;
    points.get(e, cell);
    if (!missing.contains(cell)) ++kept;
  }
  cells.resize(kept * K);
  return cells;
}

}  // namespace

double points_expected(const std::vector<double>& log_weight) {
  double sum = 0;
  for (const double value : log_weight) sum += std::exp(value);
  return sum;
}

Buffer<std::uint32_t> replicated_cells(const State& state, const ReplicatePlan& plan, std::uint32_t replicate,
                                       Pool& pool) {
  std::vector<std::uint64_t> dims;
  for (std::size_t k = 0; k < state.layout.modes(); ++k) dims.push_back(state.of_mode(k).rows());
  return KeySet::fits(dims) ? cells_in(state, plan, replicate, pool, KeySet(dims))
                            : cells_in(state, plan, replicate, pool, RecordSet(dims));
}

}  // namespace ztp
