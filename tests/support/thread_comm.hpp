// Ranks that are threads of this process, for tests of what several processes make together where there is no MPI.
#pragma once
#include <barrier>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "comm/comm.hpp"

namespace ztp::test {

// What the ranks share: where each has the data and sizes that the others are to read.
struct ThreadRanks {
  explicit ThreadRanks(std::size_t ranks)
      : data(ranks), bytes(ranks), sizes(ranks), barrier(static_cast<std::ptrdiff_t>(ranks)) {}
  std::vector<const void*> data;
  std::vector<std::size_t> bytes;
  std::vector<const std::uint64_t*> sizes;
  std::barrier<> barrier;
};

class ThreadComm final : public Comm {
 public:
  ThreadComm(ThreadRanks& ranks, std::size_t rank) : ranks_(ranks), rank_(rank) {}

  std::size_t rank() const override { return rank_; }
  std::size_t size() const override { return ranks_.data.size(); }
  void barrier() override { ranks_.barrier.arrive_and_wait(); }
  void broadcast(void* values, std::size_t bytes, std::size_t root) override {
    together(values, bytes, nullptr, [&] {
      if (rank_ != root && bytes > 0) std::memcpy(values, ranks_.data[root], bytes);
    });
  }
  void add_up(std::int64_t* values, std::size_t count) override {
    combine(values, count, [](std::int64_t a, std::int64_t b) { return a + b; });
  }
  void largest(std::int64_t* values, std::size_t count) override {
    combine(values, count, [](std::int64_t a, std::int64_t b) { return a > b ? a : b; });
  }
  std::vector<std::vector<std::byte>> all_gather(const void* data, std::size_t bytes) override {
    std::vector<std::vector<std::byte>> result;
    together(data, bytes, nullptr, [&] {
      for (std::size_t rank = 0; rank < size(); ++rank) {
        const auto* const first = static_cast<const std::byte*>(ranks_.data[rank]);
        result.emplace_back(first, first + ranks_.bytes[rank]);
      }
    });
    return result;
  }
  std::vector<std::vector<std::byte>> gather(const void* data, std::size_t bytes, std::size_t root) override {
    auto all = all_gather(data, bytes);
    if (rank_ != root) all.clear();
    return all;
  }
  void exchange_sizes(const std::uint64_t* to_each, std::uint64_t* from_each) override {
    together(nullptr, 0, to_each, [&] {
      for (std::size_t rank = 0; rank < size(); ++rank) from_each[rank] = ranks_.sizes[rank][rank_];
    });
  }
  // All of it happens at the beginning.
  void begin_exchange(const void* send, const std::uint64_t* bytes_to_each, void* receive,
                      const std::uint64_t* bytes_from_each) override {
    together(send, 0, bytes_to_each, [&] {
      auto* to = static_cast<std::byte*>(receive);
      for (std::size_t rank = 0; rank < size(); ++rank) {
        const auto* from = static_cast<const std::byte*>(ranks_.data[rank]);
        for (std::size_t i = 0; i < rank_; ++i) from += ranks_.sizes[rank][i];
        if (ranks_.sizes[rank][rank_] != bytes_from_each[rank]) throw std::logic_error("sizes differ");
        if (bytes_from_each[rank] > 0) std::memcpy(to, from, bytes_from_each[rank]);
        to += bytes_from_each[rank];
      }
    });
  }
  void end_exchange() override {}
  bool exchange_arrived() override { return true; }
  std::unique_ptr<Comm> split(std::size_t) override { throw std::logic_error("ranks that are threads stay together"); }
  void request_stop() override {}
  bool stop_requested() override { return false; }
  [[noreturn]] void abort(int exit_code) override { std::_Exit(exit_code); }

 private:
  template <class Body>
  void together(const void* data, std::size_t bytes, const std::uint64_t* sizes, const Body& body) {
    ranks_.data[rank_] = data;
    ranks_.bytes[rank_] = bytes;
    ranks_.sizes[rank_] = sizes;
    barrier();
    body();
    barrier();
  }
  template <class Combine>
  void combine(std::int64_t* values, std::size_t count, const Combine& of) {
    std::vector<std::int64_t> result(values, values + count);
    together(values, 0, nullptr, [&] {
      for (std::size_t rank = 0; rank < size(); ++rank) {
        const auto* const other = static_cast<const std::int64_t*>(ranks_.data[rank]);
        for (std::size_t i = 0; rank != rank_ && i < count; ++i) result[i] = of(result[i], other[i]);
      }
    });
    std::copy(result.begin(), result.end(), values);
  }

  ThreadRanks& ranks_;
  const std::size_t rank_;
};

// work(comm) in so many threads. An exception ends the program: the others would wait for this rank for ever.
inline void on_ranks(std::size_t ranks, const std::function<void(Comm&)>& work) {
  ThreadRanks shared(ranks);
  std::vector<std::jthread> threads;
  for (std::size_t rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&shared, &work, rank] {
      ThreadComm comm(shared, rank);
      try {
        work(comm);
      } catch (const std::exception& error) {
        std::fprintf(stderr, "rank %zu: %s\n", rank, error.what());
        std::_Exit(1);
      }
    });
}

}  // namespace ztp::test
