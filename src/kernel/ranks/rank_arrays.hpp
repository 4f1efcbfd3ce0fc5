// Factors and counts whose rows are shared out among the ranks of a job (row_cut.hpp): each has its own in an array of
// the host, and a copy where its kernel computes, if that is elsewhere.
#pragma once
#include <memory>

#include "comm/comm.hpp"
#include "kernel/host_arrays.hpp"
#include "kernel/part_kernel.hpp"
#include "kernel/ranks/row_cut.hpp"

namespace ztp {

// What the arrays of one rank have in common.
struct RankPlace {
  Comm& comm;
  Pool& pool;
  PartKernel* elsewhere;  // null: it computes on the host
};

// read, collect and write are called by all ranks alike. A rank writes its own rows.
template <class Base, class Own>
class RankRows : public Base {
  using Number = std::conditional_t<std::is_same_v<Base, Counts>, std::int64_t, float>;

 public:
  template <class... Wide>
  RankRows(const RankPlace& of, const RowCut& cut, std::size_t columns, RowPlace place, Wide... wide)
      : Base(cut.rows(), columns, place),
        of_(of),
        cut_(cut),
        rows_(cut.of(of.comm.rank())),
        own(rows_.size(), columns, wide..., place_here(place)) {}

  std::size_t bytes() const override { return own.bytes() + (there_ == nullptr ? 0 : there_->bytes()); }
  void read(Range rows, Number* values) const override {
    const std::vector<Number> mine = own_part(rows);
    put_together(rows, of_.comm.all_gather(mine.data(), mine.size() * sizeof(Number)), values);
  }
  void collect(Range rows, Number* values) const override {
    const std::vector<Number> mine = own_part(rows);
    const auto parts = of_.comm.gather(mine.data(), mine.size() * sizeof(Number), 0);
    if (of_.comm.rank() == 0) return put_together(rows, parts, values);
    std::fill_n(values, rows.size() * this->columns(), Number{0});
    std::copy(mine.begin(), mine.end(), values + (within(rows, rows_).begin - rows.begin) * this->columns());
  }
  void write(Range rows, const Number* values) override {
    const Range mine = within(rows, rows_);
    Own& to = change_on_host();
    if (mine.size() > 0)
      to.write({mine.begin - rows_.begin, mine.end - rows_.begin},
               values + (mine.begin - rows.begin) * this->columns());
  }
  std::size_t values_at_once() const override { return std::size_t{1} << 20; }

  const RowCut& cut() const { return cut_; }
  Range rows_here() const { return rows_; }

  // The rows of this rank on the host, as they should be, to look at or to change; and to look at where its kernel
  // computes.
  const Own& on_host() const {
    bring();
    return own;
  }
  Own& change_on_host() {
    bring();
    there_is_old_ = there_ != nullptr;
    return own;
  }
  const Base& part() const {
    if (there_ == nullptr) return own;
    send();
    return *there_;
  }

 protected:
  RowPlace place_here(const RowPlace& place) const { return {rows_.begin, cut_.rows(), place.matrix}; }
  virtual void bring() const {}   // to the host, if it is newer elsewhere
  virtual void send() const = 0;  // and the other way round

  const RankPlace of_;
  const RowCut cut_;
  const Range rows_;
  std::unique_ptr<Base> there_;  // where the kernel of this rank computes, unless that is the host
  mutable bool there_is_old_ = false;

 private:
  static Range within(Range rows, Range of) {
    const std::size_t begin = std::max(rows.begin, of.begin), end = std::min(rows.end, of.end);
    return begin < end ? Range{begin, end} : Range{rows.begin, rows.begin};
  }
  std::vector<Number> own_part(Range rows) const {
    const Range mine = within(rows, rows_);
    std::vector<Number> values(mine.size() * this->columns());
    const Own& from = on_host();
    if (mine.size() > 0) from.read({mine.begin - rows_.begin, mine.end - rows_.begin}, values.data());
    return values;
  }
  void put_together(Range rows, const std::vector<std::vector<std::byte>>& parts, Number* values) const {
    for (const RowCut::Share& share : cut_.shares) {
      const Range part = within(rows, {share.begin, share.end});
      if (part.size() == 0) continue;
      std::memcpy(values + (part.begin - rows.begin) * this->columns(), parts[share.owner].data(),
                  parts[share.owner].size());
    }
  }

 public:
  mutable Own own;  // those on the host, whether or not they are up to date
};

class RankFactors : public RankRows<Factors, HostFactors> {
 public:
  RankFactors(const RankPlace& of, const RowCut& cut, std::size_t columns, RowPlace place)
      : RankRows(of, cut, columns, place) {
    if (of.elsewhere != nullptr) there_ = of.elsewhere->factors(rows_.size(), columns, place_here(place));
  }

  Factors& change_part() {
    if (there_ == nullptr) return own;
    send();
    host_is_old_ = true;
    return *there_;
  }
  // Columns may be left as they were drawn, still to be multiplied by these factors. Everything sees to that first, but
  // for bring_drawn, which has the rows on the host as they were drawn.
  void leave_to_scale(std::vector<float> factor) const { to_scale_ = std::move(factor); }
  const std::vector<float>& to_scale() const { return to_scale_; }
  void bring_drawn() const {
    if (host_is_old_) of_.elsewhere->bring_factors(of_.pool, *there_, own);
    host_is_old_ = false;
  }
  void settle() const {
    if (to_scale_.empty()) return;
    of_.elsewhere->scale_later(to_scale_, *there_);
    to_scale_.clear();
    host_is_old_ = true;
  }

 private:
  void bring() const override {
    settle();
    bring_drawn();
  }
  void send() const override {
    settle();
    if (there_is_old_) of_.elsewhere->send_factors(of_.pool, own, *there_);
    there_is_old_ = false;
  }

  mutable bool host_is_old_ = false;
  mutable std::vector<float> to_scale_;
};

// They change on the host alone.
class RankCounts final : public RankRows<Counts, HostCounts> {
 public:
  RankCounts(const RankPlace& of, const RowCut& cut, std::size_t columns, RowPlace place, bool wide)
      : RankRows(of, cut, columns, place, wide) {
    if (of.elsewhere != nullptr) there_ = of.elsewhere->counts(rows_.size(), columns, wide, place_here(place));
  }
  void clear() override { change_on_host().clear(); }

 private:
  void send() const override {
    if (there_is_old_) of_.elsewhere->send_counts(of_.pool, own, *there_);
    there_is_old_ = false;
  }
};

inline const RankFactors& of_ranks(const Factors& factors) {
  return dynamic_cast<const RankFactors&>(factors);
}
inline RankFactors& of_ranks(Factors& factors) {
  return dynamic_cast<RankFactors&>(factors);
}
inline const RankCounts& of_ranks(const Counts& counts) {
  return dynamic_cast<const RankCounts&>(counts);
}
inline RankCounts& of_ranks(Counts& counts) {
  return dynamic_cast<RankCounts&>(counts);
}

}  // namespace ztp
