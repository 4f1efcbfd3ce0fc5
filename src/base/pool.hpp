// A fixed team of threads, the calling thread included. A sweep uses it about ten times: threads that wait spin for a
// moment and then sleep. To wake them takes some microseconds, so a team is for work that takes longer
// (run/thread_plan.hpp). A call waits only for threads that have begun a block, so threads whose cores are busy with
// other programs do not hold it up.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace ztp {

// Those this process may run on: what a batch system or `taskset` gave it. Its share, if several processes of one job
// have the same ones.
unsigned available_cores();
void share_cores(std::size_t processes);

class Pool {
 public:
  explicit Pool(unsigned threads);
  ~Pool() { stop(); }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  unsigned threads() const { return threads_; }
  // Calls body(block) once for every block in 0..blocks-1, on any thread; they are begun in order. The first exception
  // thrown by a body is rethrown here, after all threads have stopped. A single block is called on this thread.
  void for_blocks(std::size_t blocks, const std::function<void(std::size_t)>& body);

 private:
  void work();
  void serve();
  void stop();

  static constexpr std::size_t cache_line = 64;  // what some threads look at while others write is in lines of its own

  unsigned threads_;
  alignas(cache_line) std::atomic<std::uint32_t> call_ = 0;     // changes with every call of for_blocks
  alignas(cache_line) std::atomic<std::uint32_t> working_ = 0;  // threads that have begun and not finished
  alignas(cache_line) std::atomic<std::size_t> next_ = 0;
  alignas(cache_line) std::atomic<bool> open_ = false;  // whether a thread may still begin with the blocks of this call
  std::atomic<bool> quit_ = false;
  const std::function<void(std::size_t)>* body_ = nullptr;
  std::size_t blocks_ = 0;
  std::mutex failure_mutex_;
  std::exception_ptr failure_;
  std::vector<std::jthread> team_;
};

// How many blocks of a given size cover a range, and where each begins and ends.
struct Blocks {
  std::size_t total;
  std::size_t size;
  std::size_t count() const { return (total + size - 1) / size; }
  std::size_t begin(std::size_t block) const { return block * size; }
  std::size_t end(std::size_t block) const { return (block + 1) * size < total ? (block + 1) * size : total; }
};

}  // namespace ztp
