#include <algorithm>

#include "base/clock.hpp"
#include "io/dataset_ones.hpp"
#include "kernel/draw_columns.hpp"
#include "run/cost.hpp"
#include "run/prepare.hpp"
#include "sampler/batch_chain.hpp"

namespace ztp {
namespace {

constexpr double timed_products = 1e8;                          // ones times components that are timed
constexpr std::size_t timed_draws = 4000000;                    // rows times components that are timed
constexpr std::size_t most_row_bytes = std::size_t{256} << 20;  // of a mode

// A sample of the ones in the order of a sweep: runs of 64 neighbours, which share rows. Of a file, which is shuffled,
// the first ones.
Buffer<std::uint32_t> some_ones(const Dataset& data, std::size_t wanted) {
  if (data.file != nullptr) return first_ones_of_file(data, wanted);
  const SparseTensor& tensor = data.tensor;
  Buffer<std::uint32_t> coords;
  const std::size_t step = std::max<std::size_t>(1, tensor.nnz() / wanted);
  for (std::size_t e = 0; e < tensor.nnz(); ++e)
    if (e / 64 % step == 0) coords.append(tensor.cell(e), tensor.order());
  return coords;
}

// Times a real sweep: the collapsed sampler is for data that are small enough for that.
double time_collapsed(const Dataset& data, const FitOptions& options, Kernel& kernel) {
  const Problem problem = make_problem(options, data);
  BatchChain chain(problem, kernel, 0);
  chain.start();
  chain.sweep();
  const double begin = clock_seconds();
  chain.sweep();
  return clock_seconds() - begin;
}

// Times the factors of some rows of a mode of `entities`, and fills u with them. Returns what all rows would take.
double time_columns(std::uint32_t entities, const FitOptions& options, Kernel& kernel, Factors& u) {
  const std::size_t R = u.columns();
  const std::size_t timed = std::clamp<std::size_t>(timed_draws / R, 1, u.rows());
  const std::unique_ptr<Counts> counts = kernel.counts(timed, R, is_online(options));
  const std::unique_ptr<Factors> part = kernel.factors(timed, R);
  const std::vector<double> totals(R, 1.0);
  const Columns columns{.S = *counts, .a = 0.1};
  const double begin = clock_seconds();
  if (is_online(options) && options.parameters == SampleOrMean::mean)
    mean_columns(kernel, columns, totals, *part);
  else
    draw_columns(kernel, columns, totals, stream_key(1, 0, Purpose::columns), 1, *part);
  const double seconds = (clock_seconds() - begin) * static_cast<double>(entities) / static_cast<double>(timed);
  std::vector<float> drawn(timed * R);
  part->read({0, timed}, drawn.data());
  write_rows(u, [&](std::size_t j, float* row) {
    for (std::size_t q = 0; q < R; ++q) row[q] = drawn[j % timed * R + q] + 0.01f;
  });
  return seconds;
}

// Times the latent counts of some ones. Returns what one of them takes.
double time_counts(const Dataset& data, const FitOptions& options, Kernel& kernel, const State& state) {
  const FactorLayout& layout = state.layout;
  const std::size_t K = layout.modes();
  const double wanted = timed_products / static_cast<double>(layout.components());
  Buffer<std::uint32_t> coords = some_ones(data, std::max<std::size_t>(4096, static_cast<std::size_t>(wanted)));
  for (std::size_t i = 0; i < coords.size(); ++i)
    coords[i] %= static_cast<std::uint32_t>(layout.size_of_mode(i % K).rows);
  Statistics statistics = make_statistics(layout, {}, is_online(options), kernel);
  const std::unique_ptr<Ones> ones = kernel.upload({.coords = coords.data(), .count = coords.size() / K}, layout);
  double best = 1e300;
  for (std::uint32_t repeat = 0; repeat < 2; ++repeat) {
    const double begin = clock_seconds();
    kernel.allocate(*ones, tensor_rates(state), stream_key(1, 0, Purpose::counts),
                    {.t = repeat, .expected = is_online(options) && options.latent == SampleOrMean::mean},
                    sums_of_tensor(layout, statistics));
    best = std::min(best, clock_seconds() - begin);
  }
  return best / static_cast<double>(ones->count());
}

// The cost of a sweep in ones: a listed missing cell costs as much as a one, an edge or missing pair as a one of two
// modes.
double ones_of_sweep(const Dataset& data, const FitOptions& options) {
  const double K = static_cast<double>(data.tensor.order()), ones = static_cast<double>(data.ones());
  const double part = is_online(options) ? static_cast<double>(options.minibatch) / ones : 1;
  double cells = part * ones + static_cast<double>(data.missing.cells.size()) / K;
  for (const Network& network : data.networks)
    cells += (part * static_cast<double>(network.edges.size()) + static_cast<double>(network.missing.size())) / K;
  return cells;
}

// Times both parts of a sweep (or step), factors and counts, on a part of the data.
double time_plain(const Dataset& data, const FitOptions& options, Kernel& kernel) {
  const std::size_t R = static_cast<std::size_t>(options.rank);
  const std::size_t most_rows = std::max<std::size_t>(1, most_row_bytes / (12 * padded(R)));
  std::vector<std::uint32_t> sizes;
  for (const Mode& mode : data.tensor.modes)
    sizes.push_back(static_cast<std::uint32_t>(std::min<std::size_t>(mode.labels.size(), most_rows)));
  const State state = make_state(FactorLayout::cp(sizes, R), {}, {}, kernel);
  double seconds = 0;
  for (std::size_t k = 0; k < sizes.size(); ++k)
    seconds += time_columns(data.tensor.modes[k].labels.size(), options, kernel, *state.factors[k]);
  return seconds + time_counts(data, options, kernel, state) * ones_of_sweep(data, options);
}

}  // namespace

double time_of_sweep(const Dataset& data, const FitOptions& complete) {
  Pool pool(static_cast<unsigned>(complete.threads));
  const std::unique_ptr<Kernel> kernel = make_kernel(complete.kernel, pool);
  return (complete.sampler == Sampler::collapsed ? time_collapsed : time_plain)(data, complete, *kernel);
}

}  // namespace ztp
