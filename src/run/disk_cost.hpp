// The size of the run directory that a fit makes.
#pragma once
#include <string>

#include "ztp/options.hpp"
#include "ztp/read.hpp"

namespace ztp {

// An estimate in bytes, when the fit is complete. test: cells that it holds out.
double run_directory_bytes(const Dataset& data, const FitOptions& complete, double test);
// A sentence about it, if it is large; else empty.
std::string large_run_directory(const Dataset& data, const FitOptions& complete, double test);

}  // namespace ztp
