#include "store/draw_layout.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "options/options.hpp"

namespace ztp {
namespace {

using Kind = DrawVariable::Kind;

std::vector<std::string> learned_names(const FitOptions& complete, const FactorLayout& factors,
                                       const std::vector<std::string>& modes, std::size_t networks) {
  if (is_rival(complete)) return {"intercept"};
  std::vector<std::string> names;
  for (std::size_t f = 0; ztp::learned(complete).dirichlet && f < factors.matrices(); ++f)
    if (!factors.is_one_hot(f)) names.push_back("dirichlet_" + modes[factors.first_mode(f)]);
  if (!ztp::learned(complete).gamma_shape) return names;
  names.push_back("gamma_shape");
  for (std::size_t m = 1; m <= networks; ++m) names.push_back(fmt::format("gamma_shape_network_{}", m));
  return names;
}

}  // namespace

std::vector<std::size_t> DrawVariable::shape() const {
  if (kind == Kind::learned) return {};
  if (kind == Kind::factor) return {rows, columns};
  return {columns};
}

std::size_t DrawVariable::rows_of_a_slab() const {
  // HDF5 fills up the last chunk, and what is packed takes room for that, too: so all are about as large.
  if (packed) {
    const std::size_t slabs = (floats() + fewest_packed - 1) / fewest_packed;
    return (rows + slabs - 1) / slabs;
  }
  return std::clamp<std::size_t>((4 << 20) / (sizeof(float) * columns), 1, std::max<std::size_t>(rows, 1));
}

DrawLayout::DrawLayout(FactorLayout of_model, const FitOptions& complete, const std::vector<std::string>& names,
                       const std::vector<std::size_t>& networks)
    : factors(std::move(of_model)),
      chains(static_cast<std::size_t>(complete.chains)),
      learned(learned_names(complete, factors, names, networks.size())),
      dimensions(netcdf_names(names)) {
  name_axes();
  const std::size_t R = factors.components();
  add(Kind::weight, 0, "lambda", 1, R);
  add(Kind::p, 0, is_rival(complete) ? "tau" : "p", 1, R);
  for (std::size_t k = 0; k < factors.modes() && !factors.columns_are_components(); ++k)
    add(Kind::column, k, "column_" + dimensions[k], 1, R);
  for (std::size_t m = 1; m <= networks.size(); ++m) {
    const std::size_t f = factors.matrix(networks[m - 1]), columns = factors.size(f).columns;
    add(Kind::weight, m, fmt::format("beta_{}", m), 1, columns, f);
    add(Kind::p, m, fmt::format("h_{}", m), 1, columns, f);
  }
  const std::vector<std::string> of_learned = netcdf_names(learned, false);
  for (std::size_t l = 0; l < learned.size(); ++l) add(Kind::learned, l, of_learned[l], 1, 1);
  for (std::size_t f = 0; f < factors.matrices(); ++f) {
    if (factors.is_one_hot(f)) continue;
    add(Kind::factor, f, "u_" + dimensions[factors.first_mode(f)], factors.size(f).rows, factors.size(f).columns, f);
    variables.back().packed = !is_rival(complete) && variables.back().floats() >= fewest_packed;
  }
}

// In CP component r is column r. Where components share columns, a matrix that is alone in having them has the
// dimension `column`, and several have one each.
void DrawLayout::name_axes() {
  component = factors.columns_are_components() ? "component" : "entry";
  columns.assign(factors.matrices(), component);
  if (factors.columns_are_components()) return;
  std::size_t drawn = 0;
  for (std::size_t f = 0; f < factors.matrices(); ++f) drawn += factors.is_one_hot(f) ? 0 : 1;
  const auto is_taken = [&](const std::string& name) {
    return std::find(dimensions.begin(), dimensions.end(), name) != dimensions.end();
  };
  for (std::string& name : dimensions)
    while (name == "entry" || name == "column" || std::count(dimensions.begin(), dimensions.end(), name) > 1)
      name = "mode_" + name;
  for (std::size_t f = 0; f < factors.matrices(); ++f) {
    columns[f] = drawn == 1 ? "column" : dimensions[factors.first_mode(f)] + "_column";
    while (is_taken(columns[f])) columns[f] += "_";
  }
}

void DrawLayout::add(Kind kind, std::size_t index, const std::string& name, std::size_t rows, std::size_t columns,
                     std::optional<std::size_t> matrix) {
  variables.push_back({kind, index, name, variables.empty() ? 0 : floats(), rows, columns, matrix, false});
}

const DrawVariable& DrawLayout::variable(Kind kind, std::size_t index) const {
  return *std::find_if(variables.begin(), variables.end(),
                       [&](const DrawVariable& v) { return v.kind == kind && v.index == index; });
}

std::vector<ModeSize> sizes_of_modes(const Dataset& data) {
  std::vector<ModeSize> sizes;
  for (const Mode& mode : data.tensor.modes) sizes.push_back({mode.name, mode.labels.size()});
  for (const Network& network : data.networks) sizes[network.mode].has_network = true;
  return sizes;
}

DrawLayout draw_layout(const FitOptions& complete, const Dataset& data) {
  std::vector<std::string> names;
  for (const Mode& mode : data.tensor.modes) names.push_back(mode.name);
  std::vector<std::size_t> networks;
  for (const Network& network : data.networks) networks.push_back(network.mode);
  return {layout_of(complete, sizes_of_modes(data)), complete, names, networks};
}

DrawLayout draw_layout(const RunInfo& info) {
  std::vector<std::string> names;
  std::vector<ModeSize> sizes;
  for (const RunInfo::ModeInfo& mode : info.modes) {
    names.push_back(mode.name);
    sizes.push_back({mode.name, mode.size});
  }
  std::vector<std::size_t> networks;
  for (const RunInfo::NetworkInfo& network : info.networks) networks.push_back(network.mode);
  return {layout_of(info.options, sizes), info.options, names, networks};
}

std::vector<std::string> netcdf_names(const std::vector<std::string>& wanted, bool of_modes) {
  std::vector<std::string> names;
  for (const std::string& text : wanted) {
    std::string name;
    for (const char c : text) {
      const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
      name += plain ? c : '_';
    }
    if (name.empty() || (name[0] >= '0' && name[0] <= '9')) name = "mode_" + name;
    for (const char* taken : {"chain", "draw", "component", "lambda", "p", "tau", "intercept"})
      if (of_modes && name == taken) name = "mode_" + name;
    for (const char* begin : {"u_", "column_", "beta_", "h_", "dirichlet_", "gamma_shape"})
      if (of_modes && name.starts_with(begin)) name = "mode_" + name;
    while (std::find(names.begin(), names.end(), name) != names.end()) name += fmt::format("_{}", names.size() + 1);
    names.push_back(name);
  }
  return names;
}

}  // namespace ztp
