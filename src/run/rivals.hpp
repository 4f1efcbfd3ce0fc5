// The paper's rivals as models of a run.
#pragma once
#include <memory>

#include "base/pool.hpp"
#include "sampler/chain.hpp"
#include "ztp/options.hpp"
#include "ztp/read.hpp"
#include "ztp/run_info.hpp"

namespace ztp {

// Error (config), if the data have networks, missing slices or ones in a file, which rivals cannot use.
void check_rival_data(const FitOptions& options, const Dataset& data);

// Records how many zeros a logistic fit uses.
void describe_training_zeros(const Dataset& data, RunInfo& info);

// Refers to the data and the pool.
std::unique_ptr<Chain> make_rival(const FitOptions& complete, const Dataset& data, Pool& pool, std::uint32_t number);

}  // namespace ztp
