// The models that are not the library's own: the paper's rivals (baselines/). The library knows only what
// ztp::add_rivals() registers here.
#pragma once
#include <memory>

#include "base/pool.hpp"
#include "sampler/chain.hpp"
#include "ztp/options.hpp"
#include "ztp/read.hpp"
#include "ztp/run_info.hpp"

namespace ztp {

// What a run asks of them. Options have every default filled in.
struct RivalModels {
  // Memory that a chain takes, in bytes.
  double (*chain_bytes)(const FitOptions& complete, const Dataset& data) = nullptr;
  // Which zeros a fit will use, for the record.
  void (*describe)(const Dataset& data, RunInfo& info) = nullptr;
  // The chain refers to the data and the pool.
  std::unique_ptr<Chain> (*make_chain)(const FitOptions& complete, const Dataset& data, Pool& pool,
                                       std::uint32_t number) = nullptr;
};

void register_rivals(const RivalModels& models);
// Error (config), if they are not registered. `options` has the model that is asked for.
const RivalModels& rival_models(const FitOptions& options);

// Error (config), if the data have what only the model itself can use.
void check_rival_data(const FitOptions& options, const Dataset& data);

}  // namespace ztp
