// The ones of a tensor file in minibatches. The next chunk is read from disk and uploaded while the current one is
// used.
#pragma once
#include <algorithm>
#include <future>

#include "sampler/minibatches.hpp"
#include "ztp/tensor_file.hpp"

namespace ztp {

class FileMinibatches final : public Minibatches {
 public:
  static constexpr std::size_t usual_chunk = std::size_t{1} << 21;

  // The first `ones` of the file, in `count` minibatches. Memory: two chunks, whatever the size of a minibatch.
  FileMinibatches(const TensorFile& file, std::uint64_t ones, std::size_t count, bool counts,
                  const FactorLayout& layout, Kernel& kernel, std::size_t ones_per_chunk = usual_chunk);
  ~FileMinibatches() override;

  std::uint64_t total() const override { return ones_; }
  std::uint64_t total_count() const override { return file_.total_count(); }
  std::size_t count() const override { return count_; }
  std::uint64_t size(std::size_t b) const override { return begin(b + 1) - begin(b); }
  void read(std::size_t b, std::size_t next, const std::function<void(const Chunk&)>& use) override;
  std::size_t largest_chunk() const override { return std::min(Minibatches::largest_chunk(), ones_per_chunk_); }
  bool whole() const override;
  // Bytes that minibatches of this size take.
  static std::size_t bytes(std::size_t minibatch, std::size_t order, bool counts);

 private:
  struct Buffered {
    std::uint64_t first = 0;
    std::size_t count = 0;
    Buffer<std::uint32_t> coords;
    Buffer<std::int64_t> counts;
    std::unique_ptr<Ones> ones;  // refer to these
  };
  std::uint64_t begin(std::size_t b) const { return minibatch_begin(ones_, count_, b); }
  void read_coming();
  void fetch(std::uint64_t first, std::uint64_t end);
  void take(std::uint64_t first, std::uint64_t end);

  const TensorFile& file_;
  std::uint64_t ones_;
  std::size_t count_;
  bool counts_;
  const FactorLayout layout_;
  Kernel& kernel_;
  std::size_t ones_per_chunk_;
  Pool readers_;  // where the kernel leaves the cores of the host to them
  Buffered now_, coming_;
  std::vector<std::shared_ptr<void>> pinned_;  // their memory
  std::future<void> reading_;                  // of coming_
};

}  // namespace ztp
