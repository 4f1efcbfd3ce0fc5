// Metrics in the data of a report: as 'ztp evaluate' has them.
#pragma once
#include "base/json.hpp"
#include "ztp/metrics.hpp"

namespace ztp {

Json metrics_shown(const Metrics& metrics);  // by key
Json metric_titles();                        // [[key, title, digits], ...]

}  // namespace ztp
