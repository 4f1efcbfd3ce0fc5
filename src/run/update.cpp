#include "ztp/update.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "io/file_cells.hpp"
#include "io/flags.hpp"
#include "io/grow.hpp"
#include "io/pairs.hpp"
#include "io/read.hpp"
#include "run/checkpoint.hpp"
#include "run/prepare.hpp"
#include "run/sample_run.hpp"
#include "sampler/update_chain.hpp"
#include "store/data.hpp"
#include "store/run_dir.hpp"
#include "store/run_info.hpp"
#include "tensor/records.hpp"
#include "ztp/error.hpp"
#include "ztp/version.hpp"

namespace ztp {
namespace {

// What has come, over the modes of the run as they are with it.
struct NewData {
  SparseTensor tensor;            // modes, and the ones that are new
  std::vector<Network> networks;  // as many as the run has, each with its new edges
};

// Takes records that are among the known ones out of `fresh` (sorted, each once). Returns how many.
template <class Known>
std::uint64_t remove_known(Buffer<std::uint32_t>& fresh, std::size_t width, const Known& known) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i * width < fresh.size(); ++i) {
    const std::uint32_t* record = fresh.data() + i * width;
    if (known(i)) continue;
    std::copy_n(record, width, fresh.data() + kept++ * width);
  }
  const std::uint64_t removed = fresh.size() / width - kept;
  fresh.resize(kept * width);
  return removed;
}

void read_new_ones(const ReadOptions& fresh, const Dataset& old, Pool& pool, NewData& news, UpdateSummary& summary) {
  if (fresh.file.empty()) return;
  SparseTensor& tensor = news.tensor;
  std::vector<Mode*> columns;
  for (Mode& mode : tensor.modes) columns.push_back(&mode);
  ReadOptions ones_alone = fresh;
  ones_alone.networks.clear();
  Dataset read = read_dataset(ones_alone);
  translate_and_grow(read.tensor.modes, columns, fresh.file, read.tensor.coords);
  tensor.coords = std::move(read.tensor.coords);
  tensor.counts = std::move(read.tensor.counts);
  tensor.sort_and_merge();
  summary.warnings = std::move(read.warnings);
  if (fresh.counts) return;  // more counts of a known cell are new data
  const std::vector<std::uint8_t> known = which_are_ones(old, tensor.coords, pool);
  summary.known_ones = remove_known(tensor.coords, tensor.order(), [&](std::size_t e) { return known[e] != 0; });
}

void read_new_edges(const ReadOptions& fresh, Dataset& old, Pool& pool, NewData& news, UpdateSummary& summary) {
  for (const Network& network : old.networks) {
    news.networks.emplace_back();
    news.networks.back().mode = network.mode;
    news.networks.back().source = network.source;
  }
  for (const std::string& item : fresh.networks) {
    const auto [name, file] = split_assignment(item, "--network");
    const Network& network = network_of_flag(name, "--network " + item, "the run was fitted without one", old);
    Buffer<std::uint32_t>& edges = news.networks[static_cast<std::size_t>(&network - old.networks.data())].edges;
    Mode& mode = news.tensor.modes[network.mode];
    TableSpec spec;
    spec.path = file;
    spec.known = &old.tensor.modes[network.mode].labels;
    TableReader reader(spec, pool);
    Buffer<std::uint32_t> pairs;
    CellBlock block;
    while (reader.next(block)) pairs.append(block.coords.data(), block.coords.size());
    translate_and_grow(reader.take_modes(), {&mode, &mode}, file, pairs);
    const std::uint64_t self_loops = add_pairs(pairs, edges).self;
    if (self_loops > 0) summary.warnings.push_back(fmt::format("{}: {} self-loops ignored", file, self_loops));
    summary.known_edges += remove_known(
        edges, 2, [&](std::size_t e) { return find_record(network.edges, 2, edges.data() + 2 * e) < network.size(); });
  }
}

// The data of the run with the new ones: what is no longer missing is no longer said to be. Returns how many entities and cells that are.
std::uint64_t merge(const NewData& news, Dataset& data) {
  const SparseTensor& tensor = news.tensor;
  std::uint64_t found = 0;
  const std::size_t K = tensor.order();
  data.tensor.modes = tensor.modes;
  data.tensor.coords.append(tensor.coords.data(), tensor.coords.size());
  data.tensor.counts.append(tensor.counts.data(), tensor.counts.size());
  data.tensor.sort_and_merge();
  for (std::size_t m = 0; m < data.networks.size(); ++m) {
    Network& network = data.networks[m];
    network.edges.append(news.networks[m].edges.data(), news.networks[m].edges.size());
    sort_and_merge_records(network.edges, 2);
    remove_known(network.missing, 2, [&](std::size_t i) {
      return find_record(std::as_const(network.edges), 2, network.missing.data() + 2 * i) < network.size();
    });
  }
  for (std::size_t k = 0; k < data.missing.slices.size(); ++k) {
    auto& slices = data.missing.slices[k];
    if (slices.empty()) continue;
    std::vector<std::uint8_t> met(tensor.modes[k].labels.size(), 0);
    for (std::size_t e = 0; e < tensor.nnz(); ++e) met[tensor.cell(e)[k]] = 1;
    found += std::erase_if(slices, [&](std::uint32_t j) { return met[j] != 0; });
  }
  return found + remove_known(data.missing.cells, K,
                              [&](std::size_t i) { return tensor.contains(data.missing.cells.data() + i * K); });
}

// The test cells of the run that are not ones by now.
TestCells remaining_test(const std::string& run_dir, const RunInfo& info, const NewData& news, unsigned threads,
                         UpdateSummary& summary) {
  TestCells kept;
  if (info.test_ones + info.test_zeros == 0) return kept;
  const TestCells test = read_test_cells(own_test_file(run_dir, info), news.tensor.modes, threads);
  const std::size_t K = news.tensor.order();
  for (std::size_t i = 0; i < test.size(); ++i) {
    const std::uint32_t* cell = test.coords.data() + i * K;
    if (news.tensor.contains(cell)) continue;
    kept.coords.append(cell, K);
    kept.outcome.push_back(test.outcome[i]);
  }
  if (kept.size() < test.size())
    summary.warnings.push_back(
        fmt::format("{} held-out cells are among the new ones and no longer held out", test.size() - kept.size()));
  return kept;
}

FitOptions options_of_update(const FitOptions& of_run, const UpdateOptions& options) {
  FitOptions complete = of_run;
  complete.sweeps = options.sweeps;
  complete.burn_in = options.sweeps / 5;
  complete.keep_every = 1;
  complete.draws = std::max(options.draws, of_run.chains);
  complete.threads = options.threads;
  complete.holdout = 0;
  complete.test.clear();
  complete.holdout_as = "zero";
  return complete;
}

// What there is of new data, and an Error if that is nothing, or more than can be counted.
void count_news(const ReadOptions& fresh, const std::string& run_dir, const RunInfo& before, const NewData& news,
                const Dataset& data, UpdateSummary& summary) {
  summary.ones = news.tensor.nnz();
  for (const Network& network : news.networks) summary.edges += network.size();
  for (std::size_t k = 0; k < news.tensor.order(); ++k)
    summary.entities.emplace_back(news.tensor.modes[k].name,
                                  news.tensor.modes[k].labels.size() - data.tensor.modes[k].labels.size());
  if (summary.ones + summary.edges == 0)
    throw Error(ErrorKind::input, fmt::format("{}: nothing in it is new to {}",
                                              fresh.file.empty() ? fresh.networks.front() : fresh.file, run_dir));
  std::int64_t total = static_cast<std::int64_t>(before.total_count);
  for (const std::int64_t count : news.tensor.counts) add_to_total(total, count, fresh.file);
}

// The chains of an update: those of the run before, with the new data in minibatches.
class UpdateChains {
 public:
  UpdateChains(const std::string& run_dir, const RunInfo& before, const FitOptions& complete,
               const UpdateOptions& options, const Dataset& added, Kernel& kernel)
      : run_dir_(run_dir),
        before_(before),
        complete_(complete),
        looks_(static_cast<std::uint32_t>(options.sweeps)),
        kernel_(kernel),
        problem_(make_problem(complete, added)) {
    problem_.seed += (before.updates + 1) * 0x9e3779b97f4a7c15ull;  // random numbers of its own
    const std::uint64_t ones = added.tensor.nnz();
    const std::uint64_t part = options.minibatch > 0 ? static_cast<std::uint64_t>(options.minibatch) : (ones + 9) / 10;
    const std::size_t parts = part == 0 ? 1 : static_cast<std::size_t>((ones + part - 1) / part);
    const std::vector<std::uint32_t> sizes = added.tensor.sizes();
    ones_ = std::make_unique<MemoryMinibatches>(added.tensor.coords, added.tensor.counts, sizes, parts);
    for (const Network& network : added.networks) {
      const std::uint32_t n = sizes[network.mode];
      edges_.push_back(std::make_unique<MemoryMinibatches>(network.edges, std::span<const std::int64_t>(),
                                                           std::vector<std::uint32_t>{n, n}, 1, true));
    }
  }

  std::unique_ptr<AnyChain> make(std::uint32_t number) const {
    std::vector<Minibatches*> edges;
    for (const auto& of_network : edges_) edges.push_back(of_network.get());
    OnlineOptions online = online_options(complete_);
    online.looks = looks_;
    auto chain =
        std::make_unique<UpdateChain>(problem_, online, DataInMinibatches{*ones_, edges}, kernel_, number);
    restore_chain(chain_end_file(run_dir_, number), before_, *chain);
    chain->restore(0);  // its looks are counted anew
    return chain;
  }

 private:
  const std::string& run_dir_;
  const RunInfo& before_;
  const FitOptions& complete_;
  std::uint32_t looks_;
  Kernel& kernel_;
  Problem problem_;
  std::unique_ptr<MemoryMinibatches> ones_;
  std::vector<std::unique_ptr<MemoryMinibatches>> edges_;
};

}  // namespace

UpdateSummary update(const std::string& run_dir, const ReadOptions& fresh, const UpdateOptions& options,
                     const FitCallbacks& callbacks) {
  if (fresh.file.empty() && fresh.networks.empty())
    throw Error(ErrorKind::usage, "update needs a FILE of new ones, or --network MODE=FILE with new edges");
  const RunInfo before = run_info(run_dir);
  if (before.status != "complete")
    throw Error(ErrorKind::config, fmt::format("{} is not complete; 'ztp resume {}' goes on", run_dir, run_dir));
  if (before.options.model != "ztp")
    throw Error(ErrorKind::config, fmt::format("{}: --model {} cannot be updated", run_dir, before.options.model));
  if (before.version != version())
    throw Error(ErrorKind::config,
                fmt::format("{} was made by ztp {}; this is {}", run_dir, before.version, version()));
  Pool pool(options.threads);
  ReadOptions reading = fresh;
  reading.counts = before.options.likelihood == "count";
  const bool replaces = options.out.empty();
  NewRunDir made(replaces ? run_dir : options.out, replaces);

  UpdateSummary summary;
  Dataset data = load_data(run_dir, before);
  NewData news;
  news.tensor.modes = data.tensor.modes;
  read_new_ones(reading, data, pool, news, summary);
  read_new_edges(reading, data, pool, news, summary);
  count_news(fresh, run_dir, before, news, data, summary);
  const std::uint64_t found = merge(news, data);
  if (found > 0)
    summary.warnings.push_back(
        fmt::format("{} entities or cells that were missing have ones now; what was imputed for them stays in "
                    "the statistics, beside the ones: only a fit of everything gets them right",
                    found));
  const TestCells test = remaining_test(run_dir, before, news, options.threads, summary);

  const FitOptions complete = options_of_update(before.options, options);
  RunInfo info = describe_run(data, complete, test, callbacks.command);
  info.updates = before.updates + 1;
  begin_run_dir(made.path(), info, data, test);
  Dataset added;
  added.tensor = std::move(news.tensor);
  added.networks = std::move(news.networks);
  const std::unique_ptr<Kernel> kernel = make_kernel(complete.kernel, pool);
  const UpdateChains chains(run_dir, before, complete, options, added, *kernel);
  summary.outcome = sample_run(
      made.path(), data, test, {}, callbacks, [&](std::uint32_t c) { return chains.make(c); }, info);
  if (summary.outcome == FitOutcome::complete) made.publish();
  return summary;
}

}  // namespace ztp
