// The ones (or edges, or missing cells) in parts, each a fair sample of them, and each met once an epoch.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "kernel/kernel.hpp"
#include "ztp/tensor.hpp"

namespace ztp {

// A minibatch comes in chunks, so that one of any size needs little memory: a single chunk where the data are in
// memory.
class Minibatches {
 public:
  virtual ~Minibatches() = default;
  virtual std::uint64_t total() const = 0;              // ones in all minibatches together
  virtual std::uint64_t total_count() const = 0;        // the sum of their counts; without counts the same
  virtual std::size_t count() const = 0;                // minibatches in an epoch
  virtual std::uint64_t size(std::size_t b) const = 0;  // ones in minibatch b
  // One piece of a minibatch: where a kernel works on it, and its coordinates on the host.
  struct Chunk {
    const Ones& ones;
    const std::uint32_t* coords;   // count x K
    const std::int64_t* observed;  // counts; null: there are none
  };
  // Calls use(chunk) for the chunks of minibatch b, in order. After b, `next` will be read.
  virtual void read(std::size_t b, std::size_t next, const std::function<void(const Chunk&)>& use) = 0;
  // The most ones that `use` is called with.
  virtual std::size_t largest_chunk() const { return static_cast<std::size_t>((total() + count() - 1) / count()); }
  // Whether minibatches come in one chunk each.
  virtual bool whole() const = 0;
};

// Records that are in memory: copied and brought into the order that the minibatches are cut from, each sorted within
// itself.
class MemoryMinibatches final : public Minibatches {
 public:
  // layout: which matrix each coordinate is a row of. Counts may be empty. missing: these are missing cells.
  MemoryMinibatches(std::span<const std::uint32_t> coords, std::span<const std::int64_t> counts,
                    const FactorLayout& layout, std::size_t count, Kernel& kernel, bool missing = false);

  std::uint64_t total() const override { return coords_.size() / order_; }
  std::uint64_t total_count() const override { return total_count_; }
  std::size_t count() const override { return begin_.size() - 1; }
  std::uint64_t size(std::size_t b) const override { return begin_[b + 1] - begin_[b]; }
  void read(std::size_t b, std::size_t next, const std::function<void(const Chunk&)>& use) override;
  bool whole() const override { return true; }
  // Bytes that so many records take, with what shuffling them needs.
  static std::size_t bytes(std::size_t records, std::size_t order, bool counts);

 private:
  std::size_t order_;
  Buffer<std::uint32_t> coords_;
  Buffer<std::int64_t> counts_;
  std::uint64_t total_count_ = 0;
  std::vector<std::uint64_t> begin_;
  std::vector<std::unique_ptr<Ones>> minibatches_;
};

// Where minibatch b of `count` begins among `total` ones: sizes differ by one at most.
inline std::uint64_t minibatch_begin(std::uint64_t total, std::size_t count, std::size_t b) {
  return static_cast<std::uint64_t>(static_cast<uint128>(total) * b / count);
}

// The minibatch of step t = 1, 2, ...: each epoch goes through all of them in a random order of its own.
std::size_t minibatch_of_step(StreamKey key, std::size_t count, std::uint32_t t);

}  // namespace ztp
