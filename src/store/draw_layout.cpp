#include "store/draw_layout.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "options/options.hpp"

namespace ztp {
namespace {

using Kind = DrawVariable::Kind;

std::vector<std::string> names_of(const std::vector<DrawLayout::ModeSize>& modes) {
  std::vector<std::string> names;
  for (const DrawLayout::ModeSize& mode : modes) names.push_back(mode.name);
  return names;
}

std::vector<std::string> learned_names(const FitOptions& complete, const std::vector<DrawLayout::ModeSize>& modes,
                                       std::size_t networks) {
  if (is_rival(complete)) return {"intercept"};
  std::vector<std::string> names;
  if (ztp::learned(complete).dirichlet)
    for (const DrawLayout::ModeSize& mode : modes) names.push_back("dirichlet_" + mode.name);
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

DrawLayout::DrawLayout(const FitOptions& complete, const std::vector<ModeSize>& modes, std::size_t networks)
    : R(static_cast<std::size_t>(complete.rank)),
      chains(static_cast<std::size_t>(complete.chains)),
      learned(learned_names(complete, modes, networks)),
      dimensions(netcdf_names(names_of(modes))) {
  add(Kind::weight, 0, "lambda", 1, R);
  add(Kind::p, 0, is_rival(complete) ? "tau" : "p", 1, R);
  for (std::size_t m = 1; m <= networks; ++m) {
    add(Kind::weight, m, fmt::format("beta_{}", m), 1, R);
    add(Kind::p, m, fmt::format("h_{}", m), 1, R);
  }
  const std::vector<std::string> of_learned = netcdf_names(learned, false);
  for (std::size_t l = 0; l < learned.size(); ++l) add(Kind::learned, l, of_learned[l], 1, 1);
  for (std::size_t k = 0; k < modes.size(); ++k) add(Kind::factor, k, "u_" + dimensions[k], modes[k].size, R);
}

void DrawLayout::add(Kind kind, std::size_t index, const std::string& name, std::size_t rows, std::size_t columns) {
  variables.push_back({kind, index, name, variables.empty() ? 0 : floats(), rows, columns});
}

const DrawVariable& DrawLayout::variable(Kind kind, std::size_t index) const {
  return *std::find_if(variables.begin(), variables.end(),
                       [&](const DrawVariable& v) { return v.kind == kind && v.index == index; });
}

DrawLayout draw_layout(const FitOptions& complete, const std::vector<Mode>& modes, std::size_t networks) {
  std::vector<DrawLayout::ModeSize> sizes;
  for (const Mode& mode : modes) sizes.push_back({mode.name, mode.labels.size()});
  return DrawLayout(complete, sizes, networks);
}

DrawLayout draw_layout(const RunInfo& info) {
  std::vector<DrawLayout::ModeSize> sizes;
  for (const RunInfo::ModeInfo& mode : info.modes) sizes.push_back({mode.name, mode.size});
  return DrawLayout(info.options, sizes, info.networks.size());
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
    for (const char* begin : {"u_", "beta_", "h_", "dirichlet_", "gamma_shape"})
      if (of_modes && name.starts_with(begin)) name = "mode_" + name;
    while (std::find(names.begin(), names.end(), name) != names.end()) name += fmt::format("_{}", names.size() + 1);
    names.push_back(name);
  }
  return names;
}

}  // namespace ztp
