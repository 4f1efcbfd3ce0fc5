// The sampling loop: chains one after the other or side by side, each of so many sweeps (online: minibatches). It opens
// no file and prints nothing: whoever runs it watches through an Observer and a RunControl.
#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "sampler/chain.hpp"
#include "sampler/held_out.hpp"
#include "ztp/progress.hpp"

namespace ztp {

struct Schedule {
  std::uint32_t chains = 1;
  std::uint32_t sweeps = 1000;  // of each chain, burn-in included
  std::uint32_t burn_in = 500;
  // Draws are kept in the sweeps after burn-in that are multiples of this, cells are watched in multiples of that.
  std::uint32_t keep_every = 5, watch_every = 1;
  std::uint32_t score_every = 5;  // held-out cells are scored in multiples of this
  // Of all chains these are run here: `first` and every `step` after it. The others run in other processes.
  std::uint32_t first = 0, step = 1;

  // Where it costs extra, the log-likelihood is computed this often.
  bool wants_likelihood(std::uint32_t t) const { return t == 1 || t % 10 == 0; }
  bool keeps(std::uint32_t t) const { return t > burn_in && t % keep_every == 0; }
  bool watches(std::uint32_t t) const { return t > burn_in && t % watch_every == 0; }
  // How often a chain has done so up to sweep t.
  std::uint32_t draws_until(std::uint32_t t) const { return multiples(keep_every, t); }
  std::uint32_t watches_until(std::uint32_t t) const { return multiples(watch_every, t); }
  std::uint32_t draws_per_chain() const { return draws_until(sweeps); }
  std::uint64_t draws() const { return std::uint64_t{chains} * draws_per_chain(); }
  std::uint32_t chains_here() const { return first < chains ? (chains - first + step - 1) / step : 0; }
  // The same with keep_every doubled, if need be, until all chains together keep at most this many draws. Each keeps
  // one at least. When a run goes on to more sweeps, the draws kept so far contain all that are still wanted.
  Schedule thinned_to(std::uint64_t most) const;
  Schedule watching_at_most(std::uint32_t times) const;  // likewise, each chain

 private:
  std::uint32_t multiples(std::uint32_t every, std::uint32_t t) const {
    return t <= burn_in ? 0 : t / every - burn_in / every;
  }
};

// A running chain.
struct RunningChain {
  Chain& chain;
  SweepReport report;           // of the last sweep
  HeldOut* held_out = nullptr;  // what is known of held-out cells, if there are any
};

// Records what the chains do. Where they run side by side, their threads call it, one at a time.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void on_draw(const RunningChain& now) = 0;   // the state is a draw to be kept; on_sweep follows
  virtual void on_sweep(const RunningChain& now) = 0;  // a step is done, whatever it was for
  virtual void on_end(const RunningChain& now) = 0;    // the last step of this chain
  // A stop was requested, or another chain has failed. The chain is as it was when on_sweep saw it last, or as it
  // began.
  virtual void on_stop(const RunningChain& /*last*/) {}
  // A step has failed, and the chain is as it was when on_sweep saw it last (or at its start, if sweep is 0): what it
  // carries can be saved before the exception is rethrown.
  virtual void on_failure(const RunningChain& /*last*/) {}
};

// Both are called in the thread that called run_chains, and in no other. Each may be empty.
struct RunControl {
  std::function<void(const SweepReport&)> tell;  // of every sweep; side by side, some hundredths of a second later
  std::function<bool()> stop_requested;          // asked before every step; side by side, as often as tell
};

// Cells that are looked at while the chains run. Each may be null.
struct TrackedCells {
  const TestCells* held_out = nullptr;  // scored
  // Their probabilities are reported after burn-in, every schedule.watch_every sweeps.
  const TestCells* watched = nullptr;
};

// Where chains go on that have started before.
struct StartedChains {
  std::vector<std::uint32_t> sweeps;  // that each chain has behind it; of those beyond the list, none
  // Puts such a chain back where it was, with the seconds it had taken and what was known of held-out cells. Called by
  // the thread that runs it.
  std::function<void(RunningChain&)> restore;
};

// Makes the chain of this number. Chains that run at the same time have different places, from 0.
using ChainMaker = std::function<std::unique_ptr<Chain>(std::uint32_t number, std::size_t place)>;

// Runs to the end of the schedule (true) or until a stop is requested (false). Up to `side_by_side` chains run at the
// same time, each in a thread of its own; with 1 all happens in this thread. If something throws, the other chains are
// stopped first.
bool run_chains(const ChainMaker& make_chain, const Schedule& schedule, const StartedChains& started,
                const TrackedCells& tracked, Observer& observer, const RunControl& control = {},
                std::size_t side_by_side = 1);

}  // namespace ztp
