// A kernel whose arrays are out of reach, as those of a device would be. Its handles are types of its own. Their values
// are in pages that are locked except while a handle copies rows to or from the host: a cast to another kernel's handle
// throws std::bad_cast, and any other access is a fault. Ones are copied too: no host array has to outlive the upload.
// An operation copies all it needs to the host, lets another kernel compute there, and copies back what has changed. It
// makes the draws of that kernel.
#pragma once
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <new>
#include <stdexcept>
#include <utility>
#include <vector>

#include "kernel/part_kernel.hpp"

namespace ztp::test {

// All zero at first.
template <class T>
class LockedValues {
 public:
  explicit LockedValues(std::size_t count) : count_(count) {
    if (count == 0) return;  // there are no empty maps
    void* const pages = mmap(nullptr, bytes(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) throw std::bad_alloc();
    values_ = static_cast<T*>(pages);
  }
  LockedValues(std::size_t count, const T* from) : LockedValues(count) { write(0, count, from); }
  ~LockedValues() {
    if (count_ > 0) munmap(values_, bytes());
  }
  LockedValues(const LockedValues&) = delete;
  LockedValues& operator=(const LockedValues&) = delete;

  std::size_t bytes() const { return count_ * sizeof(T); }
  void read(std::size_t first, std::size_t count, T* to) const {
    unlocked(first, count, [&] { std::copy_n(values_ + first, count, to); });
  }
  void write(std::size_t first, std::size_t count, const T* from) {
    unlocked(first, count, [&] { std::copy_n(from, count, values_ + first); });
  }
  std::vector<T> all() const {
    std::vector<T> result(count_);
    read(0, count_, result.data());
    return result;
  }

 private:
  // Several threads may read the same handle at once.
  template <class Body>
  void unlocked(std::size_t first, std::size_t count, const Body& body) const {
    if (first > count_ || count > count_ - first) throw std::out_of_range("rows that are not there");
    if (count == 0) return;
    const std::lock_guard alone(mutex_);
    protect(first, count, PROT_READ | PROT_WRITE);
    body();
    protect(first, count, PROT_NONE);
  }
  // The pages that these values are on.
  void protect(std::size_t first, std::size_t count, int how) const {
    static const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t begin = first * sizeof(T) / page * page, end = (first + count) * sizeof(T);
    if (mprotect(reinterpret_cast<char*>(values_) + begin, end - begin, how) != 0) throw std::bad_alloc();
  }

  std::size_t count_;
  T* values_ = nullptr;
  mutable std::mutex mutex_;
};

// Base: Factors or Counts.
template <class Base, class T>
class ElsewhereRows : public Base {
 public:
  ElsewhereRows(std::size_t rows, std::size_t columns, RowPlace place)
      : Base(rows, columns, place), values_(rows * columns) {}
  std::size_t bytes() const override { return values_.bytes(); }
  void read(Range rows, T* packed) const override {
    values_.read(rows.begin * this->columns(), rows.size() * this->columns(), packed);
  }
  void write(Range rows, const T* packed) override {
    values_.write(rows.begin * this->columns(), rows.size() * this->columns(), packed);
  }

 private:
  LockedValues<T> values_;
};

class ElsewhereFactors final : public ElsewhereRows<Factors, float> {
 public:
  using ElsewhereRows::ElsewhereRows;
};

// Always wide.
class ElsewhereCounts final : public ElsewhereRows<Counts, std::int64_t> {
 public:
  using ElsewhereRows::ElsewhereRows;
  void clear() override { write({0, rows()}, std::vector<std::int64_t>(rows() * columns(), 0).data()); }
};

class ElsewhereOnes final : public Ones {
 public:
  ElsewhereOnes(const HostCells& cells, const FactorLayout& layout)
      : Ones(cells),
        layout_(layout),
        indexed_(cells.indexed),
        counted_(cells.observed != nullptr),
        numbered_(cells.numbers != nullptr),
        coords_(cells.count * layout.modes(), cells.coords),
        observed_(counted_ ? cells.count : 0, cells.observed),
        numbers_(numbered_ ? cells.count : 0, cells.numbers) {}
  std::size_t bytes() const override { return coords_.bytes() + observed_.bytes() + numbers_.bytes(); }

  // Calls body(ones) with ones of that kernel, which it keeps for as long.
  template <class Body>
  auto on_host(Kernel& host, const Body& body) const {
    const std::vector<std::uint32_t> coords = coords_.all();
    const std::vector<std::int64_t> observed = observed_.all();
    const std::vector<std::uint64_t> numbers = numbers_.all();
    const std::unique_ptr<Ones> ones = host.upload({.coords = coords.data(),
                                                    .observed = counted_ ? observed.data() : nullptr,
                                                    .count = count(),
                                                    .missing = missing(),
                                                    .first = first(),
                                                    .indexed = indexed_,
                                                    .numbers = numbered_ ? numbers.data() : nullptr},
                                                   layout_);
    return body(*ones);
  }

 private:
  const FactorLayout layout_;
  const bool indexed_, counted_, numbered_;
  const LockedValues<std::uint32_t> coords_;
  const LockedValues<std::int64_t> observed_;
  const LockedValues<std::uint64_t> numbers_;
};

class ElsewhereKernel final : public PartKernel {
 public:
  // host: the kernel that computes; for parts of a matrix, it must know them.
  explicit ElsewhereKernel(std::unique_ptr<Kernel> host)
      : host_(std::move(host)), of_parts_(dynamic_cast<PartKernel*>(host_.get())) {}

  std::unique_ptr<Factors> factors(std::size_t rows, std::size_t columns, RowPlace place) override {
    return std::make_unique<ElsewhereFactors>(rows, columns, place);
  }
  std::unique_ptr<Counts> counts(std::size_t rows, std::size_t columns, bool, RowPlace place) override {
    return std::make_unique<ElsewhereCounts>(rows, columns, place);
  }
  std::unique_ptr<Ones> upload(const HostCells& cells, const FactorLayout& layout) override {
    return std::make_unique<ElsewhereOnes>(cells, layout);
  }
  void reserve(std::size_t ones) override { host_->reserve(ones); }

  ExactSum allocate(const Ones& ones, const Rates& rates, StreamKey key, const DrawSettings& settings,
                    const CountSums& sums) override {
    const RatesHere factors(*this, rates);
    const SumsHere changed(*this, sums);
    return elsewhere(ones).on_host(
        *host_, [&](const Ones& here) { return host_->allocate(here, factors.rates, key, settings, changed.sums); });
  }
  void allocate_at_random(const Ones& ones, StreamKey key, const CountSums& sums) override {
    const SumsHere changed(*this, sums);
    elsewhere(ones).on_host(*host_, [&](const Ones& here) { host_->allocate_at_random(here, key, changed.sums); });
  }

  double smallest_shape() const override { return host_->smallest_shape(); }
  void draw_gammas(const Columns& columns, StreamKey key, std::uint32_t t, Factors& u) override {
    host_->draw_gammas(ColumnsHere(*this, columns).columns, key, t, *Changed(*this, u));
  }
  std::vector<double> sum_columns(const Columns& columns, const Factors& u) override {
    return host_->sum_columns(ColumnsHere(*this, columns).columns, *copy(u));
  }
  void scale_columns(const Columns& columns, const std::vector<float>& factor, Factors& u) override {
    host_->scale_columns(ColumnsHere(*this, columns).columns, factor, *Changed(*this, u));
  }
  std::vector<double> draw_in_logs(const Columns& columns, const std::vector<std::size_t>& which,
                                   const std::vector<double>& log_rest, StreamKey key, std::uint32_t t,
                                   Factors& u) override {
    return host_->draw_in_logs(ColumnsHere(*this, columns).columns, which, log_rest, key, t, *Changed(*this, u));
  }
  std::vector<double> sum_groups(const Columns& columns, const Factors& u) override {
    return of_parts_->sum_groups(ColumnsHere(*this, columns).columns, *copy(u));
  }
  std::vector<double> add_groups(const std::vector<double>& groups, const Columns& of) override {
    return of_parts_->add_groups(groups, of);
  }
  std::vector<double> log_gammas(const Columns& columns, std::size_t q, StreamKey key, std::uint32_t t,
                                 const Factors& u) override {
    return of_parts_->log_gammas(ColumnsHere(*this, columns).columns, q, key, t, *copy(u));
  }
  double normalise(std::vector<double>& logs, double n) override { return of_parts_->normalise(logs, n); }
  void write_column(const Columns& columns, std::size_t q, const double* values, Factors& u) override {
    of_parts_->write_column(ColumnsHere(*this, columns).columns, q, values, *Changed(*this, u));
  }
  std::vector<double> sums_of_squares(const Factors& u) override { return of_parts_->sums_of_squares(*copy(u)); }
  std::vector<double> sums_of_places(const Factors& u, RowMask rows) override {
    return of_parts_->sums_of_places(*copy(u), rows);
  }
  // Later is now: whoever may leave columns to be scaled gets the same draws as who may not.
  bool scales_later() const override { return true; }
  void scale_later(const std::vector<float>& factor, Factors& u) override {
    const Changed changed(*this, u);
    const auto all = host_->counts(u.rows(), u.columns(), true, {u.first_row(), u.all_rows()});
    host_->scale_columns({*all, 1}, factor, *changed);
  }
  std::vector<std::int64_t> sum_counts(const Columns& columns) override {
    return host_->sum_counts(ColumnsHere(*this, columns).columns);
  }
  void mean_columns(const Columns& columns, const std::vector<float>& factor, Factors& u) override {
    host_->mean_columns(ColumnsHere(*this, columns).columns, factor, *Changed(*this, u));
  }

  double impute_diagonal(const Factors& u, const std::vector<double>& log_beta, StreamKey key,
                         const DrawSettings& settings, Counts& S, std::int64_t* totals) override {
    return host_->impute_diagonal(*copy(u), log_beta, key, settings, *Changed(*this, S), totals);
  }
  std::vector<double> column_mass(const Factors& u, RowMask rows) override {
    return host_->column_mass(*copy(u), rows);
  }
  void place(const Factors& u, RowMask rows, const std::vector<std::int64_t>& totals, const Streams& streams,
             std::int64_t unit, Counts& S) override {
    host_->place(*copy(u), rows, totals, streams, unit, *Changed(*this, S));
  }
  void spread(const Factors& u, RowMask rows, int power, const std::vector<double>& factor, Counts& S) override {
    host_->spread(*copy(u), rows, power, factor, *Changed(*this, S));
  }

  void shift(int bits, Counts& S) override { host_->shift(bits, *Changed(*this, S)); }
  void move(const Counts& towards, double part, Counts& S) override {
    host_->move(*copy(towards), part, *Changed(*this, S));
  }
  Tally tally(const Counts& S) override { return host_->tally(*copy(S)); }

  void score(const std::uint32_t* coords, std::size_t count, const Rates& rates, double* z) override {
    host_->score(coords, count, RatesHere(*this, rates).rates, z);
  }
  void score_parts(const std::uint32_t* coords, std::size_t count, const Rates& rates, double* parts) override {
    host_->score_parts(coords, count, RatesHere(*this, rates).rates, parts);
  }
  void score(const Ones& cells, const Rates& rates, double* z) override {
    const RatesHere factors(*this, rates);
    elsewhere(cells).on_host(*host_, [&](const Ones& here) { host_->score(here, factors.rates, z); });
  }
  // Those of the CPU read any handle.
  std::unique_ptr<CandidateRanking> candidates(const FactorLayout& layout, const CandidateSettings& settings) override {
    return host_->candidates(layout, settings);
  }

 private:
  static const ElsewhereOnes& elsewhere(const Ones& ones) { return dynamic_cast<const ElsewhereOnes&>(ones); }

  template <class T>
  static void copy_rows(const RowArray<T>& from, RowArray<T>& to) {
    for_blocks_of_rows(from, [&](Range rows, const T* values) { to.write(rows, values); });
  }
  // On the host. Of handles that this kernel has made: of others, std::bad_cast.
  std::unique_ptr<Factors> copy(const Factors& u) {
    auto here = host_->factors(u.rows(), u.columns(), {u.first_row(), u.all_rows()});
    copy_rows(dynamic_cast<const ElsewhereFactors&>(u), *here);
    return here;
  }
  std::unique_ptr<Counts> copy(const Counts& S) {
    auto here = host_->counts(S.rows(), S.columns(), true, {S.first_row(), S.all_rows()});
    copy_rows(dynamic_cast<const ElsewhereCounts&>(S), *here);
    return here;
  }

  // A copy whose values go back at the end of the operation.
  template <class Array>
  class Changed {
   public:
    Changed(ElsewhereKernel& kernel, Array& there) : there_(there), here_(kernel.copy(there)) {}
    ~Changed() { copy_rows(*here_, there_); }
    Array& operator*() const { return *here_; }

   private:
    Array& there_;
    std::unique_ptr<Array> here_;
  };

  struct ColumnsHere {
    ColumnsHere(ElsewhereKernel& kernel, const Columns& of)
        : S(kernel.copy(of.S)), columns{*S, of.a, of.scale, of.rows} {}
    const std::unique_ptr<Counts> S;
    const Columns columns;
  };
  struct RatesHere {
    RatesHere(ElsewhereKernel& kernel, const Rates& of) : rates(of) {
      for (const Factors*& u : rates.factors) u = factors.emplace_back(kernel.copy(*u)).get();
    }
    std::vector<std::unique_ptr<Factors>> factors;
    Rates rates;
  };
  struct SumsHere {
    SumsHere(ElsewhereKernel& kernel, const CountSums& of) : sums(of) {
      for (Counts*& S : sums.rows) S = &**rows.emplace_back(std::make_unique<Changed<Counts>>(kernel, *S));
    }
    std::vector<std::unique_ptr<Changed<Counts>>> rows;
    CountSums sums;
  };

  const std::unique_ptr<Kernel> host_;
  PartKernel* const of_parts_;
};

}  // namespace ztp::test
