// Whole sweeps, and by turns with them their two halves (the allocation step, for each one; the gamma draws) and
// copying memory. The copy limit is the time to move what a sweep must move at least. "MB held" is what a fit holds all
// the time; its peak, for which the wanted figure is meant, comes a little higher and stands in the run's status.json.
#include "bandwidth.hpp"
#include "kernel/cpu/columns.hpp"
#include "sampling.hpp"
#include "suite.hpp"

namespace ztp::bench {
namespace {

struct Target {
  std::string tensor;
  std::size_t R;
  double milliseconds;  // on two threads
  double megabytes;     // peak of a fit; zero: none is wanted
};
const Target targets[] = {{facebook_shape, 20, 35, 150}, {facebook_shape, 100, 120, 400}, {scholars, 100, 160, 0}};

const Target* target_of(const std::string& tensor, std::size_t R) {
  for (const Target& target : targets)
    if (target.tensor == tensor && target.R == R) return &target;
  return nullptr;
}

// The gamma draws of a sweep at the counts the chain has now, all modes, without what makes columns of them.
class GammaDraws {
 public:
  explicit GammaDraws(Sampling& sampling) : sampling_(sampling) {
    for (const auto& S : sampling.chain().statistics().rows)
      u_.push_back(std::make_unique<HostFactors>(S->rows(), S->columns(), RowPlace{}));
  }
  void run() {
    const BatchChain& chain = sampling_.chain();
    for (std::size_t f = 0; f < u_.size(); ++f)
      cpu::draw_gammas(sampling_.pool(), {*chain.statistics().rows[f], chain.state().shapes.dirichlet[f]},
                       {stream_key(1, 0, Purpose::columns, static_cast<std::uint32_t>(f)), chain.steps_done()}, *u_[f]);
  }

 private:
  Sampling& sampling_;
  std::vector<std::unique_ptr<HostFactors>> u_;
};

void time_sweep(Suite& suite, const Subject& subject, std::size_t R, unsigned threads) {
  Sampling sampling(subject.tensor, R, threads);
  GammaDraws gammas(sampling);
  Copy copy(sampling.pool(), suite.options.quick);
  const std::vector<Times> times =
      time_sweeps({[&] { sampling.chain().sweep(); }, [&] { sampling.chain().draw_counts(); }, [&] { gammas.run(); },
                   [&] { copy.run(); }},
                  suite.effort());
  const Times limit = scaled(times[3], sampling.bytes_moved() / copy.bytes_moved());
  MaybeWanted time, memory;
  if (const Target* target = target_of(subject.name, R)) {
    if (threads == 2) time = {Wanted::at_most, target->milliseconds};
    if (target->megabytes > 0) memory = {Wanted::at_most, target->megabytes};
  }
  suite.report.add(
      {{"tensor", subject.name}, {"R", R}, {"threads", threads}},
      {figure("ms per sweep", scaled(times[0], 1e3), time), figure("sweeps per s", rate(1, times[0])),
       figure("ns per one", scaled(times[1], 1e9 / sampling.ones())),
       figure("ns per gamma draw", scaled(times[2], 1e9 / sampling.draws())),
       figure("times the copy limit", ratio(times[0], limit)), figure("MB held", sampling.bytes_held() / 1e6, memory)});
}

}  // namespace

void bench_sweep(Suite& suite) {
  for (const Subject& subject : suite.subjects())
    for (const std::size_t R : {std::size_t{20}, std::size_t{100}})
      for (const unsigned threads : suite.few_thread_counts()) time_sweep(suite, subject, R, threads);
}

}  // namespace ztp::bench
