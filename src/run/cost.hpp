// What a fit takes.
#pragma once
#include "ztp/check.hpp"

namespace ztp {

// Error (config), with what the fit would need and what would need less, if that is more than --memory allows.
// `test_cells`: of a file, where that is known by now; those that are held out are counted anyway.
void require_memory(const Dataset& data, const FitOptions& complete, std::uint64_t test_cells = 0);

}  // namespace ztp
