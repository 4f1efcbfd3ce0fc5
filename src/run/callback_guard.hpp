// Callbacks that may throw.
#pragma once
#include <exception>

#include "ztp/fit.hpp"

namespace ztp {

// Stands between a run and the callbacks of its caller. The first exception that one of them throws is kept and a stop
// requested, so that the run ends as any other that is interrupted; none of them is called again.
class CallbackGuard {
 public:
  explicit CallbackGuard(const FitCallbacks& of_caller) : of_caller_(of_caller) {}

  void on_sweep(const SweepReport& report) {
    if (of_caller_.on_sweep) guarded([&] { of_caller_.on_sweep(report); });
  }
  bool stop_requested() {
    bool stop = false;
    if (of_caller_.stop_requested) guarded([&] { stop = of_caller_.stop_requested(); });
    return stop || thrown_ != nullptr;
  }
  // When the run is left in order: throws what was kept, if anything.
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

  const FitCallbacks& of_caller_;
  std::exception_ptr thrown_;
};

}  // namespace ztp
