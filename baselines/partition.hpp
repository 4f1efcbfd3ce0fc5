// The cells of a tensor in blocks, each the product of one set of entities of every mode. One block at first; a split
// divides the entities of a block in one mode. Entities of a mode that lie in the same blocks form a class: they share
// their normal equations.
#pragma once
#include <cstdint>
#include <vector>

namespace ztp {

class Partition {
 public:
  using List = std::vector<std::uint32_t>;

  explicit Partition(const std::vector<std::size_t>& sizes);

  std::size_t order() const { return classes_.size(); }
  std::size_t blocks() const { return holds_.size(); }
  std::size_t classes(std::size_t k) const { return classes_[k].size(); }
  const List& entities(std::size_t k, std::size_t c) const { return classes_[k][c].entities; }
  const List& blocks_of(std::size_t k, std::size_t c) const { return classes_[k][c].blocks; }
  const List& classes_of(std::size_t block, std::size_t k) const { return holds_[block][k]; }
  List entities_of(std::size_t block, std::size_t k) const;

  // The entities of a block in mode k for which moves[j] is set go to a new block, the last one; there must be some,
  // and some left.
  void split(std::size_t block, std::size_t k, const std::vector<bool>& moves);

 private:
  struct Class {
    List entities;
    List blocks;
  };
  std::uint32_t take_out(std::size_t k, std::uint32_t c, const std::vector<bool>& moves);

  std::vector<std::vector<Class>> classes_;  // of each mode
  std::vector<std::vector<List>> holds_;     // of each block and mode, the classes
};

}  // namespace ztp
