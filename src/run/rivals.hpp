// The paper's rivals as models of a run.
#pragma once
#include <memory>

#include "base/pool.hpp"
#include "sampler/chain.hpp"
#include "ztp/options.hpp"
#include "ztp/read.hpp"
#include "ztp/run_info.hpp"

namespace ztp {

// Error (config), if the data have what only the model itself can use.
void check_rival_data(const FitOptions& options, const Dataset& data);

// Which zeros a logistic fit will use, for the record.
void describe_rival(const Dataset& data, RunInfo& info);

// Refers to the data and the pool.
std::unique_ptr<Chain> make_rival(const FitOptions& complete, const Dataset& data, Pool& pool, std::uint32_t number);

}  // namespace ztp
