#include "kernel/ranks/ranks_kernel.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>

#include "base/hash.hpp"
#include "kernel/cpu/columns.hpp"
#include "kernel/cpu/cpu_kernel.hpp"
#include "kernel/cpu/place.hpp"
#include "kernel/gamma_draw.hpp"
#include "kernel/ranks/rank_ones.hpp"
#include "model/distributions.hpp"
#include "ztp/error.hpp"

namespace ztp {
namespace {

template <class T>
std::vector<T> values_in(const std::vector<std::byte>& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!bytes.empty()) std::memcpy(static_cast<void*>(values.data()), bytes.data(), bytes.size());
  return values;
}

// What several ranks know of one list, each of the part that begins with its share of the rows.
template <class T>
std::vector<T> in_order_of_rows(Comm& comm, const RowCut& cut, const T* mine, std::size_t count) {
  const auto parts = comm.all_gather(mine, count * sizeof(T));
  std::vector<T> all;
  for (const RowCut::Share& share : cut.shares) {
    const std::vector<T> part = values_in<T>(parts[share.owner]);
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

class RanksKernel final : public Kernel {
 public:
  RanksKernel(Comm& comm, Pool& pool, Partition partition)
      : comm_(comm), pool_(pool), partition_(std::move(partition)), host_(make_cpu_kernel(pool)) {}

  std::unique_ptr<Factors> factors(std::size_t rows, std::size_t columns, RowPlace place) override {
    return std::make_unique<RankFactors>(comm_, cut_of(rows, place), columns, place);
  }
  std::unique_ptr<Counts> counts(std::size_t rows, std::size_t columns, bool wide, RowPlace place) override {
    return std::make_unique<RankCounts>(comm_, cut_of(rows, place), columns, place, wide);
  }
  std::unique_ptr<Ones> upload(const HostCells& cells, const FactorLayout& layout) override {
    return std::make_unique<RankOnes>(cells, cells_here(cells, layout, partition_, comm_), layout, partition_.room, comm_,
                                      *host_);
  }

  // ---- counts of cells

  ExactSum allocate(const Ones& ones, const Rates& rates, StreamKey key, const DrawSettings& settings,
                    const CountSums& sums) override {
    const auto& cells = dynamic_cast<const RankOnes&>(ones);
    const FactorLayout layout = cells.layout_here(*rates.layout);
    Rates here = rates;
    here.layout = &layout;
    ExactSum log_likelihood, of_chunk;
    std::vector<Part> parts;
    std::vector<std::int64_t> totals;
    const auto draw = [&](std::size_t c, const std::vector<const Factors*>& factors) {
      here.factors = factors;
      DrawSettings fresh = settings;
      fresh.fresh = true;
      Allocation parts_here;
      if (settings.parts != nullptr) fresh.parts = &parts_here;
      totals.assign(rates.R(), 0);
      of_chunk = {};
      const CountSums sums_here{&layout, cells.sums_here(sums.rows), totals.data()};
      if (cells.cells_of(c).size() > 0)
        of_chunk = host_->allocate(cells.ones_of(c), here, key, fresh, sums_here);
      for (const std::vector<Part>& block : parts_here)
        for (const Part& part : block)
          parts.push_back({static_cast<std::uint32_t>(cells.cells_here()[cells.cells_of(c).begin + part.entry]),
                           part.component, part.count});
    };
    for_chunks(cells, rates.factors, draw, [&](std::size_t c) {
      if (settings.fresh && c == 0)
        for (Counts* rows : sums.rows) rows->clear();
      add_to_owners(cells, c, sums, totals, of_chunk);
      log_likelihood.add(of_chunk);
    });
    if (settings.parts != nullptr) *settings.parts = {parts_of_all(parts)};
    return log_likelihood;
  }
  void allocate_at_random(const Ones& ones, StreamKey key, const CountSums& sums) override {
    const auto& cells = dynamic_cast<const RankOnes&>(ones);
    const FactorLayout layout = cells.layout_here(*sums.layout);
    for (std::size_t c = 0; c < cells.chunks(); ++c) {
      std::vector<std::int64_t> totals(layout.components(), 0);
      ExactSum none;
      const CountSums sums_here{&layout, cells.sums_here(sums.rows), totals.data()};
      for (Counts* rows : sums_here.rows) rows->clear();
      if (cells.cells_of(c).size() > 0) host_->allocate_at_random(cells.ones_of(c), key, sums_here);
      add_to_owners(cells, c, sums, totals, none);
    }
  }

  // ---- columns

  double smallest_shape() const override { return host_->smallest_shape(); }
  void draw_gammas(const Columns& columns, StreamKey key, std::uint32_t t, Factors& u) override {
    host_->draw_gammas(ColumnsHere(columns), key, t, of_ranks(u).own);
  }
  // The sums of groups of rows, from all ranks, in order.
  std::vector<double> sum_columns(const Columns& columns, const Factors& u) override {
    const RankFactors& rows = of_ranks(u);
    const std::size_t P = u.columns();
    std::vector<double> packed;
    cpu::sum_row_groups(pool_, ColumnsHere(columns), rows.own, [&](const RowGroupSums& groups) {
      for (std::size_t g = 0; g < groups.group.size(); ++g)
        packed.insert(packed.end(), groups.sums.row(g), groups.sums.row(g) + P);
    });
    return added_in_order(rows.cut(), packed, P);
  }
  void scale_columns(const Columns& columns, const std::vector<float>& factor, Factors& u) override {
    host_->scale_columns(ColumnsHere(columns), factor, of_ranks(u).own);
  }
  // A column at a time: its logarithms come together on all ranks, for it is scaled by their largest.
  std::vector<double> draw_in_logs(const Columns& columns, const std::vector<std::size_t>& which,
                                   const std::vector<double>& log_rest, StreamKey key, std::uint32_t t,
                                   Factors& u) override {
    RankFactors& factors = of_ranks(u);
    const ColumnsHere here(columns);
    const Matrix<float>& shape = factors.own.values;
    const std::size_t rows = columns.rows == nullptr ? shape.rows() : here.rows.size();
    const auto row = [&](std::size_t i) { return columns.rows == nullptr ? i : here.rows[i]; };
    const std::size_t first = factors.rows_here().begin;
    const std::size_t begin = place_in_order(factors.cut(), rows);
    std::vector<double> sums;
    factors.own.sums_of_groups = {};
    for (const std::size_t q : which) {
      std::vector<double> mine(rows);
      of_ranks(columns.S).own.visit([&](const auto& S) {
        for (std::size_t i = 0; i < rows; ++i) {
          const double counts = static_cast<double>(S.row(row(i))[q]);
          mine[i] = log_gamma_at({key, t}, (static_cast<std::uint64_t>(first + row(i)) << 32) | q,
                                 columns.a + columns.scale * counts);
        }
      });
      std::vector<double> logs = in_order_of_rows(comm_, factors.cut(), mine.data(), mine.size());
      if (!log_rest.empty()) logs.push_back(log_rest[q]);
      sums.push_back(normalise_logs(logs, static_cast<double>(u.rows())));
      for (std::size_t i = 0; i < rows; ++i) factors.own.values.row(row(i))[q] = static_cast<float>(logs[begin + i]);
    }
    return sums;
  }
  std::vector<std::int64_t> sum_counts(const Columns& columns) override {
    std::vector<std::int64_t> sums = host_->sum_counts(ColumnsHere(columns));
    comm_.add_up(sums.data(), sums.size());
    return sums;
  }
  void mean_columns(const Columns& columns, const std::vector<float>& factor, Factors& u) override {
    host_->mean_columns(ColumnsHere(columns), factor, of_ranks(u).own);
  }

  // ---- what is imputed

  // As the kernel of the CPU does it, a component at a time over all rows: each rank takes some of the columns.
  double impute_diagonal(const Factors& u, const std::vector<double>& log_beta, StreamKey key,
                         const DrawSettings& settings, Counts& S, std::int64_t* totals) override {
    const RankFactors& factors = of_ranks(u);
    const std::size_t R = u.columns();
    const double log_cells = 2 * std::log(static_cast<double>(u.rows()));
    std::vector<double> mean = added_in_order(factors.cut(), cpu::sums_of_squares(pool_, factors.own), R);
    double rate = 0;
    for (std::size_t r = 0; r < R; ++r) rate += mean[r] *= std::exp(log_beta[r] - log_cells);
    const double unit = static_cast<double>(settings.unit);
    if (settings.expected) {
      std::vector<double> factor(R);
      for (std::size_t r = 0; r < R; ++r) {
        factor[r] = 2 * unit * std::exp(log_beta[r] - log_cells);
        totals[r] += std::llround(unit * mean[r]);
      }
      host_->spread(factors.own, {}, 2, factor, of_ranks(S).own);
      return rate;
    }
    std::vector<std::int64_t> drawn(R);
    std::vector<Stream> stream;
    for (std::size_t r = 0; r < R; ++r) {
      stream.emplace_back(key, settings.t, r);
      drawn[r] = draw_poisson(stream[r], mean[r]);
      totals[r] += drawn[r] * settings.unit;
    }
    place_by_columns(factors, drawn, stream, 2 * settings.unit, of_ranks(S).own);
    return rate;
  }

  std::vector<double> column_mass(const Factors& u, RowMask rows) override {
    const RankFactors& factors = of_ranks(u);
    std::vector<double> mass =
        added_in_order(factors.cut(), cpu::sums_of_places(pool_, factors.own.values, here(factors, rows)), u.columns());
    for (double& value : mass) value /= static_cast<double>(u.rows());
    return mass;
  }
  void place(const Factors& u, RowMask rows, const std::vector<std::int64_t>& totals, const Streams& streams,
             std::int64_t unit, Counts& S) override {
    if (std::all_of(totals.begin(), totals.end(), [](std::int64_t total) { return total == 0; })) return;
    const RankFactors& factors = of_ranks(u);
    const RowMask mask = here(factors, rows);
    const std::vector<double> mine = cpu::sums_of_places(pool_, factors.own.values, mask);
    const std::vector<double> all = in_order_of_rows(comm_, factors.cut(), mine.data(), mine.size());
    cpu::place(pool_, factors.own.values, mask, totals, streams, unit,
               {all.data(), all.size() / u.columns(), factors.rows_here().begin / rows_per_place}, of_ranks(S).own);
  }
  void spread(const Factors& u, RowMask rows, int power, const std::vector<double>& factor, Counts& S) override {
    const RankFactors& factors = of_ranks(u);
    host_->spread(factors.own, here(factors, rows), power, factor, of_ranks(S).own);
  }

  // ---- counts

  void shift(int bits, Counts& S) override { host_->shift(bits, of_ranks(S).own); }
  void move(const Counts& towards, double part, Counts& S) override {
    host_->move(of_ranks(towards).own, part, of_ranks(S).own);
  }
  Tally tally(const Counts& S) override {
    const Tally mine = host_->tally(of_ranks(S).own);
    std::map<std::int64_t, std::int64_t> all;
    for (const auto& part : comm_.all_gather(mine.data(), mine.size() * sizeof mine[0]))
      for (const auto& [value, times] : values_in<Tally::value_type>(part)) all[value] += times;
    return {all.begin(), all.end()};
  }

  // ---- scores: on all ranks

  void score(const std::uint32_t* coords, std::size_t count, const Rates& rates, double* z) override {
    score(scored_cells(coords, count, *rates.layout), rates, z);
  }
  void score(const Ones& ones, const Rates& rates, double* z) override {
    const auto& cells = dynamic_cast<const RankOnes&>(ones);
    const FactorLayout layout = cells.layout_here(*rates.layout);
    Rates here = rates;
    here.layout = &layout;
    std::vector<double> mine(cells.count_here());
    const auto score_chunk = [&](std::size_t c, const std::vector<const Factors*>& factors) {
      here.factors = factors;
      const Range range = cells.cells_of(c);
      if (range.size() > 0) host_->score(cells.coords_of(c), range.size(), here, mine.data() + range.begin);
    };
    for_chunks(cells, rates.factors, score_chunk, [](std::size_t) {});
    const std::vector<std::uint64_t>& which = cells.cells_here();
    const auto places = comm_.all_gather(which.data(), which.size() * sizeof which[0]);
    const auto values = comm_.all_gather(mine.data(), mine.size() * sizeof mine[0]);
    for (std::size_t rank = 0; rank < places.size(); ++rank) {
      const auto of_rank = values_in<std::uint64_t>(places[rank]);
      const auto z_of_rank = values_in<double>(values[rank]);
      for (std::size_t i = 0; i < of_rank.size(); ++i) z[of_rank[i]] = z_of_rank[i];
    }
  }
  void score_parts(const std::uint32_t*, std::size_t, const Rates&, double*) override { only_sampled(); }
  std::unique_ptr<CandidateRanking> candidates(const FactorLayout&, const CandidateSettings&) override {
    only_sampled();
  }

 private:
  // Of a call for all rows, what it is for those of this rank.
  struct ColumnsHere {
    explicit ColumnsHere(const Columns& columns)
        : columns_{of_ranks(columns.S).own, columns.a, columns.scale, columns.rows == nullptr ? nullptr : &rows} {
      const Range mine = of_ranks(columns.S).rows_here();
      if (columns.rows == nullptr) return;
      for (const std::uint32_t j : *columns.rows)
        if (mine.begin <= j && j < mine.end) rows.push_back(static_cast<std::uint32_t>(j - mine.begin));
    }
    operator const Columns&() const { return columns_; }  // NOLINT
    std::vector<std::uint32_t> rows;

   private:
    Columns columns_;
  };

  [[noreturn]] static void only_sampled() {
    throw Error(ErrorKind::usage, "the kernel of several processes is for sampling");
  }
  static RowMask here(const RankFactors& factors, RowMask rows) {
    return {rows.mask == nullptr ? nullptr : rows.mask + factors.rows_here().begin, rows.wanted};
  }

  RowCut cut_of(std::size_t rows, const RowPlace& place) const {
    if (place.matrix < partition_.cuts.size() && partition_.cuts[place.matrix].rows() == rows)
      return partition_.cuts[place.matrix];
    // Not one of the model, as what is of no use where a matrix is one-hot: all of it is the first rank's.
    return {{{0, rows, 0}}};
  }

  // For all chunks: work(chunk, factors), with copies of the factors that it needs, while those of the next are on their
  // way; then finish(chunk), in which ranks may talk to each other.
  template <class Work, class Finish>
  void for_chunks(const RankOnes& cells, const std::vector<const Factors*>& factors, const Work& work,
                  const Finish& finish) {
    cells.begin_fetch(0, factors, pool_);
    cells.end_fetch();
    for (std::size_t c = 0; c < cells.chunks(); ++c) {
      const std::vector<const Factors*> here = cells.fetched(c, factors, pool_);
      const bool more = c + 1 < cells.chunks();
      if (more) cells.begin_fetch(c + 1, factors, pool_);
      work(c, here);
      if (more) cells.end_fetch();
      finish(c);
    }
  }

  // Adds the sums of counts that this rank has of a chunk to the sums of all. Its totals and log-likelihood become those
  // of all ranks.
  void add_to_owners(const RankOnes& cells, std::size_t c, const CountSums& sums, std::vector<std::int64_t>& totals,
                     ExactSum& log_likelihood) {
    const FactorLayout& layout = *sums.layout;
    const std::size_t R = layout.components();
    log_likelihood.put_words(totals);
    comm_.add_up(totals.data(), totals.size());
    log_likelihood.take_words(totals);
    std::vector<std::int64_t> most(sums.rows.size(), 0);
    for (std::size_t f = 0; f < most.size(); ++f) {
      std::vector<std::int64_t> of_column(layout.size(f).columns, 0);
      for (std::size_t k = 0; k < layout.modes(); ++k)
        for (std::size_t r = 0; layout.matrix(k) == f && r < R; ++r) of_column[layout.column(k, r)] += totals[r];
      most[f] = *std::max_element(of_column.begin(), of_column.end());
    }
    cells.give_back(c, sums.rows, most, pool_);
    for (std::size_t r = 0; r < R; ++r) sums.totals[r] += totals[r];
  }

  // The parts of all ranks, in the order of the entries: moves of single counts need them all, on every rank.
  std::vector<Part> parts_of_all(const std::vector<Part>& mine) {
    std::vector<Part> all;
    for (const auto& of_rank : comm_.all_gather(mine.data(), mine.size() * sizeof(Part))) {
      const std::vector<Part> parts = values_in<Part>(of_rank);
      all.insert(all.end(), parts.begin(), parts.end());
    }
    std::stable_sort(all.begin(), all.end(), [](const Part& x, const Part& y) { return x.entry < y.entry; });
    return all;
  }

  // Rows of P numbers from all ranks, in order of the rows of the matrix that they stand for, added up in this order.
  std::vector<double> added_in_order(const RowCut& cut, const std::vector<double>& mine, std::size_t P) {
    const std::vector<double> all = in_order_of_rows(comm_, cut, mine.data(), mine.size());
    std::vector<double> sum(P, 0.0);
    for (std::size_t i = 0; i < all.size(); ++i) sum[i % P] += all[i];
    return sum;
  }

  // Where the values of this rank begin among those of all, of which each has so many.
  std::size_t place_in_order(const RowCut& cut, std::size_t mine) {
    const std::uint64_t count = mine;
    const auto counts = comm_.all_gather(&count, sizeof count);
    std::size_t before = 0;
    for (const RowCut::Share& share : cut.shares) {
      if (share.owner == comm_.rank()) break;
      before += values_in<std::uint64_t>(counts[share.owner])[0];
    }
    return before;
  }

  // Places drawn[r] counts on the rows in proportion to u[., r]^2. Column r comes to rank r modulo their number, whole,
  // and what it has placed goes to the owners of the rows.
  void place_by_columns(const RankFactors& u, const std::vector<std::int64_t>& drawn, std::vector<Stream>& stream,
                        std::int64_t unit, HostCounts& S) {
    struct Placed {
      std::uint32_t row, column;
      std::int64_t count;
    };
    const std::size_t ranks = comm_.size(), rows = u.rows_here().size();
    std::vector<std::vector<std::size_t>> columns_of(ranks);
    for (std::size_t r = 0; r < drawn.size(); ++r)
      if (drawn[r] > 0) columns_of[r % ranks].push_back(r);
    const std::vector<std::size_t>& mine = columns_of[comm_.rank()];
    std::vector<std::uint64_t> to_each(ranks), from_each(ranks);
    std::vector<float> send;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      for (const std::size_t r : columns_of[rank])
        for (std::size_t j = 0; j < rows; ++j) send.push_back(u.own.values.row(j)[r]);
      to_each[rank] = sizeof(float) * columns_of[rank].size() * rows;
      from_each[rank] = sizeof(float) * mine.size() * u.cut().of(rank).size();
    }
    std::vector<float> received(mine.size() * u.rows());
    comm_.exchange(send.data(), to_each.data(), received.data(), from_each.data());
    std::vector<std::size_t> begin(ranks, 0);  // of what each rank has sent
    for (std::size_t rank = 1; rank < ranks; ++rank)
      begin[rank] = begin[rank - 1] + mine.size() * u.cut().of(rank - 1).size();
    std::vector<std::vector<Placed>> placed(ranks);
    for (std::size_t i = 0; i < mine.size(); ++i) {
      std::vector<double> shares;
      for (const RowCut::Share& share : u.cut().shares) {
        const std::size_t size = share.end - share.begin;
        for (std::size_t j = 0; j < size; ++j) {
          const double value = static_cast<double>(received[begin[share.owner] + i * size + j]);
          shares.push_back(value * value);
        }
      }
      const std::size_t r = mine[i];
      draw_multinomial(stream[r], drawn[r], shares, [&](std::size_t j, std::int64_t part) {
        const RowCut::Share& share = u.cut().share_of(j);
        placed[share.owner].push_back(
            {static_cast<std::uint32_t>(j - share.begin), static_cast<std::uint32_t>(r), part * unit});
      });
    }
    std::vector<Placed> packed;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      to_each[rank] = sizeof(Placed) * placed[rank].size();
      packed.insert(packed.end(), placed[rank].begin(), placed[rank].end());
    }
    comm_.exchange_sizes(to_each.data(), from_each.data());
    std::vector<Placed> here(std::accumulate(from_each.begin(), from_each.end(), std::uint64_t{0}) / sizeof(Placed));
    comm_.exchange(packed.data(), to_each.data(), here.data(), from_each.data());
    S.make_room(unit * *std::max_element(drawn.begin(), drawn.end()));
    S.visit([&]<class T>(Matrix<T>& counts) {
      for (const Placed& part : here) counts.row(part.row)[part.column] += static_cast<T>(part.count);
    });
  }

  // Cells that are scored again and again, as held-out ones are, are kept.
  const Ones& scored_cells(const std::uint32_t* coords, std::size_t count, const FactorLayout& layout) {
    Hash hash;
    hash.add(coords, count * layout.modes() * sizeof *coords);
    const std::pair<std::uint64_t, std::size_t> name{hash.sum(), count};
    for (const auto& [of, ones] : scored_)
      if (of == name) return *ones;
    if (scored_.size() == 4) scored_.erase(scored_.begin());
    return *scored_.emplace_back(name, upload({.coords = coords, .count = count}, layout)).second;
  }

  Comm& comm_;
  Pool& pool_;
  const Partition partition_;
  const std::unique_ptr<Kernel> host_;
  std::vector<std::pair<std::pair<std::uint64_t, std::size_t>, std::unique_ptr<Ones>>> scored_;
};

}  // namespace

std::unique_ptr<Kernel> make_ranks_kernel(Comm& comm, Pool& pool, Partition partition) {
  return std::make_unique<RanksKernel>(comm, pool, std::move(partition));
}

}  // namespace ztp
