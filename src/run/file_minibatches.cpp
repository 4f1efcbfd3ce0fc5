#include "run/file_minibatches.hpp"

#include <algorithm>
#include <utility>

namespace ztp {
namespace {

constexpr unsigned most_readers = 8;

}  // namespace

FileMinibatches::FileMinibatches(const TensorFile& file, std::uint64_t ones, std::size_t count, bool counts,
                                 const FactorLayout& layout, Kernel& kernel, std::size_t ones_per_chunk)
    : file_(file),
      ones_(ones),
      count_(count),
      counts_(counts),
      layout_(layout),
      kernel_(kernel),
      ones_per_chunk_(ones_per_chunk),
      readers_(kernel.computes_elsewhere() ? std::clamp(available_cores() - 1, 1u, most_readers) : 1) {
  // Written to, so that the memory is there; a single chunk for all ones needs no second.
  for (Buffered* chunk : {&coming_, &now_}) {
    if (chunk == &now_ && largest_chunk() == ones_) break;
    chunk->coords.resize(largest_chunk() * file_.order());
    std::fill(chunk->coords.begin(), chunk->coords.end(), 0u);
    if (counts_) chunk->counts.resize(largest_chunk());
    std::fill(chunk->counts.begin(), chunk->counts.end(), 0);
    pinned_.push_back(kernel.pin(chunk->coords.data(), chunk->coords.size() * sizeof(std::uint32_t)));
    pinned_.push_back(kernel.pin(chunk->counts.data(), chunk->counts.size() * sizeof(std::int64_t)));
  }
}

FileMinibatches::~FileMinibatches() {
  if (reading_.valid()) reading_.wait();
}

std::size_t FileMinibatches::bytes(std::size_t minibatch, std::size_t order, bool counts) {
  return 2 * std::min(minibatch, usual_chunk) * (sizeof(std::uint32_t) * order + (counts ? sizeof(std::int64_t) : 0));
}

bool FileMinibatches::whole() const {
  return (ones_ + count_ - 1) / count_ <= ones_per_chunk_;
}

// Starts reading the chunk that begins at `first` and ends at `end` at the latest.
void FileMinibatches::fetch(std::uint64_t first, std::uint64_t end) {
  if (reading_.valid() && coming_.first == first) return;
  if (reading_.valid()) reading_.wait();  // a chunk that is not needed after all
  coming_.first = first;
  coming_.count = static_cast<std::size_t>(std::min<std::uint64_t>(ones_per_chunk_, end - first));
  coming_.ones.reset();  // its memory is for the next one
  reading_ = std::async(std::launch::async, [this] { read_coming(); });
}

// In parts that end where blocks of the file do, so that no block is read twice.
void FileMinibatches::read_coming() {
  const std::size_t K = file_.order(), per_block = file_.ones_per_block();
  coming_.coords.resize(coming_.count * K);
  if (counts_) coming_.counts.resize(coming_.count);
  const std::uint64_t end = coming_.first + coming_.count, first_block = coming_.first / per_block;
  readers_.for_blocks(static_cast<std::size_t>((end - 1) / per_block - first_block + 1), [&](std::size_t block) {
    const std::uint64_t from = std::max<std::uint64_t>(coming_.first, (first_block + block) * per_block);
    const std::uint64_t to = std::min<std::uint64_t>(end, (first_block + block + 1) * per_block);
    const auto at = static_cast<std::size_t>(from - coming_.first);
    file_.read(from, static_cast<std::size_t>(to - from), coming_.coords.data() + at * K,
               counts_ ? coming_.counts.data() + at : nullptr);
  });
  coming_.ones = kernel_.upload({.coords = coming_.coords.data(),
                                 .observed = counts_ ? coming_.counts.data() : nullptr,
                                 .count = coming_.count,
                                 .first = coming_.first},
                                layout_);
}

// Makes that chunk the current one.
void FileMinibatches::take(std::uint64_t first, std::uint64_t end) {
  if (now_.count > 0 && now_.first == first) return;
  fetch(first, end);
  now_.count = 0;
  reading_.get();  // throws what reading has thrown
  std::swap(now_, coming_);
}

void FileMinibatches::read(std::size_t b, std::size_t next, const std::function<void(const Chunk&)>& use) {
  const std::uint64_t end = begin(b + 1);
  for (std::uint64_t first = begin(b); first < end;) {
    take(first, end);
    first += now_.count;
    if (first < end)
      fetch(first, end);
    else if (next != b)
      fetch(begin(next), begin(next + 1));
    use({*now_.ones, now_.coords.data(), counts_ ? now_.counts.data() : nullptr});
  }
}

}  // namespace ztp
