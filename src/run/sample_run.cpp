#include "run/sample_run.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <malloc.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <vector>

#include "base/file.hpp"
#include "io/write_cells.hpp"
#include "run/draws_nc.hpp"
#include "run/prepare.hpp"
#include "run/recorder.hpp"
#include "run/run_info.hpp"
#include "run/store.hpp"
#include "run/watch.hpp"
#include "ztp/error.hpp"
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

// The posterior of the occupied rank, and its mean in each chain.
void summarise_rank(const DrawLogReader& log, RunInfo& info) {
  std::vector<double> sum(log.layout().chains, 0), draws(log.layout().chains, 0);  // status.json may say fewer
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

}  // namespace

RunInfo describe_run(const Dataset& data, const FitOptions& options, const TestCells& test,
                     const std::string& command) {
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
  const Schedule plan = schedule(options, draw_layout(options, data.tensor.modes, data.networks.size()));
  info.keep_every = plan.keep_every;
  info.draws_planned = std::uint64_t{plan.chains} * plan.draws_per_chain();
  info.status = "running";
  info.auc_roc = std::numeric_limits<double>::quiet_NaN();
  return info;
}

void begin_run_dir(const std::string& run_dir, bool replace, const RunInfo& info, const Dataset& data,
                   const TestCells& test) {
  make_run_dir(run_dir, replace);
  write_run_options(run_dir, info);  // first: from now on the directory is known as a run, and --force may replace it
  write_run_status(run_dir, info);
  store_labels(run_dir, data.tensor.modes);
  store_data(run_dir, data);
  if (test.size() > 0) write_test_file(run_dir + "/test.tsv", data.tensor.modes, test);
  const TestCells watched = watched_cells(data, test, info.options.seed);
  if (test.size() > 0)  // only then are they held out, and have an outcome
    write_test_file(run_dir + "/watched.tsv", data.tensor.modes, watched);
  else
    write_ones_file(run_dir + "/watched.tsv", data.tensor.modes, watched.coords, {});
}

FitOutcome sample_run(const std::string& run_dir, const Dataset& data, const TestCells& test, const Checkpoint& from,
                      const FitCallbacks& callbacks, const ChainMaker& make_chain, RunInfo& info) {
  const DrawLayout layout = draw_layout(info.options, data.tensor.modes, data.networks.size());
  const Schedule plan = schedule(info.options, layout);
  HeldOut held_out(test);
  if (!from.held_out_sum.empty()) held_out.sum() = from.held_out_sum;
  held_out.draws() = from.held_out_draws;
  const TestCells watched = watched_cells(data, test, info.options.seed);
  const Followed followed{test.size() > 0 ? &held_out : nullptr, &watched};

  info.draws = from.draw_log_length / (layout.bytes() + sizeof(DrawHead) + sizeof(std::uint64_t));
  const std::vector<std::string> learned = learned_names(info.options, data.tensor.modes, data.networks.size());
  bool complete = false;
  {
    Recorder recorder(run_dir, info, layout, callbacks, followed.held_out, from, learned, watched.size());
    complete = run_chains(
        make_chain, plan, from.position, [&](AnyChain& chain) { restore_chain(run_dir, from, chain); }, followed,
        recorder);
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

void check_run_dir(const std::string& run_dir, bool replace) {
  std::error_code error;
  if (!fs::exists(run_dir, error)) return;
  if (!replace)
    throw Error(ErrorKind::config, fmt::format("{} exists; choose another --out, or --force to replace it", run_dir));
  if (!fs::is_directory(run_dir, error) ||
      (!fs::is_empty(run_dir, error) && !fs::exists(run_dir + "/options.json", error)))
    throw Error(ErrorKind::config, fmt::format("{} is not a run directory; it is not replaced", run_dir));
}

}  // namespace ztp
