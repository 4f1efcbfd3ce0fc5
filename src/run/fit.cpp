#include "ztp/fit.hpp"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "base/file.hpp"
#include "base/memory.hpp"
#include "base/version.hpp"
#include "io/assemble.hpp"
#include "io/dataset_ones.hpp"
#include "io/read.hpp"
#include "options/options.hpp"
#include "run/calibrate.hpp"
#include "run/chain_factory.hpp"
#include "run/checkpoint.hpp"
#include "run/choose_rank.hpp"
#include "run/cost.hpp"
#include "run/disk_cost.hpp"
#include "run/prepare.hpp"
#include "run/ranks.hpp"
#include "run/rivals.hpp"
#include "run/rounds.hpp"
#include "run/sample_run.hpp"
#include "store/data.hpp"
#include "store/draws_file.hpp"
#include "store/draws_nc.hpp"
#include "store/run_dir.hpp"
#include "store/run_info.hpp"
#include "tensor/missing.hpp"
#include "tensor/records.hpp"
#include "tensor/tie_modes.hpp"
#include "ztp/error.hpp"
#include "ztp/split.hpp"

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
                                               "training and test files that do not overlap",
                                               file, shared));
}

// The test cells: read from a file, or held out and removed from the data.
TestCells test_cells(const FitOptions& options, Dataset& data) {
  Pool pool(static_cast<unsigned>(options.threads));
  TestCells test;
  if (data.file != nullptr) check_missing_in_file(data, pool);
  if (!options.test.empty()) {
    if (data.file != nullptr) index_labels(data.tensor.modes, data.file->path(), pool);
    test = read_test_cells(options.test, data.tensor.modes, pool.threads(), has_counts(options));
    check_not_training_ones(test, data, options.test, pool);
  } else if (options.holdout > 0 && data.file != nullptr) {
    test =
        hold_out_of_file(data, options.holdout, static_cast<std::uint64_t>(options.zeros_per_one), options.seed, pool);
  } else if (options.holdout > 0) {
    SplitOptions how;
    how.holdout = options.holdout;
    how.zeros_per_one = static_cast<std::uint64_t>(options.zeros_per_one);
    how.seed = options.seed;
    test = hold_out(data.tensor, how, data.missing).test;
  }
  if (!has_counts(options)) test.counts = {};
  return test;
}

// Chains at the same time have threads and arrays of their own, each at its place.
FitOutcome sample(const OpenRun& run, ThreadPlan plan, const RunRanks& ranks,
                  const std::vector<Checkpoint>& from = {}) {
  const FitOptions& options = run.info.options;
  // Ranks that share chains talk about one at a time.
  if (ranks.shares_chains()) plan = {1, static_cast<unsigned>(options.threads)};
  std::vector<std::unique_ptr<Pool>> pools;
  std::vector<std::unique_ptr<ChainFactory>> factories;
  for (unsigned place = 0; place < plan.chains; ++place) {
    pools.push_back(std::make_unique<Pool>(plan.threads));
    if (!is_rival(options))
      factories.push_back(std::make_unique<ChainFactory>(options, run.data, *pools.back(), &ranks.of_chain()));
  }
  run.info.processes = ranks.all().size();
  run.info.busiest = factories.empty() ? 1 : factories[0]->busiest();
  const auto make_chain = [&](std::uint32_t c, std::size_t place) -> std::unique_ptr<Chain> {
    malloc_trim(0);  // returns the memory of the chain before it, which would otherwise be in pieces
    if (is_rival(options)) return rival_models(options).make_chain(options, run.data, *pools[place], c);
    return factories[place]->make(c);
  };
  return sample_run(run, make_chain, plan.chains, from, &ranks);
}

}  // namespace

namespace {

// The folder that the run directory will be in; while that does not exist, one that it will be in.
std::string folder_of_run(const std::string& run_dir) {
  std::filesystem::path folder = std::filesystem::absolute(run_dir + "/.").lexically_normal().parent_path();
  std::error_code no_access;
  do folder = folder.parent_path();
  while (!std::filesystem::exists(folder, no_access) && folder.has_relative_path());
  return folder.string();
}

}  // namespace

Dataset read_dataset(const ReadOptions& read, const FitOptions& options, const std::string& run_dir) {
  ReadOptions reading = complete_read_options(read, options);
  reading.memory = allowed_memory(options);
  if (run_dir.empty() || world().size() == 1) return read_dataset(reading);
  return read_dataset(reading, SortSpace{folder_of_run(run_dir), reading.memory});
}

namespace {

// A run directory that is written, and what it was written from.
struct PreparedRun {
  std::unique_ptr<NewRunDir> made;  // its lock is kept
  RunInfo info;
  Dataset data;
  TestCells test;
};

// Nothing, if it was interrupted while the rank was being chosen.
std::optional<PreparedRun> prepare_run(Dataset data, const FitOptions& given, const std::string& run_dir,
                                       const FitCallbacks& callbacks, bool replace) {
  if (!given.tie.empty()) {
    const auto [k, l] = tied_pair(given, data);
    tie_modes(data, k, l);
  }
  FitOptions options = complete_options(given, data);
  if (data.ones() == 0) throw Error(ErrorKind::config, "the tensor has no ones to fit");
  check_ranks(options, world().size());
  if (is_rival(options)) {
    rival_models(options);  // they must be there
    check_rival_data(options, data);
  }
  if (data.file != nullptr && !is_online(options))
    throw Error(ErrorKind::config, "ones that stay on disk need --method online");
  if (data.file == nullptr && has_counts(options) != !data.tensor.counts.empty())
    throw Error(ErrorKind::config, "--likelihood count needs data that were read with counts, and binary data without");
  check_missing(data.tensor, data.networks, data.missing);
  const bool automatic = chooses_rank(given, options);
  if (automatic) options = with_rank(first_rank(given, options, data), given, options, data);
  require_memory(data, options);
  if (automatic && !fits_into_memory(data, options))
    throw Error(ErrorKind::config,
                "--rank auto tries ranks in the first process alone, and a chain of all the data "
                "needs more memory than that has; give --rank");
  TestCells test = test_cells(options, data);
  if (!options.test.empty()) require_memory(data, options, test.size());
  if (options.self_cells == SelfCells::missing) {
    const auto [k, l] = tied_pair(options, data);
    remove_self_cells(k, l, data.tensor.order(), test, data.missing);
  }
  if (options.holdout_as == HoldoutAs::missing) add_missing_cells(data.tensor, test.coords, data.missing);
  RankChoice choice;
  if (automatic && !choose_rank(given, data, test.size(), callbacks, options, choice)) return std::nullopt;
  if (automatic && callbacks.on_message) callbacks.on_message(rank_choice_text(choice));
  const std::string size = large_run_directory(data, options, static_cast<double>(test.size()));
  if (!size.empty() && callbacks.on_message) callbacks.on_message(size);
  RunInfo info = describe_run(data, options, test, callbacks.command);
  info.rank_choice = choice;
  info.burn_in_given = given.burn_in >= 0;
  info.keep_every_given = given.keep_every >= 0;
  info.draws_given = given.draws >= 0;
  if (is_rival(options)) rival_models(options).describe(data, info);
  auto made = std::make_unique<NewRunDir>(run_dir, replace);
  write_initial_files(made->path(), info, data, test);
  made->publish();
  return PreparedRun{std::move(made), std::move(info), std::move(data), std::move(test)};
}

// Of modes so large that no file of the run will have them again.
void forget_labels(std::vector<Mode>& modes) {
  for (Mode& mode : modes)
    if (!mode.labels.is_numbered() && mode.labels.size() > most_label_coordinates)
      mode.labels = LabelTable::unnamed(mode.labels.size());
  malloc_trim(0);
}

// Gives the cells of the first process to all.
void share_cells(Comm& all, TestCells& cells) {
  const auto share = [&]<class T>(Buffer<T>& values) {
    values.resize(static_cast<std::size_t>(of_first(all, static_cast<std::int64_t>(values.size()))));
    if (values.size() > 0) all.broadcast(values.data(), values.size() * sizeof(T), 0);
  };
  share(cells.coords);
  share(cells.outcome);
  share(cells.counts);
}

// Where a run goes on that is in its directory: all chains from their beginning, or from checkpoints.
FitOutcome sample_from_files(const std::string& run_dir, RunInfo& info, const FitCallbacks& callbacks,
                             const RunRanks& ranks, const std::vector<Checkpoint>& from) {
  Dataset data = ranks.alone() ? load_data(run_dir, info) : map_data(run_dir, info, ranks.leads());
  const std::uint64_t test_cells = info.options.test.empty() ? 0 : info.test_ones + info.test_zeros;
  if (ranks.leads()) require_memory(data, info.options, test_cells);
  const ThreadPlan plan = threads_within_memory(data, info.options, test_cells);
  TestCells test;
  if (ranks.leads()) {
    Pool pool(static_cast<unsigned>(info.options.threads));
    if (info.test_ones + info.test_zeros > 0) index_labels(data.tensor.modes, run_dir, pool);
    test = load_test_cells(run_dir, info, data.tensor.modes, pool.threads());
    if (!ranks.alone()) forget_labels(data.tensor.modes);
  }
  share_cells(ranks.all(), test);
  info.status = "running";
  ranks.all().barrier();  // all have read what the leader changes
  if (ranks.leads()) {
    remove_partial_files(run_dir);
    const auto has_started = [](const Checkpoint& checkpoint) { return !checkpoint.file.empty(); };
    if (std::any_of(from.begin(), from.end(), has_started)) restore_draw_log(run_dir, info);
    write_run_status(run_dir, info);
  }
  return sample({run_dir, data, test, info, callbacks}, plan, ranks, from);
}

}  // namespace

FitOutcome fit(Dataset data, const FitOptions& given, const std::string& run_dir, const FitCallbacks& callbacks,
               bool replace) {
  Comm& all = world();
  require_same(all, given);
  std::optional<PreparedRun> run;
  if (all.rank() == 0) run = prepare_run(std::move(data), given, run_dir, callbacks, replace);
  if (of_first(all, run.has_value() ? 1 : 0) == 0) return FitOutcome::not_begun;
  if (all.size() == 1) {
    const RunRanks alone(all, run->info.options.chains);
    if (run->info.options.until == Until::converged) ask_for_round(run_dir, run->info, first_round(run->info), alone);
    const std::uint64_t cells_of_file = given.test.empty() ? 0 : run->test.size();
    const ThreadPlan plan = threads_within_memory(run->data, run->info.options, cells_of_file);
    return sample({run_dir, run->data, run->test, run->info, callbacks}, plan, alone);
  }
  // From here on all processes do the same, with what the first has written.
  if (run) {
    run->data = {};
    run->test = {};
    malloc_trim(0);
  }
  RunInfo info = run_info(run_dir);
  const RunRanks ranks(all, info.options.chains);
  limit_threads(info);
  if (info.options.until == Until::converged) ask_for_round(run_dir, info, first_round(info), ranks);
  return sample_from_files(run_dir, info, callbacks, ranks, {});
}

namespace {

// Raises the number of sweeps of each chain, to what a fit of so many would be.
void extend_sweeps(RunInfo& info, const std::string& run_dir, std::int64_t sweeps) {
  const FitOptions before = info.options;
  if (is_point_estimate(before))
    throw Error(ErrorKind::config,
                fmt::format("--sweeps: --model {} keeps only its last iteration; fit again with --sweeps {}",
                            name_of(before.model), sweeps));
  if (sweeps < before.sweeps)
    throw Error(ErrorKind::config, fmt::format("--sweeps {}: {} already has {}; the number can only be raised", sweeps,
                                               run_dir, before.sweeps));
  info.options.until = Until::sweeps;
  info.ended.clear();
  if (sweeps == before.sweeps) return;
  ask_for_sweeps(info, sweeps);
  check_ranges(info.options);
  if (!same_chains(before, info.options, info.ones))
    throw Error(ErrorKind::config, fmt::format("--sweeps {}: {} has only {} sweeps, so a part of the sampler started "
                                               "earlier than it would in a fit of {}; fit again with --sweeps {}",
                                               sweeps, run_dir, before.sweeps, sweeps, sweeps));
}

void check_can_resume(const RunInfo& info, const std::string& run_dir) {
  if (info.options.burn_in < 0 || info.options.keep_every < 1 || info.options.threads < 1)
    throw_damaged(run_dir + "/options.json", "some options have no value");
  if (info.updates > 0)  // its chains know only the statistics of the old data
    throw Error(ErrorKind::config,
                fmt::format("{} has been updated, so it cannot be resumed; update it again, or fit all the data again",
                            run_dir));
  if (!continues(info.version))
    throw Error(ErrorKind::config,
                fmt::format("{} was started by ztp {}, and ztp {} cannot continue it; use that version", run_dir,
                            info.version, version()));
}

// A run of an earlier version, or one whose file was removed because it was damaged.
bool lacks_calibration(const std::string& run_dir, const RunInfo& info) {
  return info.test_ones > 0 && info.test_zeros > 0 && !is_rival(info.options) &&
         !std::filesystem::exists(run_dir + "/calibration.bin");
}

}  // namespace

FitOutcome resume(const std::string& run_dir, const FitCallbacks& callbacks, const ResumeOptions& options) {
  const auto nothing_to_do = [&](const RunInfo& info) {
    return info.status == "complete" && (options.sweeps == 0 || options.sweeps == info.options.sweeps);
  };
  const auto is_whole = [&](const RunInfo& info) {
    return !has_leftovers(run_dir) && !lacks_calibration(run_dir, info);
  };
  if (const RunInfo found = run_info(run_dir); nothing_to_do(found) && is_whole(found)) return FitOutcome::complete;
  Comm& all = world();
  std::optional<RunLock> lock;
  if (all.rank() == 0) lock.emplace(run_dir);
  all.barrier();
  RunInfo info = run_info(run_dir);  // again: another process may have written before the lock
  const RunRanks ranks(all, info.options.chains);
  if (nothing_to_do(info)) {
    if (!ranks.leads()) return FitOutcome::complete;
    remove_leftovers(run_dir);
    if (lacks_calibration(run_dir, info)) {
      const Dataset data = load_data(run_dir, info);
      const TestCells test = load_test_cells(run_dir, info, data.tensor.modes, 1);
      calibrate_run({run_dir, data, test, info, callbacks});
    }
    return FitOutcome::complete;
  }
  check_can_resume(info, run_dir);
  if (options.threads > 0)
    info.options.threads = options.threads;
  else if (!ranks.alone())
    limit_threads(info);
  if (!options.checkpoint.empty()) info.options.checkpoint = options.checkpoint;
  info.options.memory = options.memory;
  checkpoint_interval(info.options.checkpoint);  // both checked before anything is read
  if (!options.memory.empty()) memory_limit(options.memory);
  if (options.sweeps > 0) extend_sweeps(info, run_dir, options.sweeps);
  check_ranks(info.options, all.size());
  std::vector<std::string> warnings;
  const std::vector<Checkpoint> from = latest_checkpoints(run_dir, info, warnings);
  for (const std::string& warning : warnings)
    if (callbacks.on_warning) callbacks.on_warning(warning);
  return sample_from_files(run_dir, info, callbacks, ranks, from);
}

}  // namespace ztp
