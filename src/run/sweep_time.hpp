// How long a sweep will take.
#pragma once
#include "ztp/options.hpp"
#include "ztp/read.hpp"

namespace ztp {

// Seconds of a sweep, or online of a step, of a fit of the model to these data: a part of one is tried out, in a second
// or so.
double time_of_sweep(const Dataset& data, const FitOptions& complete);

}  // namespace ztp
