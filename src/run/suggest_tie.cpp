#include "run/suggest_tie.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>

#include "io/dataset_ones.hpp"

namespace ztp {
namespace {

constexpr std::uint32_t fewest_shared = 3;
constexpr std::uint64_t most_pairs = 1 << 20;  // of the ones that are looked at, to judge numbers
constexpr double clear_excess = 20;            // of counts: below e^-20 by chance

using Pair = std::pair<std::uint32_t, std::uint32_t>;

bool is_most(std::uint64_t shared, std::uint64_t first, std::uint64_t second) {
  return shared >= fewest_shared && 2 * shared > std::min(first, second);
}

// The labels of a mode as numbers: first + j, or a list. None, if they are not all numbers.
class Numbers {
 public:
  explicit Numbers(const LabelTable& labels) : numbered_(labels.is_numbered()), first_(labels.first_number()) {
    std::string scratch;
    for (std::uint32_t j = 0; !numbered_ && j < labels.size(); ++j) {
      const std::string_view text = labels.name(j, scratch);
      std::uint32_t number = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
      if (error != std::errc() || end != text.data() + text.size() || (text[0] == '0' && text.size() > 1)) {
        list_.clear();
        return;
      }
      list_.push_back(number);
    }
  }
  bool are_all() const { return numbered_ || !list_.empty(); }
  std::uint32_t operator[](std::uint32_t j) const { return numbered_ ? first_ + j : list_[j]; }

 private:
  bool numbered_;
  std::uint32_t first_;
  std::vector<std::uint32_t> list_;
};

void sort_and_merge(auto& list) {
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

// The numbers of a sorted list that another one has, too.
std::size_t count_shared(const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b) {
  return static_cast<std::size_t>(
      std::count_if(a.begin(), a.end(), [&](std::uint32_t x) { return std::binary_search(b.begin(), b.end(), x); }));
}

// Whether the ones say that equal numbers are equal entities. `pairs` are sorted; their numbers are places in the list
// of all numbers. If the numbers of the two modes had nothing to do with each other, a number would be like its
// neighbours in that list, however entities are ordered: by size, by time, by community. So compare
// - how often (j, i) is there beside (i, j) with how often its neighbours are: friends post on each other's walls;
// - how many (i, i) are there with how many (i, i + 1): none, where nobody relates to himself; or nearly all.
bool ones_tell(const std::vector<Pair>& pairs, std::uint32_t numbers) {
  const auto is_there = [&](std::uint32_t i, std::uint32_t j) {  // -1 is larger than all numbers
    return std::binary_search(pairs.begin(), pairs.end(), Pair{i, j}) ? 1.0 : 0.0;
  };
  double returned = 0, returned_near = 0, self = 0, self_near = 0;
  for (const auto& [i, j] : pairs) {
    if (i == j) continue;
    returned += is_there(j, i);
    returned_near += (is_there(j + 1, i) + is_there(j - 1, i) + is_there(j, i + 1) + is_there(j, i - 1)) / 4;
  }
  for (std::uint32_t i = 0; i < numbers; ++i) {
    self += is_there(i, i);
    self_near += (is_there(i, i + 1) + is_there(i + 1, i)) / 2;
  }
  return returned > 2 * returned_near + clear_excess || self > 2 * self_near + clear_excess ||
         (self == 0 && self_near > clear_excess);
}

// Whether so many of two sets of numbers cannot be in common by chance: of numbers with large gaps, as of accounts.
bool gaps_tell(const std::vector<std::uint32_t>& all, double shared, double first, double second) {
  std::uint32_t step = 0;
  for (std::size_t i = 1; i < all.size(); ++i) step = std::gcd(step, all[i] - all[i - 1]);
  const double places = 1 + static_cast<double>(all.back() - all.front()) / std::max(step, 1u);
  return shared > 2 * first * second / places + clear_excess;
}

struct Sizes {
  std::uint64_t first = 0, second = 0, shared = 0;
};

// Of modes of numbers: those that have ones. Nothing is shared without evidence.
Sizes shared_numbers(const Dataset& data, std::size_t k, std::size_t l, const Numbers& of_k, const Numbers& of_l) {
  const std::size_t K = data.tensor.order();
  const std::uint64_t step = 1 + data.ones() / most_pairs;
  std::uint64_t e = 0;
  std::vector<Pair> pairs;
  std::vector<std::uint32_t> first, second;
  for_ones(data, [&](const std::uint32_t* coords, const std::int64_t*, std::size_t cells) {
    for (const std::uint32_t* cell = coords; cell != coords + cells * K; cell += K)
      if (e++ % step == 0) pairs.push_back({of_k[cell[k]], of_l[cell[l]]});
  });
  for (const auto& [i, j] : pairs) {
    first.push_back(i);
    second.push_back(j);
  }
  sort_and_merge(first);
  sort_and_merge(second);
  const Sizes sizes{first.size(), second.size(), count_shared(first, second)};
  if (!is_most(sizes.shared, sizes.first, sizes.second)) return sizes;
  std::vector<std::uint32_t> all = first;
  all.insert(all.end(), second.begin(), second.end());
  sort_and_merge(all);
  const auto place = [&](std::uint32_t number) {
    return static_cast<std::uint32_t>(std::lower_bound(all.begin(), all.end(), number) - all.begin());
  };
  for (Pair& pair : pairs) pair = {place(pair.first), place(pair.second)};
  sort_and_merge(pairs);
  const bool same = gaps_tell(all, static_cast<double>(sizes.shared), static_cast<double>(sizes.first),
                              static_cast<double>(sizes.second)) ||
                    ones_tell(pairs, static_cast<std::uint32_t>(all.size()));
  return {sizes.first, sizes.second, same ? sizes.shared : 0};
}

// The id in `labels`, which has an index, of each label of `other`; the size of `labels` where there is none.
std::vector<std::uint32_t> ids_in(const LabelTable& labels, const LabelTable& other) {
  std::vector<std::uint32_t> ids;
  std::string scratch;
  for (std::uint32_t j = 0; j < other.size(); ++j)
    ids.push_back(labels.find(other.name(j, scratch)).value_or(labels.size()));
  return ids;
}

Sizes shared_names(const LabelTable& first, const LabelTable& second) {
  const std::vector<std::uint32_t> ids = ids_in(first, second);
  const auto none = std::count(ids.begin(), ids.end(), first.size());
  return {first.size(), second.size(), ids.size() - static_cast<std::size_t>(none)};
}

// The ones for which `same` is true of the entities in modes k and l.
std::uint64_t count_ones(const Dataset& data, std::size_t k, std::size_t l, const auto& same) {
  const std::size_t K = data.tensor.order();
  std::uint64_t count = 0;
  for_ones(data, [&](const std::uint32_t* coords, const std::int64_t*, std::size_t cells) {
    for (const std::uint32_t* cell = coords; cell != coords + cells * K; cell += K) count += same(cell[k], cell[l]);
  });
  return count;
}

std::uint64_t count_self_ones(const Dataset& data, std::size_t k, std::size_t l, const std::vector<Numbers>& numbers) {
  if (numbers[k].are_all())
    return count_ones(data, k, l, [&](auto i, auto j) { return numbers[k][i] == numbers[l][j]; });
  const auto ids = ids_in(data.tensor.modes[k].labels, data.tensor.modes[l].labels);
  return count_ones(data, k, l, [&](auto i, auto j) { return i == ids[j]; });
}

}  // namespace

std::optional<CheckReport::SameEntities> find_same_entities(const Dataset& data) {
  const std::vector<Mode>& modes = data.tensor.modes;
  std::vector<Numbers> numbers;
  for (const Mode& mode : modes) numbers.emplace_back(mode.labels);
  Sizes best;
  std::size_t first = 0, second = 0;
  for (std::size_t k = 0; k < modes.size(); ++k)
    for (std::size_t l = k + 1; l < modes.size(); ++l) {
      if (numbers[k].are_all() != numbers[l].are_all()) continue;
      const Sizes sizes = numbers[k].are_all() ? shared_numbers(data, k, l, numbers[k], numbers[l])
                                               : shared_names(modes[k].labels, modes[l].labels);
      if (!is_most(sizes.shared, sizes.first, sizes.second) || sizes.shared <= best.shared) continue;
      best = sizes;
      first = k;
      second = l;
    }
  if (best.shared == 0) return std::nullopt;
  const std::uint64_t self = count_self_ones(data, first, second, numbers);
  return CheckReport::SameEntities{modes[first].name,
                                   modes[second].name,
                                   best.shared,
                                   best.first,
                                   best.second,
                                   self,
                                   self > 0 ? SelfCells::zero : SelfCells::missing};
}

}  // namespace ztp
