#include "baselines/partition.hpp"

#include <algorithm>
#include <numeric>

namespace ztp {

Partition::Partition(const std::vector<std::size_t>& sizes) : holds_(1) {
  for (const std::size_t n : sizes) {
    List all(n);
    std::iota(all.begin(), all.end(), 0u);
    classes_.push_back({{std::move(all), {0}}});
    holds_[0].push_back({0});
  }
}

Partition::List Partition::entities_of(std::size_t block, std::size_t k) const {
  List result;
  for (const std::uint32_t c : holds_[block][k]) {
    const List& some = classes_[k][c].entities;
    result.insert(result.end(), some.begin(), some.end());
  }
  return result;
}

// Takes the entities that move out of a class. They form a class of their own, which is in the same blocks, or, if it
// is all of them, the class itself; none: the number of classes.
std::uint32_t Partition::take_out(std::size_t k, std::uint32_t c, const std::vector<bool>& moves) {
  List& from = classes_[k][c].entities;
  const auto stays = [&](std::uint32_t j) { return !moves[j]; };
  const auto rest = std::stable_partition(from.begin(), from.end(), stays);
  const auto end = static_cast<std::uint32_t>(classes_[k].size());
  if (rest == from.end()) return end;
  if (rest == from.begin()) return c;
  Class taken = {{rest, from.end()}, classes_[k][c].blocks};
  from.erase(rest, from.end());
  for (const std::uint32_t block : taken.blocks) holds_[block][k].push_back(end);
  classes_[k].push_back(std::move(taken));
  return end;
}

void Partition::split(std::size_t block, std::size_t k, const std::vector<bool>& moves) {
  const auto old = static_cast<std::uint32_t>(block), added = static_cast<std::uint32_t>(holds_.size());
  List moved;
  for (const std::uint32_t c : List(holds_[block][k])) {
    const std::size_t before = classes_[k].size();
    const std::uint32_t taken = take_out(k, c, moves);
    if (taken < before || classes_[k].size() > before) moved.push_back(taken);
  }
  holds_.push_back(holds_[block]);
  holds_[added][k] = moved;
  for (const std::uint32_t c : moved) {
    List& blocks = classes_[k][c].blocks;
    std::replace(blocks.begin(), blocks.end(), old, added);
  }
  std::vector<bool> gone(classes_[k].size(), false);
  for (const std::uint32_t c : moved) gone[c] = true;
  std::erase_if(holds_[block][k], [&](std::uint32_t c) { return gone[c]; });
  for (std::size_t other = 0; other < order(); ++other)
    if (other != k)
      for (const std::uint32_t c : holds_[added][other]) classes_[other][c].blocks.push_back(added);
}

}  // namespace ztp
