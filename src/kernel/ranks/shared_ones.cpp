#include "kernel/ranks/shared_ones.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <numeric>

namespace ztp {
namespace {

constexpr std::size_t ones_per_page = 1024;  // no page of memory has components of two ranks
// Rows are read in no order. They are copied into large pages of memory if there are at least as many ones as there are
// numbers in the rows, divided by this.
constexpr std::size_t columns_of_a_one = 8;

// All that ranks have written in common memory is there, once they have met.
void meet(const auto& operation) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  operation();
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

}  // namespace

std::vector<std::int64_t> most_counts(const FactorLayout& layout, const std::vector<std::int64_t>& totals) {
  std::vector<std::int64_t> most(layout.matrices(), 0);
  for (std::size_t f = 0; f < most.size(); ++f) {
    std::vector<std::int64_t> of_column(layout.size(f).columns, 0);
    for (std::size_t k = 0; k < layout.modes(); ++k)
      for (std::size_t r = 0; layout.matrix(k) == f && r < layout.components(); ++r)
        of_column[layout.column(k, r)] += totals[r];
    most[f] = *std::max_element(of_column.begin(), of_column.end());
  }
  return most;
}

SharedFactors::SharedFactors(const RankPlace& of, const RowCut& cut, std::size_t columns, RowPlace place,
                             std::unique_ptr<SharedMemory> memory)
    : RankFactors(of, cut, columns, place), memory_(std::move(memory)) {
  own.values = rows_of_all(rows_here());
  own.values.clear();  // whoever touches memory first has it near
}

Matrix<float> SharedFactors::rows_of_all(Range rows) const {
  return {rows.size(), columns(), static_cast<float*>(memory_->data()) + rows.begin * padded(columns())};
}

bool SharedOnes::suits(const HostCells& cells, const FactorLayout& layout, const Partition& partition) {
  const std::int64_t all = std::accumulate(partition.ones.begin(), partition.ones.end(), std::int64_t{0});
  if (!cells.indexed || cells.observed != nullptr || cells.missing || cells.numbers != nullptr || cells.first != 0 ||
      cells.count != static_cast<std::size_t>(all) || layout.modes() != partition.layout.modes() ||
      layout.matrices() != partition.layout.matrices() ||
      (!layout.columns_are_components() && layout.matrices() != layout.modes()) ||
      cells.count + partition.ranks * ones_per_page > std::numeric_limits<std::uint32_t>::max())
    return false;
  // Edges are no ones, even where they are as many: a network has one matrix for both ends.
  for (std::size_t k = 0; k < layout.modes(); ++k)
    if (layout.matrix(k) != partition.layout.matrix(k)) return false;
  for (std::size_t f = 0; f < layout.matrices(); ++f)
    if (layout.is_one_hot(f) || layout.size(f).rows != partition.layout.size(f).rows) return false;
  return true;
}

std::unique_ptr<SharedOnes> SharedOnes::make(const HostCells& of_all, CellsHere& here, const FactorLayout& layout,
                                             const Partition& partition, Comm& comm, Pool& pool) {
  const std::size_t K = layout.modes(), ranks = comm.size();
  const std::vector<std::uint64_t> same(ranks, here.place.size());
  std::vector<std::uint64_t> counts(ranks);
  comm.exchange_sizes(same.data(), counts.data());
  std::vector<std::size_t> first = {0};
  for (const std::uint64_t count : counts)
    first.push_back(first.back() + (count + ones_per_page - 1) / ones_per_page * ones_per_page);
  auto components = SharedMemory::make(comm, (sizeof(std::uint32_t) + sizeof(std::uint8_t)) * first.back());
  const auto coords = SharedMemory::make(comm, sizeof(std::uint32_t) * first.back() * K);
  if (components == nullptr || coords == nullptr) return nullptr;
  auto* const of_ranks = static_cast<std::uint32_t*>(coords->data());
  std::copy(here.coords.begin(), here.coords.end(), of_ranks + first[comm.rank()] * K);
  meet([&] { comm.barrier(); });
  std::unique_ptr<SharedOnes> ones(new SharedOnes(of_all, std::move(here), layout, partition, comm));
  auto* const component = static_cast<std::uint32_t*>(components->data());
  ones->of_all_ones_ = {component, reinterpret_cast<std::uint8_t*>(component + first.back())};
  ones->first_ = first[comm.rank()];
  ones->memory_ = std::move(components);
  const cpu::Components mine = ones->of_ones_here();
  std::fill_n(mine.component, ones->cells_.place.size(), 0u);
  std::fill_n(mine.unit, ones->cells_.place.size(), std::uint8_t{0});
  ones->index_own_rows(counts, of_ranks, layout, pool);
  return ones;
}

SharedOnes::SharedOnes(const HostCells& of_all, CellsHere here, const FactorLayout& layout, const Partition& partition,
                       Comm& comm)
    : Ones(of_all), of_all_(of_all), partition_(partition), comm_(comm), cells_(std::move(here)) {
  const std::size_t K = layout.modes();
  for (std::size_t f = 0; f < layout.matrices(); ++f) {
    const std::size_t k = layout.first_mode(f), slab = partition.grid.slab_of_rank(k, comm.rank());
    const bool tied = layout.tied_mode(k) != k;
    slab_.push_back(
        tied ? Range{0, layout.size(f).rows}
             : Range{slab == 0 ? 0 : partition.grid.slab_end(k, slab - 1), partition.grid.slab_end(k, slab)});
    rows_of_slab_.push_back(slab_.back().size());
  }
  for (std::size_t i = 0; i < cells_.coords.size(); ++i)
    cells_.coords[i] -= static_cast<std::uint32_t>(slab_[layout.matrix(i % K)].begin);
  ones_ = std::make_unique<HostOnes>(
      HostCells{.coords = cells_.coords.data(), .count = cells_.place.size(), .numbers = cells_.place.data()},
      layout.with_rows(rows_of_slab_));
}

// Of the ranks in the same slab, for others have no ones in these rows.
void SharedOnes::index_own_rows(const std::vector<std::uint64_t>& counts, const std::uint32_t* coords,
                                const FactorLayout& layout, Pool& pool) {
  const std::size_t K = layout.modes(), me = comm_.rank();
  by_row_.resize(layout.matrices());
  const auto for_ones = [&](std::size_t f, const auto& body) {
    const Range mine = partition_.cuts[f].of(me);
    for (std::size_t k = 0; k < K; ++k) {
      if (layout.matrix(k) != f) continue;
      std::size_t at = 0;
      for (std::size_t rank = 0; rank < counts.size(); ++rank) {
        const bool apart =
            layout.tied_mode(k) == k && partition_.grid.slab_of_rank(k, rank) != partition_.grid.slab_of_rank(k, me);
        for (std::size_t e = at; !apart && e < at + counts[rank]; ++e)
          if (const std::size_t row = coords[e * K + k] - mine.begin; row < mine.size()) body(row, e);
        at += (counts[rank] + ones_per_page - 1) / ones_per_page * ones_per_page;
      }
    }
  };
  pool.for_blocks(layout.matrices(), [&](std::size_t f) {
    RowIndex& index = by_row_[f];
    index.begin.resize(partition_.cuts[f].of(me).size() + 1);
    std::fill(index.begin.begin(), index.begin.end(), 0);
    for_ones(f, [&](std::size_t row, std::size_t) { ++index.begin[row + 1]; });
    std::partial_sum(index.begin.begin(), index.begin.end(), index.begin.begin());
    index.entry.resize(index.begin[index.begin.size() - 1]);
    std::vector<std::uint64_t> next(index.begin.begin(), index.begin.end());
    for_ones(f, [&](std::size_t row, std::size_t e) { index.entry[next[row]++] = static_cast<std::uint32_t>(e); });
    make_runs(index);
  });
}

std::size_t SharedOnes::bytes() const {
  std::size_t sum =
      4 * cells_.coords.size() + (8 + 4 + 1) * cells_.place.size() + to_others_.size() + from_others_.size();
  for (const RowIndex& index : by_row_) sum += index.bytes();
  for (const auto& of_matrix : factors_) sum += of_matrix->bytes();
  return sum;
}

// Where they are, or copies in large pages, which common memory hardly ever has. Ones are sorted by their first mode.
std::vector<const Factors*> SharedOnes::factors_here(const std::vector<const Factors*>& of_all, Pool& pool) const {
  factors_.resize(of_all.size());
  std::vector<const Factors*> result;
  for (std::size_t f = 0; f < of_all.size(); ++f) {
    Matrix<float> shared = dynamic_cast<const SharedFactors&>(*of_all[f]).rows_of_all(slab_[f]);
    if (f == 0 || cells_.place.size() * columns_of_a_one < shared.rows() * shared.columns()) {
      factors_[f] = std::make_unique<HostFactors>(std::move(shared), RowPlace{});
    } else {
      if (factors_[f] == nullptr)
        factors_[f] = std::make_unique<HostFactors>(shared.rows(), shared.columns(), RowPlace{});
      const Blocks blocks{shared.rows(), 1024};
      pool.for_blocks(blocks.count(), [&](std::size_t b) {
        std::copy(shared.row(blocks.begin(b)), shared.row(blocks.end(b)), factors_[f]->values.row(blocks.begin(b)));
      });
    }
    result.push_back(factors_[f].get());
  }
  return result;
}

ExactSum SharedOnes::allocate(const Rates& rates, StreamKey key, const DrawSettings& settings, const CountSums& sums,
                              cpu::Allocator& allocator, Pool& pool) const {
  meet([&] { comm_.barrier(); });  // all rows are drawn
  const FactorLayout layout = rates.layout->with_rows(rows_of_slab_);
  Rates here = rates;
  here.layout = &layout;
  here.factors = factors_here(rates.factors, pool);
  const HostRates on_host(here, settings.bounded);
  cpu::EntryGroup group{*ones_, on_host, sums, settings.parts};
  const std::span<cpu::Drawn> drawn = allocator.draw(group, {key, settings.t}, settings, of_ones_here());
  ExactSum log_likelihood;
  for (const cpu::Drawn& block : drawn) log_likelihood.add(block.log_likelihood);
  add_up(drawn, settings, sums, log_likelihood, allocator, pool);
  return log_likelihood;
}

void SharedOnes::allocate_at_random(StreamKey key, const CountSums& sums, cpu::Allocator& allocator, Pool& pool) const {
  const std::span<cpu::Drawn> drawn =
      allocator.draw_at_random(*ones_, {key, 0}, sums.layout->components(), of_ones_here());
  ExactSum none;
  meet([&] { comm_.barrier(); });
  add_up(drawn, {}, sums, none, allocator, pool);
}

SharedOnes::Extras SharedOnes::take_extras(cpu::Drawn& drawn, const DrawSettings& settings,
                                           const FactorLayout& layout) const {
  const std::size_t K = layout.modes(), matrices = layout.matrices();
  Extras extras(comm_.size() * matrices);
  for (std::size_t e = drawn.begin; e < drawn.end && !drawn.parts.empty(); ++e) {
    if (drawn.component[e - drawn.begin] < cpu::several || drawn.component[e - drawn.begin] == cpu::nothing) continue;
    cpu::for_each_part(drawn, e, [&](std::uint32_t r, std::int64_t count) {
      for (std::size_t k = 0; k < K; ++k) {
        const std::size_t f = layout.matrix(k);
        const std::uint64_t row = slab_[f].begin + cells_.coords[e * K + k];
        const RowCut::Share& share = partition_.cuts[f].share_of(row);
        extras[share.owner * matrices + f].push_back({static_cast<std::uint32_t>(row - share.begin),
                                                      static_cast<std::uint32_t>(layout.column(k, r)),
                                                      count * settings.unit});
      }
    });
    drawn.set_nothing(e);
  }
  return extras;
}

void SharedOnes::begin_sending(const std::vector<Extras>& extras) const {
  const std::size_t ranks = comm_.size(), lists = partition_.layout.matrices() * ranks;
  sent_.assign(lists, 0);
  received_.assign(lists, 0);
  for (const Extras& some : extras)
    for (std::size_t i = 0; i < lists && !some.empty(); ++i) sent_[i] += some[i].size() * sizeof(Extra);
  const std::vector<std::uint64_t> same(ranks, 8 * partition_.layout.matrices());
  comm_.exchange(sent_.data(), same.data(), received_.data(), same.data());
  to_others_.resize(std::accumulate(sent_.begin(), sent_.end(), std::uint64_t{0}));
  from_others_.resize(std::accumulate(received_.begin(), received_.end(), std::uint64_t{0}));
  std::byte* to = to_others_.data();
  for (std::size_t i = 0; i < lists; ++i)
    for (const Extras& some : extras) {
      if (some.empty() || some[i].empty()) continue;
      std::memcpy(to, some[i].data(), some[i].size() * sizeof(Extra));
      to += some[i].size() * sizeof(Extra);
    }
  std::vector<std::uint64_t> to_each(ranks, 0), from_each(ranks, 0);
  for (std::size_t i = 0; i < lists; ++i) {
    to_each[i / partition_.layout.matrices()] += sent_[i];
    from_each[i / partition_.layout.matrices()] += received_[i];
  }
  comm_.begin_exchange(to_others_.data(), to_each.data(), from_others_.data(), from_each.data());
}

void SharedOnes::add_received(const std::vector<Counts*>& sums) const {
  const std::byte* from = from_others_.data();
  for (std::size_t i = 0; i < received_.size(); from += received_[i++])
    of_ranks(*sums[i % sums.size()]).own.visit([&]<class T>(Matrix<T>& S) {
      for (std::uint64_t at = 0; at < received_[i]; at += sizeof(Extra)) {
        Extra extra;
        std::memcpy(&extra, from + at, sizeof extra);
        S.row(extra.row)[extra.column] += static_cast<T>(extra.count);
      }
    });
}

void SharedOnes::add_up(std::span<cpu::Drawn> drawn, const DrawSettings& settings, const CountSums& sums,
                        ExactSum& log_likelihood, cpu::Allocator& allocator, Pool& pool) const {
  const FactorLayout& layout = *sums.layout;
  const std::size_t R = layout.components();
  std::vector<Extras> extras(drawn.size());
  pool.for_blocks(drawn.size(), [&](std::size_t b) {
    if (!drawn[b].parts.empty()) extras[b] = take_extras(drawn[b], settings, layout);
  });
  std::vector<std::int64_t> totals(R, 0);
  std::int64_t sends = 0;
  for (const cpu::Drawn& block : drawn) {
    for (std::size_t r = 0; r < R; ++r) totals[r] += block.totals[r] * settings.unit;
    if (!block.parts.empty()) sends = 1;
  }
  totals.push_back(sends);
  log_likelihood.put_words(totals);
  meet([&] { comm_.add_up(totals.data(), totals.size()); });  // and all components are drawn
  log_likelihood.take_words(totals);
  sends = totals.back();
  totals.pop_back();

  if (sends > 0) begin_sending(extras);
  const std::vector<std::int64_t> most = most_counts(layout, totals);
  CountSums own{&layout, {}, nullptr};
  for (std::size_t f = 0; f < sums.rows.size(); ++f) {
    HostCounts& rows = of_ranks(*sums.rows[f]).own;
    if (settings.fresh) rows.forget();
    rows.make_room(most[f]);
    own.rows.push_back(&rows);
  }
  allocator.add(by_row_, of_all_ones_, settings, own);
  if (sends > 0) {
    comm_.end_exchange();
    add_received(sums.rows);
  }
  for (std::size_t r = 0; r < R; ++r) sums.totals[r] += totals[r];
}

}  // namespace ztp
