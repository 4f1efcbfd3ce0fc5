// Internal functions for the options of a fit.
#pragma once
#include <cstdint>
#include <string>

#include "ztp/option_fields.hpp"
#include "ztp/options.hpp"

namespace ztp {

// Which hyperparameters --learn names; Error (config), if there is another word in it.
struct Learned {
  bool dirichlet = false;  // one for each mode
  bool gamma_shape = false;
};
Learned learned(const FitOptions& options);

struct CheckpointInterval {
  std::uint32_t sweeps = 0;  // zero: by time
  double seconds = 0;
};
// "50": sweeps; "30s", "10m", "2h": time. Error (config) that names the flag.
CheckpointInterval checkpoint_interval(const std::string& text);

// --at-most in seconds: "30s", "10m", "2h". Error (config) that names the flag.
double seconds_at_most(const std::string& text);

inline constexpr std::int64_t fewest_sweeps_until_converged = 200;

// "8G", "1.5GiB", "500M", "2000000": bytes, each letter 1024 times the one before. Error (config) that names the flag.
double memory_limit(const std::string& text);

// The number in --zeros, or the default of auto and all. Error (config), if it is none of these.
double zeros_per_one_of(const std::string& choice);

// The models that use an option; empty: all.
std::string names_of_models(const OptionField& field, const char* separator);

// Error (config) that names the option, if a value for it is out of its range, or above `largest`.
void check_range(const OptionField& field, double value, double largest);
// Error (config), if an option is out of its range. Unlike check_options, it accepts the completed options of a run.
void check_ranges(const FitOptions& options);

}  // namespace ztp
