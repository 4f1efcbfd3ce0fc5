// Exact draws from the Polya-Gamma law (Polson, Scott and Windle 2013).
#pragma once
#include "base/random.hpp"

namespace ztp {

// PG(1, z), whose Laplace transform is E exp(-s omega) = cosh(z/2) / cosh(sqrt((z^2/2 + s)/2)).               (M34)
double draw_polya_gamma(Stream& stream, double z);

}  // namespace ztp
