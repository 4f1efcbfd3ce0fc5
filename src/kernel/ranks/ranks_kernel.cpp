#include "kernel/ranks/ranks_kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <utility>

#include "base/hash.hpp"
#include "kernel/cpu/cpu_kernel.hpp"
#include "kernel/cpu/place.hpp"
#include "kernel/ranks/place_by_columns.hpp"
#include "kernel/ranks/rank_ones.hpp"
#include "kernel/ranks/shared_ones.hpp"
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
  RanksKernel(Comm& comm, Pool& pool, Partition partition, std::unique_ptr<PartKernel> elsewhere)
      : comm_(comm),
        pool_(pool),
        partition_(std::move(partition)),
        host_(make_cpu_kernel(pool)),
        elsewhere_(std::move(elsewhere)),
        kernel_(elsewhere_ == nullptr ? *host_ : *elsewhere_),
        place_{comm, pool, elsewhere_.get()},
        shares_memory_(elsewhere_ == nullptr && SharedMemory::make(comm, 1) != nullptr),
        allocator_(pool) {}

  std::unique_ptr<Factors> factors(std::size_t rows, std::size_t columns, RowPlace place) override {
    const RowCut cut = cut_of(rows, place);
    if (!shares_memory_) return std::make_unique<RankFactors>(place_, cut, columns, place);
    auto memory = SharedMemory::make(comm_, Matrix<float>::bytes_of(rows, columns));
    if (memory == nullptr)
      throw Error(ErrorKind::config,
                  fmt::format("the processes of this machine cannot share {:.1f} GB of memory; with "
                              "ZTP_SHARED_MEMORY=0 in the environment they exchange messages instead",
                              1e-9 * static_cast<double>(Matrix<float>::bytes_of(rows, columns))));
    return std::make_unique<SharedFactors>(place_, cut, columns, place, std::move(memory));
  }
  std::unique_ptr<Counts> counts(std::size_t rows, std::size_t columns, bool wide, RowPlace place) override {
    return std::make_unique<RankCounts>(place_, cut_of(rows, place), columns, place, wide);
  }
  std::unique_ptr<Ones> upload(const HostCells& cells, const FactorLayout& layout) override {
    CellsHere here = cells_here(cells, layout, partition_, comm_);
    if (shares_memory_ && SharedOnes::suits(cells, layout, partition_))
      if (auto ones = SharedOnes::make(cells, here, layout, partition_, comm_, pool_)) return ones;
    return make_rank_ones(cells, std::move(here), layout);
  }

  // ---- counts of cells

  ExactSum allocate(const Ones& ones, const Rates& rates, StreamKey key, const DrawSettings& settings,
                    const CountSums& sums) override {
    if (const auto* shared = dynamic_cast<const SharedOnes*>(&ones); shared != nullptr && !settings.expected)
      return allocate_shared(*shared, rates, key, settings, sums);
    const RankOnes& cells = by_messages(ones, *rates.layout);
    const FactorLayout layout = cells.layout_here(*rates.layout);
    Rates here = rates;
    here.layout = &layout;
    ExactSum log_likelihood, of_chunk;
    std::vector<Part> parts;
    std::vector<std::int64_t> totals;
    const auto draw = [&](std::size_t c, const std::vector<Factors*>& factors) {
      here.factors.assign(factors.begin(), factors.end());
      leave_to_scale(rates.factors, factors);
      DrawSettings fresh = settings;
      fresh.fresh = true;
      Allocation parts_here;
      if (settings.parts != nullptr) fresh.parts = &parts_here;
      totals.assign(rates.R(), 0);
      of_chunk = {};
      const CountSums sums_here{&layout, cells.sums_here(sums.rows), totals.data()};
      if (cells.cells_of(c).size() > 0) of_chunk = kernel_.allocate(cells.ones_of(c), here, key, fresh, sums_here);
      add_parts(parts_here, cells.cells_here().data() + cells.cells_of(c).begin, parts);
    };
    for (const Factors* u : rates.factors) of_ranks(*u).bring_drawn();
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
    if (const auto* shared = dynamic_cast<const SharedOnes*>(&ones))
      return shared->allocate_at_random(key, sums, allocator_, pool_);
    const auto& cells = dynamic_cast<const RankOnes&>(ones);
    const FactorLayout layout = cells.layout_here(*sums.layout);
    for (std::size_t c = 0; c < cells.chunks(); ++c) {
      std::vector<std::int64_t> totals(layout.components(), 0);
      ExactSum none;
      const CountSums sums_here{&layout, cells.sums_here(sums.rows), totals.data()};
      for (Counts* rows : sums_here.rows) rows->clear();
      if (cells.cells_of(c).size() > 0) kernel_.allocate_at_random(cells.ones_of(c), key, sums_here);
      add_to_owners(cells, c, sums, totals, none);
    }
  }

  // ---- columns

  double smallest_shape() const override { return kernel_.smallest_shape(); }
  void draw_gammas(const Columns& columns, StreamKey key, std::uint32_t t, Factors& u) override {
    if (const ColumnsHere here(columns); here.any()) kernel_.draw_gammas(here, key, t, of_ranks(u).change_part());
  }
  std::vector<double> sum_columns(const Columns& columns, const Factors& u) override {
    return sums_of_all(columns, of_ranks(u));
  }
  void scale_columns(const Columns& columns, const std::vector<float>& factor, Factors& u) override {
    if (const ColumnsHere here(columns); here.any()) kernel_.scale_columns(here, factor, of_ranks(u).change_part());
  }
  // Where one process would leave columns to be scaled later, several do as well. On the host all matrices wait to be
  // drawn together, so that ranks wait for each other once.
  bool begin_columns(const Columns& columns, StreamKey key, std::uint32_t t, Factors& u) override {
    if (kernel_.scales_later()) {
      draw_gammas(columns, key, t, u);
      begun_.erase(&u);  // left over, if a sweep has failed
      begun_.emplace(&u, columns);
      return true;
    }
    drawn_.clear();
    const auto is_u = [&](const BegunColumns& begun) { return begun.u == &u; };
    if (std::any_of(waiting_.begin(), waiting_.end(), is_u)) waiting_.clear();  // likewise
    waiting_.push_back({columns, key, t, &u});
    return true;
  }
  void start_columns() override {
    const std::vector<BegunColumns> all = std::exchange(waiting_, {});
    if (all.empty()) return;
    std::vector<double> packed;
    for (const BegunColumns& begun : all) {
      draw_gammas(begun.columns, begun.key, begun.t, *begun.u);
      const std::vector<double> mine = sums_of_groups(begun.columns, of_ranks(*begun.u));
      packed.insert(packed.end(), mine.begin(), mine.end());
    }
    const auto of_all = comm_.all_gather(packed.data(), packed.size() * sizeof packed[0]);
    std::vector<std::size_t> next(of_all.size(), 0);  // byte of what each rank gave
    for (const BegunColumns& begun : all) {
      std::vector<double> groups;
      for (const RowCut::Share& share : of_ranks(*begun.u).cut().shares) {
        const std::size_t count = Blocks{share.end - share.begin, rows_of_sum(begun.u->rows())}.count();
        groups.resize(groups.size() + count * begun.u->columns());
        const std::size_t bytes = count * begun.u->columns() * sizeof(double);
        std::memcpy(groups.data() + groups.size() - count * begun.u->columns(),
                    of_all[share.owner].data() + next[share.owner], bytes);
        next[share.owner] += bytes;
      }
      std::vector<double> sums = kernel_.add_groups(groups, begun.columns);
      std::vector<float> factor;
      for (const double sum : sums) factor.push_back(column_factor(begun.u->rows(), sum));
      scale_columns(begun.columns, factor, *begun.u);
      drawn_.emplace_back(begun.u, std::move(sums));
    }
  }
  std::vector<double> end_columns(const Factors& u) override {
    if (!kernel_.scales_later()) {
      if (!waiting_.empty()) start_columns();
      const auto of_u = std::find_if(drawn_.begin(), drawn_.end(), [&](const auto& of) { return of.first == &u; });
      return std::move(of_u->second);
    }
    const Columns columns = begun_.extract(&u).mapped();
    const std::vector<double> sums = sums_of_all(columns, of_ranks(u));
    std::vector<float> factor;
    for (const double sum : sums) factor.push_back(column_factor(u.rows(), sum));
    of_ranks(u).leave_to_scale(std::move(factor));
    if (PartKernel::far_from_one(sums, u.rows())) of_ranks(u).settle();
    return sums;
  }
  // A column at a time: its logarithms come together on all ranks, for it is scaled by their largest.
  std::vector<double> draw_in_logs(const Columns& columns, const std::vector<std::size_t>& which,
                                   const std::vector<double>& log_rest, StreamKey key, std::uint32_t t,
                                   Factors& u) override {
    RankFactors& factors = of_ranks(u);
    const ColumnsHere here(columns);
    Factors& part = factors.change_part();
    const std::size_t begin = place_in_order(factors.cut(), here.count());
    std::vector<double> sums;
    for (const std::size_t q : which) {
      const std::vector<double> mine = here.any() ? kernel_.log_gammas(here, q, key, t, part) : std::vector<double>();
      std::vector<double> logs = in_order_of_rows(comm_, factors.cut(), mine.data(), mine.size());
      if (!log_rest.empty()) logs.push_back(log_rest[q]);
      sums.push_back(kernel_.normalise(logs, static_cast<double>(u.rows())));
      if (here.any()) kernel_.write_column(here, q, logs.data() + begin, part);
    }
    return sums;
  }
  std::vector<std::int64_t> sum_counts(const Columns& columns) override {
    std::vector<std::int64_t> sums = host_->sum_counts(ColumnsHere(columns, true));
    comm_.add_up(sums.data(), sums.size());
    return sums;
  }
  void mean_columns(const Columns& columns, const std::vector<float>& factor, Factors& u) override {
    if (const ColumnsHere here(columns); here.any()) kernel_.mean_columns(here, factor, of_ranks(u).change_part());
  }

  // ---- what is imputed

  // As the kernel of the CPU does it, a component at a time over all rows: each rank takes some of the columns.
  double impute_diagonal(const Factors& u, const std::vector<double>& log_beta, StreamKey key,
                         const DrawSettings& settings, Counts& S, std::int64_t* totals) override {
    const RankFactors& factors = of_ranks(u);
    const std::size_t R = u.columns();
    const double log_cells = 2 * std::log(static_cast<double>(u.rows()));
    std::vector<double> mean = added_in_order(
        factors.cut(), of_part(factors, [&](const Factors& part) { return kernel_.sums_of_squares(part); }), R);
    double rate = 0;
    for (std::size_t r = 0; r < R; ++r) rate += mean[r] *= std::exp(log_beta[r] - log_cells);
    const double unit = static_cast<double>(settings.unit);
    if (settings.expected) {
      std::vector<double> factor(R);
      for (std::size_t r = 0; r < R; ++r) {
        factor[r] = 2 * unit * std::exp(log_beta[r] - log_cells);
        totals[r] += std::llround(unit * mean[r]);
      }
      host_->spread(factors.on_host(), {}, 2, factor, of_ranks(S).change_on_host());
      return rate;
    }
    std::vector<std::int64_t> drawn(R);
    std::vector<Stream> stream;
    for (std::size_t r = 0; r < R; ++r) {
      stream.emplace_back(key, settings.t, r);
      drawn[r] = draw_poisson(stream[r], mean[r]);
      totals[r] += drawn[r] * settings.unit;
    }
    place_by_columns(comm_, factors, drawn, stream, 2 * settings.unit, of_ranks(S).change_on_host());
    return rate;
  }

  std::vector<double> column_mass(const Factors& u, RowMask rows) override {
    const RankFactors& factors = of_ranks(u);
    std::vector<double> mass = added_in_order(factors.cut(), sums_of_places(factors, rows), u.columns());
    for (double& value : mass) value /= static_cast<double>(u.rows());
    return mass;
  }
  void place(const Factors& u, RowMask rows, const std::vector<std::int64_t>& totals, const Streams& streams,
             std::int64_t unit, Counts& S) override {
    if (std::all_of(totals.begin(), totals.end(), [](std::int64_t total) { return total == 0; })) return;
    const RankFactors& factors = of_ranks(u);
    const RowMask mask = here(factors, rows);
    const std::vector<double> mine = sums_of_places(factors, rows);
    const std::vector<double> all = in_order_of_rows(comm_, factors.cut(), mine.data(), mine.size());
    cpu::place(pool_, factors.on_host().values, mask, totals, streams, unit,
               {all.data(), all.size() / u.columns(), factors.rows_here().begin / rows_per_place},
               of_ranks(S).change_on_host());
  }
  void spread(const Factors& u, RowMask rows, int power, const std::vector<double>& factor, Counts& S) override {
    const RankFactors& factors = of_ranks(u);
    host_->spread(factors.on_host(), here(factors, rows), power, factor, of_ranks(S).change_on_host());
  }

  // ---- counts

  void shift(int bits, Counts& S) override { host_->shift(bits, of_ranks(S).change_on_host()); }
  void move(const Counts& towards, double part, Counts& S) override {
    host_->move(of_ranks(towards).on_host(), part, of_ranks(S).change_on_host());
  }
  Tally tally(const Counts& S) override {
    const Tally mine = host_->tally(of_ranks(S).on_host());
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
    const RankOnes& cells = by_messages(ones, *rates.layout);
    const FactorLayout layout = cells.layout_here(*rates.layout);
    Rates here = rates;
    here.layout = &layout;
    std::vector<double> mine(cells.count_here());
    const auto score_chunk = [&](std::size_t c, const std::vector<Factors*>& factors) {
      here.factors.assign(factors.begin(), factors.end());
      const Range range = cells.cells_of(c);
      if (range.size() > 0) kernel_.score(cells.coords_of(c), range.size(), here, mine.data() + range.begin);
    };
    for (const Factors* u : rates.factors) of_ranks(*u).on_host();
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
    explicit ColumnsHere(const Columns& columns, bool on_host = false)
        : columns_{on_host ? of_ranks(columns.S).on_host() : of_ranks(columns.S).part(), columns.a, columns.scale,
                   columns.rows == nullptr ? nullptr : &rows} {
      const Range mine = of_ranks(columns.S).rows_here();
      if (columns.rows == nullptr) return;
      for (const std::uint32_t j : *columns.rows)
        if (mine.begin <= j && j < mine.end) rows.push_back(static_cast<std::uint32_t>(j - mine.begin));
    }
    operator const Columns&() const { return columns_; }  // NOLINT
    std::size_t count() const { return columns_.rows == nullptr ? columns_.S.rows() : rows.size(); }
    bool any() const { return count() > 0; }
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

  // make(part): a list of the rows of this rank; empty, if it has none.
  template <class Make>
  static std::vector<double> of_part(const RankFactors& u, const Make& make) {
    return u.rows_here().size() == 0 ? std::vector<double>() : make(u.part());
  }
  std::vector<double> sums_of_places(const RankFactors& u, RowMask rows) {
    return of_part(u, [&](const Factors& part) { return kernel_.sums_of_places(part, here(u, rows)); });
  }
  std::vector<double> sums_of_groups(const Columns& columns, const RankFactors& u) {
    const ColumnsHere here(columns);
    return here.any() ? kernel_.sum_groups(here, u.part()) : std::vector<double>();
  }
  // Of groups of rows, from all ranks, in order.
  std::vector<double> sums_of_all(const Columns& columns, const RankFactors& u) {
    const std::vector<double> mine = sums_of_groups(columns, u);
    return kernel_.add_groups(in_order_of_rows(comm_, u.cut(), mine.data(), mine.size()), columns);
  }
  // Copies of rows are to be scaled as those are that they were copied from.
  void leave_to_scale(const std::vector<const Factors*>& of_all, const std::vector<Factors*>& copies) {
    for (std::size_t f = 0; f < copies.size(); ++f)
      if (const std::vector<float>& factor = of_ranks(*of_all[f]).to_scale(); !factor.empty())
        kernel_.scale_later(factor, *copies[f]);
  }
  std::unique_ptr<RankOnes> make_rank_ones(const HostCells& cells, CellsHere here, const FactorLayout& layout) {
    return std::make_unique<RankOnes>(cells, std::move(here), layout, partition_.room, place_, kernel_);
  }
  // Ones that are in common memory, too, for what needs messages.
  const RankOnes& by_messages(const Ones& ones, const FactorLayout& layout) {
    const auto* const shared = dynamic_cast<const SharedOnes*>(&ones);
    if (shared == nullptr) return dynamic_cast<const RankOnes&>(ones);
    if (shared->by_messages == nullptr)
      shared->by_messages =
          make_rank_ones(shared->of_all(), cells_here(shared->of_all(), layout, partition_, comm_), layout);
    return *shared->by_messages;
  }

  ExactSum allocate_shared(const SharedOnes& ones, const Rates& rates, StreamKey key, const DrawSettings& settings,
                           const CountSums& sums) {
    DrawSettings here = settings;
    Allocation parts_here;
    if (settings.parts != nullptr) here.parts = &parts_here;
    const ExactSum log_likelihood = ones.allocate(rates, key, here, sums, allocator_, pool_);
    if (settings.parts == nullptr) return log_likelihood;
    std::vector<Part> parts;
    add_parts(parts_here, ones.cells_here().data(), parts);
    *settings.parts = {parts_of_all(parts)};
    return log_likelihood;
  }

  // For all chunks: work(chunk, factors), with copies of the factors that it needs, while those of the next one travel;
  // then finish(chunk), in which ranks may talk to each other.
  template <class Work, class Finish>
  void for_chunks(const RankOnes& cells, const std::vector<const Factors*>& factors, const Work& work,
                  const Finish& finish) {
    cells.begin_fetch(0, factors, pool_);
    cells.end_fetch();
    for (std::size_t c = 0; c < cells.chunks(); ++c) {
      const std::vector<Factors*> here = cells.fetched(c, factors, pool_);
      const bool more = c + 1 < cells.chunks();
      if (more) cells.begin_fetch(c + 1, factors, pool_);
      work(c, here);
      if (more) cells.end_fetch();
      finish(c);
    }
  }

  // Adds this rank's sums of counts of a chunk to the sums of all ranks. The totals and log-likelihood become those of
  // all ranks.
  void add_to_owners(const RankOnes& cells, std::size_t c, const CountSums& sums, std::vector<std::int64_t>& totals,
                     ExactSum& log_likelihood) {
    const FactorLayout& layout = *sums.layout;
    log_likelihood.put_words(totals);
    comm_.add_up(totals.data(), totals.size());
    log_likelihood.take_words(totals);
    for (Counts* rows : sums.rows) of_ranks(*rows).change_on_host();
    cells.give_back(c, sums.rows, most_counts(layout, totals), pool_);
    for (std::size_t r = 0; r < layout.components(); ++r) sums.totals[r] += totals[r];
  }

  // number: of each entry.
  static void add_parts(const Allocation& of_entries, const std::uint64_t* number, std::vector<Part>& parts) {
    for (const std::vector<Part>& block : of_entries)
      for (const Part& part : block)
        parts.push_back({static_cast<std::uint32_t>(number[part.entry]), part.component, part.count});
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
  const std::unique_ptr<PartKernel> host_, elsewhere_;
  PartKernel& kernel_;  // of these two the one that computes what is most of the work
  const RankPlace place_;
  const bool shares_memory_;
  cpu::Allocator allocator_;                 // of ones in common memory
  std::map<const Factors*, Columns> begun_;  // whose columns have been drawn elsewhere, until end_columns
  struct BegunColumns {
    Columns columns;
    StreamKey key;
    std::uint32_t t;
    Factors* u;
  };
  std::vector<BegunColumns> waiting_;                                  // columns that were begun on the host
  std::vector<std::pair<const Factors*, std::vector<double>>> drawn_;  // and those that were drawn: their sums
  std::vector<std::pair<std::pair<std::uint64_t, std::size_t>, std::unique_ptr<Ones>>> scored_;
};

}  // namespace

std::unique_ptr<Kernel> make_ranks_kernel(Comm& comm, Pool& pool, Partition partition,
                                          std::unique_ptr<PartKernel> elsewhere) {
  return std::make_unique<RanksKernel>(comm, pool, std::move(partition), std::move(elsewhere));
}

}  // namespace ztp
