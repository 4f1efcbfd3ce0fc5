#include "ztp/fit.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <vector>

#include "base/file.hpp"
#include "io/dataset.hpp"
#include "io/write_cells.hpp"
#include "run/checkpoint.hpp"
#include "run/draws_nc.hpp"
#include "run/file_cells.hpp"
#include "run/file_minibatches.hpp"
#include "run/prepare.hpp"
#include "run/recorder.hpp"
#include "run/run_info.hpp"
#include "run/store.hpp"
#include "run/watch.hpp"
#include "sampler/chain.hpp"
#include "tensor/missing.hpp"
#include "ztp/error.hpp"
#include "ztp/split.hpp"
#include "ztp/version.hpp"

namespace ztp {
namespace {

namespace fs = std::filesystem;

void make_run_dir(const std::string& run_dir, bool replace) {
  check_run_dir(run_dir, replace);
  std::error_code error;
  fs::remove_all(run_dir, error);
  if (error) throw Error(ErrorKind::io, fmt::format("cannot remove {}: {}", run_dir, error.message()));
  fs::create_directories(run_dir, error);
  if (error) throw Error(ErrorKind::io, fmt::format("cannot create {}: {}", run_dir, error.message()));
}

RunInfo describe(const Dataset& data, const FitOptions& options, const TestCells& test, const std::string& command) {
  RunInfo info;
  info.version = version();
  info.command = command;
  info.created = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                             fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())));
  info.fingerprint = fingerprint_of(data);
  info.options = options;
  const Hyperparameters hyper = hyperparameters(options, data.tensor.modes);
  for (std::size_t k = 0; k < data.tensor.order(); ++k) {
    const LabelTable& labels = data.tensor.modes[k].labels;
    info.modes.push_back(
        {data.tensor.modes[k].name, labels.size(), labels.is_numbered(), labels.first_number(), hyper.dirichlet[k]});
    if (k < data.missing.slices.size())
      info.modes.back().missing_entities = static_cast<std::uint32_t>(data.missing.slices[k].size());
  }
  info.missing_cells = data.missing.cells.size() / data.tensor.order();
  for (const Network& network : data.networks)
    info.networks.push_back(
        {static_cast<std::uint32_t>(network.mode), network.source, network.size(), network.missing.size() / 2});
  info.ones = data.ones();
  if (data.file != nullptr) {
    info.ones_file = fs::absolute(data.file->path()).string();
    info.ones_in_file = data.file_ones;
    if (options.likelihood == "count") info.total_count = data.file->total_count();
  }
  for (const std::int64_t count : data.tensor.counts) info.total_count += static_cast<std::uint64_t>(count);
  for (const std::uint8_t outcome : test.outcome) ++(outcome != 0 ? info.test_ones : info.test_zeros);
  info.status = "running";
  info.auc_roc = std::numeric_limits<double>::quiet_NaN();
  return info;
}

// The posterior of the occupied rank, and its mean in each chain.
void summarise_rank(const DrawLogReader& log, RunInfo& info) {
  std::vector<double> sum(info.chains.size(), 0), draws(info.chains.size(), 0);
  std::map<std::size_t, double> times;
  for (std::size_t i = 0; i < log.draws(); ++i) {
    times[log.head(i).occupied] += 1;
    sum[log.head(i).chain] += static_cast<double>(log.head(i).occupied);
    draws[log.head(i).chain] += 1;
  }
  for (std::size_t c = 0; c < info.chains.size(); ++c) info.chains[c].occupied_mean = sum[c] / draws[c];
  info.rank.assign(times.begin(), times.end());
  for (auto& [number, probability] : info.rank) probability /= static_cast<double>(log.draws());
}

// Posterior means of the learned hyperparameters.
void summarise_learned(const DrawLogReader& log, const std::vector<std::string>& names, RunInfo& info) {
  std::vector<double> sum(names.size(), 0);
  std::vector<float> values(names.size());
  for (std::size_t i = 0; i < log.draws(); ++i) {
    log.read(i, log.layout().hyperparameters(), values.size(), values.data());
    for (std::size_t l = 0; l < values.size(); ++l) sum[l] += static_cast<double>(values[l]);
  }
  info.learned.clear();
  for (std::size_t l = 0; l < names.size(); ++l)
    info.learned.emplace_back(names[l], sum[l] / static_cast<double>(log.draws()));
}

// A test cell that is a training one is predicted from itself: its score would mean nothing.
void check_apart(const TestCells& test, const Dataset& data, const std::string& file, Pool& pool) {
  const std::size_t K = data.tensor.order();
  std::uint64_t shared = 0;
  for (std::size_t i = 0; i < test.size(); ++i) shared += data.tensor.contains(test.coords.data() + i * K);
  if (data.file != nullptr) {
    Buffer<std::uint32_t> cells;
    cells.append(test.coords.data(), test.coords.size());
    sort_and_merge_records(cells, K);
    for (const std::uint8_t one : which_are_ones(*data.file, data.file_ones, cells, pool)) shared += one;
  }
  if (shared > 0)
    throw Error(ErrorKind::config, fmt::format("{}: {} of its cells are ones of the training data; 'ztp split' makes "
                                               "training and test files that are apart",
                                               file, shared));
}

// Makes the chains of a run.
class Chains {
 public:
  Chains(const Problem& problem, const Dataset& data, const FitOptions& options, Kernel& kernel)
      : problem_(problem), options_(options), kernel_(kernel) {
    if (options.method != "online") return;
    const std::vector<std::uint32_t> sizes = sizes_of(data.tensor);
    const std::uint64_t ones = data.ones(), wanted = static_cast<std::uint64_t>(options.minibatch);
    const std::size_t count = static_cast<std::size_t>((ones + wanted - 1) / wanted);
    if (data.file != nullptr)
      ones_ = std::make_unique<FileMinibatches>(*data.file, data.file_ones, count, options.likelihood == "count");
    else
      ones_ = std::make_unique<MemoryMinibatches>(data.tensor.coords, data.tensor.counts, sizes, count);
    for (const Network& network : problem.networks) {
      const std::uint32_t n = sizes[network.mode];
      edges_.push_back(std::make_unique<MemoryMinibatches>(network.edges, std::span<const std::int64_t>(),
                                                           std::vector<std::uint32_t>{n, n}, count, true));
    }
  }

  std::unique_ptr<AnyChain> make(std::uint32_t number) const {
    if (!ones_) return std::make_unique<Chain>(problem_, kernel_, number);
    std::vector<Minibatches*> edges;
    for (const auto& of_network : edges_) edges.push_back(of_network.get());
    return std::make_unique<OnlineChain>(problem_, online_options(options_), *ones_, edges, kernel_, number);
  }

 private:
  const Problem& problem_;
  const FitOptions& options_;
  Kernel& kernel_;
  std::unique_ptr<Minibatches> ones_;  // online
  std::vector<std::unique_ptr<Minibatches>> edges_;
};

// The cells to follow, from a file or held out of the data, which then lose them.
TestCells test_cells(const FitOptions& options, Dataset& data) {
  Pool pool(static_cast<unsigned>(options.threads));
  TestCells test;
  if (data.file != nullptr) check_missing_in_file(data, pool);
  if (!options.test.empty()) {
    if (data.file != nullptr) index_labels(data.tensor.modes, data.file->path(), pool);
    test = read_test_cells(options.test, data.tensor.modes, pool.threads());
    check_apart(test, data, options.test, pool);
  } else if (options.holdout > 0 && data.file != nullptr) {
    test =
        hold_out_of_file(data, options.holdout, static_cast<std::uint64_t>(options.zeros_per_one), options.seed, pool);
  } else if (options.holdout > 0) {
    SplitOptions how;
    how.holdout = options.holdout;
    how.zeros_per_one = static_cast<std::uint64_t>(options.zeros_per_one);
    how.seed = options.seed;
    Split parts = split(data.tensor, how, data.missing);
    test = std::move(parts.test);
    keep_training_ones(data.tensor, parts);
  }
  return test;
}

// Samples from `from` on, to the end or to an interruption, and leaves a run directory that can be read.
FitOutcome run(const Dataset& data, const TestCells& test, RunInfo& info, const std::string& run_dir,
               const Checkpoint& from, const FitCallbacks& callbacks, unsigned threads) {
  Pool pool(threads);
  const std::unique_ptr<Kernel> kernel = make_kernel(info.options.kernel, pool);
  const DrawLayout layout = draw_layout(info.options, data.tensor.modes, data.networks.size());
  const Schedule plan = schedule(info.options, layout);
  const Problem problem = make_problem(info.options, data);
  HeldOut held_out(test, *kernel);
  if (!from.held_out_sum.empty()) held_out.sum() = from.held_out_sum;
  held_out.draws() = from.held_out_draws;
  const TestCells watched = watched_cells(data, test, info.options.seed);
  const Followed followed{test.size() > 0 ? &held_out : nullptr, &watched};

  info.draws = from.draw_log_length / (layout.bytes() + sizeof(DrawHead) + sizeof(std::uint64_t));
  const std::vector<std::string> learned = learned_names(info.options, data.tensor.modes, data.networks.size());
  bool complete = false;
  {
    Recorder recorder(run_dir, info, layout, callbacks, followed.held_out, from, learned, watched.size());
    const Chains chains(problem, data, info.options, *kernel);
    complete = run_chains([&](std::uint32_t c) { return chains.make(c); }, *kernel, plan, from.position,
                          [&](AnyChain& chain) { restore_chain(run_dir, from, chain); }, followed, recorder);
  }
  malloc_trim(0);  // the chain is gone; writing needs room of its own
  const std::string log_path = run_dir + "/draws.log";
  if (info.draws > 0) {
    const DrawLogReader log(log_path, layout);
    summarise_rank(log, info);
    summarise_learned(log, learned, info);
    write_draws_nc(run_dir, info, data.tensor.modes, log);
    write_means_nc(run_dir, info, data.tensor.modes, log);
  }
  info.status = complete ? "complete" : "interrupted";
  info.peak_memory = peak_memory();
  write_run_status(run_dir, info);
  if (complete) {
    fs::remove(log_path);
    fs::remove(run_dir + "/checkpoint.bin");
  }
  return complete ? FitOutcome::complete : FitOutcome::interrupted;
}

}  // namespace

void check_run_dir(const std::string& run_dir, bool replace) {
  std::error_code error;
  if (!fs::exists(run_dir, error)) return;
  if (!replace)
    throw Error(ErrorKind::config, fmt::format("{} exists; choose another --out, or --force to replace it", run_dir));
  if (!fs::is_directory(run_dir, error) ||
      (!fs::is_empty(run_dir, error) && !fs::exists(run_dir + "/options.json", error)))
    throw Error(ErrorKind::config, fmt::format("{} is not a run directory; it is not replaced", run_dir));
}

FitOutcome fit(Dataset data, const FitOptions& given, const std::string& run_dir, const FitCallbacks& callbacks,
               bool replace) {
  const FitOptions options = complete_options(given, data.tensor, static_cast<std::int64_t>(data.ones()));
  const unsigned threads = static_cast<unsigned>(options.threads);
  if (data.file != nullptr && options.method != "online")
    throw Error(ErrorKind::config, "ones that stay in their file need --method online");
  if (data.file == nullptr && (options.likelihood == "count") != !data.tensor.counts.empty())
    throw Error(ErrorKind::config, "--likelihood count needs data that were read with counts, and binary data without");
  check_missing(data.tensor, data.networks, data.missing);
  TestCells test = test_cells(options, data);
  if (options.holdout_as == "missing") add_missing_cells(data.tensor, test.coords, data.missing);
  RunInfo info = describe(data, options, test, callbacks.command);
  const Schedule plan = schedule(options, draw_layout(options, data.tensor.modes, data.networks.size()));
  info.keep_every = plan.keep_every;
  info.draws_planned = std::uint64_t{plan.chains} * plan.draws_per_chain();

  make_run_dir(run_dir, replace);
  write_run_options(run_dir, info);  // first: from now on the directory is known as a run, and --force may replace it
  write_run_status(run_dir, info);
  store_labels(run_dir, data.tensor.modes);
  store_data(run_dir, data);
  if (test.size() > 0) write_test_file(run_dir + "/test.tsv", data.tensor.modes, test);
  const TestCells watched = watched_cells(data, test, options.seed);
  if (test.size() > 0)  // only then are they held out, and have an outcome
    write_test_file(run_dir + "/watched.tsv", data.tensor.modes, watched);
  else
    write_ones_file(run_dir + "/watched.tsv", data.tensor.modes, watched.coords, {});
  return run(data, test, info, run_dir, {}, callbacks, threads);
}

FitOutcome resume(const std::string& run_dir, const FitCallbacks& callbacks, unsigned threads) {
  RunInfo info = run_info(run_dir);
  if (info.status == "complete") return FitOutcome::complete;
  if (info.version != version())
    throw Error(ErrorKind::config, fmt::format("{} was begun by ztp {}; this is {}, whose draws may differ", run_dir,
                                               info.version, version()));
  const Checkpoint from = read_checkpoint(run_dir, info).value_or(Checkpoint{});
  if (from.position.sweep == 0) info.chains.clear();
  const Dataset data = load_data(run_dir, info);
  const unsigned used = threads > 0 ? threads : static_cast<unsigned>(info.options.threads);
  TestCells test;
  if (info.test_ones + info.test_zeros > 0) test = read_test_cells(run_dir + "/test.tsv", data.tensor.modes, used);
  info.status = "running";
  write_run_status(run_dir, info);
  return run(data, test, info, run_dir, from, callbacks, used);
}

}  // namespace ztp
