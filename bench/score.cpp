// The rates of cells at one draw, which is what predictions are made of: random cells, as they come and in order.
#include "sampling.hpp"
#include "suite.hpp"
#include "tensor/records.hpp"

namespace ztp::bench {
namespace {

Buffer<std::uint32_t> random_cells(const SparseTensor& tensor, std::size_t count) {
  Buffer<std::uint32_t> coords(count * tensor.order());
  for (std::size_t e = 0; e < count; ++e) {
    Stream stream(stream_key(1, 0, Purpose::zeros), 0, e);
    for (std::size_t k = 0; k < tensor.order(); ++k)
      coords[e * tensor.order() + k] = static_cast<std::uint32_t>(stream.below(tensor.modes[k].labels.size()));
  }
  return coords;
}

void time_score(Suite& suite, const Subject& subject, std::size_t R, unsigned threads) {
  const std::size_t count = suite.options.quick ? 20000 : 1000000;
  Sampling sampling(subject.tensor, R, threads);
  const Rates rates = sampling.chain().rates();
  const Buffer<std::uint32_t> cells = random_cells(subject.tensor, count);
  Buffer<std::uint32_t> sorted = random_cells(subject.tensor, count);
  sort_records(sorted.data(), count, subject.tensor.order(), nullptr);
  Buffer<double> z(count);
  const std::vector<Times> times =
      time_kernels({[&] { sampling.kernel().score(cells.data(), count, rates, z.data()); },
                    [&] { sampling.kernel().score(sorted.data(), count, rates, z.data()); }},
                   suite.effort());
  MaybeWanted wanted;
  if (subject.name == facebook_shape && R == 20 && threads == 2) wanted = {Wanted::at_least, 20};
  const double millions = static_cast<double>(count) / 1e6;
  suite.report.add({{"tensor", subject.name}, {"R", R}, {"threads", threads}},
                   {figure("million cell-draws per s", rate(millions, times[0]), wanted),
                    figure("in order", rate(millions, times[1]))});
}

}  // namespace

void bench_score(Suite& suite) {
  const Subject& subject = suite.first_subject();
  for (const std::size_t R : {std::size_t{20}, std::size_t{100}})
    for (const unsigned threads : suite.few_thread_counts()) time_score(suite, subject, R, threads);
}

}  // namespace ztp::bench
