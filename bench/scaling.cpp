// How the time of a sweep grows: with R and with threads on the tensors of the suite, where what is compared is timed
// by turns; and with the ones, R and K of simulated tensors, one after the other, so that only one chain at a time
// takes memory.
#include <fmt/format.h>

#include "machine.hpp"
#include "sampling.hpp"
#include "suite.hpp"

namespace ztp::bench {
namespace {

std::vector<Times> time_by_turns(const std::vector<std::unique_ptr<Sampling>>& samplings, Effort effort) {
  std::vector<Body> sweeps;
  // Ten sweeps at a time: one in ten of a large rank computes the log-likelihood too.
  for (const auto& sampling : samplings)
    sweeps.push_back([&sampling] {
      for (int t = 0; t < 10; ++t) sampling->sweep();
    });
  std::vector<Times> times = time_sweeps(sweeps, effort);
  for (Times& of_ten : times) of_ten = scaled(of_ten, 0.1);
  return times;
}

void time_simulated(Suite& suite, const std::string& by, const SparseTensor& tensor, std::size_t R) {
  Sampling sampling(tensor, R, suite.options.threads);
  const Times time = time_sweeps({[&] { sampling.sweep(); }}, suite.effort())[0];
  std::vector<std::string> sizes;
  for (const Mode& mode : tensor.modes) sizes.push_back(std::to_string(mode.labels.size()));
  suite.report.add({{"by", by},
                    {"modes", fmt::format("{}", fmt::join(sizes, " x "))},
                    {"ones", tensor.nnz()},
                    {"K", tensor.order()},
                    {"R", R},
                    {"threads", suite.options.threads}},
                   {figure("ms per sweep", scaled(time, 1e3)), figure("sweeps per s", rate(1, time)),
                    figure("sweep ns per one", scaled(time, 1e9 / sampling.ones())),
                    figure("MB held", sampling.bytes_held() / 1e6)});
}

}  // namespace

void bench_rank(Suite& suite) {
  const std::vector<std::size_t> ranks = suite.options.quick
                                             ? std::vector<std::size_t>{100, 10, 200}
                                             : std::vector<std::size_t>{100, 10, 20, 50, 200, 500, 1000};
  const Subject& subject = suite.subjects().back();
  if (subject.name == facebook_shape) return;  // without Scholars; at R = 1000 it would take gigabytes
  std::vector<std::unique_ptr<Sampling>> samplings;
  double held = 0;
  for (const std::size_t R : ranks) {
    if (!samplings.empty()) held += samplings[0]->bytes_held() * static_cast<double>(R) / 100;
    if (held > static_cast<double>(memory_bytes()) / 2) {
      suite.report.skip(fmt::format("R = {}", R), "takes more than half of the memory");
      break;
    }
    samplings.push_back(
        std::make_unique<Sampling>(subject.tensor, R, suite.options.threads, suite.options.quick ? 20 : 60));
  }
  const std::vector<Times> times = time_by_turns(samplings, suite.effort());
  for (std::size_t i = 0; i < samplings.size(); ++i) {
    const bool judged = subject.name == scholars && ranks[i] == 1000;
    suite.report.add({{"tensor", subject.name}, {"R", ranks[i]}, {"threads", suite.options.threads}},
                     {figure("ms per sweep", scaled(times[i], 1e3)),
                      figure("times that of R = 100", ratio(times[i], times[0]),
                             judged ? MaybeWanted{{Wanted::at_most, 5}} : MaybeWanted{}),
                      figure("MB held", samplings[i]->bytes_held() / 1e6)});
  }
}

void bench_threads(Suite& suite) {
  const std::vector<unsigned> counts = suite.thread_counts();
  for (const Subject& subject : suite.subjects()) {
    std::vector<std::unique_ptr<Sampling>> samplings;
    for (const unsigned threads : counts) samplings.push_back(std::make_unique<Sampling>(subject.tensor, 100, threads));
    const std::vector<Times> times = time_by_turns(samplings, suite.effort());
    for (std::size_t i = 0; i < counts.size(); ++i) {
      MaybeWanted wanted;
      const bool judged = subject.of_suite() && counts[i] <= hardware_threads();
      if (judged && counts[i] == 2) wanted = {Wanted::at_least, 1.85};
      if (judged && counts[i] == 16) wanted = {Wanted::at_least, 12};
      suite.report.add({{"tensor", subject.name}, {"R", 100}, {"threads", counts[i]}},
                       {figure("ms per sweep", scaled(times[i], 1e3)),
                        figure("times one thread", ratio(times[0], times[i]), wanted)});
    }
  }
}

void bench_scaling(Suite& suite) {
  const bool quick = suite.options.quick;
  const std::uint64_t n = quick ? 1000 : 20000, last = quick ? 50 : 500;
  const std::uint64_t ones = quick ? 10000 : 500000;
  for (const std::uint64_t count : {ones / 5, ones, ones * 5, ones * 20}) {
    if (quick && count > ones) continue;
    time_simulated(suite, "ones", simulated({n, n, last}, count, 20), 20);
  }
  {
    const SparseTensor tensor = simulated({n, n, last}, ones, 20);
    for (const std::size_t R : {10u, 20u, 50u, 100u, 200u, 500u, 1000u}) {
      if (quick && R > 50) continue;
      time_simulated(suite, "R", tensor, R);
    }
  }
  for (std::size_t K = 2; K <= 5; ++K)
    time_simulated(suite, "K", simulated(std::vector<std::uint64_t>(K, n / 2), ones, 20), 20);
}

}  // namespace ztp::bench
