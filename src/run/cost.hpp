// What a fit takes.
#pragma once
#include "ztp/fit.hpp"

namespace ztp {

// Error (config), with what the fit would need and what would need less, if that is more than --memory allows.
void require_memory(const Dataset& data, const FitOptions& complete);

}  // namespace ztp
