// Cells (i, i) of tied modes that cannot be data.
#pragma once
#include <cstdint>
#include <optional>
#include <utility>

#include "model/factor_layout.hpp"

namespace ztp {

class MissingSelfCells {
 public:
  // missing: whether cells (i, i) of tied modes are missing in the fit (--self-cells missing).
  MissingSelfCells(const FactorLayout& layout, bool missing) {
    for (std::size_t k = 0; missing && k < layout.modes(); ++k)
      if (layout.tied_mode(k) > k) {
        k_ = k;
        l_ = layout.tied_mode(k);
      }
  }
  // The tied modes, if such cells are missing.
  std::optional<std::pair<std::size_t, std::size_t>> modes() const {
    return k_ == l_ ? std::nullopt : std::optional(std::pair{k_, l_});
  }
  bool contains(const std::uint32_t* cell) const { return k_ != l_ && cell[k_] == cell[l_]; }

 private:
  std::size_t k_ = 0, l_ = 0;  // the tied modes; the same, if no such cells are missing
};

}  // namespace ztp
