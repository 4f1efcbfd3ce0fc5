// The allocation step at R = 100, sums included, against two limits timed by turns with it: the same kernel without any
// draw, which only reads and multiplies the rows of the ones, and copying memory. The share of the copy bandwidth
// counts every row of every one, and passes one where rows stay in caches.
#include "bandwidth.hpp"
#include "kernel/cpu/score.hpp"
#include "sampling.hpp"
#include "suite.hpp"

namespace ztp::bench {
namespace {

void time_allocation(Suite& suite, const Subject& subject, std::size_t R, unsigned threads) {
  Sampling sampling(subject.tensor, R, threads);
  Copy copy(sampling.pool(), suite.options.quick);
  const HostCells cells = sampling.cells();
  const HostRates rates(sampling.chain().rates());
  const std::vector<Times> times =
      time_kernels({[&] { sampling.chain().draw_counts(); },
                    [&] { cpu::read_and_multiply(sampling.pool(), cells, rates); }, [&] { copy.run(); }},
                   suite.effort());
  const Times gigabytes = rate(sampling.bytes_of_rows() / 1e9, times[0]);
  const Times copied = rate(copy.bytes_moved() / 1e9, times[2]);
  suite.report.add({{"tensor", subject.name}, {"ones", cells.count}, {"R", R}, {"threads", threads}},
                   {figure("ns per one", scaled(times[0], 1e9 / sampling.ones())),
                    figure("limit ns per one", scaled(times[1], 1e9 / sampling.ones())),
                    figure("times limit", ratio(times[0], times[1]),
                           subject.of_suite() ? MaybeWanted{{Wanted::at_most, 2}} : MaybeWanted{}),
                    figure("rows GB per s", gigabytes), figure("copy GB per s", copied),
                    figure("of copy", ratio(gigabytes, copied))});
}

}  // namespace

void bench_allocate(Suite& suite) {
  for (const Subject& subject : suite.subjects()) {
    time_allocation(suite, subject, 100, 1);
    if (suite.options.threads == 1) continue;
    for (const unsigned threads : suite.few_thread_counts()) time_allocation(suite, subject, 100, threads);
  }
}

}  // namespace ztp::bench
