#include "ztp/update.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "base/version.hpp"
#include "io/assemble.hpp"
#include "options/options.hpp"
#include "run/chain_factory.hpp"
#include "run/checkpoint.hpp"
#include "run/new_data.hpp"
#include "run/prepare.hpp"
#include "run/sample_run.hpp"
#include "sampler/update_chain.hpp"
#include "store/data.hpp"
#include "store/run_dir.hpp"
#include "store/run_info.hpp"
#include "ztp/error.hpp"
#include "ztp/option_fields.hpp"

namespace ztp {
namespace {

// The test cells of the run that are not among the new ones.
TestCells remaining_test(const std::string& run_dir, const RunInfo& info, const NewData& new_data, unsigned threads,
                         UpdateSummary& summary) {
  TestCells kept;
  const TestCells test = load_test_cells(run_dir, info, new_data.tensor.modes, threads);
  const std::size_t K = new_data.tensor.order();
  for (std::size_t i = 0; i < test.size(); ++i) {
    const std::uint32_t* cell = test.coords.data() + i * K;
    if (new_data.tensor.contains(cell)) continue;
    kept.coords.append(cell, K);
    kept.outcome.push_back(test.outcome[i]);
    if (!test.counts.empty()) kept.counts.push_back(test.counts[i]);
  }
  if (kept.size() < test.size())
    summary.warnings.push_back(
        fmt::format("{} held-out cells are among the new ones, and are no longer held out", test.size() - kept.size()));
  return kept;
}

FitOptions options_of_update(const FitOptions& of_run, const UpdateOptions& options) {
  FitOptions complete = of_run;
  complete.sweeps = options.sweeps;
  complete.burn_in = options.sweeps / 5;
  complete.keep_every = 1;
  complete.draws = std::max(options.draws, of_run.chains);
  complete.until = Until::sweeps;
  complete.threads = options.threads;
  complete.holdout = 0;
  complete.test.clear();
  return complete;
}

// Samples from where the chains of the run ended, with the new data in minibatches.
FitOutcome sample_update(const OpenRun& run, const std::string& old_dir, const RunInfo& before, const Dataset& added,
                         std::int64_t minibatch) {
  const FitOptions& options = run.info.options;
  const std::uint64_t ones = added.tensor.nnz();
  if (minibatch <= 0) minibatch = static_cast<std::int64_t>((ones + 9) / 10);
  const std::size_t parts = minibatch == 0 ? 1 : minibatch_count(ones, minibatch);
  Problem problem = make_problem(options, added);
  problem.update = static_cast<std::uint32_t>(run.info.updates);
  Pool pool(static_cast<unsigned>(options.threads));
  const std::unique_ptr<Kernel> kernel = make_kernel(options.kernel, pool);
  const OwnedMinibatches minibatches = make_minibatches(added, problem.layout, parts, 1, false, *kernel);
  OnlineOptions online = online_options(options);
  online.looks = static_cast<std::uint32_t>(options.sweeps);
  const auto make_chain = [&](std::uint32_t number, std::size_t) {
    auto chain = std::make_unique<UpdateChain>(problem, online, minibatches.data(), *kernel, number);
    restore_chain(chain_end_file(old_dir, number), before, *chain);
    chain->restore(0);  // its sweeps are counted from 0 again
    return chain;
  };
  return sample_run(run, make_chain);
}

void check_can_update(const std::string& run_dir, const RunInfo& info) {
  if (info.status != "complete")
    throw Error(ErrorKind::config, fmt::format("{} is not complete; 'ztp resume {}' continues it", run_dir, run_dir));
  if (is_rival(info.options))
    throw Error(ErrorKind::config,
                fmt::format("{}: --model {} cannot be updated", run_dir, name_of(info.options.model)));
  if (shares_columns(info.options))
    throw Error(
        ErrorKind::config,
        fmt::format("{}: components share columns, and such a run cannot be updated; fit all the data again", run_dir));
  if (!continues(info.version))
    throw Error(ErrorKind::config, fmt::format("{} was made by ztp {}, and ztp {} cannot update it; use that version",
                                               run_dir, info.version, version()));
}

void check_ranges(const UpdateOptions& options) {
  const auto check = [](const char* name, auto value) {
    const OptionField& field = fit_option_field(name);
    check_range(field, static_cast<double>(value), field.range.largest);
  };
  check_range(fit_option_field("sweeps"), static_cast<double>(options.sweeps), static_cast<double>(most_update_sweeps));
  check("draws", options.draws);
  if (options.minibatch != UpdateOptions().minibatch) check("minibatch", options.minibatch);
  check("threads", options.threads);
}

// take: reads what is given, or takes it from memory.
UpdateSummary update_with(const std::function<IncomingData(const RunInfo&, Dataset& old, Pool&)>& take,
                          const std::string& run_dir, const UpdateOptions& options, const FitCallbacks& callbacks) {
  check_ranges(options);
  const RunInfo before = run_info(run_dir);
  check_can_update(run_dir, before);
  const bool replaces = options.out.empty();
  NewRunDir made(replaces ? run_dir : options.out, replaces);

  UpdateSummary summary;
  Dataset data = load_data(run_dir, before);
  Pool pool(options.threads);
  const NewData new_data = extract_new_data(take(before, data, pool), data, pool, summary);
  if (summary.ones + summary.edges == 0) {
    const std::string message =
        fmt::format("{}: nothing in it is new; {} has all of it already", new_data.source, run_dir);
    if (options.require_new_data) throw Error(ErrorKind::input, message);
    summary.warnings.push_back(message);
    return summary;
  }
  std::int64_t total = static_cast<std::int64_t>(before.total_count);
  for (const std::int64_t count : new_data.tensor.counts) add_to_total(total, count, new_data.source);
  const std::uint64_t found = merge_new_data(new_data, data);
  if (found > 0)
    summary.warnings.push_back(
        fmt::format("{} entities or cells that were missing have ones now. Their imputed counts stay in the statistics "
                    "beside the new ones; only a fit of all the data corrects this",
                    found));
  const TestCells test = remaining_test(run_dir, before, new_data, options.threads, summary);

  const FitOptions complete = options_of_update(before.options, options);
  RunInfo info = describe_run(data, complete, test, callbacks.command);
  info.updates = before.updates + 1;
  info.rank_choice = before.rank_choice;
  write_initial_files(made.path(), info, data, test);
  summary.outcome =
      sample_update({made.path(), data, test, info, callbacks}, run_dir, before, new_data, options.minibatch);
  if (summary.outcome == FitOutcome::complete) made.publish();
  return summary;
}

void refuse_missing(bool given) {
  if (given) throw Error(ErrorKind::usage, "update takes new ones and edges only; mark missing data in a fit");
}

}  // namespace

UpdateSummary update(const std::string& run_dir, const ReadOptions& fresh, const UpdateOptions& options,
                     const FitCallbacks& callbacks) {
  if (fresh.file.empty() && fresh.networks.empty())
    throw Error(ErrorKind::usage, "update needs a FILE of new ones, or --network MODE=FILE with new edges");
  refuse_missing(!fresh.missing.empty() || !fresh.missing_slices.empty() || !fresh.missing_pairs.empty());
  const auto read = [&](const RunInfo& before, Dataset& old, Pool& pool) {
    ReadOptions reading = fresh;
    reading.counts = has_counts(before.options);
    reading.threads = options.threads;
    return read_incoming(reading, old, pool);
  };
  return update_with(read, run_dir, options, callbacks);
}

UpdateSummary update(const std::string& run_dir, Arrays fresh, const UpdateOptions& options,
                     const FitCallbacks& callbacks) {
  if (fresh.coords.empty() && fresh.values.empty() && fresh.networks.empty())
    throw Error(ErrorKind::usage, "update needs new ones, or networks with new edges");
  refuse_missing(!fresh.missing.empty() || !fresh.missing_slices.empty() ||
                 std::any_of(fresh.networks.begin(), fresh.networks.end(),
                             [](const Arrays::Edges& edges) { return !edges.missing.empty(); }));
  for (Arrays::Edges& edges : fresh.networks)
    if (edges.source.empty()) edges.source = fmt::format("network {}", &edges - fresh.networks.data() + 1);
  const auto take = [&](const RunInfo& before, Dataset& old, Pool&) {
    return incoming_from_arrays(std::move(fresh), has_counts(before.options), old);
  };
  return update_with(take, run_dir, options, callbacks);
}

}  // namespace ztp
