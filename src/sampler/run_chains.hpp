// The sampling loop: chains one after the other, each of so many sweeps (online: minibatches). It opens no file and
// prints nothing:
// whoever runs it watches through an Observer.
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
  std::uint32_t keep_every = 5;   // a draw is kept at burn_in + keep_every, burn_in + 2 keep_every, ...
  std::uint32_t score_every = 5;  // during burn-in, held-out cells are scored this often
  std::uint32_t watch_every = 1;  // after burn-in

  // Where it costs extra, the log-likelihood is computed this often.
  bool wants_likelihood(std::uint32_t t) const { return t == 1 || t % 10 == 0; }
  bool keeps(std::uint32_t t) const { return t > burn_in && (t - burn_in) % keep_every == 0; }
  std::uint32_t draws_per_chain() const { return (sweeps - burn_in) / keep_every; }
  // The same with keep_every raised, if need be, until all chains together keep at most this many draws.
  Schedule thinned_to(std::uint64_t draws) const;
};

class Observer {
 public:
  virtual ~Observer() = default;
  virtual void on_draw(Chain& chain,
                       const SweepReport& report) = 0;  // the state is a draw to be kept; on_sweep follows
  virtual void on_sweep(Chain& chain, const SweepReport& report) = 0;  // a step is done, whatever it was for
  virtual void on_end(Chain& chain, const SweepReport& report) = 0;    // the last step of this chain
  virtual bool stop_requested() = 0;                                      // asked before every step
  // A stop was requested. The chain is as it was when on_sweep saw it last, or as it began.
  virtual void on_stop(Chain& /*chain*/, const SweepReport& /*last*/) {}
  // A step has failed, and the chain is as it was when on_sweep saw it last (or at its start, if sweep is 0): what it
  // carries can be saved before the exception goes on its way.
  virtual void on_failure(Chain& /*chain*/, const SweepReport& /*last*/) {}
};

// Cells that are looked at while the chains run. Each may be null.
struct TrackedCells {
  HeldOut* held_out = nullptr;
  // Their probabilities are reported after burn-in, every schedule.watch_every sweeps.
  const TestCells* watched = nullptr;
};

// Where chains go on that have started before.
struct StartedChains {
  std::vector<std::uint32_t> sweeps;         // that each chain has behind it; of those beyond the list, none
  std::function<double(Chain&)> restore;  // puts such a chain back where it was; returns the seconds it had taken
};

using ChainMaker = std::function<std::unique_ptr<Chain>(std::uint32_t number)>;

// Runs to the end of the schedule (true) or until a stop is requested (false).
bool run_chains(const ChainMaker& make_chain, const Schedule& schedule, const StartedChains& started,
                const TrackedCells& tracked, Observer& observer);

}  // namespace ztp
