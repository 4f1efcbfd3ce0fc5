#include "store/draw_layout.hpp"

#include <fmt/format.h>

#include "options/options.hpp"

namespace ztp {

std::uint64_t DrawLayout::factor(std::size_t k) const {
  std::uint64_t offset = hyperparameters() + learned;
  for (std::size_t before = 0; before < k; ++before) offset += std::uint64_t{sizes[before]} * R;
  return offset;
}

std::vector<std::string> learned_names(const FitOptions& complete, const std::vector<Mode>& modes,
                                       std::size_t networks) {
  if (complete.model != "ztp") return {"intercept"};
  std::vector<std::string> names;
  if (learned(complete).dirichlet)
    for (const Mode& mode : modes) names.push_back("dirichlet_" + mode.name);
  if (!learned(complete).gamma_shape) return names;
  names.push_back("gamma_shape");
  for (std::size_t m = 1; m <= networks; ++m) names.push_back(fmt::format("gamma_shape_network_{}", m));
  return names;
}

DrawLayout draw_layout(const FitOptions& complete, const std::vector<Mode>& modes, std::size_t networks) {
  DrawLayout layout;
  layout.R = static_cast<std::size_t>(complete.rank);
  layout.chains = static_cast<std::size_t>(complete.chains);
  layout.networks = networks;
  layout.learned = learned_names(complete, modes, networks).size();
  for (const Mode& mode : modes) layout.sizes.push_back(mode.labels.size());
  return layout;
}

}  // namespace ztp
