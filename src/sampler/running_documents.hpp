// What an online chain remembers of each component by itself, where components share columns: running counts m^k[j, r]
// of component r in row j of one mode. They are sparse, and the smallest are forgotten.                          (M55)
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace ztp {

class RunningDocuments {
 public:
  // By component and then by row, each pair once. Counts are stored as those of the statistics.
  struct Entry {
    std::uint64_t key;
    std::int64_t units;
    std::uint32_t component() const { return static_cast<std::uint32_t>(key >> 32); }
    std::uint32_t row() const { return static_cast<std::uint32_t>(key); }
  };
  static constexpr std::size_t most_entries = std::size_t{1} << 25, most_new = std::size_t{1} << 22;

  void add(std::size_t r, std::uint32_t row, std::int64_t units) {
    new_.push_back({std::uint64_t{r} << 32 | row, units});
    if (new_.size() >= most_new) settle(0);
  }
  // Takes in what was added, and forgets entries below `least` units; also the smallest, if there are too many. Sorting
  // what is new, and a pass over all.
  void settle(std::int64_t least);
  std::span<const Entry> entries() const { return entries_; }  // without what was added since then
  void shift(int bits);                                        // all counts, by 2^bits
  void clear();

  // Both parts, for a checkpoint.
  std::vector<Entry>& stored() { return entries_; }
  std::vector<Entry>& added() { return new_; }
  bool sound(std::size_t components, std::size_t rows) const;
  // Bytes that they take, while they settle, in a mode with so many ones.
  static std::size_t bytes(std::uint64_t ones);

 private:
  std::vector<Entry> entries_, new_;
};

}  // namespace ztp
