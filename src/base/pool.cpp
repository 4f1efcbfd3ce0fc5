#include "base/pool.hpp"

#include <fmt/format.h>

#include <system_error>

#include "ztp/error.hpp"

namespace ztp {

Pool::Pool(unsigned threads) : threads_(threads == 0 ? 1 : threads), start_(threads_), done_(threads_) {
  try {
    for (unsigned i = 1; i < threads_; ++i)
      team_.emplace_back([this] {
        while (true) {
          start_.arrive_and_wait();
          if (quit_) return;
          work();
          done_.arrive_and_wait();
        }
      });
  } catch (const std::system_error& error) {
    // Let those that have started go: they wait for a full team.
    quit_ = true;
    const std::size_t started = team_.size();
    for (std::size_t missing = started; missing < threads_; ++missing) start_.arrive_and_drop();
    team_.clear();
    throw Error(ErrorKind::config, fmt::format("--threads {}: the system gives no more than {} ({})", threads_,
                                               started + 1, error.what()));
  }
}

Pool::~Pool() {
  if (threads_ == 1) return;
  quit_ = true;
  start_.arrive_and_wait();
}

void Pool::work() {
  try {
    for (std::size_t block = next_++; block < blocks_; block = next_++) (*body_)(block);
  } catch (...) {
    const std::scoped_lock lock(failure_mutex_);
    if (!failure_) failure_ = std::current_exception();
    next_ = blocks_;
  }
}

void Pool::for_blocks(std::size_t blocks, const std::function<void(std::size_t)>& body) {
  body_ = &body;
  blocks_ = blocks;
  next_ = 0;
  failure_ = nullptr;
  if (threads_ == 1) {
    work();
  } else {
    start_.arrive_and_wait();
    work();
    done_.arrive_and_wait();
  }
  if (failure_) std::rethrow_exception(failure_);
}

}  // namespace ztp
