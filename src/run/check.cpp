#include "ztp/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <tuple>

#include "base/clock.hpp"
#include "base/memory.hpp"
#include "io/file_cells.hpp"
#include "io/read.hpp"
#include "options/amounts.hpp"
#include "run/prepare.hpp"
#include "sampler/chain.hpp"
#include "tensor/records.hpp"

namespace ztp {
namespace {

constexpr std::size_t most_examples = 20;
constexpr double timed_products = 1e8;  // ones times components that are tried out to estimate the time of a sweep
constexpr std::size_t timed_draws = 4000000;  // likewise rows times components

// Reads the file once more, remembering lines, and lists the repeated cells.
void find_duplicates(const ReadOptions& read, const Dataset& data, CheckReport& report) {
  Pool pool(read.threads);
  TableSpec spec = tensor_table(read);
  spec.keep_lines = true;
  spec.closed = columns_of(data.tensor.modes);
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

// How many ones each entity of a mode has. A list of all of them, unless they are so many more than the ones that it would be mostly
// zeros: a file of a few bytes can announce billions.
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
  // Those with ones, in their order; of a list, all.
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

// Some of the ones, as a sweep meets them: stretches of 64 neighbours, which share rows; of a file, which is shuffled, its first.
Buffer<std::uint32_t> some_ones(const Dataset& data, std::size_t wanted) {
  if (data.file != nullptr) return first_ones_of_file(data, wanted);
  const SparseTensor& tensor = data.tensor;
  Buffer<std::uint32_t> coords;
  const std::size_t step = std::max<std::size_t>(1, tensor.nnz() / wanted);
  for (std::size_t e = 0; e < tensor.nnz(); ++e)
    if (e / 64 % step == 0) coords.append(tensor.cell(e), tensor.order());
  return coords;
}

// Times a real sweep. The collapsed sampler is for data of which that is quick.
double time_collapsed_sweep(const Dataset& data, const FitOptions& options) {
  Pool pool(static_cast<unsigned>(options.threads));
  const std::unique_ptr<Kernel> kernel = make_kernel(options.kernel, pool);
  const Problem problem = make_problem(options, data);
  Chain chain(problem, *kernel, 0);
  chain.start();
  chain.sweep();
  const double begin = clock_seconds();
  chain.sweep();
  return clock_seconds() - begin;
}

// Times the two parts of a sweep, or of a step, on a part of the data, with rows of the real width and as many of them as memory allows.
double time_sweep(const Dataset& data, const FitOptions& options) {
  const std::size_t R = static_cast<std::size_t>(options.rank), K = data.tensor.order(), stride = padded(R);
  Pool pool(static_cast<unsigned>(options.threads));
  const std::unique_ptr<Kernel> kernel = make_kernel(options.kernel, pool);
  const std::size_t most_rows = std::max<std::size_t>(1, (std::size_t{256} << 20) / (12 * stride));
  std::vector<Matrix<float>> u;
  std::vector<Matrix<std::int64_t>> S;
  double column_seconds = 0;
  for (std::size_t k = 0; k < K; ++k) {
    const std::size_t rows = std::min<std::size_t>(data.tensor.modes[k].labels.size(), most_rows);
    u.emplace_back(rows, R);
    S.emplace_back(rows, R);
    const std::size_t timed = std::clamp<std::size_t>(timed_draws / R, 1, rows);
    Matrix<std::int64_t> counts(timed, R);
    Matrix<float> part(timed, R);
    const std::vector<double> totals(R, 1.0);
    const Columns columns{.S = counts, .a = 0.1, .totals = &totals};
    const double begin = clock_seconds();
    if (options.method == "online" && options.parameters == "mean")
      kernel->mean_columns(columns, part);
    else
      kernel->draw_columns(columns, stream_key(1, 0, Purpose::columns), 1, part);
    column_seconds += (clock_seconds() - begin) * static_cast<double>(data.tensor.modes[k].labels.size()) /
                      static_cast<double>(timed);
    for (std::size_t j = 0; j < rows; ++j)
      for (std::size_t r = 0; r < R; ++r) u[k].row(j)[r] = part.row(j % timed)[r] + 0.01f;
  }
  const std::size_t wanted =
      std::max<std::size_t>(4096, static_cast<std::size_t>(timed_products / static_cast<double>(R)));
  Buffer<std::uint32_t> coords = some_ones(data, wanted);
  for (std::size_t i = 0; i < coords.size(); ++i) coords[i] %= static_cast<std::uint32_t>(u[i % K].rows());
  std::vector<const Matrix<float>*> factors;
  std::vector<std::int64_t> totals(R, 0);
  Sums sums{{}, totals.data()};
  for (std::size_t k = 0; k < K; ++k) {
    factors.push_back(&u[k]);
    sums.rows.push_back(&S[k]);
  }
  const Rates rates = make_rates(factors, std::vector<double>(R, 0.0));
  const Entries entries{coords.data(), nullptr, coords.size() / K};
  Sums added = sums;
  added.expected = options.method == "online" && options.latent == "mean";
  double best = 1e300;
  for (std::uint32_t repeat = 0; repeat < 2; ++repeat) {
    const double begin = clock_seconds();
    kernel->allocate(entries, rates, stream_key(1, 0, Purpose::counts), repeat, added);
    best = std::min(best, clock_seconds() - begin);
  }
  // Listed missing cells cost as much as ones, edges and missing pairs as a one of two modes.
  const bool online = options.method == "online";
  const double part = online ? static_cast<double>(options.minibatch) / static_cast<double>(data.ones()) : 1;
  double cells = part * static_cast<double>(data.ones()) + static_cast<double>(data.missing.cells.size() / K);
  for (const Network& network : data.networks)
    cells += (part * static_cast<double>(network.edges.size()) + static_cast<double>(network.missing.size())) /
             static_cast<double>(K);
  return column_seconds + best * cells / static_cast<double>(entries.count);
}

}  // namespace

CheckReport check(const ReadOptions& read, const FitOptions& given) {
  const double program = resident_memory();  // before any data
  CheckReport report;
  const Dataset data = read_dataset(read);
  const FitOptions options = complete_options(given, data.tensor, static_cast<std::int64_t>(data.ones()));
  report.ones = data.ones();
  report.volume = data.tensor.volume();
  report.duplicates = data.duplicates;
  report.zeros = data.zeros;
  report.warnings = data.warnings;
  for (const Network& network : data.networks)
    report.networks.push_back({data.tensor.modes[network.mode].name, network.size(), network.missing.size() / 2});
  describe_modes(data, report);
  for (std::size_t k = 0; k < data.missing.slices.size(); ++k)
    report.modes[k].missing = static_cast<std::uint32_t>(data.missing.slices[k].size());
  report.missing_cells = data.missing.cells.size() / data.tensor.order();
  report.missing_volume = missing_volume(data.tensor, data.missing);
  if (data.duplicates > 0 && std::filesystem::is_regular_file(read.file)) find_duplicates(read, data, report);
  report.cost = estimate_cost(data, given);
  report.cost.memory += program;
  report.seconds_per_sweep =
      options.sampler == "collapsed" ? time_collapsed_sweep(data, options) : time_sweep(data, options);
  return report;
}

}  // namespace ztp
