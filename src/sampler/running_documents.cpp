#include "sampler/running_documents.hpp"

#include <algorithm>

#include "kernel/kernel.hpp"

namespace ztp {

void RunningDocuments::settle(std::int64_t least) {
  std::sort(new_.begin(), new_.end(), [](const Entry& x, const Entry& y) { return x.key < y.key; });
  std::vector<Entry> merged;
  merged.reserve(entries_.size() + new_.size() / 2);
  const auto take = [&](const Entry& entry) {
    if (!merged.empty() && merged.back().key == entry.key)
      merged.back().units += entry.units;
    else
      merged.push_back(entry);
  };
  auto old = entries_.begin();
  for (const Entry& entry : new_) {
    while (old != entries_.end() && old->key <= entry.key) take(*old++);
    take(entry);
  }
  while (old != entries_.end()) take(*old++);
  new_.clear();
  least = std::max<std::int64_t>(least, 1);
  const auto many = [&] {
    return std::count_if(merged.begin(), merged.end(), [&](const Entry& entry) { return entry.units >= least; }) >
           static_cast<std::ptrdiff_t>(most_entries);
  };
  while (merged.size() > most_entries && many()) least *= 2;
  std::erase_if(merged, [&](const Entry& entry) { return entry.units < least; });
  entries_ = std::move(merged);
}

void RunningDocuments::shift(int bits) {
  for (std::vector<Entry>* list : {&entries_, &new_})
    for (Entry& entry : *list) entry.units = shifted(entry.units, bits);
}

void RunningDocuments::clear() {
  entries_.clear();
  new_.clear();
}

bool RunningDocuments::sound(std::size_t components, std::size_t rows) const {
  const auto is_sound = [&](const Entry& entry) {
    return entry.component() < components && entry.row() < rows && entry.units >= 0 &&
           entry.units <= std::int64_t{1} << 62;
  };
  return std::all_of(entries_.begin(), entries_.end(), is_sound) && std::all_of(new_.begin(), new_.end(), is_sound) &&
         std::is_sorted(entries_.begin(), entries_.end(), [](const Entry& x, const Entry& y) { return x.key < y.key; });
}

std::size_t RunningDocuments::bytes(std::uint64_t ones) {
  constexpr std::uint64_t of_a_one = 2;  // components that a one is found in, at different times
  const std::size_t entries = std::min<std::uint64_t>(of_a_one * ones, most_entries);
  const std::size_t fresh = std::min<std::uint64_t>(ones, most_new);
  return sizeof(Entry) * (2 * entries + 2 * fresh);
}

}  // namespace ztp
