// Factors and counts whose rows are shared out among the ranks of a job (row_cut.hpp): each has its own in an array of
// the host.
#pragma once
#include <memory>

#include "comm/comm.hpp"
#include "kernel/host_arrays.hpp"
#include "kernel/ranks/row_cut.hpp"

namespace ztp {

// read, collect and write are called by all ranks alike. A rank writes its own rows.
template <class Base, class Own>
class RankRows final : public Base {
  using Number = std::conditional_t<std::is_same_v<Base, Counts>, std::int64_t, float>;

 public:
  template <class... Wide>
  RankRows(Comm& comm, const RowCut& cut, std::size_t columns, RowPlace place, Wide... wide)
      : Base(cut.rows(), columns, place),
        comm_(comm),
        cut_(cut),
        rows_(cut.of(comm.rank())),
        own(rows_.size(), columns, wide..., RowPlace{rows_.begin, cut.rows(), place.matrix}) {}

  std::size_t bytes() const override { return own.bytes(); }
  void read(Range rows, Number* values) const override {
    const std::vector<Number> mine = own_part(rows);
    put_together(rows, comm_.all_gather(mine.data(), mine.size() * sizeof(Number)), values);
  }
  void collect(Range rows, Number* values) const override {
    const std::vector<Number> mine = own_part(rows);
    const auto parts = comm_.gather(mine.data(), mine.size() * sizeof(Number), 0);
    if (comm_.rank() == 0) return put_together(rows, parts, values);
    std::fill_n(values, rows.size() * this->columns(), Number{0});
    std::copy(mine.begin(), mine.end(), values + (within(rows, rows_).begin - rows.begin) * this->columns());
  }
  void write(Range rows, const Number* values) override {
    const Range mine = within(rows, rows_);
    if (mine.size() > 0)
      own.write({mine.begin - rows_.begin, mine.end - rows_.begin},
                values + (mine.begin - rows.begin) * this->columns());
  }
  std::size_t values_at_once() const override { return std::size_t{1} << 20; }
  void clear() { own.clear(); }

  const RowCut& cut() const { return cut_; }
  Range rows_here() const { return rows_; }

 private:
  static Range within(Range rows, Range of) {
    const std::size_t begin = std::max(rows.begin, of.begin), end = std::min(rows.end, of.end);
    return begin < end ? Range{begin, end} : Range{rows.begin, rows.begin};
  }
  std::vector<Number> own_part(Range rows) const {
    const Range mine = within(rows, rows_);
    std::vector<Number> values(mine.size() * this->columns());
    if (mine.size() > 0) own.read({mine.begin - rows_.begin, mine.end - rows_.begin}, values.data());
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

  Comm& comm_;
  const RowCut cut_;
  const Range rows_;

 public:
  Own own;
};

using RankFactors = RankRows<Factors, HostFactors>;
using RankCounts = RankRows<Counts, HostCounts>;

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
