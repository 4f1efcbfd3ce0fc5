#include "ztp/fit.hpp"

#include <fmt/format.h>

#include "base/file.hpp"
#include "base/memory.hpp"
#include "io/assemble.hpp"
#include "io/dataset_ones.hpp"
#include "options/options.hpp"
#include "run/chain_factory.hpp"
#include "run/checkpoint.hpp"
#include "run/cost.hpp"
#include "run/prepare.hpp"
#include "run/rivals.hpp"
#include "run/sample_run.hpp"
#include "store/data.hpp"
#include "store/draws_file.hpp"
#include "store/run_dir.hpp"
#include "store/run_info.hpp"
#include "tensor/missing.hpp"
#include "tensor/records.hpp"
#include "tensor/tie_modes.hpp"
#include "ztp/error.hpp"
#include "ztp/split.hpp"
#include "ztp/version.hpp"

namespace ztp {
namespace {

// Error, if test cells are training ones: their scores would mean nothing.
void check_not_training_ones(const TestCells& test, const Dataset& data, const std::string& file, Pool& pool) {
  Buffer<std::uint32_t> cells;
  cells.append(test.coords.data(), test.coords.size());
  sort_and_merge_records(cells, data.tensor.order());
  std::uint64_t shared = 0;
  for (const std::uint8_t one : which_are_ones(data, cells, pool)) shared += one;
  if (shared > 0)
    throw Error(ErrorKind::config, fmt::format("{}: {} of its cells are ones of the training data; 'ztp split' makes "
                                               "training and test files that are apart",
                                               file, shared));
}

// The test cells: read from a file, or held out and removed from the data.
TestCells test_cells(const FitOptions& options, Dataset& data) {
  Pool pool(static_cast<unsigned>(options.threads));
  TestCells test;
  if (data.file != nullptr) check_missing_in_file(data, pool);
  if (!options.test.empty()) {
    if (data.file != nullptr) index_labels(data.tensor.modes, data.file->path(), pool);
    test = read_test_cells(options.test, data.tensor.modes, pool.threads());
    check_not_training_ones(test, data, options.test, pool);
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

FitOutcome sample(const OpenRun& run, const Checkpoint& from = {}) {
  const FitOptions& options = run.info.options;
  Pool pool(static_cast<unsigned>(options.threads));
  if (is_rival(options))
    return sample_run(
        run, [&](std::uint32_t c) { return rival_models(options).make_chain(options, run.data, pool, c); }, from);
  const ChainFactory chains(options, run.data, pool);
  return sample_run(
      run, [&](std::uint32_t c) { return chains.make(c); }, from);
}

}  // namespace

Dataset read_dataset(const ReadOptions& read, const FitOptions& options) {
  ReadOptions reading = complete_read_options(read, options);
  reading.memory = options.memory.empty() ? memory_of_machine() : memory_limit(options.memory);
  return read_dataset(reading);
}

FitOutcome fit(Dataset data, const FitOptions& given, const std::string& run_dir, const FitCallbacks& callbacks,
               bool replace) {
  if (!given.tie.empty()) {
    const auto [k, l] = tied_pair(given, data);
    tie_modes(data, k, l);
  }
  const FitOptions options = complete_options(given, data);
  if (data.ones() == 0) throw Error(ErrorKind::config, "the tensor has no ones to fit");
  if (is_rival(options)) {
    rival_models(options);  // they must be there
    check_rival_data(options, data);
  }
  if (data.file != nullptr && !is_online(options))
    throw Error(ErrorKind::config, "ones that stay in their file need --method online");
  if (data.file == nullptr && has_counts(options) != !data.tensor.counts.empty())
    throw Error(ErrorKind::config, "--likelihood count needs data that were read with counts, and binary data without");
  check_missing(data.tensor, data.networks, data.missing);
  require_memory(data, options);
  TestCells test = test_cells(options, data);
  if (!options.test.empty()) require_memory(data, options, test.size());
  if (options.self == SelfCells::missing) {
    const auto [k, l] = tied_pair(options, data);
    remove_self_cells(k, l, data.tensor.order(), test, data.missing);
  }
  if (options.holdout_as == HoldoutAs::missing) add_missing_cells(data.tensor, test.coords, data.missing);
  RunInfo info = describe_run(data, options, test, callbacks.command);
  if (is_rival(options)) rival_models(options).describe(data, info);
  NewRunDir made(run_dir, replace);
  write_initial_files(made.path(), info, data, test);
  made.publish();
  return sample({run_dir, data, test, info, callbacks});
}

namespace {

// Raises the number of sweeps of each chain; draws are kept as often as before.
void extend_sweeps(RunInfo& info, const std::string& run_dir, std::int64_t sweeps) {
  FitOptions& options = info.options;
  if (sweeps == options.sweeps) return;
  if (is_point_estimate(options))
    throw Error(ErrorKind::config, fmt::format("--sweeps: of --model {} only the last iteration is kept; fit again "
                                               "with --sweeps {}",
                                               name_of(options.model), sweeps));
  if (sweeps < options.sweeps)
    throw Error(ErrorKind::config, fmt::format("--sweeps {}: {} has {} already, and more can be asked for, not fewer",
                                               sweeps, run_dir, options.sweeps));
  options.sweeps = sweeps;
  check_ranges(options);
  info.draws_planned = static_cast<std::uint64_t>(options.chains) *
                       static_cast<std::uint64_t>((sweeps - options.burn_in) / info.keep_every);
}

void check_can_resume(const RunInfo& info, const std::string& run_dir) {
  if (info.options.burn_in < 0 || info.options.keep_every < 1 || info.options.threads < 1)
    throw_damaged(run_dir + "/options.json", "not all options are filled in");
  if (info.updates > 0)  // its chains know only the statistics of the old data
    throw Error(ErrorKind::config, fmt::format("{} has been updated: it cannot go on; update it again, or fit "
                                               "everything anew",
                                               run_dir));
  if (info.version != version())
    throw Error(ErrorKind::config, fmt::format("{} was begun by ztp {}; this is {}, whose draws may differ", run_dir,
                                               info.version, version()));
}

}  // namespace

FitOutcome resume(const std::string& run_dir, const FitCallbacks& callbacks, const ResumeOptions& options) {
  const auto nothing_to_do = [&](const RunInfo& info) {
    return info.status == "complete" && (options.sweeps == 0 || options.sweeps == info.options.sweeps);
  };
  if (nothing_to_do(run_info(run_dir)) && !has_leftovers(run_dir)) return FitOutcome::complete;
  const RunLock lock(run_dir);
  RunInfo info = run_info(run_dir);  // again: another process may have written before the lock
  if (nothing_to_do(info)) {
    remove_leftovers(run_dir);
    return FitOutcome::complete;
  }
  check_can_resume(info, run_dir);
  if (options.sweeps > 0) extend_sweeps(info, run_dir, options.sweeps);
  if (options.threads > 0) info.options.threads = options.threads;
  if (!options.checkpoint.empty()) info.options.checkpoint = options.checkpoint;
  info.options.memory = options.memory;
  checkpoint_interval(info.options.checkpoint);  // both checked before anything is read
  if (!options.memory.empty()) memory_limit(options.memory);
  std::vector<std::string> warnings;
  const Checkpoint from = latest_checkpoint(run_dir, info, warnings);
  for (const std::string& warning : warnings)
    if (callbacks.on_warning) callbacks.on_warning(warning);
  if (from.file.empty()) info.chains.clear();
  for (std::uint32_t c = 0; c < from.sweeps.size(); ++c)  // before anything is changed
    if (c != from.chain && from.sweeps[c] > 0 && from.sweeps[c] < info.options.sweeps)
      check_chain_end(run_dir, info, c, from.sweeps[c]);
  const Dataset data = load_data(run_dir, info);
  require_memory(data, info.options, info.options.test.empty() ? 0 : info.test_ones + info.test_zeros);
  const TestCells test = load_test_cells(run_dir, info, data.tensor.modes, static_cast<unsigned>(info.options.threads));
  remove_partial_files(run_dir);
  restore_draw_log(run_dir, info, from.draw_log_length);
  info.status = "running";
  write_run_status(run_dir, info);
  return sample({run_dir, data, test, info, callbacks}, from);
}

}  // namespace ztp
