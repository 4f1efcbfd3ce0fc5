#include "run/disk_cost.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/matrix.hpp"
#include "base/memory.hpp"
#include "run/prepare.hpp"
#include "store/draw_layout.hpp"
#include "store/draw_pieces.hpp"

namespace ztp {
namespace {

constexpr double of_file = 16 << 10;           // metadata of netCDF and JSON
constexpr double most_listed = 1e6;            // rows of a list in draws.nc (store/draws_nc)
constexpr std::uint32_t most_labels = 100000;  // of a mode in draws.nc

// Characters of the labels of a mode, of which some are looked at, and their line ends.
double bytes_of_labels(const LabelTable& labels) {
  constexpr std::uint32_t sample = 1000;
  const std::uint32_t step = std::max<std::uint32_t>(1, labels.size() / sample);
  double characters = 0, seen = 0;
  std::string scratch;
  for (std::uint32_t j = 0; j < labels.size(); j += step, ++seen)
    characters += static_cast<double>(labels.name(j, scratch).size() + 1);
  return seen == 0 ? 0 : characters / seen * labels.size();
}

// What a chain goes on from: its counts, with 64 bits and padded rows, and the sums of test predictions.
double bytes_of_checkpoint(const FactorLayout& layout, double test) {
  double bytes = 8 * test + of_file / 4;
  for (std::size_t f = 0; f < layout.matrices(); ++f)
    if (!layout.is_one_hot(f))
      bytes += static_cast<double>(layout.size(f).rows) * static_cast<double>(8 * padded(layout.size(f).columns));
  return bytes;
}

double bytes_of_means(const DrawLayout& layout) {
  double floats = 0;
  for (const DrawVariable& variable : layout.variables) floats += static_cast<double>(variable.floats());
  return of_file + static_cast<double>(layout.chains) * sizeof(float) * floats;
}

// Held-out cells and others that are drawn: some of those that run/calibrate asks for are distinct and usable.
double bytes_of_calibration(double test, double order) {
  constexpr double usable = 0.3, fewest_drawn = 50'000, most_drawn = 400'000;
  return test == 0 ? 0 : (test + usable * std::clamp(4 * test, fewest_drawn, most_drawn)) * (4 * order + 10);
}

// One line per sweep: some numbers of the chain, and the probabilities of watched cells.
double bytes_of_trace(const FitOptions& options) {
  constexpr double of_sweep = 100, watched = 64 * 10, most_watched = 4000;
  const double after = static_cast<double>(options.sweeps - options.burn_in);
  return static_cast<double>(options.chains) *
         (of_sweep * static_cast<double>(options.sweeps) + watched * std::min(after, most_watched));
}

}  // namespace

double run_directory_bytes(const Dataset& data, const FitOptions& complete, double test) {
  const DrawLayout layout = draw_layout(complete, data);
  const double draws =
      static_cast<double>(make_schedule(complete, layout).draws()) * static_cast<double>(DrawPieces(layout).bytes());
  const double K = static_cast<double>(data.tensor.order()),
               held_out = complete.holdout * static_cast<double>(data.tensor.nnz());
  const double ones = static_cast<double>(data.tensor.nnz()) - held_out;  // those of a tensor file are not copied
  const double missing =
      static_cast<double>(data.missing.cells.size()) / K + (complete.holdout_as == HoldoutAs::missing ? test : 0);
  double edges = 0;
  for (const Network& network : data.networks) edges += static_cast<double>(network.size());
  const double counts = data.tensor.counts.empty() ? 0 : 8;
  double labels = 0, in_draws = 0, of_cell = 0;  // label files; labels in draws.nc; a cell as text
  for (const Mode& mode : data.tensor.modes) {
    const double bytes = bytes_of_labels(mode.labels), entities = mode.labels.size();
    of_cell += entities > 0 ? bytes / entities : 0;
    if (!mode.labels.is_numbered()) labels += bytes;
    if (mode.labels.size() <= most_labels) in_draws += bytes + 32 * entities;
  }
  const double data_file = ones * (4 * K + counts) + missing * 4 * K + 8 * edges;
  const double listed = std::min(ones, most_listed) * (4 * K + counts) + std::min(missing, most_listed) * 4 * K +
                        std::min(edges, most_listed) * 8;
  const double test_file = test * (of_cell + 2);
  return draws + listed + 2 * in_draws + 3 * of_file + labels + data_file + test_file + bytes_of_calibration(test, K) +
         bytes_of_means(layout) + bytes_of_trace(complete) +
         static_cast<double>(complete.chains) * bytes_of_checkpoint(layout.factors, test);
}

std::string large_run_directory(const Dataset& data, const FitOptions& complete, double test) {
  constexpr double large = 1e9;
  const double bytes = run_directory_bytes(data, complete, test);
  if (bytes < large) return "";
  return fmt::format("The run directory will take about {}. Fewer draws take less: --draws sets how many are kept.",
                     human_bytes(bytes));
}

}  // namespace ztp
