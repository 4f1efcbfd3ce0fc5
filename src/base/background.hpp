// A thread that does jobs one after another while the caller goes on.
#pragma once
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace ztp {

class Background {
 public:
  // `most_bytes` may be waiting; the caller of run() waits where there are more.
  explicit Background(std::size_t most_bytes) : most_bytes_(most_bytes) {}
  ~Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  // The thread starts with the first job. What a job has thrown is rethrown by the next call of run() or wait(); jobs
  // after it are dropped.
  void run(std::size_t bytes, std::function<void()> job);
  void wait();  // until all jobs are done

 private:
  struct Job {
    std::size_t bytes;
    std::function<void()> work;
  };
  void work();
  void rethrow();

  const std::size_t most_bytes_;
  std::mutex mutex_;
  std::condition_variable to_worker_, to_caller_;
  std::deque<Job> waiting_;  // the first is being worked on
  std::size_t bytes_ = 0;    // of all that wait
  std::exception_ptr failure_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace ztp
