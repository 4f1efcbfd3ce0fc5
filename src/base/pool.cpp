#include "base/pool.hpp"

#if defined(__linux__)
#include <sched.h>
#endif

#include <algorithm>
#include <system_error>

#include "base/clock.hpp"
#include "base/errors.hpp"

namespace ztp {

namespace {

std::size_t processes_on_cores = 1;

// A microsecond or two. Where there are more threads than cores, whoever spins longer takes a core from one that works.
constexpr int pauses = 50;
// Where there are not: longer than the serial part between two calls of a sweep. To wake a thread that sleeps takes as
// long, and each of a team is woken by itself. Not with a yield: on a busy machine it costs the thread its core.
constexpr double patience = 100e-6;

// Whether the value is no longer `old`: looks at it for a moment.
bool changes(const std::atomic<std::uint32_t>& value, std::uint32_t old) {
  for (int i = 0; i < pauses; ++i) {
    if (value.load(std::memory_order_acquire) != old) return true;
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
  return false;
}

// Waits until the value is no longer `old`, one of a team of so many: spins, then sleeps.
void wait_for_change(const std::atomic<std::uint32_t>& value, std::uint32_t old, unsigned threads) {
  if (changes(value, old)) return;
  const double end = threads <= available_cores() ? clock_seconds() + patience : 0;
  while (clock_seconds() < end)
    if (changes(value, old)) return;
  value.wait(old, std::memory_order_acquire);
}

}  // namespace

unsigned available_cores() {
  unsigned all = std::thread::hardware_concurrency();
#if defined(__linux__)
  cpu_set_t cores;  // has room for 1,024; the call fails where there are more
  if (sched_getaffinity(0, sizeof cores, &cores) == 0) all = static_cast<unsigned>(CPU_COUNT(&cores));
#endif
  return std::max(1u, all / static_cast<unsigned>(processes_on_cores));
}

void share_cores(std::size_t processes) {
  processes_on_cores = processes;
}

Pool::Pool(unsigned threads) : threads_(threads == 0 ? 1 : threads) {
  try {
    for (unsigned i = 1; i < threads_; ++i) team_.emplace_back([this] { serve(); });
  } catch (const std::system_error& error) {
    const std::size_t started = team_.size();
    stop();
    team_.clear();
    throw config_error("--threads {}: the system allows only {} ({})", threads_, started + 1, error.what());
  }
}

void Pool::stop() {
  quit_ = true;
  call_.fetch_add(1);
  call_.notify_all();
}

void Pool::serve() {
  for (std::uint32_t seen = 0;;) {
    wait_for_change(call_, seen, threads_);
    seen = call_;
    if (quit_) return;
    ++working_;  // before the look at open_: either it is closed already, or for_blocks sees this thread and waits
    if (open_) work();
    if (--working_ == 0) working_.notify_one();
  }
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
  if (threads_ == 1 || blocks <= 1) {
    work();
  } else {
    open_ = true;
    ++call_;
    call_.notify_all();
    work();
    open_ = false;
    for (std::uint32_t left = working_.load(); left != 0; left = working_.load())
      wait_for_change(working_, left, threads_);
  }
  if (failure_) std::rethrow_exception(failure_);
}

}  // namespace ztp
