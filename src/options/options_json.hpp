// The options of a fit as JSON.
#pragma once
#include "base/json.hpp"
#include "ztp/options.hpp"

namespace ztp {

// Every option within its range; those that are absent have their defaults. Error (input) without the name of the file.
FitOptions options_from_object(const Json& json);
Json options_to_object(const FitOptions& options);

}  // namespace ztp
