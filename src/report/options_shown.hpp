// Which options of a run are worth showing.
#pragma once
#include <vector>

#include "ztp/option_fields.hpp"
#include "ztp/run_info.hpp"

namespace ztp {

// Those that had something to do: used by the model, and with what they need.
std::vector<const OptionField*> options_with_effect(const RunInfo& info);

// Whether somebody has chosen the value. Of options that a run fills in, only the command can tell.
bool was_changed(const OptionField& field, const RunInfo& info);

}  // namespace ztp
