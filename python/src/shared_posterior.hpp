// A Posterior that threads and forked processes of Python may share.
#pragma once
#include <fmt/format.h>
#include <unistd.h>

#include <compare>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "bindings.hpp"

namespace ztp::python {

// A forked process does not have the threads of its parent. It opens the run again, and never destroys the old object,
// which would wait for them.
class SharedPosterior {
 public:
  SharedPosterior(std::string run_dir, unsigned threads, bool raw, double listed, const std::string& kernel)
      : run_dir_(std::move(run_dir)),
        threads_(threads),
        options_{raw, listed, kernel_named(kernel)},
        opened_(std::make_unique<Opened>(run_dir_, threads_, options_)) {}
  SharedPosterior(const SharedPosterior&) = delete;
  SharedPosterior& operator=(const SharedPosterior&) = delete;
  ~SharedPosterior() {
    if (opened_->process != getpid()) static_cast<void>(opened_.release());
  }

  const Posterior& constant() const { return opened_->posterior; }
  // use(posterior) without Python's lock, one thread at a time.
  template <class Use>
  auto call(const Use& use) {
    Opened& opened = of_this_process();
    nb::gil_scoped_release released;
    const std::lock_guard one_at_a_time(opened.mutex);
    return use(opened.posterior);
  }
  // What is matched: the components of all chains with those of a reference, or the columns of a mode.
  struct Matched {
    std::size_t reference = 0;
    std::optional<std::size_t> mode = std::nullopt;
    auto operator<=>(const Matched&) const = default;
  };
  // The mode whose columns are matched, if components share columns.
  std::optional<std::size_t> mode_matched(std::size_t mode) const {
    return shares_columns(constant().info().options) ? std::optional(mode) : std::nullopt;
  }
  // The same with the matching of its chains, which is computed once.
  template <class Use>
  auto call_matched(const Matched& what, const Use& use) {
    Opened& opened = of_this_process();
    nb::gil_scoped_release released;
    const std::lock_guard one_at_a_time(opened.mutex);
    auto found = opened.matchings.find(what);
    if (found == opened.matchings.end()) {
      Posterior& p = opened.posterior;
      found =
          opened.matchings
              .emplace(what, what.mode ? p.match_columns(*what.mode, what.reference) : p.match_chains(what.reference))
              .first;
    }
    return use(opened.posterior, std::as_const(found->second));
  }
  // The same with two posteriors, which may be the same.
  template <class Use>
  auto call_with(SharedPosterior& other, const Use& use) {
    if (&other == this) return call([&](Posterior& posterior) { return use(posterior, posterior); });
    Opened &first = of_this_process(), &second = other.of_this_process();
    nb::gil_scoped_release released;
    const std::scoped_lock both(first.mutex, second.mutex);
    return use(first.posterior, second.posterior);
  }
  void require_columns(const Ids& cells) const {
    const std::size_t modes = constant().modes().size();
    if (cells.columns() != modes)
      throw Error(ErrorKind::usage, fmt::format("cells of {} columns; the run has {} modes", cells.columns(), modes));
  }

 private:
  struct Opened {
    Opened(const std::string& run_dir, unsigned threads, const PredictionOptions& options)
        : posterior(run_dir, threads, options) {}
    Posterior posterior;
    std::map<Matched, Matching> matchings;
    std::mutex mutex;
    pid_t process = getpid();
  };
  Opened& of_this_process() {
    if (opened_->process != getpid()) {
      auto fresh = std::make_unique<Opened>(run_dir_, threads_, options_);
      static_cast<void>(opened_.release());
      opened_ = std::move(fresh);
    }
    return *opened_;
  }

  static KernelName kernel_named(const std::string& name) {
    const auto kernel = choice_named<KernelName>(name);
    if (!kernel) throw Error(ErrorKind::usage, fmt::format("kernel {}: there are auto, cpu and cuda", name));
    return *kernel;
  }

  std::string run_dir_;
  unsigned threads_;
  PredictionOptions options_;
  std::unique_ptr<Opened> opened_;
};

void bind_components(nb::class_<SharedPosterior>& type);

}  // namespace ztp::python
