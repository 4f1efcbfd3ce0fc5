// How long a sweep will take.
#pragma once
#include "ztp/options.hpp"
#include "ztp/read.hpp"

namespace ztp {

// Seconds of a sweep, or online of a step. Measured on a part of the data, in about a second.
double time_of_sweep(const Dataset& data, const FitOptions& complete);

}  // namespace ztp
