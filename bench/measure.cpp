#include "measure.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "base/clock.hpp"

namespace ztp::bench {
namespace {

double time_of(const Body& body, std::size_t runs) {
  const double begin = clock_seconds();
  for (std::size_t i = 0; i < runs; ++i) body();
  return (clock_seconds() - begin) / static_cast<double>(runs);
}

// Prints nothing and keeps the time of every run, in the order of the benchmarks.
class Collector final : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs)
      if (run.run_type == Run::RT_Iteration)
        seconds_.push_back(run.real_accumulated_time / static_cast<double>(run.iterations));
  }
  const std::vector<double>& seconds() const { return seconds_; }

 private:
  std::vector<double> seconds_;
};

}  // namespace

Spread spread(Times times) {
  std::sort(times.begin(), times.end());
  const std::size_t n = times.size();
  return {(times[(n - 1) / 2] + times[n / 2]) / 2, times.front(), times.back(), n};
}

Times scaled(Times times, double factor) {
  for (double& time : times) time *= factor;
  return times;
}

Times rate(double amount, Times times) {
  for (double& time : times) time = amount / time;
  return times;
}

Times ratio(const Times& above, const Times& below) {
  Times result(above.size());
  std::transform(above.begin(), above.end(), below.begin(), result.begin(), std::divides<>());
  return result;
}

std::vector<Times> time_kernels(const std::vector<Body>& bodies, Effort effort) {
  benchmark::ClearRegisteredBenchmarks();
  for (std::size_t i = 0; i < bodies.size(); ++i)
    benchmark::RegisterBenchmark(std::to_string(i).c_str(),
                                 [&body = bodies[i]](benchmark::State& state) {
                                   for (auto _ : state) body();
                                 })
        ->UseRealTime()
        ->MinTime(effort.seconds);
  std::vector<Times> times(bodies.size());
  for (std::size_t repeat = 0; repeat < effort.repeats; ++repeat) {
    Collector collector;
    benchmark::RunSpecifiedBenchmarks(&collector, "all");
    for (std::size_t i = 0; i < bodies.size(); ++i) times[i].push_back(collector.seconds().at(i));
  }
  benchmark::ClearRegisteredBenchmarks();
  return times;
}

std::vector<Times> time_sweeps(const std::vector<Body>& bodies, Effort effort) {
  constexpr double most_runs = 1000;
  std::vector<std::size_t> runs;
  for (const Body& body : bodies)
    runs.push_back(static_cast<std::size_t>(std::clamp(std::ceil(effort.seconds / time_of(body, 1)), 1.0, most_runs)));
  std::vector<Times> times(bodies.size());
  for (std::size_t repeat = 0; repeat < effort.repeats; ++repeat)
    for (std::size_t i = 0; i < bodies.size(); ++i) times[i].push_back(time_of(bodies[i], runs[i]));
  return times;
}

}  // namespace ztp::bench
