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

constexpr const char* partial = ".partial";  // what the name of an incomplete file ends with

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

// draws.nc in the making.
class DrawsNc {
 public:
  DrawsNc(const std::string& run_dir, const RunInfo& info, const Dataset& data, const DrawLogReader& log,
          const DrawGrid& grid)
      : path_(run_dir + "/draws.nc"), file_(NetcdfFile::create(path_ + partial)), log_(log), grid_(grid) {
    reserve_disk_space(path_ + partial, log.draws() * log.layout().bytes());  // at the least
    add_attributes(file_, -1, info);
    Group group = add_group(file_, "posterior", info, {grid.chains(), grid.draws});
    add_axes(file_, group, log.layout(), data.tensor.modes);
    variables_ = add_variables(file_, group, log.layout());
    // HDF5 gives room in the order of writing, and so the bytes depend on that, too: what is learned comes first.
    std::stable_partition(variables_.begin(), variables_.end(),
                          [](const StoredVariable& stored) { return stored.variable.kind == Kind::learned; });
  }
  // Chains are put one after the other.
  void put_chain(std::size_t c) {
    std::vector<float> values;
    for (std::size_t d = 0; d < grid_.records[c].size(); ++d)
      for (const auto& [variable, in_file] : variables_)
        for_slabs(variable, {c, d}, [&](const NetcdfFile::Slab& slab, Range rows) {
          values.resize(rows.size() * variable.columns);
          log_.read(grid_.records[c][d], variable.offset + rows.begin * variable.columns, values.size(), values.data());
          file_.put(in_file, slab, values.data());
        });
  }
  void publish(const RunInfo& info, const Dataset& data) {
    write_sample_stats(file_, info, grid_, log_);
    write_observed_data(file_, add_group(file_, "observed_data", info, {}).id, info, data);
    write_constant_data(file_, add_group(file_, "constant_data", info, {}).id, info, data);
    file_.close();
    publish_file(path_ + partial, path_);
  }

 private:
  const std::string path_;
  NetcdfFile file_;
  const DrawLogReader& log_;
  const DrawGrid& grid_;
  std::vector<StoredVariable> variables_;
};

// means.nc in the making.
class MeansNc {
 public:
  MeansNc(const std::string& run_dir, const RunInfo& info, const std::vector<Mode>& modes, const DrawLayout& layout,
          std::size_t chains)
      : path_(run_dir + "/means.nc"), file_(NetcdfFile::create(path_ + partial)), layout_(layout) {
    reserve_disk_space(path_ + partial, chains * layout.bytes());
    add_attributes(file_, -1, info);
    group_ = add_group(file_, "posterior_mean", info, {chains});
    add_axes(file_, group_, layout, modes);
  }
  // The means of all numbers of a draw, over the draws of a chain. Chains are put one after the other.
  void put_chain(std::size_t c, const std::vector<float>& means) {
    std::size_t i = 0;
    for (const DrawVariable& variable : layout_.variables) {
      // Means of learned values are in status.json, and columns have none.
      if (variable.kind == Kind::learned || variable.kind == Kind::column) continue;
      // The bytes of the file depend on when a variable is made.
      if (c == 0)
        variables_.push_back(file_.add_variable(group_.id, variable.name, Type::floats, group_.dimensions(variable)));
      for_slabs(variable, {c}, [&](const NetcdfFile::Slab& slab, Range rows) {
        file_.put(variables_[i], slab, means.data() + variable.offset + rows.begin * variable.columns);
      });
      ++i;
    }
  }
  void publish() {
    file_.close();
    publish_file(path_ + partial, path_);
  }

 private:
  const std::string path_;
  NetcdfFile file_;
  const DrawLayout& layout_;
  Group group_;
  std::vector<NetcdfFile::Variable> variables_;
};

// Compares the checksums of a piece of some records, and writes its means to where they are among those of all pieces.
void mean_of_piece(const DrawLogReader& log, const std::vector<std::size_t>& records, std::size_t p,
                   std::vector<float>& means) {
  const Blocks pieces = pieces_of(log.layout());
  std::vector<float> values(pieces.end(p) - pieces.begin(p));
  std::vector<double> sum(values.size(), 0.0);
  for (const std::size_t i : records) {
    log.read_piece(i, p, values.data());
    for (std::size_t v = 0; v < values.size(); ++v) sum[v] += static_cast<double>(values[v]);
  }
  for (std::size_t v = 0; v < values.size(); ++v)
    means[pieces.begin(p) + v] = static_cast<float>(sum[v] / static_cast<double>(records.size()));
}

}  // namespace

void write_draws(const std::string& run_dir, const RunInfo& info, const Dataset& data, const DrawLogReader& log,
                 Pool& pool) {
  const DrawGrid grid(log);
  for (std::size_t i = 0; i < log.draws(); ++i) log.verify_sums(i);
  DrawsNc draws(run_dir, info, data, log, grid);
  MeansNc means(run_dir, info, data.tensor.modes, log.layout(), grid.chains());
  const Blocks pieces = pieces_of(log.layout());
  std::vector<float> of_chain(log.layout().floats());
  for (std::size_t c = 0; c < grid.chains(); ++c) {
    // One thread has HDF5 write while the others check what is written and add it up.
    pool.for_blocks(1 + pieces.count(), [&](std::size_t block) {
      if (block == 0)
        draws.put_chain(c);
      else
        mean_of_piece(log, grid.records[c], block - 1, of_chain);
    });
    means.put_chain(c, of_chain);
  }
  draws.publish(info, data);
  means.publish();
}

double bytes_for_writing(const DrawLayout& layout, unsigned threads) {
  constexpr double of_libraries = 11 << 20;  // measured: netCDF, HDF5 and their buffers
  return of_libraries + static_cast<double>(layout.bytes()) + threads * 12.0 * floats_of_piece;
}

}  // namespace ztp
