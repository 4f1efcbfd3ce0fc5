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

// netCDF strings are slow: larger modes have no label coordinates.
constexpr std::uint32_t most_label_coordinates = 100000;

// Where each record of draws.log is in draws.nc. Chains are numbered from 0 without gaps.
struct DrawGrid {
  std::vector<std::vector<std::size_t>> records;  // of each chain, in the order of drawing
  std::size_t draws = 0;                          // of the longest chain
  explicit DrawGrid(const DrawLogReader& log) {
    for (std::size_t i = 0; i < log.draws(); ++i) {
      const std::size_t chain = log.head(i).chain;
      records.resize(std::max(records.size(), chain + 1));
      records[chain].push_back(i);
      draws = std::max(draws, records[chain].size());
    }
  }
  std::size_t chains() const { return records.size(); }
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
    file.add_list(group.id, names[i], group.leading[i], numbers_from(0, sizes[i]));
  return group;
}

// The dimensions of components, modes and columns, with their coordinate variables.
void add_axes(NetcdfFile& file, Group& group, const DrawLayout& layout, const std::vector<Mode>& modes) {
  const FactorLayout& factors = layout.factors;
  group.component = file.add_dimension(group.id, layout.component, factors.components());
  file.add_list(group.id, layout.component, group.component, numbers_from(1, factors.components()));
  std::vector<int> of_modes;
  for (std::size_t k = 0; k < modes.size(); ++k) {
    const LabelTable& table = modes[k].labels;
    const std::string& name = layout.dimensions[k];
    of_modes.push_back(file.add_dimension(group.id, name, table.size()));
    if (table.is_numbered()) {
      file.add_list(group.id, name, of_modes[k], numbers_from(table.first_number(), table.size()));
    } else if (table.size() <= most_label_coordinates) {
      std::vector<std::string> labels;
      for (std::uint32_t j = 0; j < table.size(); ++j) labels.push_back(table[j]);
      file.add_list(group.id, name, of_modes[k], labels);
    }
  }
  for (std::size_t f = 0; f < factors.matrices(); ++f) {
    const std::size_t k = factors.first_mode(f);
    group.rows.push_back(of_modes[k]);
    if (factors.columns_are_components() || factors.is_one_hot(f)) {
      group.columns.push_back(group.component);
      continue;
    }
    const std::size_t P = factors.size(f).columns;
    group.columns.push_back(file.add_dimension(group.id, layout.columns[f], P));
    file.add_list(group.id, layout.columns[f], group.columns[f], numbers_from(1, P));
  }
}

// A number for each place of the grid, from the head of its draw; `none` where there is no draw.
template <class Number, class Value>
std::vector<Number> on_grid(const DrawGrid& grid, const DrawLogReader& log, Number none, const Value& value) {
  std::vector<Number> numbers(grid.chains() * grid.draws, none);
  for (std::size_t c = 0; c < grid.chains(); ++c)
    for (std::size_t d = 0; d < grid.records[c].size(); ++d)
      numbers[c * grid.draws + d] = value(log.head(grid.records[c][d]));
  return numbers;
}

void write_sample_stats(NetcdfFile& file, const RunInfo& info, const DrawGrid& grid, const DrawLogReader& log) {
  const Group group = add_group(file, "sample_stats", info, {grid.chains(), grid.draws});
  const NetcdfFile::Slab all = {{0, 0}, {grid.chains(), grid.draws}};
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

// The variables of a group of draws, each draw in chunks of its own.
std::vector<StoredVariable> add_variables(NetcdfFile& file, const Group& group, const DrawLayout& layout) {
  // The bytes of the file depend on the order in which variables are made: what is learned comes last.
  std::vector<DrawVariable> variables = layout.variables;
  std::stable_partition(variables.begin(), variables.end(),
                        [](const DrawVariable& variable) { return variable.kind != Kind::learned; });
  std::vector<StoredVariable> result;
  for (const DrawVariable& variable : variables) {
    std::vector<std::size_t> chunk;
    if (variable.kind != Kind::learned) chunk = slab_of(variable, {0, 0}, {0, rows_of_a_slab(variable)}).count;
    result.push_back(
        {variable, file.add_variable(group.id, variable.name, Type::floats, group.dimensions(variable), chunk)});
  }
  return result;
}

// Some rows of a variable: of one record, and the mean of several.
std::vector<float> read_rows(const DrawLogReader& log, std::size_t record, const DrawVariable& variable, Range rows) {
  std::vector<float> values(rows.size() * variable.columns);
  log.read(record, variable.offset + rows.begin * variable.columns, values.size(), values.data());
  return values;
}

std::vector<float> mean_rows(const DrawLogReader& log, const std::vector<std::size_t>& records,
                             const DrawVariable& variable, Range rows) {
  std::vector<double> sum(rows.size() * variable.columns, 0.0);
  for (const std::size_t i : records)
    std::ranges::transform(sum, read_rows(log, i, variable, rows), sum.begin(), std::plus<>());
  std::vector<float> mean;
  for (const double value : sum) mean.push_back(static_cast<float>(value / static_cast<double>(records.size())));
  return mean;
}

}  // namespace

void write_draws_nc(const std::string& run_dir, const RunInfo& info, const Dataset& data, const DrawLogReader& log) {
  const std::vector<Mode>& modes = data.tensor.modes;
  const DrawLayout& layout = log.layout();
  const DrawGrid grid(log);
  const std::string path = run_dir + "/draws.nc", partial = path + ".partial";
  require_disk_space(partial, log.draws() * layout.bytes());  // at the least
  NetcdfFile file = NetcdfFile::create(partial);
  add_attributes(file, -1, info);
  Group group = add_group(file, "posterior", info, {grid.chains(), grid.draws});
  add_axes(file, group, layout, modes);
  std::vector<StoredVariable> variables = add_variables(file, group, layout);
  // HDF5 gives room in the order of writing, and so the bytes depend on that, too: what is learned comes first.
  std::stable_partition(variables.begin(), variables.end(),
                        [](const StoredVariable& stored) { return stored.variable.kind == Kind::learned; });
  for (std::size_t c = 0; c < grid.chains(); ++c)
    for (std::size_t d = 0; d < grid.records[c].size(); ++d) {
      const std::size_t record = grid.records[c][d];
      log.verify(record);
      for (const StoredVariable& stored : variables)
        for_slabs(stored.variable, {c, d}, [&](const NetcdfFile::Slab& slab, Range rows) {
          file.put(stored.in_file, slab, read_rows(log, record, stored.variable, rows).data());
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
  require_disk_space(partial, grid.chains() * layout.bytes());
  NetcdfFile file = NetcdfFile::create(partial);
  add_attributes(file, -1, info);
  Group group = add_group(file, "posterior_mean", info, {grid.chains()});
  add_axes(file, group, layout, modes);
  for (const DrawVariable& variable : layout.variables) {
    // Means of learned values are in status.json, and columns have none.
    if (variable.kind == Kind::learned || variable.kind == Kind::column) continue;
    const NetcdfFile::Variable in_file =
        file.add_variable(group.id, variable.name, Type::floats, group.dimensions(variable));
    for (std::size_t c = 0; c < grid.chains(); ++c)
      for_slabs(variable, {c}, [&](const NetcdfFile::Slab& slab, Range rows) {
        file.put(in_file, slab, mean_rows(log, grid.records[c], variable, rows).data());
      });
  }
  file.close();
  publish_file(partial, path);
}

}  // namespace ztp
