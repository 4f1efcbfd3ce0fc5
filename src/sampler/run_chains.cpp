#include "sampler/run_chains.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <numeric>
#include <optional>
#include <system_error>
#include <thread>

#include "base/clock.hpp"
#include "ztp/error.hpp"

namespace ztp {
namespace {

void look_at_cells(RunningChain& now, const Schedule& schedule, const TrackedCells& tracked) {
  SweepReport& report = now.report;
  const std::uint32_t t = report.sweep;
  report.auc_roc = std::numeric_limits<double>::quiet_NaN();
  report.watched.clear();
  const bool scores = now.held_out != nullptr && t % schedule.score_every == 0;
  const bool watches = tracked.watched != nullptr && schedule.watches(t), keeps = schedule.keeps(t);
  if (((scores && t <= schedule.burn_in) || watches) && !keeps) now.chain.draw_state();
  if (now.held_out != nullptr && keeps) now.held_out->keep(now.chain);
  if (scores) report.auc_roc = t <= schedule.burn_in ? now.held_out->score(now.chain) : now.held_out->auc_of_mean();
  if (!watches) return;
  report.watched.resize(tracked.watched->size());
  now.chain.probabilities(tracked.watched->coords.data(), report.watched.size(), report.watched.data());
}

// One step, which must come out with a likelihood if it is asked for one.
double checked_step(Chain& chain, bool likelihood) {
  const double value = chain.step(likelihood);
  if (!chain.knows_likelihood() || std::isfinite(value) || (std::isnan(value) && !likelihood)) return value;
  throw Error(ErrorKind::numeric,
              fmt::format("{} {}: the log-likelihood is {}; fewer components, or hyperparameters nearer to their "
                          "defaults, may help; if they are at their defaults, please report this",
                          chain.step_name(), chain.steps_done(), std::isnan(value) ? "not a number" : "infinite"));
}

// What all chains of a run share.
class ChainLoop {
 public:
  ChainLoop(const ChainMaker& make_chain, const Schedule& schedule, const StartedChains& started,
            const TrackedCells& tracked, Observer& observer)
      : make_chain_(make_chain), schedule_(schedule), started_(started), tracked_(tracked), observer_(observer) {
    for (std::uint32_t c = schedule.first; c < schedule.chains; c += schedule.step)
      done_ += std::min(behind(c), schedule.sweeps);
  }

  // The next chain that is not at its end; nothing, if there is none.
  std::optional<std::uint32_t> next() {
    const auto take = [&] { return schedule_.first + schedule_.step * next_++; };
    std::uint32_t c = take();
    while (c < schedule_.chains && behind(c) >= schedule_.sweeps) c = take();
    return c < schedule_.chains ? std::optional(c) : std::nullopt;
  }

  // Runs a chain to its end (true), or until `stop` says so (false).
  bool run(std::uint32_t c, std::size_t place, const std::function<void(const SweepReport&)>& tell,
           const std::function<bool()>& stop) {
    const std::unique_ptr<Chain> chain = make_chain_(c, place);
    std::optional<HeldOut> held_out;
    if (tracked_.held_out != nullptr) held_out.emplace(*tracked_.held_out);
    RunningChain now{*chain, {}, held_out ? &*held_out : nullptr};
    begin(now, c);
    while (chain->steps_done() < schedule_.sweeps) {
      if (stop()) {
        const std::scoped_lock lock(recording_);
        observer_.on_stop(now);
        return false;
      }
      step(now);
      tell(now.report);
    }
    const std::scoped_lock lock(recording_);
    observer_.on_end(now);
    return true;
  }

 private:
  std::uint32_t behind(std::uint32_t c) const { return c < started_.sweeps.size() ? started_.sweeps[c] : 0; }

  void begin(RunningChain& now, std::uint32_t c) {
    now.report.chain = c;
    now.report.sweep = behind(c);
    now.report.planned = std::uint64_t{schedule_.chains_here()} * schedule_.sweeps;
    if (behind(c) > 0)
      started_.restore(now);
    else
      now.chain.start();
    if (now.chain.steps_done() != behind(c))
      throw Error(ErrorKind::input, fmt::format("chain {} was restored after {} {}s, not {}; the run cannot continue",
                                                c + 1, now.chain.steps_done(), now.chain.step_name(), behind(c)));
  }

  void step(RunningChain& now) {
    Chain& chain = now.chain;
    SweepReport& report = now.report;
    const double begin = clock_seconds();
    try {
      report.log_likelihood = checked_step(chain, schedule_.wants_likelihood(chain.steps_done() + 1));
    } catch (...) {
      const std::scoped_lock lock(recording_);
      if (chain.whole() && chain.steps_done() == report.sweep) observer_.on_failure(now);
      throw;
    }
    report.sweep = chain.steps_done();
    const bool keeps = schedule_.keeps(report.sweep);
    if (keeps) chain.draw_state();
    report.seconds += clock_seconds() - begin;
    look_at_cells(now, schedule_, tracked_);
    chain.describe(report);
    report.learned = chain.learned();
    const std::scoped_lock lock(recording_);
    report.done = ++done_;
    if (keeps) observer_.on_draw(now);
    observer_.on_sweep(now);
  }

  const ChainMaker& make_chain_;
  const Schedule& schedule_;
  const StartedChains& started_;
  const TrackedCells& tracked_;
  Observer& observer_;
  std::mutex recording_;                 // one chain at a time is recorded
  std::uint64_t done_ = 0;               // sweeps of all chains, under that lock
  std::atomic<std::uint32_t> next_ = 0;  // chain to be looked at
};

bool one_after_another(ChainLoop& loop, const RunControl& control) {
  const auto tell = [&](const SweepReport& report) {
    if (control.tell) control.tell(report);
  };
  const auto stop = [&] { return control.stop_requested && control.stop_requested(); };
  while (const std::optional<std::uint32_t> c = loop.next())
    if (!loop.run(*c, 0, tell, stop)) return false;
  return true;
}

// Chains in threads of their own. Their reports wait in a queue for the calling thread, which looks at it often enough
// for people who watch.
class Team {
 public:
  Team(ChainLoop& loop, const RunControl& control) : loop_(loop), control_(control) {}

  bool run(std::size_t size) {
    try {
      for (std::size_t place = 0; place < size; ++place) {
        const std::scoped_lock lock(mutex_);
        threads_.emplace_back([this, place] { work(place); });
        ++working_;
      }
    } catch (const std::system_error& error) {
      fail(std::make_exception_ptr(
          Error(ErrorKind::config, fmt::format("--threads: the system allows no more threads ({})", error.what()))));
    }
    while (serve()) {
    }
    for (std::jthread& thread : threads_) thread.join();
    if (failure_) std::rethrow_exception(failure_);
    return complete_;
  }

 private:
  static constexpr std::size_t most_waiting = 4096;  // reports: a chain waits where the caller cannot keep up

  void work(std::size_t place) {
    try {
      while (const std::optional<std::uint32_t> c = stop_ ? std::nullopt : loop_.next())
        if (!loop_.run(
                *c, place, [this](const SweepReport& report) { queue(report); }, [this] { return stop_.load(); }))
          complete_ = false;
      if (loop_.next()) complete_ = false;
    } catch (...) {
      fail(std::current_exception());
    }
    const std::scoped_lock lock(mutex_);
    --working_;
    to_caller_.notify_one();
  }

  void queue(const SweepReport& report) {
    std::unique_lock lock(mutex_);
    waiting_.push_back(report);
    if (waiting_.size() < most_waiting) return;
    to_caller_.notify_one();
    to_chains_.wait(lock, [this] { return waiting_.size() < most_waiting || stop_; });
  }

  // The first failure counts. The other chains stop.
  void fail(std::exception_ptr failure) {
    const std::scoped_lock lock(mutex_);
    if (!failure_) failure_ = std::move(failure);
    stop_ = true;
    to_chains_.notify_all();
  }

  // Tells what has been queued, and asks whether to stop. False, when all threads are through.
  bool serve() {
    using namespace std::chrono_literals;
    std::vector<SweepReport> reports;
    bool last = false;
    {
      std::unique_lock lock(mutex_);
      to_caller_.wait_for(lock, 20ms, [this] { return working_ == 0 || waiting_.size() >= most_waiting; });
      reports.swap(waiting_);
      last = working_ == 0;
      to_chains_.notify_all();
    }
    try {
      for (const SweepReport& report : reports)
        if (control_.tell && !told_all_) control_.tell(report);
      if (!last && !stop_ && control_.stop_requested && control_.stop_requested()) {
        const std::scoped_lock lock(mutex_);
        stop_ = true;
        to_chains_.notify_all();
      }
    } catch (...) {
      told_all_ = true;
      fail(std::current_exception());
    }
    return !last;
  }

  ChainLoop& loop_;
  const RunControl& control_;
  std::mutex mutex_;
  std::condition_variable to_caller_, to_chains_;
  std::vector<SweepReport> waiting_;
  std::size_t working_ = 0;  // threads
  std::exception_ptr failure_;
  std::atomic<bool> stop_ = false, complete_ = true;
  bool told_all_ = false;  // tell has thrown, and is not called again
  std::vector<std::jthread> threads_;
};

}  // namespace

Schedule Schedule::thinned_to(std::uint64_t most) const {
  Schedule result = *this;
  while (result.draws() > most && multiples(2 * result.keep_every, sweeps) > 0) result.keep_every *= 2;
  return result;
}

Schedule Schedule::watching_at_most(std::uint32_t times) const {
  Schedule result = *this;
  while (result.watches_until(sweeps) > times) result.watch_every *= 2;
  return result;
}

bool run_chains(const ChainMaker& make_chain, const Schedule& schedule, const StartedChains& started,
                const TrackedCells& tracked, Observer& observer, const RunControl& control, std::size_t side_by_side) {
  ChainLoop loop(make_chain, schedule, started, tracked, observer);
  if (side_by_side <= 1) return one_after_another(loop, control);
  return Team(loop, control).run(std::min<std::size_t>(side_by_side, schedule.chains_here()));
}

}  // namespace ztp
