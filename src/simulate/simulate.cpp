#include "ztp/simulate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/errors.hpp"
#include "io/text_writer.hpp"
#include "simulate/points.hpp"

namespace ztp {
namespace {

constexpr std::uint64_t most_listed_labels = 1'000'000;

std::size_t mode_index(const SimulateOptions& options, const std::string& name) {
  const std::vector<std::string> names = mode_names(options);
  return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

// Calls use(set, collected) with the ones in the set that suits the sizes.
template <class Use>
void with_ones(PointDrawer& drawer, Use use) {
  const std::vector<std::uint64_t>& dims = drawer.truth().options().dims;
  const auto run = [&](auto set) {
    const CollectedCells collected = drawer.draw_ones(set);
    use(set, collected);
  };
  if (KeySet::fits(dims))
    run(KeySet(dims));
  else
    run(RecordSet(dims));
}

template <class Set>
Buffer<std::uint32_t> coordinates(const Set& set, std::size_t width) {
  Buffer<std::uint32_t> coords(set.size() * width);
  for (std::size_t e = 0; e < set.size(); ++e) set.get(e, coords.data() + e * width);
  return coords;
}

// Files of a simulation, and the list of them.
class Output {
 public:
  Output(const PointDrawer& drawer, const std::string& directory, bool force)
      : drawer_(drawer), directory_(directory), existed_(std::filesystem::exists(directory)) {
    make_output_directory(directory, force);
    names_ = mode_names(drawer.truth().options());
    if (force) remove_old();
  }

  // Returns the length of the file.
  template <class Set>
  std::uint64_t write_cells(const std::string& name, const std::string& header, const Set& cells, std::size_t width) {
    TextWriter file(path(name));
    file.write(header);
    std::array<std::uint32_t, 16> cell;
    for (std::size_t e = 0; e < cells.size(); ++e) {
      if (e % (1 << 20) == 0) drawer_.report("writing", static_cast<double>(e) / static_cast<double>(cells.size()));
      cells.get(e, cell.data());
      char* out = file.room(max_digits * (width + 1));
      for (std::size_t k = 0; k < width; ++k) {
        out = format_number(out, std::uint64_t{cell[k]} + 1);
        *out++ = k + 1 < width ? '\t' : '\n';
      }
      file.advance(out);
    }
    finish(file, name);
    return file.bytes();
  }

  void write_labels() {
    const std::vector<std::uint64_t>& dims = drawer_.truth().options().dims;
    for (std::size_t k = 0; k < dims.size(); ++k) {
      if (dims[k] > most_listed_labels) continue;
      make_output_directory(path("labels"), true);
      files_.push_back(fmt::format("labels/{}.txt", names_[k]));
      write_label_file(path(files_.back()), LabelTable::numbered(1, static_cast<std::uint32_t>(dims[k])));
    }
  }

  void write_truth(std::uint64_t points) {
    make_output_directory(path("truth"), true);
    const std::vector<double>& shares = drawer_.truth().shares();
    TextWriter file(path("truth/weights.tsv"));
    const bool relations = drawer_.truth().has_relations();
    file.write(fmt::format("#component\tlambda{}\n", relations ? fmt::format("\t{}", fmt::join(names_, "\t")) : ""));
    for (std::size_t r = 0; r < shares.size(); ++r) {
      file.write(fmt::format("{}\t{}", r + 1, shares[r] * static_cast<double>(points)));
      for (std::size_t k = 0; relations && k < names_.size(); ++k)
        file.write(fmt::format("\t{}", drawer_.truth().column_number(k, r) + 1));
      file.write("\n");
    }
    finish(file, "truth/weights.tsv");
    for (std::size_t k = 0; k < names_.size(); ++k)
      if (!relations || k == 0) write_columns(k);
  }

  // Takes back what was written, when the rest cannot be made.
  void discard() const {
    std::error_code ignored;
    for (const std::string& name : files_) std::filesystem::remove(path(name), ignored);
    for (const char* folder : {"truth", "labels"}) std::filesystem::remove(path(folder), ignored);  // if empty
    if (!existed_) std::filesystem::remove(directory_, ignored);
  }

  const std::vector<std::string>& files() const { return files_; }

 private:
  std::string path(const std::string& name) const { return directory_ + "/" + name; }

  void finish(TextWriter& file, const std::string& name) {
    file.commit();
    files_.push_back(name);
  }

  void write_columns(std::size_t k) {
    const Truth& truth = drawer_.truth();
    const double least = 1e-6 / static_cast<double>(truth.options().dims[k]);
    const std::string name = fmt::format("truth/{}.tsv", names_[k]);
    TextWriter file(path(name));
    file.write(fmt::format("#{}\t{}\tu\n", names_[k], truth.has_relations() ? "community" : "component"));
    for (std::size_t r = 0; r < truth.columns(k); ++r) {
      drawer_.report("writing the truth", static_cast<double>(r) / static_cast<double>(truth.columns(k)));
      const TrueFactorColumn column = truth.column(k, r);
      for (std::size_t i = 0; i < column.ids.size(); ++i) {
        if (column.u[i] <= least) continue;
        char* out = format_number(file.room(3 * max_digits), std::uint64_t{column.ids[i]} + 1);
        *out++ = '\t';
        out = format_number(out, r + 1);
        *out++ = '\t';
        out = format_number(out, static_cast<float>(column.u[i]));
        *out++ = '\n';
        file.advance(out);
      }
    }
    finish(file, name);
  }

  // A truth or a network of an earlier run beside a new tensor would be a trap.
  void remove_old() {
    const auto remove = [&](const std::string& name) {
      std::error_code failure;
      std::filesystem::remove(path(name), failure);
      if (failure) throw io_error("{}: cannot be removed: {}", path(name), failure.message());
    };
    remove("tensor.tsv");
    remove("truth/weights.tsv");
    for (const std::string& mode : names_) {
      remove(fmt::format("labels/{}.txt", mode));
      remove(fmt::format("network-{}.tsv", mode));
      remove(fmt::format("truth/{}.tsv", mode));
    }
  }

  const PointDrawer& drawer_;
  std::string directory_;
  bool existed_;
  std::vector<std::string> names_;
  std::vector<std::string> files_;
};

SimulateSummary write_all(PointDrawer& drawer, Output& output, bool with_truth) {
  const SimulateOptions& options = drawer.truth().options();
  SimulateSummary summary;
  summary.ones = options.ones;
  summary.volume = 1;
  for (const std::uint64_t n : options.dims) summary.volume *= static_cast<double>(n);
  for (const auto& [mode, wanted] : options.edges) {
    const KeySet edges = drawer.draw_edges(mode_index(options, mode), wanted);
    output.write_cells(fmt::format("network-{}.tsv", mode), fmt::format("#{0}\t{0}\n", mode), edges, 2);
  }
  with_ones(drawer, [&](const auto& cells, const CollectedCells& collected) {
    summary.points = collected.points;
    summary.rounds = collected.rounds;
    const std::string header = fmt::format("#{}\n", fmt::join(mode_names(options), "\t"));
    summary.bytes = output.write_cells("tensor.tsv", header, cells, options.dims.size());
  });
  output.write_labels();
  if (with_truth) output.write_truth(summary.points);
  summary.files = output.files();
  return summary;
}

}  // namespace

Simulated simulate(const SimulateOptions& options, const SimulateProgress& progress) {
  PointDrawer drawer(options, progress);
  Simulated result;
  const std::vector<std::string> names = mode_names(options);
  for (std::size_t k = 0; k < options.dims.size(); ++k)
    result.tensor.modes.push_back({names[k], LabelTable::numbered(1, static_cast<std::uint32_t>(options.dims[k]))});
  with_ones(drawer, [&](const auto& cells, const CollectedCells& collected) {
    result.tensor.coords = coordinates(cells, options.dims.size());
    result.points = collected.points;
    result.rounds = collected.rounds;
  });
  for (const double share : drawer.truth().shares())
    result.lambda.push_back(share * static_cast<double>(result.points));
  for (const auto& [mode, wanted] : options.edges) {
    Network& network = result.networks.emplace_back();
    network.mode = mode_index(options, mode);
    network.source = "simulated";
    network.edges = coordinates(drawer.draw_edges(network.mode, wanted), 2);
  }
  return result;
}

SimulateSummary write_simulation(const SimulateOptions& options, const std::string& directory, bool force,
                                 bool with_truth, const SimulateProgress& progress) {
  PointDrawer drawer(options, progress);
  Output output(drawer, directory, force);
  try {
    return write_all(drawer, output, with_truth);
  } catch (...) {
    output.discard();
    throw;
  }
}

}  // namespace ztp
