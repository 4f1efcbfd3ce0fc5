#include "store/draws_nc.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>

#include "base/file.hpp"
#include "store/data_groups.hpp"
#include "store/draws_file.hpp"
#include "store/netcdf.hpp"

namespace ztp {
namespace {

using Kind = DrawVariable::Kind;
using Type = NetcdfFile::Type;

constexpr std::size_t bytes_at_a_time = 4 << 20;
// netCDF strings are slow: larger modes have no label coordinates.
constexpr std::uint32_t most_label_coordinates = 100000;

std::size_t rows_of_a_slab(const DrawVariable& variable) {
  return std::clamp<std::size_t>(bytes_at_a_time / (4 * variable.columns), 1, std::max<std::size_t>(variable.rows, 1));
}

// Calls use(slab, first, count) for each block of rows: its slab in the file after the indices `leading`, and its range
// of numbers in the record of a draw.
template <class Use>
void for_blocks(const DrawVariable& variable, const std::vector<std::size_t>& leading, const Use& use) {
  const std::size_t step = rows_of_a_slab(variable);
  for (std::size_t j = 0; j < variable.rows; j += step) {
    const std::size_t rows = std::min(step, variable.rows - j);
    use(slab_of(variable, leading, j, rows), variable.offset + j * variable.columns, rows * variable.columns);
  }
}

struct GridCell {
  std::size_t chain, draw;
};

// The place of each record of draws.log in draws.nc. Chains are numbered from 0 without gaps.
struct DrawGrid {
  std::vector<GridCell> cells;
  // Record numbers, chain by chain, so that the file does not depend on the order of drawing.
  std::vector<std::size_t> order;
  std::size_t chains = 0, draws = 0;
  explicit DrawGrid(const DrawLogReader& log) {
    std::vector<std::size_t> used;
    for (std::size_t i = 0; i < log.draws(); ++i) {
      const std::size_t chain = log.head(i).chain;
      used.resize(std::max(used.size(), chain + 1), 0);
      cells.push_back({chain, used[chain]++});
    }
    order.resize(log.draws());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return cells[a].chain < cells[b].chain; });
    chains = used.size();
    for (const std::size_t count : used) draws = std::max(draws, count);
  }
};

// A group of a file and its dimensions.
struct Group {
  int id = -1;
  std::vector<int> leading;  // chain and draw, or chain alone
  int component = -1;
  std::vector<int> rows, columns;  // of each factor matrix

  std::vector<int> dimensions(const DrawVariable& variable) const {
    std::vector<int> result = leading;
    if (variable.kind == Kind::factor) result.push_back(rows[variable.index]);
    if (variable.kind != Kind::learned) result.push_back(variable.matrix ? columns[*variable.matrix] : component);
    return result;
  }
};

void add_attributes(NetcdfFile& file, int group, const RunInfo& info) {
  file.add_attribute(group, "inference_library", "ztp");
  file.add_attribute(group, "inference_library_version", info.version);
  file.add_attribute(group, "created_at", info.created);
}

std::vector<std::int64_t> numbers_from(std::int64_t first, std::size_t count) {
  std::vector<std::int64_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

// With the dimensions chain and draw, chain alone or none, of these sizes.
Group add_group(NetcdfFile& file, const char* name, const RunInfo& info, const std::vector<std::size_t>& sizes) {
  constexpr const char* names[] = {"chain", "draw"};
  Group group{file.add_group(name), {}, -1, {}, {}};
  add_attributes(file, group.id, info);
  for (std::size_t i = 0; i < sizes.size(); ++i)
    group.leading.push_back(file.add_dimension(group.id, names[i], sizes[i]));
  for (std::size_t i = 0; i < sizes.size(); ++i)
    file.put_all(file.add_variable(group.id, names[i], Type::integers, {group.leading[i]}), numbers_from(0, sizes[i]));
  return group;
}

// The dimensions of components and modes, with their coordinate variables. Columns that are not components have
// dimensions of their own.
void add_axes(NetcdfFile& file, Group& group, const DrawLayout& layout, const std::vector<Mode>& modes) {
  const FactorLayout& factors = layout.factors;
  group.component = file.add_dimension(group.id, "component", factors.components());
  file.put_all(file.add_variable(group.id, "component", Type::integers, {group.component}),
               numbers_from(1, factors.components()));
  std::vector<int> of_modes;
  for (std::size_t k = 0; k < modes.size(); ++k) {
    const LabelTable& table = modes[k].labels;
    const std::string& name = layout.dimensions[k];
    of_modes.push_back(file.add_dimension(group.id, name, table.size()));
    if (table.is_numbered()) {
      file.put_all(file.add_variable(group.id, name, Type::integers, {of_modes[k]}),
                   numbers_from(table.first_number(), table.size()));
    } else if (table.size() <= most_label_coordinates) {
      std::vector<std::string> labels;
      for (std::uint32_t j = 0; j < table.size(); ++j) labels.push_back(table[j]);
      file.put_all(file.add_variable(group.id, name, Type::strings, {of_modes[k]}), labels);
    }
  }
  for (std::size_t f = 0; f < factors.matrices(); ++f) {
    const std::size_t k = factors.first_mode(f);
    group.rows.push_back(of_modes[k]);
    const std::string name = "u_" + layout.dimensions[k] + "_column";
    group.columns.push_back(factors.columns_are_components()
                                ? group.component
                                : file.add_dimension(group.id, name, factors.size(f).columns));
  }
}

// A number for each place of the grid, from the head of its draw; `none` where there is no draw.
template <class Number, class Value>
std::vector<Number> on_grid(const DrawGrid& grid, const DrawLogReader& log, Number none, const Value& value) {
  std::vector<Number> numbers(grid.chains * grid.draws, none);
  for (std::size_t i = 0; i < log.draws(); ++i)
    numbers[grid.cells[i].chain * grid.draws + grid.cells[i].draw] = value(log.head(i));
  return numbers;
}

void write_sample_stats(NetcdfFile& file, const RunInfo& info, const DrawGrid& grid, const DrawLogReader& log) {
  const Group group = add_group(file, "sample_stats", info, {grid.chains, grid.draws});
  const NetcdfFile::Slab all = {{0, 0}, {grid.chains, grid.draws}};
  const auto whole = [&](std::string_view name, const auto& value) {
    const std::vector<std::int64_t> numbers = on_grid(grid, log, std::int64_t{0}, value);
    file.put(file.add_variable(group.id, std::string(name), Type::integers, group.leading), all, numbers.data());
  };
  const auto real = [&](std::string_view name, const auto& value) {
    const std::vector<double> numbers = on_grid(grid, log, std::numeric_limits<double>::quiet_NaN(), value);
    file.put(file.add_variable(group.id, std::string(name), Type::doubles, group.leading), all, numbers.data());
  };
  for (std::size_t s = 0; s < draw_stats.size(); ++s) {
    if (draw_stats[s].stat == TraceColumn::Stat::whole)
      whole(draw_stats[s].stat_name, [&](const DrawHead& head) { return static_cast<std::int64_t>(head.stats[s]); });
    else
      real(draw_stats[s].stat_name, [&](const DrawHead& head) { return std::bit_cast<double>(head.stats[s]); });
  }
  whole("sweep", [](const DrawHead& head) { return std::int64_t{head.sweep}; });
}

// At least what a file needs, and little more: `copies` of the numbers of a draw, and names. Chunks are written whole.
std::uint64_t file_bytes(const DrawLayout& layout, const std::vector<Mode>& modes, std::size_t copies, bool in_chunks) {
  std::uint64_t bytes = 1 << 16, floats = 0;
  for (const Mode& mode : modes) bytes += mode.labels.is_numbered() ? 8 * std::uint64_t{mode.labels.size()} : 0;
  for (const DrawVariable& variable : layout.variables) {
    const std::uint64_t step = in_chunks ? rows_of_a_slab(variable) : 1;
    floats += (variable.rows + step - 1) / step * step * variable.columns;
  }
  return bytes + copies * sizeof(float) * floats;
}

// The order in which variables are made in a file, on which its bytes depend: what is learned comes last.
std::vector<const DrawVariable*> in_order_of_file(const DrawLayout& layout) {
  std::vector<const DrawVariable*> order;
  for (const DrawVariable& variable : layout.variables) order.push_back(&variable);
  std::stable_partition(order.begin(), order.end(), [](const DrawVariable* v) { return v->kind != Kind::learned; });
  return order;
}

// The variables of a group of draws, each draw in chunks of its own.
std::vector<StoredVariable> add_variables(NetcdfFile& file, const Group& group, const DrawLayout& layout) {
  std::vector<StoredVariable> result;
  for (const DrawVariable* variable : in_order_of_file(layout)) {
    std::vector<std::size_t> chunk;
    if (variable->kind != Kind::learned) chunk = slab_of(*variable, {0, 0}, 0, rows_of_a_slab(*variable)).count;
    result.push_back(
        {*variable, file.add_variable(group.id, variable->name, Type::floats, group.dimensions(*variable), chunk)});
  }
  return result;
}

// The mean over the draws of one chain of `count` numbers from `first` on.
std::vector<float> mean_of(const DrawLogReader& log, std::size_t chain, std::uint64_t first, std::size_t count) {
  std::vector<double> mean(count, 0.0);
  std::vector<float> values(count);
  double draws = 0;
  for (std::size_t i = 0; i < log.draws(); ++i) {
    if (log.head(i).chain != chain) continue;
    log.read(i, first, count, values.data());
    for (std::size_t x = 0; x < count; ++x) mean[x] += static_cast<double>(values[x]);
    draws += 1;
  }
  for (std::size_t x = 0; x < count; ++x) values[x] = static_cast<float>(mean[x] / draws);
  return values;
}

}  // namespace

void write_draws_nc(const std::string& run_dir, const RunInfo& info, const Dataset& data, const DrawLogReader& log) {
  const std::vector<Mode>& modes = data.tensor.modes;
  const DrawLayout& layout = log.layout();
  const DrawGrid grid(log);
  const std::string path = run_dir + "/draws.nc", partial = path + ".partial";
  require_disk_space(partial, file_bytes(layout, modes, grid.chains * grid.draws, true) + data_group_bytes(data));
  NetcdfFile file = NetcdfFile::create(partial);
  add_attributes(file, -1, info);
  Group group = add_group(file, "posterior", info, {grid.chains, grid.draws});
  add_axes(file, group, layout, modes);
  std::vector<float> buffer;
  std::vector<StoredVariable> variables = add_variables(file, group, layout);
  // HDF5 gives room in the order of writing, and so the bytes depend on that, too: what is learned comes first.
  std::stable_partition(variables.begin(), variables.end(),
                        [](const StoredVariable& stored) { return stored.variable.kind == Kind::learned; });
  for (const std::size_t i : grid.order) {
    log.verify(i);
    for (const StoredVariable& stored : variables)
      for_blocks(stored.variable, {grid.cells[i].chain, grid.cells[i].draw},
                 [&](const NetcdfFile::Slab& slab, std::uint64_t first, std::size_t count) {
                   buffer.resize(count);
                   log.read(i, first, count, buffer.data());
                   file.put(stored.in_file, slab, buffer.data());
                 });
  }
  write_sample_stats(file, info, grid, log);
  write_observed_data(file, add_group(file, "observed_data", info, {}).id, info, data);
  write_constant_data(file, add_group(file, "constant_data", info, {}).id, info, data);
  file.close();
  publish_file(partial, path);
}

void write_means_nc(const std::string& run_dir, const RunInfo& info, const std::vector<Mode>& modes,
                    const DrawLogReader& log) {
  const DrawLayout& layout = log.layout();
  const DrawGrid grid(log);
  const std::string path = run_dir + "/means.nc", partial = path + ".partial";
  require_disk_space(partial, file_bytes(layout, modes, grid.chains, false));
  NetcdfFile file = NetcdfFile::create(partial);
  add_attributes(file, -1, info);
  Group group = add_group(file, "posterior_mean", info, {grid.chains});
  add_axes(file, group, layout, modes);
  for (const DrawVariable& variable : layout.variables) {
    if (variable.kind == Kind::learned) continue;  // status.json has their means
    const NetcdfFile::Variable in_file =
        file.add_variable(group.id, variable.name, Type::floats, group.dimensions(variable));
    for (std::size_t c = 0; c < grid.chains; ++c)
      for_blocks(variable, {c}, [&](const NetcdfFile::Slab& slab, std::uint64_t first, std::size_t count) {
        file.put(in_file, slab, mean_of(log, c, first, count).data());
      });
  }
  file.close();
  publish_file(partial, path);
}

}  // namespace ztp
