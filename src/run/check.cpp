#include "ztp/check.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <tuple>

#include "base/memory.hpp"
#include "io/assemble.hpp"
#include "io/dataset_ones.hpp"
#include "io/read.hpp"
#include "run/choose_rank.hpp"
#include "run/cost.hpp"
#include "run/prepare.hpp"
#include "run/rank_cost.hpp"
#include "run/suggest_tie.hpp"
#include "tensor/records.hpp"
#include "tensor/tie_modes.hpp"

namespace ztp {
namespace {

constexpr std::size_t most_examples = 20;

// Reads the file once more, remembering lines, and lists the repeated cells.
void find_duplicates(const ReadOptions& read, const Dataset& data, CheckReport& report) {
  Pool pool(read.threads);
  TableSpec spec = tensor_table(read);
  spec.keep_lines = true;
  const FileSummary& file = data.files.front();
  if (file.format == FileFormat::tsv || file.format == FileFormat::csv) spec.header = file.header;
  spec.fixed_modes = columns_of(data.tensor.modes);
  TableReader reader(spec, pool);
  const std::size_t K = data.tensor.order();
  Buffer<std::uint32_t> coords;
  Buffer<std::int64_t> lines;
  CellBlock block;
  while (reader.next(block)) {
    coords.append(block.coords.data(), block.coords.size());
    for (const std::uint64_t line : block.lines) lines.push_back(static_cast<std::int64_t>(line));
  }
  sort_records(coords.data(), lines.size(), K, lines.data());
  std::vector<std::tuple<std::int64_t, std::int64_t, std::size_t>> repeats;  // line, first line, where in coords
  for (std::size_t begin = 0, end = 0; begin < lines.size(); begin = end) {
    const std::uint32_t* cell = coords.data() + begin * K;
    for (end = begin + 1; end < lines.size() && std::equal(cell, cell + K, coords.data() + end * K);) ++end;
    if (end - begin < 2) continue;
    std::sort(lines.begin() + begin, lines.begin() + end);
    for (std::size_t i = begin + 1; i < end; ++i) repeats.push_back({lines[i], lines[begin], begin});
  }
  const std::size_t shown = std::min(most_examples, repeats.size());
  std::partial_sort(repeats.begin(), repeats.begin() + static_cast<std::ptrdiff_t>(shown), repeats.end());
  for (std::size_t i = 0; i < shown; ++i) {
    const auto [line, first_line, at] = repeats[i];
    report.duplicate_examples.push_back({static_cast<std::uint64_t>(line), static_cast<std::uint64_t>(first_line),
                                         cell_text(data.tensor.modes, coords.data() + at * K)});
  }
}

// The number of ones of each entity of a mode. A dense list, unless it would be mostly zeros: the header of a tiny file
// can announce billions of entities.
class OnesOfEntities {
 public:
  OnesOfEntities(std::uint32_t entities, std::uint64_t ones)
      : sparse_(entities > (1u << 20) + 32 * std::min<std::uint64_t>(ones, 1u << 31)),
        list_(sparse_ ? 0 : entities, 0) {}
  void add(std::uint32_t j) { ++(sparse_ ? found_[j] : list_[j]); }
  std::uint64_t of(std::uint32_t j) const {
    if (!sparse_) return list_[j];
    const auto at = found_.find(j);
    return at == found_.end() ? 0 : at->second;
  }
  // The entities with ones, in order; a dense list also yields those without.
  template <class Use>
  void for_each(const Use& use) const {
    for (std::uint32_t j = 0; j < list_.size(); ++j) use(j, list_[j]);
    for (const auto& [j, ones] : found_) use(j, ones);
  }

 private:
  bool sparse_;
  std::vector<std::uint64_t> list_;
  std::map<std::uint32_t, std::uint64_t> found_;
};

void describe_modes(const Dataset& data, CheckReport& report) {
  constexpr std::size_t most_empty_examples = 5;
  const std::vector<Mode>& modes = data.tensor.modes;
  std::vector<OnesOfEntities> ones;
  for (const Mode& mode : modes) ones.emplace_back(mode.labels.size(), data.ones());
  for_ones(data, [&](const std::uint32_t* coords, const std::int64_t*, std::size_t cells) {
    for (std::size_t i = 0; i < cells * modes.size(); ++i) ones[i % modes.size()].add(coords[i]);
  });
  for (std::size_t k = 0; k < modes.size(); ++k) {
    const LabelTable& labels = modes[k].labels;
    CheckReport::ModeReport mode;
    mode.name = modes[k].name;
    mode.size = mode.empty = labels.size();
    ones[k].for_each([&](std::uint32_t j, std::uint64_t found) {
      if (found > 0) --mode.empty;
      if (found <= mode.busiest_ones) return;
      mode.busiest_ones = found;
      mode.busiest = labels[j];
    });
    const std::size_t examples = std::min<std::size_t>(mode.empty, most_empty_examples);
    for (std::uint32_t j = 0; mode.empty_examples.size() < examples; ++j)
      if (ones[k].of(j) == 0) mode.empty_examples.push_back(labels[j]);
    report.modes.push_back(std::move(mode));
  }
}

// What --rank auto would choose: if it takes about ten seconds at most, by choosing it.
void find_rank(const FitOptions& given, const Dataset& data, CheckReport& report) {
  constexpr double longest = 10;  // seconds
  FitOptions& options = report.options;
  const FitOptions first = with_rank(first_rank(given, options, data), given, options, data);
  const FitOptions last = with_rank(largest_rank(given, options, data), given, options, data);
  const double sweeps = 2 * longest_rank_trial;  // all trials together are worth about two of the last
  if (sweeps * time_of_sweep(data, last, plan_threads(last, data).threads) <= longest) {
    options = first;
    choose_rank(given, data, 0, {}, options, report.rank_choice);
    return;
  }
  options = last;
  report.smallest_rank = {first.rank, {}, time_of_sweep(data, first, plan_threads(first, data).threads), 0};
}

}  // namespace

CheckReport check(const ReadOptions& read, const FitOptions& given, std::size_t ranks) {
  check_options(given);                      // before anything is read
  const double program = resident_memory();  // before any data
  const ReadOptions reading = complete_read_options(read, given);
  const double memory = allowed_memory(given);
  Dataset data = ranks == 1 ? read_dataset(reading)
                            : read_dataset(reading, SortSpace{std::filesystem::temp_directory_path().string(), memory});
  if (!given.tie.empty()) {
    const auto [k, l] = tied_pair(given, data);
    tie_modes(data, k, l);
  }
  CheckReport report;
  FitOptions& options = report.options;
  options = complete_options(given, data);
  report.ones = data.ones();
  report.volume = data.tensor.volume();
  report.duplicates = data.duplicates;
  report.zeros = data.zeros;
  report.warnings = data.warnings;
  report.notes = data.notes;
  report.files = data.files;
  for (const Network& network : data.networks)
    report.networks.push_back({data.tensor.modes[network.mode].name, network.size(), network.missing.size() / 2});
  describe_modes(data, report);
  for (std::size_t k = 0; k < data.missing.slices.size(); ++k)
    report.modes[k].missing = static_cast<std::uint32_t>(data.missing.slices[k].size());
  report.missing_cells = data.missing.cells.size() / data.tensor.order();
  report.missing_volume = missing_volume(data.tensor, data.missing);
  const double bytes_of_lines = static_cast<double>(data.lines) * static_cast<double>(4 * data.tensor.order() + 8);
  if (data.duplicates > 0 && bytes_of_lines <= memory && std::filesystem::is_regular_file(read.file))
    find_duplicates(reading, data, report);
  if (chooses_rank(given, options) && data.ones() > 0) find_rank(given, data, report);
  const auto cost = [&](std::int64_t rank) {
    FitOptions at = given;
    at.rank = rank;
    FitCost result = estimate_cost(data, at);
    result.memory += program;
    return result;
  };
  const auto of_all_chains = [&](const FitCost& of_fit, double sweep) {
    const unsigned at_once = of_fit.chains_at_once, chains = static_cast<unsigned>(options.chains);
    return sweep * static_cast<double>(options.sweeps) * static_cast<double>((chains + at_once - 1) / at_once);
  };
  report.cost = cost(options.rank);
  report.seconds_per_sweep =
      time_of_sweep(data, options, plan_threads(options, data, report.cost.chains_at_once).threads);
  report.seconds = of_all_chains(report.cost, report.seconds_per_sweep);
  if (auto& smallest = report.smallest_rank) {
    smallest->cost = cost(smallest->rank);
    smallest->seconds = of_all_chains(smallest->cost, smallest->seconds_per_sweep);
  }
  report.ranks = ranks;
  const std::size_t of_chain = ranks / static_cast<std::size_t>(options.chains);
  if (of_chain > 1 && has_process_cost(options) && data.file == nullptr) {
    report.process = process_cost(data, options, of_chain);
    report.process->memory += program;
  }
  if (!given.tie.empty()) return report;
  Pool pool(reading.threads);
  if (data.file != nullptr) index_labels(data.tensor.modes, data.file->path(), pool);  // not before the memory is told
  report.same_entities = find_same_entities(data);
  return report;
}

}  // namespace ztp
