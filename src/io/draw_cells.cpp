#include "io/draw_cells.hpp"

#include <algorithm>
#include <limits>

#include "tensor/records.hpp"

namespace ztp {

// Draws in rounds until there are enough distinct numbers; by symmetry every subset is equally likely. If more than
// half of the population is wanted, the complement is drawn: at most 1.4 draws per number.
std::vector<std::uint64_t> draw_subset(StreamKey key, std::uint64_t population, std::uint64_t count) {
  const bool complement = count > population / 2;
  const std::uint64_t wanted = complement ? population - count : count;
  std::vector<std::uint64_t> chosen;
  chosen.reserve(wanted);
  for (std::uint32_t round = 0; chosen.size() < wanted; ++round) {
    Stream stream(key, round, 0);
    const std::ptrdiff_t sorted = static_cast<std::ptrdiff_t>(chosen.size());
    while (chosen.size() < wanted) chosen.push_back(stream.below(population));
    std::sort(chosen.begin() + sorted, chosen.end());
    std::inplace_merge(chosen.begin(), chosen.begin() + sorted, chosen.end());
    chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  }
  if (!complement) return chosen;
  std::vector<std::uint64_t> rest;
  rest.reserve(count);
  auto next = chosen.begin();
  for (std::uint64_t i = 0; i < population; ++i) {
    if (next != chosen.end() && *next == i)
      ++next;
    else
      rest.push_back(i);
  }
  return rest;
}

ObservedBox::ObservedBox(const SparseTensor& tensor, const Missing& missing)
    : observed_(tensor.order()), first_(tensor.order(), 0) {
  for (std::size_t k = 0; k < tensor.order(); ++k) {
    size_.push_back(tensor.modes[k].labels.size());
    if (k >= missing.slices.size() || missing.slices[k].empty()) continue;
    auto next = missing.slices[k].begin();
    for (std::uint32_t j = 0; j < size_[k]; ++j) {
      if (next != missing.slices[k].end() && *next == j)
        ++next;
      else
        observed_[k].push_back(j);
    }
    size_[k] = static_cast<std::uint32_t>(observed_[k].size());
  }
}

std::uint32_t ObservedBox::place(std::size_t k, std::uint32_t j) const {
  if (observed_[k].empty()) return j;
  return static_cast<std::uint32_t>(std::lower_bound(observed_[k].begin(), observed_[k].end(), j) -
                                    observed_[k].begin());
}

void ObservedBox::keep_from(std::size_t mode, std::uint32_t entity) {
  const std::uint32_t end = first_[mode] + size_[mode];
  first_[mode] = place(mode, entity);
  size_[mode] = end - first_[mode];
}

std::optional<std::uint64_t> ObservedBox::volume() const {
  uint128 cells = 1;
  for (const std::uint32_t n : size_)
    if ((cells *= n) > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return std::nullopt;
  return static_cast<std::uint64_t>(cells);
}

bool ObservedBox::contains(const std::uint32_t* cell) const {
  for (std::size_t k = 0; k < size_.size(); ++k) {
    const std::uint32_t p = place(k, cell[k]);
    if (p < first_[k] || p - first_[k] >= size_[k]) return false;
    if (!observed_[k].empty() && observed_[k][p] != cell[k]) return false;
  }
  return true;
}

std::uint64_t ObservedBox::count(std::span<const std::uint32_t> cells) const {
  std::uint64_t inside = 0;
  for (std::size_t i = 0; i < cells.size(); i += order()) inside += contains(cells.data() + i) ? 1 : 0;
  return inside;
}

std::uint64_t ObservedBox::index(const std::uint32_t* cell) const {
  std::uint64_t number = 0;
  for (std::size_t k = 0; k < size_.size(); ++k) number = number * size_[k] + (place(k, cell[k]) - first_[k]);
  return number;
}

void ObservedBox::cell(std::uint64_t number, std::uint32_t* out) const {
  for (std::size_t k = size_.size(); k-- > 0; number /= size_[k])
    out[k] = entity(k, static_cast<std::uint32_t>(number % size_[k]));
}

namespace {

// The cells of both lists, in order.
class ExcludedInOrder {
 public:
  ExcludedInOrder(const ExcludedCells& excluded, std::size_t order) : left_(excluded), order_(order) {}
  bool at_end() const { return left_.ones.empty() && left_.others.empty(); }
  const std::uint32_t* cell() const { return next().data(); }
  void advance() {
    std::span<const std::uint32_t>& list = takes_one() ? left_.ones : left_.others;
    list = list.subspan(order_);
  }

 private:
  bool takes_one() const {
    if (left_.ones.empty() || left_.others.empty()) return left_.others.empty();
    const auto one = left_.ones.first(order_), other = left_.others.first(order_);
    return std::lexicographical_compare(one.begin(), one.end(), other.begin(), other.end());
  }
  std::span<const std::uint32_t> next() const { return takes_one() ? left_.ones : left_.others; }

  ExcludedCells left_;
  std::size_t order_;
};

}  // namespace

bool ExcludedCells::contains(const std::uint32_t* cell, std::size_t order) const {
  return find_record(ones, order, cell) < ones.size() / order ||
         find_record(others, order, cell) < others.size() / order;
}

void number_outside(const ObservedBox& box, const ExcludedCells& excluded, std::vector<std::uint64_t>& numbers) {
  std::uint64_t passed = 0;  // excluded cells of the box in front of the number
  ExcludedInOrder next(excluded, box.order());
  for (std::uint64_t& number : numbers) {
    for (; !next.at_end(); next.advance()) {
      if (!box.contains(next.cell())) continue;
      if (box.index(next.cell()) > number + passed) break;
      ++passed;
    }
    number += passed;
  }
}

Buffer<std::uint32_t> draw_cells_by_number(const ObservedBox& box, const ExcludedCells& excluded,
                                           std::uint64_t population, std::uint64_t wanted, StreamKey key) {
  std::vector<std::uint64_t> numbers = draw_subset(key, population, wanted);
  number_outside(box, excluded, numbers);
  Buffer<std::uint32_t> cells(wanted * box.order());
  for (std::size_t i = 0; i < numbers.size(); ++i) box.cell(numbers[i], cells.data() + i * box.order());
  return cells;
}

// Excluded cells are dropped last, in order: if they are on disk, neighbours are looked up together.
Buffer<std::uint32_t> draw_cells_by_rejection(const ObservedBox& box, const ExcludedCells& excluded,
                                              std::uint64_t wanted, StreamKey key) {
  const std::size_t order = box.order();
  Buffer<std::uint32_t> cells;
  for (std::uint32_t round = 0; cells.size() < wanted * order; ++round) {
    Stream stream(key, round, 0);
    const std::size_t kept = cells.size();
    cells.resize(wanted * order);
    for (std::size_t i = kept; i < cells.size(); ++i)
      cells[i] = box.entity(i % order, static_cast<std::uint32_t>(stream.below(box.size(i % order))));
    sort_and_merge_records(cells, order);
    remove_records(cells, order, [&](std::size_t i) { return excluded.contains(cells.data() + i * order, order); });
  }
  return cells;
}

}  // namespace ztp
