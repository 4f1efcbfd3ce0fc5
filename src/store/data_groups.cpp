#include "store/data_groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "base/pool.hpp"
#include "io/dataset_ones.hpp"
#include "options/options.hpp"

namespace ztp {
namespace {

using Type = NetcdfFile::Type;

constexpr std::size_t rows_at_a_time = 1 << 16;

void leave_out(NetcdfFile& file, int group, const std::string& name, std::uint64_t rows) {
  file.add_attribute(group, "left_out_" + name, rows);
}

// The names of the modes' dimensions, changed where this group uses the name itself.
std::vector<std::string> observed_names(const DrawLayout& layout) {
  std::vector<std::string> names = layout.dimensions;
  for (std::string& name : names)
    if (name == "one" || name == "count") do
        name = "mode_" + name;
      while (std::count(names.begin(), names.end(), name) > 1);
  return names;
}

// Variables of constant_data, one after the other.
class ConstantGroup {
 public:
  ConstantGroup(NetcdfFile& file, int group) : file_(file), group_(group) {}

  void number(const std::string& name, double value) {
    file_.put(file_.add_variable(group_, name, Type::doubles, {}), {}, &value);
  }
  void number(const std::string& name, std::int64_t value) {
    file_.put(file_.add_variable(group_, name, Type::integers, {}), {}, &value);
  }
  int dimension(const std::string& name, std::size_t size) { return file_.add_dimension(group_, name, size); }
  template <class Value>
  void list(const std::string& name, int dimension, const std::vector<Value>& values) {
    file_.add_list(group_, name, dimension, values);
  }
  // Row indices, with the dimensions NAME_row and `columns` (of size `width`). An empty table is not written.
  void table(const std::string& name, std::span<const std::uint32_t> values, int columns, std::size_t width) {
    const std::size_t rows = values.size() / width;
    if (rows > most_stored_rows) return leave_out(file_, group_, name, rows);
    if (rows == 0) return;
    const int along = dimension(name + "_row", rows);
    const NetcdfFile::Variable variable = file_.add_variable(group_, name, Type::indices, {along, columns});
    for (std::size_t first = 0; first < rows; first += rows_at_a_time) {
      const std::size_t count = std::min(rows_at_a_time, rows - first);
      file_.put(variable, {{first, 0}, {count, width}}, values.data() + first * width);
    }
  }

 private:
  NetcdfFile& file_;
  int group_;
};

// The hyperparameters that are not learned. Rivals have one.
void write_hyperparameters(ConstantGroup& group, const RunInfo& info, int mode) {
  const FitOptions& options = info.options;
  if (is_rival(options)) {
    group.number("ridge", options.ridge);
    return;
  }
  const Learned is_learned = learned(options);
  std::vector<double> dirichlet;
  for (const RunInfo::ModeInfo& of_mode : info.modes) dirichlet.push_back(of_mode.dirichlet);
  if (!is_learned.dirichlet) group.list("dirichlet", mode, dirichlet);
  if (!is_learned.gamma_shape) group.number("gamma_shape", options.gamma_shape);
  group.number("beta_concentration", options.beta_concentration);
  group.number("beta_mean", options.beta_mean);
  if (info.networks.empty()) return;
  if (!is_learned.gamma_shape) group.number("network_gamma_shape", options.network_gamma_shape);
  group.number("network_beta_concentration", options.network_beta_concentration);
  group.number("network_beta_mean", options.network_beta_mean);
}

void write_networks(ConstantGroup& group, const std::vector<Network>& networks,
                    const std::vector<std::string>& mode_names) {
  if (networks.empty()) return;
  const int network = group.dimension("network", networks.size()), end = group.dimension("end", 2);
  std::vector<std::string> modes;
  std::vector<std::int64_t> edges, numbers;
  for (const Network& one : networks) {
    modes.push_back(mode_names[one.mode]);
    edges.push_back(static_cast<std::int64_t>(one.size()));
    numbers.push_back(static_cast<std::int64_t>(numbers.size()) + 1);
  }
  group.list("network", network, numbers);
  group.list("network_mode", network, modes);
  group.list("network_edges", network, edges);
  for (std::size_t m = 0; m < networks.size(); ++m) {
    group.table(fmt::format("edges_{}", m + 1), networks[m].edges, end, 2);
    group.table(fmt::format("missing_pairs_{}", m + 1), networks[m].missing, end, 2);
  }
}

// Slices as rows of two numbers: which mode, and the row in it.
void write_missing(ConstantGroup& group, const Missing& missing, int mode, std::size_t K) {
  group.table("missing_cells", missing.cells, mode, K);
  std::vector<std::uint32_t> slices;
  for (std::size_t k = 0; k < missing.slices.size(); ++k)
    for (const std::uint32_t row : missing.slices[k]) slices.insert(slices.end(), {static_cast<std::uint32_t>(k), row});
  if (!slices.empty()) group.table("missing_slices", slices, group.dimension("mode_and_row", 2), 2);
}

}  // namespace

void write_observed_data(NetcdfFile& file, int group, const RunInfo& info, const Dataset& data) {
  if (data.ones() > most_stored_rows) return leave_out(file, group, "ones", data.ones());
  const int one = file.add_dimension(group, "one", data.ones());
  std::vector<NetcdfFile::Variable> rows;
  for (const std::string& name : observed_names(draw_layout(info)))
    rows.push_back(file.add_variable(group, name, Type::indices, {one}));
  NetcdfFile::Variable count_of;
  if (has_counts(info.options)) count_of = file.add_variable(group, "count", Type::integers, {one});
  const std::size_t K = rows.size();
  std::size_t written = 0;
  for_ones(data, [&](const std::uint32_t* coords, const std::int64_t* counts, std::size_t ones) {
    const Blocks blocks{ones, rows_at_a_time};
    for (std::size_t b = 0; b < blocks.count(); ++b) {
      const std::size_t first = blocks.begin(b), count = blocks.end(b) - first;
      const NetcdfFile::Slab slab{{written}, {count}};
      std::vector<std::uint32_t> column(count);
      for (std::size_t k = 0; k < K; ++k) {
        for (std::size_t e = 0; e < count; ++e) column[e] = coords[(first + e) * K + k];
        file.put(rows[k], slab, column.data());
      }
      if (has_counts(info.options)) file.put(count_of, slab, counts + first);
      written += count;
    }
  });
}

void write_constant_data(NetcdfFile& file, int group, const RunInfo& info, const Dataset& data) {
  const FitOptions& options = info.options;
  file.add_attribute(group, "model", name_of(options.model));
  file.add_attribute(group, "likelihood", name_of(options.likelihood));
  file.add_attribute(group, "method", name_of(options.method));
  file.add_attribute(group, "rank", static_cast<std::uint64_t>(options.rank));
  file.add_attribute(group, "seed", options.seed);
  file.add_attribute(group, "burn_in", static_cast<std::uint64_t>(options.burn_in));
  file.add_attribute(group, "keep_every", info.keep_every);
  const std::vector<std::string> names = draw_layout(info).dimensions;
  std::vector<std::string> written;
  std::vector<std::int64_t> sizes;
  for (const RunInfo::ModeInfo& mode : info.modes) {
    written.push_back(mode.name);
    sizes.push_back(mode.size);
  }
  ConstantGroup constants(file, group);
  const int mode = constants.dimension("mode", names.size());
  constants.list("mode", mode, names);
  constants.list("mode_name", mode, written);
  constants.list("entities", mode, sizes);
  constants.number("ones", static_cast<std::int64_t>(data.ones()));
  write_hyperparameters(constants, info, mode);
  write_networks(constants, data.networks, names);
  write_missing(constants, data.missing, mode, names.size());
}

}  // namespace ztp
