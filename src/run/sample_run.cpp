#include "run/sample_run.hpp"

#include <malloc.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <vector>

#include "base/clock.hpp"
#include "base/file.hpp"
#include "base/memory.hpp"
#include "base/random.hpp"
#include "io/dataset_ones.hpp"
#include "io/text_writer.hpp"
#include "run/prepare.hpp"
#include "run/recorder.hpp"
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

constexpr const char* leftovers[] = {"draws.log", "checkpoint-a.bin", "checkpoint-b.bin"};

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

// Makes draws.nc and means.nc of the draws so far.
void write_draws(const OpenRun& run, const DrawLayout& layout) {
  const DrawLogReader log(run.dir + "/draws.log", layout);
  summarise_rank(log, run.info);
  summarise_learned(log, run.info);
  write_draws_nc(run.dir, run.info, run.data, log);
  write_means_nc(run.dir, run.info, run.data.tensor.modes, log);
  add_to_manifest(run.dir, {"draws.nc", "means.nc"});
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
  const FactorLayout layout = layout_of(options, sizes_of_modes(data));
  const Hyperparameters hyper = hyperparameters(options, layout, data.tensor.modes);
  for (std::size_t k = 0; k < data.tensor.order(); ++k) {
    const LabelTable& labels = data.tensor.modes[k].labels;
    info.modes.push_back({data.tensor.modes[k].name, labels.size(), labels.is_numbered(), labels.first_number(),
                          hyper.dirichlet[layout.matrix(k)]});
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
  const Schedule plan = make_schedule(options, draw_layout(info));
  info.keep_every = plan.keep_every;
  info.watch_every = plan.watch_every;
  info.draws_planned = std::uint64_t{plan.chains} * plan.draws_per_chain();
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

FitOutcome sample_run(const OpenRun& run, const ChainMaker& make_chain, const Checkpoint& from) {
  const auto& [run_dir, data, test, info, callbacks] = run;
  const DrawLayout layout = draw_layout(info);
  HeldOut held_out(test);
  if (!from.held_out_sum.empty()) held_out.sum() = from.held_out_sum;
  held_out.draws() = from.held_out_draws;
  const TestCells watched = watched_cells(data, test, info.options.seed);
  const TrackedCells followed{test.size() > 0 ? &held_out : nullptr, &watched};

  info.draws = from.draw_log_length / record_bytes(layout);
  Recorder recorder(run_dir, info, callbacks, followed, from);
  const auto restore = [&](Chain& chain) {
    return restore_chain(chain.number() == from.chain ? from.file : chain_end_file(run.dir, chain.number()), run.info,
                         chain);
  };
  const bool complete = run_chains(make_chain, schedule_of_run(info), {from.sweeps, restore}, followed, recorder);
  malloc_trim(0);  // returns the memory of the chain: writing needs some
  if (info.draws > 0) write_draws(run, layout);
  info.status = complete ? "complete" : "interrupted";
  info.peak_memory = peak_memory();
  write_run_status(run_dir, info);
  if (complete) remove_leftovers(run_dir);
  recorder.rethrow();
  return complete ? FitOutcome::complete : FitOutcome::interrupted;
}

bool has_leftovers(const std::string& run_dir) {
  std::error_code no_access;
  return std::any_of(std::begin(leftovers), std::end(leftovers),
                     [&](const char* name) { return fs::exists(fs::path(run_dir) / name, no_access); });
}

void remove_leftovers(const std::string& run_dir) {
  std::error_code ignored;
  for (const char* name : leftovers) fs::remove(fs::path(run_dir) / name, ignored);
  remove_partial_files(run_dir);
}

}  // namespace ztp
