#include "run/sample_run.hpp"

#include <fmt/format.h>
#include <malloc.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <vector>

#include "base/clock.hpp"
#include "base/file.hpp"
#include "base/memory.hpp"
#include "io/text_writer.hpp"
#include "run/prepare.hpp"
#include "run/recorder.hpp"
#include "run/watched_cells.hpp"
#include "store/data.hpp"
#include "store/draws_nc.hpp"
#include "store/manifest.hpp"
#include "store/run_dir.hpp"
#include "store/run_info.hpp"
#include "ztp/error.hpp"
#include "ztp/version.hpp"

namespace ztp {
namespace {

namespace fs = std::filesystem;

// The posterior of the occupied rank, and its mean in each chain.
void summarise_rank(const DrawLogReader& log, RunInfo& info) {
  std::vector<double> sum(log.layout().chains, 0), draws(log.layout().chains, 0);  // status.json may say fewer
  std::map<std::size_t, double> times;
  for (std::size_t i = 0; i < log.draws(); ++i) {
    times[log.head(i).occupied()] += 1;
    sum[log.head(i).chain] += static_cast<double>(log.head(i).occupied());
    draws[log.head(i).chain] += 1;
  }
  for (std::size_t c = 0; c < info.chains.size(); ++c) info.chains[c].occupied_mean = sum[c] / draws[c];
  info.rank.assign(times.begin(), times.end());
  for (auto& [number, probability] : info.rank) probability /= static_cast<double>(log.draws());
}

// Posterior means of the learned hyperparameters.
void summarise_learned(const DrawLogReader& log, RunInfo& info) {
  info.learned.clear();
  for (const DrawVariable& variable : log.layout().variables) {
    if (variable.kind != DrawVariable::Kind::learned) continue;
    double sum = 0;
    for (std::size_t i = 0; i < log.draws(); ++i) {
      float value = 0;
      log.read(i, variable.offset, 1, &value);
      sum += static_cast<double>(value);
    }
    info.learned.emplace_back(log.layout().learned[variable.index], sum / static_cast<double>(log.draws()));
  }
}

}  // namespace

RunInfo describe_run(const Dataset& data, const FitOptions& options, const TestCells& test,
                     const std::string& command) {
  RunInfo info;
  info.version = version();
  info.command = command;
  info.created = time_of_creation();
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
    if (has_counts(options)) info.total_count = data.file->total_count();
  }
  for (const std::int64_t count : data.tensor.counts) info.total_count += static_cast<std::uint64_t>(count);
  for (const std::uint8_t outcome : test.outcome) ++(outcome != 0 ? info.test_ones : info.test_zeros);
  const Schedule plan = make_schedule(options, draw_layout(options, data.tensor.modes, data.networks));
  info.keep_every = plan.keep_every;
  info.watch_every = plan.watch_every;
  info.draws_planned = std::uint64_t{plan.chains} * plan.draws_per_chain();
  info.status = "running";
  info.auc_roc = std::numeric_limits<double>::quiet_NaN();
  return info;
}

void write_initial_files(const std::string& run_dir, const RunInfo& info, const Dataset& data, const TestCells& test) {
  write_run_options(run_dir, info);
  write_run_status(run_dir, info);
  std::vector<std::string> files = store_labels(run_dir, data.tensor.modes);
  files.push_back("options.json");
  if (test.size() > 0) files.push_back("test.tsv");
  store_data(run_dir, data);
  if (test.size() > 0) write_test_file(run_dir + "/test.tsv", data.tensor.modes, test);
  const TestCells watched = watched_cells(data, test, info.options.seed);
  if (test.size() > 0)  // held-out cells have an outcome
    write_test_file(run_dir + "/watched.tsv", data.tensor.modes, watched);
  else
    write_ones_file(run_dir + "/watched.tsv", data.tensor.modes, watched.coords, {});
  add_to_manifest(run_dir, files);
}

namespace {

// Makes draws.nc and means.nc of the draws so far.
void write_draws(const OpenRun& run, const DrawLayout& layout) {
  const DrawLogReader log(run.dir + "/draws.log", layout);
  summarise_rank(log, run.info);
  summarise_learned(log, run.info);
  write_draws_nc(run.dir, run.info, run.data, log);
  write_means_nc(run.dir, run.info, run.data.tensor.modes, log);
  add_to_manifest(run.dir, {"draws.nc", "means.nc"});
}

}  // namespace

FitOutcome sample_run(const OpenRun& run, const ChainMaker& make_chain, const Checkpoint& from) {
  const auto& [run_dir, data, test, info, callbacks] = run;
  const DrawLayout layout = draw_layout(info.options, data.tensor.modes, data.networks);
  HeldOut held_out(test);
  if (!from.held_out_sum.empty()) held_out.sum() = from.held_out_sum;
  held_out.draws() = from.held_out_draws;
  const TestCells watched = watched_cells(data, test, info.options.seed);
  const TrackedCells followed{test.size() > 0 ? &held_out : nullptr, &watched};

  info.draws = from.draw_log_length / record_bytes(layout);
  bool complete = false;
  CallbackGuard guard(callbacks);
  {
    Recorder recorder(run_dir, info, guard, followed, from);
    const auto restore = [&](Chain& chain) {
      return restore_chain(chain.number() == from.chain ? from.file : chain_end_file(run.dir, chain.number()), run.info,
                           chain);
    };
    complete = run_chains(make_chain, schedule_of_run(info), {from.sweeps, restore}, followed, recorder);
  }
  malloc_trim(0);  // returns the memory of the chain: writing needs some
  if (info.draws > 0) write_draws(run, layout);
  info.status = complete ? "complete" : "interrupted";
  info.peak_memory = peak_memory();
  write_run_status(run_dir, info);
  if (complete) remove_leftovers(run_dir);
  guard.rethrow();
  return complete ? FitOutcome::complete : FitOutcome::interrupted;
}

bool has_leftovers(const std::string& run_dir) {
  std::error_code no_access;
  for (const char* name : {"draws.log", "checkpoint-a.bin", "checkpoint-b.bin"})
    if (fs::exists(run_dir + "/" + name, no_access)) return true;
  return false;
}

void remove_leftovers(const std::string& run_dir) {
  std::error_code ignored;
  fs::remove(run_dir + "/draws.log", ignored);
  remove_checkpoints(run_dir);
  remove_partial_files(run_dir);
}

}  // namespace ztp
