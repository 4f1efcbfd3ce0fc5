// Which runs a version of ztp continues.
#pragma once
#include <string>

#include "ztp/version.hpp"

namespace ztp {

// Whether a run that was made by one version can be resumed and updated by a program of another: if that has the same
// major number, and is not older (docs/stability.md).
bool continues(const std::string& made_by, const std::string& program = version());

}  // namespace ztp
