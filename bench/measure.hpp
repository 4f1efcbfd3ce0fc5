// Times, and the figures made of them. A figure is a median with its spread. What is to be compared is timed by turns,
// one repeat of each after the other, and a ratio is taken within each repeat: a shared machine can be half as fast a
// minute later.
#pragma once
#include <cstddef>
#include <functional>
#include <vector>

namespace ztp::bench {

using Body = std::function<void()>;
using Times = std::vector<double>;  // of each repeat: seconds of one run, or what follows from them

struct Spread {
  double median = 0;
  double min = 0;
  double max = 0;
  std::size_t repeats = 0;
};
Spread spread(Times times);

Times scaled(Times times, double factor);
Times rate(double amount, Times times);               // amount / time: so much in a second
Times ratio(const Times& above, const Times& below);  // repeat by repeat

// How often to time each body, and how many seconds a repeat lasts at least: a short body is run several times in each.
struct Effort {
  std::size_t repeats = 7;
  double seconds = 0.1;
};

// By Google Benchmark, which finds out how often a body must run in each repeat. One element for each body.
std::vector<Times> time_kernels(const std::vector<Body>& bodies, Effort effort);

// For bodies that change what they work on, as the sweep of a chain does: one run to see how long it takes, and then
// the repeats, each of the same number of runs.
std::vector<Times> time_sweeps(const std::vector<Body>& bodies, Effort effort);

}  // namespace ztp::bench
