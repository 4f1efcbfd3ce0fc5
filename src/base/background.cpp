#include "base/background.hpp"

#include <utility>

namespace ztp {

Background::~Background() {
  {
    const std::scoped_lock lock(mutex_);
    ends_ = true;
  }
  to_workers_.notify_all();
  for (std::thread& thread : team_) thread.join();
}

void Background::run(std::size_t bytes, std::function<void()> job) {
  std::unique_lock lock(mutex_);
  rethrow();
  to_caller_.wait(lock, [&] { return unfinished_ == 0 || bytes_ + bytes <= most_bytes_; });
  waiting_.push_back({bytes, std::move(job)});
  ++unfinished_;
  bytes_ += bytes;
  if (team_.size() < threads_) team_.emplace_back([this] { work(); });
  to_workers_.notify_one();
}

void Background::wait() {
  std::unique_lock lock(mutex_);
  to_caller_.wait(lock, [&] { return unfinished_ == 0; });
  rethrow();
}

void Background::rethrow() {
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void Background::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    to_workers_.wait(lock, [&] { return ends_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    Job job = std::exchange(waiting_.front(), {});
    waiting_.pop_front();
    const bool drop = failure_ != nullptr;
    std::exception_ptr failure;
    lock.unlock();
    try {
      if (!drop) job.work();
    } catch (...) {
      failure = std::current_exception();
    }
    job.work = nullptr;  // what it holds is given back before its bytes are
    lock.lock();
    if (failure) failure_ = failure;
    --unfinished_;
    bytes_ -= job.bytes;
    to_caller_.notify_all();
  }
}

}  // namespace ztp
