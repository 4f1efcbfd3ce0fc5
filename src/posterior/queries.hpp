// Ranking queries of one mode: all other coordinates are given, and the entity is to be found.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "kernel/candidates.hpp"
#include "ztp/buffer.hpp"

namespace ztp {

class Queries {
 public:
  // One query for each distinct setting of the other coordinates in these cells (x K), sorted.
  Queries(const Buffer<std::uint32_t>& ones, std::size_t order, std::size_t mode);

  std::size_t mode() const { return mode_; }
  std::size_t size() const { return tests_.begin.size() - 1; }
  const std::uint32_t* others(std::size_t q) const { return others_.data() + q * (order_ - 1); }  // K - 1, in order
  std::span<const std::uint32_t> tests(std::size_t q) const { return tests_.of(q); }              // entities, sorted

  // Known ones are stored if they answer a query, 8 bytes each. Call finish_known after the last.
  void add_known(const std::uint32_t* cells, std::size_t count);
  void finish_known();
  std::span<const std::uint32_t> known(std::size_t q) const { return known_.of(q); }  // may hold tests, too
  // The queries first .. first + count - 1; refers to this.
  QueryBatch batch(std::size_t first, std::size_t count) const {
    return {mode_, count, others(first), tests_.from(first), known_.from(first)};
  }

 private:
  struct Lists {  // of entities, one for each query
    std::vector<std::size_t> begin;
    Buffer<std::uint32_t> entities;
    std::span<const std::uint32_t> of(std::size_t q) const {
      return {entities.data() + begin[q], begin[q + 1] - begin[q]};
    }
    EntityLists from(std::size_t q) const { return {begin.data() + q, entities.data()}; }
  };
  static Lists lists_of(Buffer<std::uint32_t>& pairs, std::size_t queries);
  void set_others(const std::uint32_t* cell, std::uint32_t* others) const;

  std::size_t order_, mode_;
  Buffer<std::uint32_t> others_;
  Buffer<std::uint32_t> pairs_;  // query and entity, until the lists are made
  Lists tests_, known_;
};

}  // namespace ztp
