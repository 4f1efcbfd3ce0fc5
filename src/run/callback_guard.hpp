// Callbacks that may throw.
#pragma once
#include <exception>

#include "ztp/fit.hpp"

namespace ztp {

// Calls the callbacks of the caller. The first exception that one of them throws is kept and stops the run, which then
// ends as any interrupted run does. No callback is called after that.
class CallbackGuard {
 public:
  explicit CallbackGuard(const FitCallbacks& callbacks) : callbacks_(callbacks) {}

  void on_sweep(const SweepReport& report) {
    if (callbacks_.on_sweep) guarded([&] { callbacks_.on_sweep(report); });
  }
  bool stop_requested() {
    bool stop = false;
    if (callbacks_.stop_requested) guarded([&] { stop = callbacks_.stop_requested(); });
    return stop || thrown_ != nullptr;
  }
  // Throws the exception that was kept, if any. Call it when the run directory is complete.
  void rethrow() const {
    if (thrown_) std::rethrow_exception(thrown_);
  }

 private:
  template <class Call>
  void guarded(const Call& call) {
    if (thrown_) return;
    try {
      call();
    } catch (...) {
      thrown_ = std::current_exception();
    }
  }

  const FitCallbacks& callbacks_;
  std::exception_ptr thrown_;
};

}  // namespace ztp
