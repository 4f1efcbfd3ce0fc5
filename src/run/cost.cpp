#include "run/cost.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/clock.hpp"
#include "base/memory.hpp"
#include "comm/comm.hpp"
#include "io/dataset_ones.hpp"
#include "io/draw_cells.hpp"
#include "io/table.hpp"
#include "kernel/bounded_draw.hpp"
#include "kernel/cpu/allocate.hpp"
#include "kernel/draw_columns.hpp"
#include "options/options.hpp"
#include "run/chain_factory.hpp"
#include "run/choose_rank.hpp"
#include "run/disk_cost.hpp"
#include "run/file_minibatches.hpp"
#include "run/prepare.hpp"
#include "run/rank_cost.hpp"
#include "run/rivals.hpp"
#include "run/shared_cost.hpp"
#include "sampler/collapsed_moves.hpp"
#include "store/draw_log.hpp"
#include "store/draws_nc.hpp"
#include "ztp/error.hpp"

namespace ztp {

namespace {

constexpr double MiB = 1 << 20;
constexpr double sampling_code_bytes = 4 * MiB;  // measured: code and small buffers
constexpr double program_bytes = 12 * MiB;       // measured: the program itself

double data_bytes(const Dataset& data) {
  const auto words = [](const auto& list) { return 4 * static_cast<double>(list.size()); };
  double bytes = words(data.tensor.coords) + 2 * words(data.tensor.counts) + words(data.missing.cells);
  for (const auto& slices : data.missing.slices) bytes += words(slices);
  for (const Network& network : data.networks) bytes += words(network.edges) + words(network.missing);
  for (const Mode& mode : data.tensor.modes) bytes += static_cast<double>(mode.labels.bytes());
  return bytes;
}

// What a fit has beside the ones.
struct OtherCells {
  double test = 0;     // held out
  double missing = 0;  // listed, those that are held out as missing included
};

std::size_t online_bytes(const Dataset& data, const FitOptions& options, const FactorLayout& layout,
                         std::size_t missing) {
  const std::size_t K = data.tensor.order(), minibatch = static_cast<std::size_t>(options.minibatch);
  const bool in_file = data.file != nullptr, counts = has_counts(options);
  std::size_t bytes = OnlineChain::bytes(layout, options.inner_draws, minibatch);
  if (layout.columns_are_components())
    bytes += cpu::Allocator::bytes(in_file ? std::min(minibatch, FileMinibatches::usual_chunk) : minibatch, layout);
  else
    bytes += shared_chain_bytes(data, options, layout, std::min(missing, missing_in_minibatch(minibatch)));
  bytes +=
      in_file ? FileMinibatches::bytes(minibatch, K, counts) : MemoryMinibatches::bytes(data.tensor.nnz(), K, counts);
  for (const Network& network : data.networks) bytes += MemoryMinibatches::bytes(network.size(), 2, false);
  if (missing > 0) bytes += MemoryMinibatches::bytes(missing, K, false);
  return bytes;
}

std::size_t batch_bytes(const Dataset& data, const FitOptions& options, const FactorLayout& layout,
                        std::size_t missing) {
  const std::size_t ones = data.tensor.nnz();
  const bool shared = !layout.columns_are_components();
  std::size_t bytes = shared ? shared_chain_bytes(data, options, layout, missing)
                             : index_bytes(ones, layout) + cpu::Allocator::bytes(std::max(ones, missing), layout);
  for (const Network& network : data.networks) {
    const auto [rows, columns] = layout.size_of_mode(network.mode);
    bytes += index_bytes(network.size(), FactorLayout::pairs(rows, columns));
  }
  if (options.sampler == Sampler::collapsed && !shared) bytes += CollapsedMoves::bytes(data.tensor, layout);
  return bytes;
}

double chain_bytes(const Dataset& data, const FitOptions& options, const FactorLayout& layout,
                   const OtherCells& cells) {
  if (is_rival(options)) return rival_models(options).chain_bytes(options, data);
  const auto of_method = is_online(options) ? online_bytes : batch_bytes;
  return static_cast<double>(array_bytes(layout, is_online(options)) +
                             of_method(data, options, layout, static_cast<std::size_t>(cells.missing)));
}

// The cells that will be held out, if the data still have them, and those of a file.
OtherCells other_cells(const Dataset& data, const FitOptions& options, std::uint64_t cells_of_file) {
  OtherCells cells;
  const double held_out = options.holdout * static_cast<double>(data.ones());
  cells.test = held_out * (1 + static_cast<double>(options.zeros_per_one)) + static_cast<double>(cells_of_file);
  cells.missing = static_cast<double>(data.missing.cells.size() / data.tensor.order());
  if (options.holdout_as == HoldoutAs::missing) cells.missing += cells.test;
  return cells;
}

// So many chains at the same time.
double sampling_bytes(const Dataset& data, const FitOptions& options, const FactorLayout& layout,
                      const OtherCells& cells, unsigned chains) {
  const double cell = static_cast<double>(4 * data.tensor.order() + 1);  // and its outcome
  return sampling_code_bytes + cells.test * cell +
         chains * (HeldOut::bytes(cells.test) + chain_bytes(data, options, layout, cells));
}

FitCost cost_of(const Dataset& data, const FitOptions& options, unsigned chains, std::uint64_t cells_of_file = 0) {
  const double held_out = options.holdout * static_cast<double>(data.ones());
  const OtherCells cells = other_cells(data, options, cells_of_file);
  const DrawLayout layout = draw_layout(options, data);
  const Schedule plan = make_schedule(options, layout);
  const std::size_t K = data.tensor.order();
  FitCost cost;
  cost.chains_at_once = chains;
  cost.draws = plan.draws();
  cost.draws_file = static_cast<double>(cost.draws) * static_cast<double>(DrawPieces(layout).bytes());
  cost.run_directory = run_directory_bytes(data, options, cells.test);
  cost.memory = data_bytes(data);
  if (options.holdout_as == HoldoutAs::missing) cost.memory += cells.test * static_cast<double>(4 * K);
  // Ones in memory that are held out are no longer training ones when the chains begin.
  const double taken_out =
      data.file != nullptr ? 0 : held_out * static_cast<double>(4 * K + (data.tensor.counts.empty() ? 0 : 8));
  // The stages of a fit do not overlap.
  const double reading = TableReader::bytes(static_cast<double>(data.lines), K, static_cast<unsigned>(options.threads));
  const double splitting = held_out > 0 ? sampling_code_bytes + holding_out_bytes(K, cells.test) : 0;
  double waiting = static_cast<double>(DrawLogWriter::waiting_bytes(layout));
  if (options.kernel == KernelName::cuda) waiting += static_cast<double>(DrawFiles::following_bytes(layout));
  const double sampling = sampling_bytes(data, options, layout.factors, cells, chains) + waiting - taken_out;
  const double writing = DrawFiles::bytes(layout, data.tensor.modes, static_cast<unsigned>(options.threads));
  cost.memory += std::max({reading, splitting, sampling, writing});
  return cost;
}

}  // namespace

double allowed_memory(const FitOptions& options) {
  return options.memory.empty() ? memory_of_machine() : memory_limit(options.memory);
}

FitCost estimate_cost(const Dataset& data, const FitOptions& options) {
  const FitOptions complete = complete_options(options, data);
  const FitOptions largest =
      chooses_rank(options, complete) ? with_rank(most_rank_tried, options, complete, data) : complete;
  return cost_of(data, largest, threads_within_memory(data, largest).chains);
}

namespace {

// With one chain at a time, which is that of this process alone.
double bytes_alone(const Dataset& data, const FitOptions& complete, std::uint64_t test_cells) {
  return program_bytes + cost_of(data, complete, 1, test_cells).memory;
}

// The same, where several processes may share the chain.
double needed_bytes(const Dataset& data, const FitOptions& complete, std::uint64_t test_cells) {
  const std::size_t ranks = world().size() / static_cast<std::size_t>(complete.chains);
  if (ranks > 1 && has_process_cost(complete)) {
    const OtherCells cells = other_cells(data, complete, test_cells);
    const double cell = static_cast<double>(4 * data.tensor.order() + 1);
    return program_bytes + sampling_code_bytes + cells.test * cell + HeldOut::bytes(cells.test) +
           cells.missing * static_cast<double>(4 * data.tensor.order()) + process_cost(data, complete, ranks).memory;
  }
  return bytes_alone(data, complete, test_cells);
}

}  // namespace

ThreadPlan threads_within_memory(const Dataset& data, const FitOptions& complete, std::uint64_t test_cells) {
  const double limit = allowed_memory(complete);
  ThreadPlan plan = plan_threads(complete, data);
  while (plan.chains > 1 && program_bytes + cost_of(data, complete, plan.chains, test_cells).memory > limit)
    plan = plan_threads(complete, data, plan.chains - 1);
  return plan;
}

bool fits_into_memory(const Dataset& data, const FitOptions& complete, std::uint64_t test_cells) {
  return bytes_alone(data, complete, test_cells) <= allowed_memory(complete);
}

void require_memory(const Dataset& data, const FitOptions& options, std::uint64_t test_cells) {
  const double limit = allowed_memory(options);
  const auto needed = [&](const FitOptions& tried) { return needed_bytes(data, tried, test_cells); };
  const double need = needed(options);
  if (need <= limit) return;
  std::string remedy;
  FitOptions tried = options;
  while (tried.rank > 1 && needed(tried) > limit) tried.rank = tried.rank * 4 / 5;
  if (needed(tried) <= limit) remedy += fmt::format("; --rank {} needs {}", tried.rank, human_bytes(needed(tried)));
  if (!is_rival(options) && !is_online(options) && options.learn.empty()) {
    tried = options;
    tried.method = Method::online;
    tried.sampler = Sampler::automatic;
    tried.start = Start::allocation;
    tried.minibatch = -1;
    tried.latent = tried.parameters = SampleOrMean::automatic;
    tried = fill_in_defaults(tried, data);
    if (needed(tried) <= limit) remedy += fmt::format("; --method online needs {}", human_bytes(needed(tried)));
    remedy += "; with --method online and a file of 'ztp convert', the ones stay on disk";
  }
  throw Error(ErrorKind::config,
              fmt::format("the fit needs about {} of memory, and {} {}{}", human_bytes(need),
                          options.memory.empty() ? "the machine has" : "--memory allows", human_bytes(limit), remedy));
}

namespace {

constexpr double timed_products = 1e8;                          // ones times components that are timed
constexpr std::size_t timed_draws = 4000000;                    // rows times components that are timed
constexpr std::size_t most_row_bytes = std::size_t{256} << 20;  // of a mode

}  // namespace

double missing_cells_of_step(const Dataset& data, const FitOptions& options) {
  const double missing = other_cells(data, options, 0).missing;
  if (!is_online(options)) return missing;
  return std::min(missing, static_cast<double>(missing_in_minibatch(static_cast<std::size_t>(options.minibatch))));
}

namespace {

// Of ones in memory every step-th run of 64 is timed.
std::size_t step_of_ones(const Dataset& data, std::size_t wanted) {
  return std::max<std::size_t>(1, data.tensor.nnz() / wanted);
}
bool is_sampled(std::size_t e, std::size_t step) {
  return e / 64 % step == 0;
}

}  // namespace

Buffer<std::uint32_t> some_ones(const Dataset& data, std::size_t wanted) {
  if (data.file != nullptr) return first_ones_of_file(data, wanted);
  const SparseTensor& tensor = data.tensor;
  Buffer<std::uint32_t> coords;
  const std::size_t step = step_of_ones(data, wanted);
  for (std::size_t e = 0; e < tensor.nnz(); ++e)
    if (is_sampled(e, step)) coords.append(tensor.cell(e), tensor.order());
  return coords;
}

namespace {

// Times a real sweep, of the second: for data that are small enough for that.
double time_real(const Dataset& data, const FitOptions& options, Pool& pool) {
  const ChainFactory factory(options, data, pool);
  const std::unique_ptr<PoissonChain> chain = factory.make(0);
  chain->start();
  chain->step(false);
  const double begin = clock_seconds();
  chain->step(false);
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

// The counts of the first `count` of some_ones; none, where they are not fitted.
Buffer<std::int64_t> some_counts(const Dataset& data, const FitOptions& options, std::size_t wanted,
                                 std::size_t count) {
  Buffer<std::int64_t> counts;
  if (!has_counts(options)) return counts;
  counts.resize(count);
  if (data.file != nullptr) {
    Buffer<std::uint32_t> coords(count * data.tensor.order());
    data.file->read(0, count, coords.data(), counts.data());
    return counts;
  }
  const std::size_t step = step_of_ones(data, wanted);
  for (std::size_t e = 0, i = 0; i < count; ++e)
    if (is_sampled(e, step)) counts[i++] = data.tensor.counts[e];
  return counts;
}

// Times the latent counts of some ones, drawn as the fit will draw them. Returns what one of them takes.
double time_counts(const Dataset& data, const FitOptions& options, Kernel& kernel, const State& state) {
  const FactorLayout& layout = state.layout;
  const std::size_t K = layout.modes();
  const std::size_t wanted =
      std::max<std::size_t>(4096, static_cast<std::size_t>(timed_products / static_cast<double>(layout.components())));
  Buffer<std::uint32_t> coords = some_ones(data, wanted);
  bool sorted = true;
  for (std::size_t i = 0; i < coords.size(); ++i) {
    coords[i] %= static_cast<std::uint32_t>(layout.size_of_mode(i % K).rows);
    sorted = sorted && (i % K != 0 || i == 0 || coords[i - K] <= coords[i]);
  }
  const std::size_t count = coords.size() / K;
  const Buffer<std::int64_t> counts = some_counts(data, options, wanted, count);
  const bool online = is_online(options), expected = online && options.latent == SampleOrMean::mean;
  const bool bounded = layout.components() >= least_rank_bounded && !expected;
  Statistics statistics = make_statistics(layout, {}, online, kernel);
  const std::unique_ptr<Ones> ones = kernel.upload({.coords = coords.data(),
                                                    .observed = counts.empty() ? nullptr : counts.data(),
                                                    .count = count,
                                                    .indexed = !online && sorted},
                                                   layout);
  double best = 1e300;
  for (std::uint32_t repeat = 0; repeat < 2; ++repeat) {
    const double begin = clock_seconds();
    kernel.allocate(*ones, tensor_rates(state), stream_key(1, 0, Purpose::counts),
                    {.t = repeat,
                     .expected = expected,
                     .likelihood = !bounded,  // else it is computed now and then
                     .bounded = bounded,
                     .anywhere = online,
                     .fresh = !online && count == data.ones()},  // of a part, rows would be set to zero too often
                    sums_of_tensor(layout, statistics));
    best = std::min(best, clock_seconds() - begin);
  }
  return best / static_cast<double>(count);
}

// The cost of a sweep in ones: a listed missing cell costs as much as a one, an edge or missing pair as a one of two
// modes.
double ones_of_sweep(const Dataset& data, const FitOptions& options) {
  const double K = static_cast<double>(data.tensor.order()), ones = static_cast<double>(data.ones());
  const double part = is_online(options) ? static_cast<double>(options.minibatch) / ones : 1;
  double cells = part * ones + missing_cells_of_step(data, options);
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

double time_of_sweep(const Dataset& data, const FitOptions& complete, unsigned threads) {
  Pool pool(threads);
  const bool shared = shares_columns(complete), few = !is_online(complete) && data.ones() <= most_timed_ones;
  if (complete.sampler == Sampler::collapsed || (shared && few)) return time_real(data, complete, pool);
  const std::unique_ptr<Kernel> kernel = make_kernel(complete.kernel, pool);
  if (shared) return time_shared_sweep(data, complete, pool, *kernel);
  return time_plain(data, complete, *kernel);
}

}  // namespace ztp
