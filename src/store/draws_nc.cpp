#include "store/draws_nc.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <numeric>

#include "store/manifest.hpp"
#include "store/netcdf.hpp"
#include "store/draw_layout.hpp"
#include "ztp/error.hpp"

namespace ztp {
namespace {

constexpr std::size_t bytes_at_a_time = 4 << 20;
constexpr std::uint32_t most_label_coordinates =
    100000;  // netCDF strings are slow: beyond this labels stay in labels/ alone

std::size_t rows_at_a_time(std::size_t rows, std::size_t R) {
  return std::clamp<std::size_t>(bytes_at_a_time / (4 * R), 1, std::max<std::size_t>(rows, 1));
}

struct Place {
  std::size_t chain, draw;
};

// Record number to (chain, draw of that chain), and the size of that grid. Chains are numbered from 0 without gaps.
struct Grid {
  std::vector<Place> places;
  std::vector<std::size_t>
      order;  // of the records, chain by chain, so that the file does not depend on when each was drawn
  std::size_t chains = 0, draws = 0;
  explicit Grid(const DrawLogReader& log) {
    std::vector<std::size_t> used;
    for (std::size_t i = 0; i < log.draws(); ++i) {
      const std::size_t chain = log.head(i).chain;
      used.resize(std::max(used.size(), chain + 1), 0);
      places.push_back({chain, used[chain]++});
    }
    order.resize(log.draws());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return places[a].chain < places[b].chain; });
    chains = used.size();
    for (const std::size_t count : used) draws = std::max(draws, count);
  }
};

std::vector<std::string> names_of(const std::vector<Mode>& modes) {
  std::vector<std::string> names;
  for (const Mode& mode : modes) names.push_back(mode.name);
  return netcdf_names(names);
}

// The dimensions that both files share, with their coordinate variables.
struct Dimensions {
  int component;
  std::vector<int> modes;
};

Dimensions add_dimensions(NetcdfFile& file, int group, const std::vector<Mode>& modes, std::size_t R) {
  Dimensions dimensions;
  dimensions.component = file.add_dimension(group, "component", R);
  std::vector<std::int64_t> numbers(R);
  std::iota(numbers.begin(), numbers.end(), 1);
  file.put(group, file.add_integers(group, "component", {dimensions.component}), {0}, {R}, numbers.data());
  const std::vector<std::string> names = names_of(modes);
  for (std::size_t k = 0; k < modes.size(); ++k) {
    const LabelTable& table = modes[k].labels;
    const std::uint32_t size = table.size();
    dimensions.modes.push_back(file.add_dimension(group, names[k], size));
    if (table.is_numbered()) {
      std::vector<std::int64_t> labels(size);
      std::iota(labels.begin(), labels.end(), std::int64_t{table.first_number()});
      file.put(group, file.add_integers(group, names[k], {dimensions.modes.back()}), {0}, {size}, labels.data());
      continue;
    }
    if (size > most_label_coordinates) continue;
    std::vector<std::string> labels;
    for (std::uint32_t j = 0; j < size; ++j) labels.push_back(table[j]);
    file.put_strings(group, file.add_strings(group, names[k], {dimensions.modes.back()}), labels);
  }
  return dimensions;
}

void add_counter(NetcdfFile& file, int group, const std::string& name, int dimension, std::size_t size) {
  std::vector<std::int64_t> numbers(size);
  std::iota(numbers.begin(), numbers.end(), 0);
  file.put(group, file.add_integers(group, name, {dimension}), {0}, {size}, numbers.data());
}

void add_attributes(NetcdfFile& file, int group, const RunInfo& info) {
  file.add_attribute(group, "inference_library", "ztp");
  file.add_attribute(group, "inference_library_version", info.version);
}

// Names of the weight pairs in the order of the layout: lambda and p (of a rival the prior's precision, tau), then beta and h of each
// network.
std::vector<std::pair<std::string, std::string>> weight_names(const FitOptions& options, std::size_t networks) {
  std::vector<std::pair<std::string, std::string>> names = {{"lambda", options.model == "ztp" ? "p" : "tau"}};
  for (std::size_t m = 1; m <= networks; ++m) names.emplace_back(fmt::format("beta_{}", m), fmt::format("h_{}", m));
  return names;
}

void write_sample_stats(NetcdfFile& file, const RunInfo& info, const Grid& grid, const DrawLogReader& log) {
  const int group = file.add_group("sample_stats");
  add_attributes(file, group, info);
  const int chain = file.add_dimension(group, "chain", grid.chains);
  const int draw = file.add_dimension(group, "draw", grid.draws);
  add_counter(file, group, "chain", chain, grid.chains);
  add_counter(file, group, "draw", draw, grid.draws);
  std::vector<double> lp(grid.chains * grid.draws, std::numeric_limits<double>::quiet_NaN());
  std::vector<std::int64_t> occupied(lp.size(), 0), sweep(lp.size(), 0);
  for (std::size_t i = 0; i < log.draws(); ++i) {
    const std::size_t at = grid.places[i].chain * grid.draws + grid.places[i].draw;
    lp[at] = log.head(i).log_likelihood;
    occupied[at] = static_cast<std::int64_t>(log.head(i).occupied);
    sweep[at] = log.head(i).sweep;
  }
  const std::vector<std::size_t> start = {0, 0}, count = {grid.chains, grid.draws};
  file.put(group, file.add_doubles(group, "lp", {chain, draw}), start, count, lp.data());
  file.put(group, file.add_integers(group, "occupied", {chain, draw}), start, count, occupied.data());
  file.put(group, file.add_integers(group, "sweep", {chain, draw}), start, count, sweep.data());
}

// What all parts of a factor take in chunks, each of which is written whole.
std::uint64_t factor_bytes(const DrawLayout& layout, bool in_chunks) {
  std::uint64_t rows = 0;
  for (const std::uint32_t size : layout.sizes) {
    const std::uint64_t step = in_chunks ? rows_at_a_time(size, layout.R) : 1;
    rows += (size + step - 1) / step * step;
  }
  return rows * layout.R * sizeof(float);
}

// At least what a file needs, and little more: `copies` of the numbers of a draw, and names.
std::uint64_t file_bytes(const DrawLayout& layout, const std::vector<Mode>& modes, std::size_t copies, bool in_chunks) {
  std::uint64_t bytes = 1 << 16;
  for (const Mode& mode : modes) bytes += mode.labels.is_numbered() ? 8 * std::uint64_t{mode.labels.size()} : 0;
  return bytes + copies * (4 * layout.factor(0) + factor_bytes(layout, in_chunks));
}

// Gives the finished file its name, once it is on the disk.
void publish(const std::string& partial, const std::string& path) {
  const int fd = ::open(partial.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) throw_io("open", partial);
  const int result = ::fsync(fd);
  ::close(fd);
  if (result != 0) throw_io("write", partial);
  if (std::rename(partial.c_str(), path.c_str()) != 0) throw_io("rename to", path);
}

}  // namespace

void write_draws_nc(const std::string& run_dir, const RunInfo& info, const std::vector<Mode>& modes,
                    const DrawLogReader& log) {
  const DrawLayout& layout = log.layout();
  const std::size_t R = layout.R;
  const Grid grid(log);
  const std::string path = run_dir + "/draws.nc", partial = path + ".partial";
  require_room(partial, file_bytes(layout, modes, grid.chains * grid.draws, true));
  NetcdfFile file = NetcdfFile::create(partial);
  add_attributes(file, -1, info);
  const int group = file.add_group("posterior");
  add_attributes(file, group, info);
  const int chain = file.add_dimension(group, "chain", grid.chains);
  const int draw = file.add_dimension(group, "draw", grid.draws);
  add_counter(file, group, "chain", chain, grid.chains);
  add_counter(file, group, "draw", draw, grid.draws);
  const Dimensions dimensions = add_dimensions(file, group, modes, R);

  std::vector<int> weights, factors;
  for (const auto& [weight, p] : weight_names(info.options, layout.networks))
    for (const std::string& name : {weight, p})
      weights.push_back(file.add_floats(group, name, {chain, draw, dimensions.component}, {1, 1, R}));
  for (std::size_t k = 0; k < modes.size(); ++k)
    factors.push_back(file.add_floats(group, "u_" + names_of(modes)[k],
                                      {chain, draw, dimensions.modes[k], dimensions.component},
                                      {1, 1, rows_at_a_time(layout.sizes[k], R), R}));

  std::vector<int> learned;
  for (const std::string& name : netcdf_names(learned_names(info.options, modes, layout.networks), false))
    learned.push_back(file.add_floats(group, name, {chain, draw}));

  std::vector<float> buffer;
  for (const std::size_t i : grid.order) {
    log.verify(i);
    const auto [c, d] = grid.places[i];
    buffer.resize(learned.size());
    log.read(i, layout.hyperparameters(), learned.size(), buffer.data());
    for (std::size_t l = 0; l < learned.size(); ++l) file.put(group, learned[l], {c, d}, {1, 1}, &buffer[l]);
    buffer.resize(R);
    for (std::size_t w = 0; w < weights.size(); ++w) {
      log.read(i, w * R, R, buffer.data());
      file.put(group, weights[w], {c, d, 0}, {1, 1, R}, buffer.data());
    }
    for (std::size_t k = 0; k < modes.size(); ++k) {
      const std::size_t step = rows_at_a_time(layout.sizes[k], R);
      for (std::size_t j = 0; j < layout.sizes[k]; j += step) {
        const std::size_t rows = std::min(step, layout.sizes[k] - j);
        buffer.resize(rows * R);
        log.read(i, layout.factor(k) + j * R, rows * R, buffer.data());
        file.put(group, factors[k], {c, d, j, 0}, {1, 1, rows, R}, buffer.data());
      }
    }
  }
  write_sample_stats(file, info, grid, log);
  file.close();
  publish(partial, path);
}

void write_means_nc(const std::string& run_dir, const RunInfo& info, const std::vector<Mode>& modes,
                    const DrawLogReader& log) {
  const DrawLayout& layout = log.layout();
  const std::size_t R = layout.R;
  const Grid grid(log);
  const std::string path = run_dir + "/means.nc", partial = path + ".partial";
  require_room(partial, file_bytes(layout, modes, grid.chains, false));
  NetcdfFile file = NetcdfFile::create(partial);
  const int group = file.add_group("posterior_mean");
  add_attributes(file, group, info);
  const int chain = file.add_dimension(group, "chain", grid.chains);
  add_counter(file, group, "chain", chain, grid.chains);
  const Dimensions dimensions = add_dimensions(file, group, modes, R);

  std::vector<float> buffer;
  std::vector<double> mean;
  // The mean over the draws of one chain of `count` numbers from `first` on.
  const auto average = [&](std::size_t c, std::uint64_t first, std::size_t count) {
    mean.assign(count, 0.0);
    buffer.resize(count);
    double draws = 0;
    for (std::size_t i = 0; i < log.draws(); ++i) {
      if (grid.places[i].chain != c) continue;
      log.read(i, first, count, buffer.data());
      for (std::size_t x = 0; x < count; ++x) mean[x] += static_cast<double>(buffer[x]);
      draws += 1;
    }
    for (std::size_t x = 0; x < count; ++x) buffer[x] = static_cast<float>(mean[x] / draws);
  };
  std::size_t w = 0;
  for (const auto& [weight, p] : weight_names(info.options, layout.networks))
    for (const std::string& name : {weight, p}) {
      const int variable = file.add_floats(group, name, {chain, dimensions.component});
      for (std::size_t c = 0; c < grid.chains; ++c) {
        average(c, w * R, R);
        file.put(group, variable, {c, 0}, {1, R}, buffer.data());
      }
      ++w;
    }
  for (std::size_t k = 0; k < modes.size(); ++k) {
    const int variable =
        file.add_floats(group, "u_" + names_of(modes)[k], {chain, dimensions.modes[k], dimensions.component});
    const std::size_t step = rows_at_a_time(layout.sizes[k], R);
    for (std::size_t c = 0; c < grid.chains; ++c)
      for (std::size_t j = 0; j < layout.sizes[k]; j += step) {
        const std::size_t rows = std::min(step, layout.sizes[k] - j);
        average(c, layout.factor(k) + j * R, rows * R);
        file.put(group, variable, {c, j, 0}, {1, rows, R}, buffer.data());
      }
  }
  file.close();
  publish(partial, path);
}

void restore_draw_log(const std::string& run_dir, const RunInfo& info, const std::vector<Mode>& modes,
                      const DrawLayout& layout, std::uint64_t length) {
  const std::string path = run_dir + "/draws.log", partial = path + ".partial";
  if (length == 0 || std::filesystem::exists(path)) return;
  check_manifest(run_dir, "draws.nc", "the run cannot go on");
  const NetcdfFile file = NetcdfFile::open(run_dir + "/draws.nc");
  const int group = file.group("posterior"), stats = file.group("sample_stats");
  const int sweep = file.variable(stats, "sweep"), lp = file.variable(stats, "lp");
  const int occupied = file.variable(stats, "occupied");
  const std::vector<std::size_t> grid = file.shape(stats, sweep);
  const std::size_t R = layout.R;
  std::vector<float> values(layout.floats());
  require_room(partial, length);
  DrawLogWriter log(partial, layout, 0);
  for (std::size_t c = 0; c < grid.at(0); ++c)
    for (std::size_t d = 0; d < grid.at(1); ++d) {
      std::int64_t at_sweep = 0, components = 0;
      double likelihood = 0;
      file.get(stats, sweep, {c, d}, {1, 1}, &at_sweep);
      if (at_sweep == 0) continue;  // a shorter chain
      file.get(stats, occupied, {c, d}, {1, 1}, &components);
      file.get(stats, lp, {c, d}, {1, 1}, &likelihood);
      float* place = values.data();
      for (const auto& [weight, p] : weight_names(info.options, layout.networks))
        for (const std::string& name : {weight, p}) {
          file.get(group, file.variable(group, name), {c, d, 0}, {1, 1, R}, place);
          place += R;
        }
      for (const std::string& name : netcdf_names(learned_names(info.options, modes, layout.networks), false))
        file.get(group, file.variable(group, name), {c, d}, {1, 1}, place++);
      for (std::size_t k = 0; k < modes.size(); ++k) {
        file.get(group, file.variable(group, "u_" + names_of(modes)[k]), {c, d, 0, 0}, {1, 1, layout.sizes[k], R},
                 place);
        place += std::size_t{layout.sizes[k]} * R;
      }
      log.append({static_cast<std::uint32_t>(c), static_cast<std::uint32_t>(at_sweep), likelihood,
                  static_cast<std::uint64_t>(components)},
                 values);
    }
  log.sync();
  if (log.length() != length)
    throw Error(ErrorKind::input,
                fmt::format("{}/draws.nc: not as many draws as chain-{}.bin says; the run cannot go on", run_dir,
                            info.options.chains));
  publish(partial, path);
}

}  // namespace ztp
