#include "run/sample_run.hpp"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <future>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <vector>

#include "base/clock.hpp"
#include "base/file.hpp"
#include "base/memory.hpp"
#include "base/random.hpp"
#include "io/dataset_ones.hpp"
#include "io/text_writer.hpp"
#include "run/calibrate.hpp"
#include "run/prepare.hpp"
#include "run/recorder.hpp"
#include "run/rounds.hpp"
#include "run/score_draws.hpp"
#include "store/chain_rows.hpp"
#include "store/data.hpp"
#include "store/draws_file.hpp"
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
    std::vector<double> sums(log.layout().chains, 0);  // chain by chain: their draws may have come in any order
    for (std::size_t i = 0; i < log.draws(); ++i) {
      float value = 0;
      log.read(i, variable.offset, 1, &value);
      sums[log.head(i).chain] += static_cast<double>(value);
    }
    info.learned.emplace_back(log.layout().learned[variable.index],
                              std::accumulate(sums.begin(), sums.end(), 0.0) / static_cast<double>(log.draws()));
  }
}

using FutureDrawFiles = std::shared_future<std::shared_ptr<DrawFiles>>;

// Where a GPU samples, the host has time to begin with the files of the draws that are to be.
FutureDrawFiles begin_draw_files(const OpenRun& run) {
  if (run.info.options.kernel != KernelName::cuda) return {};
  return std::async(std::launch::async, [dir = run.dir, &data = run.data, info = run.info] {
    const Schedule plan = schedule_of_run(info);
    const DrawFiles::Sizes sizes{plan.chains, plan.draws(), plan.draws_per_chain()};
    return std::make_shared<DrawFiles>(dir, info, data, draw_layout(info), sizes);
  });
}

// Those that were begun, when they are there. Null: there are none, or they could not be made.
std::shared_ptr<DrawFiles> wait_for(const FutureDrawFiles& begun) {
  try {
    return begun.valid() ? begun.get() : nullptr;
  } catch (const Error&) {  // there may be room by the end; if not, it is told then
    return nullptr;
  }
}

// Those that were begun, if they are for the draws that there are now, or new ones.
std::shared_ptr<DrawFiles> draw_files(const OpenRun& run, const DrawLogReader& log, const FutureDrawFiles& begun) {
  if (const std::shared_ptr<DrawFiles> files = wait_for(begun); files != nullptr) {
    if (files->fit(log)) return files;
    files->discard();
  }
  return std::make_shared<DrawFiles>(run.dir, run.info, run.data, log.layout(), DrawFiles::Sizes::of(log));
}

// Makes draws.nc and means.nc of the draws so far.
void store_draws(const OpenRun& run, const FutureDrawFiles& begun) {
  const DrawLogReader log(run.dir + "/draws.log", draw_layout(run.info));
  summarise_rank(log, run.info);
  summarise_learned(log, run.info);
  Pool pool(static_cast<unsigned>(run.info.options.threads));
  draw_files(run, log, begun)->write(run.info, run.data, log, pool);
  add_to_manifest(run.dir, {"draws.nc", "means.nc"}, pool.threads());
}

constexpr std::size_t of_each_kind = 32;

void add(TestCells& cells, const std::uint32_t* cell, std::size_t K, bool one) {
  cells.coords.append(cell, K);
  cells.outcome.push_back(one ? 1 : 0);
}

// Up to 32 random held-out cells with this outcome.
void add_held_out(TestCells& cells, const TestCells& held_out, std::size_t K, bool one, Stream& stream) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < held_out.size(); ++i)
    if ((held_out.outcome[i] != 0) == one) places.push_back(i);
  for (std::size_t taken = 0; taken < of_each_kind && taken < places.size(); ++taken) {
    std::swap(places[taken], places[taken + stream.below(places.size() - taken)]);
    add(cells, held_out.coords.data() + places[taken] * K, K, one);
  }
}

// The cells whose probabilities are recorded in cells.tsv, to see whether the chains agree on predictions: up to 32
// ones and 32 zeros of the held-out cells; if none are held out, 32 training ones and 32 uniformly drawn cells. A
// function of the data and the seed.
TestCells watched_cells(const Dataset& data, const TestCells& held_out, std::uint64_t seed) {
  const SparseTensor& tensor = data.tensor;
  TestCells cells;
  Stream stream(stream_key(seed, 0, Purpose::watch), 0, 0);
  if (held_out.size() > 0) {
    for (const bool one : {true, false}) add_held_out(cells, held_out, tensor.order(), one, stream);
    return cells;
  }
  cells.coords = first_ones_of_file(data, of_each_kind);
  for (std::size_t i = 0; i * tensor.order() < cells.coords.size(); ++i) cells.outcome.push_back(1);
  std::set<std::size_t> ones;
  while (cells.size() == 0 && ones.size() < std::min(of_each_kind, tensor.nnz()))
    ones.insert(stream.below(tensor.nnz()));
  for (const std::size_t e : ones) add(cells, tensor.cell(e), tensor.order(), true);
  std::vector<std::uint32_t> cell(tensor.order());
  for (std::size_t i = 0; i < of_each_kind; ++i) {
    for (std::size_t k = 0; k < cell.size(); ++k)
      cell[k] = static_cast<std::uint32_t>(stream.below(tensor.modes[k].labels.size()));
    add(cells, cell.data(), cell.size(), tensor.contains(cell.data()));
  }
  return cells;
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
  info.sweeps_asked = options.sweeps;
  const FactorLayout layout = layout_of(options, sizes_of_modes(data));
  const Hyperparameters hyper = hyperparameters(options, layout, data.tensor.modes);
  for (std::size_t k = 0; k < data.tensor.order(); ++k) {
    const LabelTable& labels = data.tensor.modes[k].labels;
    info.modes.push_back({data.tensor.modes[k].name, labels.size(), labels.is_numbered(), labels.first_number(),
                          hyper.dirichlet[layout.matrix(k)]});
    if (k < data.missing.slices.size())
      info.modes.back().missing_slices = static_cast<std::uint32_t>(data.missing.slices[k].size());
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
  const Schedule plan = make_schedule(options, draw_layout(info));
  info.keep_every = plan.keep_every;
  info.watch_every = plan.watch_every;
  info.draws_planned = plan.draws();
  info.status = "running";
  return info;
}

void write_initial_files(const std::string& run_dir, const RunInfo& info, const Dataset& data, const TestCells& test) {
  write_run_options(run_dir, info);
  write_run_status(run_dir, info);
  std::vector<std::string> files = store_labels(run_dir, data.tensor.modes);
  files.push_back("options.json");
  store_data(run_dir, data);
  const TestCells watched = watched_cells(data, test, info.options.seed);
  if (test.size() > 0) {
    write_test_file(run_dir + "/test.tsv", data.tensor.modes, test);
    files.push_back("test.tsv");
    write_test_file(run_dir + "/watched.tsv", data.tensor.modes, watched);
  } else {  // cells that are not held out have no outcome
    write_ones_file(run_dir + "/watched.tsv", data.tensor.modes, watched.coords, {});
  }
  add_to_manifest(run_dir, files);
}

namespace {

// What status.json does not say of chains whose checkpoints are newer: it is the first process that writes it, and the
// chain was another group's. The trace says it.
void complete_statuses(const std::string& run_dir, RunInfo& info, const std::vector<Checkpoint>& from) {
  const auto is_newer = [&](std::size_t c) {
    return from[c].sweeps > (c < info.chains.size() ? info.chains[c].sweeps : 0);
  };
  std::vector<std::size_t> newer;
  for (std::size_t c = 0; c < from.size(); ++c)
    if (is_newer(c)) newer.push_back(c);
  if (newer.empty()) return;
  info.chains.resize(std::max(info.chains.size(), newer.back() + 1));
  const auto last = [&](const char* column) { return last_values(run_dir + "/trace.tsv", from.size(), column); };
  const std::vector<double> likelihood = last("log_likelihood"), occupied = last("occupied"),
                            network_only = last("network_only");
  for (const std::size_t c : newer) {
    RunInfo::ChainStatus& status = info.chains[c];
    status.log_likelihood = likelihood[c];
    if (occupied[c] >= 0) status.occupied = static_cast<std::size_t>(occupied[c]);
    if (network_only[c] >= 0) status.network_only = static_cast<std::size_t>(network_only[c]);
  }
}

// Cuts trace, watched cells and draws back to where the chains go on.
void go_back(const std::string& run_dir, RunInfo& info, const Schedule& schedule, const std::vector<Checkpoint>& from) {
  const std::size_t chains = from.size();
  const auto check = [&](const char* file, const std::vector<std::uint64_t>& found, const auto& expected) {
    for (std::size_t c = 0; c < chains; ++c)
      if (found[c] != expected(from[c].sweeps))
        throw Error(
            ErrorKind::input,
            fmt::format("{}/{}: the part of chain {} that {} continues from is incomplete; the run cannot be resumed",
                        run_dir, file, c + 1, from[c].file));
  };
  const auto done = [&](std::uint32_t chain, std::uint32_t sweep) { return sweep <= from[chain].sweeps; };
  const auto seen = [&](std::uint32_t chain, std::uint32_t sweep) {
    return done(chain, sweep) && schedule.watches(sweep);
  };
  const auto kept = [&](std::uint32_t chain, std::uint32_t sweep) {
    return done(chain, sweep) && schedule.keeps(sweep);
  };
  check("trace.tsv", keep_rows(run_dir + "/trace.tsv", chains, done), [](std::uint32_t t) { return t; });
  check("cells.tsv", keep_rows(run_dir + "/cells.tsv", chains, seen),
        [&](std::uint32_t t) { return schedule.watches_until(t); });
  const std::vector<std::uint64_t> draws = keep_draws(run_dir + "/draws.log", draw_layout(info), kept);
  check("draws.log", draws, [&](std::uint32_t t) { return schedule.draws_until(t); });
  info.draws = std::accumulate(draws.begin(), draws.end(), std::uint64_t{0});
  while (!info.chains.empty() && from[info.chains.size() - 1].file.empty()) info.chains.pop_back();
  complete_statuses(run_dir, info, from);
  for (std::size_t c = 0; c < info.chains.size(); ++c) {
    info.chains[c].sweeps = from[c].sweeps;
    info.chains[c].seconds = from[c].seconds;
  }
}

// AUC-ROC of held-out cells, of the mean over the draws of all chains.
double auc_of_all_chains(const OpenRun& run, const Recorder& recorder, const RunRanks& ranks) {
  HeldOut all(run.test);
  std::vector<std::string> warnings;
  std::vector<Checkpoint> of_others;
  if (ranks.groups() > 1) of_others = latest_checkpoints(run.dir, run.info, warnings);
  for (std::uint32_t c = 0; c < static_cast<std::uint32_t>(run.info.options.chains); ++c) {
    const std::string& file = ranks.has_chain(c) ? recorder.last_file(c) : of_others[c].file;
    if (file.empty()) continue;
    if (const std::optional<HeldOutSum> sum = read_held_out(file, run.info)) all.add(*sum);
  }
  return all.auc_of_mean();
}

// What chains that go on have added up of held-out cells, where their checkpoints have it of other draws: the run was
// asked for more sweeps, and keeps fewer of the draws it has.
std::vector<std::optional<HeldOutSum>> held_out_of_draws(const OpenRun& run, const std::vector<Checkpoint>& from,
                                                         const RunRanks& ranks) {
  std::vector<std::optional<HeldOutSum>> sums(from.size());
  for (std::uint32_t c = 0; c < from.size() && run.test.size() > 0; ++c)
    if (ranks.has_chain(c) && !from[c].file.empty() && !read_held_out(from[c].file, run.info))
      sums[c] = score_draws(DrawLogReader(run.dir + "/draws.log", draw_layout(run.info)), c, run.info, run.test);
  return sums;
}

// Goes on to the sweeps that the run is asked for: to the end (true) or to an interruption.
bool run_to_schedule(const OpenRun& run, const ChainMaker& make_chain, std::size_t side_by_side,
                     const std::vector<Checkpoint>& from, const TestCells& watched, Recorder& recorder,
                     const RunRanks& ranks) {
  const TrackedCells followed{run.test.size() > 0 ? &run.test : nullptr, &watched};
  const std::vector<std::optional<HeldOutSum>> rescored = held_out_of_draws(run, from, ranks);
  StartedChains started;
  for (const Checkpoint& checkpoint : from) started.sweeps.push_back(checkpoint.sweeps);
  started.restore = [&](RunningChain& now) {
    const std::uint32_t c = now.chain.number();
    now.report.seconds = restore_chain(from[c].file, run.info, now.chain).seconds;
    if (now.held_out != nullptr) now.held_out->add(rescored[c] ? *rescored[c] : *read_held_out(from[c].file, run.info));
  };
  return run_chains(make_chain, ranks.part_of(schedule_of_run(run.info)), started, followed, recorder,
                    recorder.control(), side_by_side);
}

// What the first process does when all have sampled: the draws in their files, scores, calibration.
void write_answers(const OpenRun& run, const Recorder& recorder, const RunRanks& ranks, bool complete,
                   const FutureDrawFiles& begun) {
  RunInfo& info = run.info;
  if (ranks.groups() > 1) {
    merge_group_files(run.dir, info);
    info.draws = DrawLogReader(run.dir + "/draws.log", draw_layout(info)).draws();
  }
  // A run that was asked for more sweeps, and then interrupted, may have fewer draws than before.
  if (info.draws == 0 || (!complete && info.draws < draws_in_file(run.dir))) return;
  store_draws(run, begun);
  if (run.test.size() > 0) info.auc_roc = auc_of_all_chains(run, recorder, ranks);
  if (const double auc = run.test.size() > 0 ? calibrate_run(run) : NAN; !std::isnan(auc)) info.auc_roc = auc;
}

// The sweeps of the next round of a fit that goes on until it has converged; none: it has ended.
std::optional<std::int64_t> agreed_round(const OpenRun& run, const Recorder& recorder, const RunRanks& ranks) {
  constexpr std::int64_t none = 0;
  std::int64_t sweeps = none;
  // What a callback has thrown stops it, as between any two sweeps.
  if (ranks.leads() && !recorder.has_thrown()) sweeps = next_round(run.dir, run.info).value_or(none);
  sweeps = of_first(ranks.all(), sweeps);
  return sweeps == none ? std::nullopt : std::optional(sweeps);
}

void finish(const OpenRun& run, bool complete) {
  if (complete)
    for (const char* file : {"/trace.tsv", "/cells.tsv"})
      sort_rows(run.dir + file, static_cast<std::size_t>(run.info.options.chains));
  run.info.status = complete ? "complete" : "interrupted";
  run.info.peak_memory = peak_memory();
  write_run_status(run.dir, run.info);
  if (complete) remove_leftovers(run.dir);
}

}  // namespace

FitOutcome sample_run(const OpenRun& run, const ChainMaker& make_chain, std::size_t side_by_side,
                      std::vector<Checkpoint> from, const RunRanks* all_ranks) {
  const auto& [run_dir, data, test, info, callbacks] = run;
  const std::unique_ptr<Comm> one = single_comm();
  const RunRanks alone(*one, info.options.chains);
  const RunRanks& ranks = all_ranks == nullptr ? alone : *all_ranks;
  const TestCells watched = watched_cells(data, test, info.options.seed);
  from.resize(static_cast<std::size_t>(info.options.chains));
  std::uint64_t sweeps = 0;  // of this process
  for (;;) {
    if (ranks.leads()) {
      merge_group_files(run_dir, info);
      go_back(run_dir, info, schedule_of_run(info), from);
    }
    ranks.all().barrier();
    const FutureDrawFiles begun = ranks.leads() ? begin_draw_files(run) : FutureDrawFiles{};
    Recorder recorder(run_dir, info, callbacks, watched.size(), from, ranks);
    // Draws that are in the log already, or in that of another group, would come too late.
    if (begun.valid() && info.draws == 0 && ranks.groups() == 1)
      recorder.follow_draws([begun](std::size_t number, std::shared_ptr<const StoredDraw> draw) {
        if (const auto files = wait_for(begun)) files->follow(number, std::move(draw));
      });
    bool complete = ranks.on_all(run_to_schedule(run, make_chain, side_by_side, from, watched, recorder, ranks));
    recorder.close();
    malloc_trim(0);  // returns the memory of the chains: writing needs some
    ranks.collect_statuses(info);
    sweeps += recorder.sweeps();
    info.bytes_per_sweep = ranks.bytes_per_sweep(sweeps);
    ranks.all().barrier();
    if (ranks.leads()) write_answers(run, recorder, ranks, complete, begun);
    recorder.stop_clock();
    if (complete && info.options.until == Until::converged) {
      if (const std::optional<std::int64_t> more = agreed_round(run, recorder, ranks)) {
        from = ask_for_round(run_dir, info, *more, ranks);
        continue;
      }
      complete = ranks.on_all(!recorder.has_thrown());
    }
    if (ranks.leads()) finish(run, complete);
    ranks.all().barrier();
    recorder.rethrow();
    return complete ? FitOutcome::complete : FitOutcome::interrupted;
  }
}

namespace {

// Files that a run needs to go on, and that one which is complete does not.
std::vector<fs::path> leftovers(const std::string& run_dir) {
  std::vector<fs::path> found;
  std::error_code no_access;
  for (const auto& entry : fs::directory_iterator(run_dir, no_access)) {
    const std::string name = entry.path().filename().string();
    if (name == "draws.log" || is_checkpoint_file(name) || is_group_file(name)) found.push_back(entry.path());
  }
  return found;
}

}  // namespace

bool has_leftovers(const std::string& run_dir) {
  return !leftovers(run_dir).empty();
}

void remove_leftovers(const std::string& run_dir) {
  std::error_code ignored;
  for (const fs::path& path : leftovers(run_dir)) fs::remove(path, ignored);
  remove_partial_files(run_dir);
}

}  // namespace ztp
