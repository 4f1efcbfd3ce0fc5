// Internal functions for the options of a fit.
#pragma once
#include "ztp/option_fields.hpp"
#include "ztp/options.hpp"

namespace ztp {

// Which hyperparameters --learn names; Error (config), if there is another word in it.
struct Learned {
  bool dirichlet = false;  // one for each mode
  bool gamma_shape = false;
};
Learned learned(const FitOptions& options);

// The models that use an option; empty: all.
std::string names_of_models(const OptionField& field, const char* separator);

// Error (config) that names the option, if a value for it is out of its range, or above `largest`.
void check_range(const OptionField& field, double value, double largest);
// Error (config), if an option is out of its range. Unlike check_options, it accepts the completed options of a run.
void check_ranges(const FitOptions& options);

}  // namespace ztp
