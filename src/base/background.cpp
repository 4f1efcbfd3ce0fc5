#include "base/background.hpp"

#include <utility>

namespace ztp {

Background::~Background() {
  {
    const std::scoped_lock lock(mutex_);
    ends_ = true;
  }
  to_worker_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Background::run(std::size_t bytes, std::function<void()> job) {
  std::unique_lock lock(mutex_);
  rethrow();
  to_caller_.wait(lock, [&] { return waiting_.empty() || bytes_ + bytes <= most_bytes_; });
  waiting_.push_back({bytes, std::move(job)});
  bytes_ += bytes;
  if (!thread_.joinable()) thread_ = std::thread([this] { work(); });
  to_worker_.notify_one();
}

void Background::wait() {
  std::unique_lock lock(mutex_);
  to_caller_.wait(lock, [&] { return waiting_.empty(); });
  rethrow();
}

void Background::rethrow() {
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void Background::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    to_worker_.wait(lock, [&] { return ends_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    const bool drop = failure_ != nullptr;
    std::exception_ptr failure;
    lock.unlock();
    try {
      if (!drop) waiting_.front().work();  // others only add behind it
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    if (failure) failure_ = failure;
    bytes_ -= waiting_.front().bytes;
    waiting_.pop_front();
    to_caller_.notify_all();
  }
}

}  // namespace ztp
