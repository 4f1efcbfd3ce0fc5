// Threads that do jobs while the caller goes on.
#pragma once
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace ztp {

class Background {
 public:
  // At most `most_bytes` of jobs may be waiting or in progress; beyond that, run() waits. One thread does the jobs in
  // their order; several begin them in that order.
  explicit Background(std::size_t most_bytes, unsigned threads = 1) : most_bytes_(most_bytes), threads_(threads) {}
  ~Background();  // all jobs are done
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  // A thread starts with each of the first jobs. What a job has thrown is rethrown by the next call of run() or wait();
  // jobs that had not begun by then are dropped.
  void run(std::size_t bytes, std::function<void()> job);
  void wait();  // until all jobs are done

 private:
  struct Job {
    std::size_t bytes = 0;
    std::function<void()> work;
  };
  void work();
  void rethrow();

  const std::size_t most_bytes_;
  const unsigned threads_;
  std::mutex mutex_;
  std::condition_variable to_workers_, to_caller_;
  std::deque<Job> waiting_;
  std::size_t unfinished_ = 0, bytes_ = 0;  // jobs that wait or are worked on, and their bytes
  std::exception_ptr failure_;
  bool ends_ = false;
  std::vector<std::thread> team_;
};

}  // namespace ztp
