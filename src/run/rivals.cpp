#include "run/rivals.hpp"

#include <fmt/format.h>

#include "baselines/logistic_chain.hpp"
#include "baselines/quad_chain.hpp"
#include "ztp/error.hpp"

namespace ztp {
namespace {

const Buffer<std::uint32_t>* missing_cells(const Dataset& data) {
  return data.missing.cells.empty() ? nullptr : &data.missing.cells;
}

}  // namespace

void check_rival_data(const FitOptions& options, const Dataset& data) {
  const auto refuse = [&](bool there, const char* what) {
    if (there)
      throw Error(ErrorKind::config,
                  fmt::format("{} not used by --model {}; --model ztp uses them", what, name_of(options.model)));
  };
  refuse(!data.networks.empty(), "networks are");
  bool slices = false;
  for (const auto& of_mode : data.missing.slices) slices = slices || !of_mode.empty();
  refuse(slices, "missing slices are");
  refuse(data.file != nullptr, "ones that stay in their file are");
}

void describe_training_zeros(const Dataset& data, RunInfo& info) {
  if (info.options.model != Model::logistic) return;
  const Buffer<std::uint32_t>* missing = missing_cells(data);
  info.training_zeros = zeros_wanted(data.tensor, missing, info.options.zeros);
  info.zeros_used = share_of_zeros(data.tensor, missing, info.training_zeros);
}

std::unique_ptr<Chain> make_rival(const FitOptions& complete, const Dataset& data, Pool& pool,
                                     std::uint32_t number) {
  const Buffer<std::uint32_t>* missing = missing_cells(data);
  const RivalProblem problem{&data.tensor, missing, static_cast<std::size_t>(complete.rank), complete.seed};
  if (complete.model == Model::logistic)
    return std::make_unique<LogisticChain>(problem, zeros_wanted(data.tensor, missing, complete.zeros), pool, number);
  const std::size_t blocks = complete.model == Model::pwquad ? static_cast<std::size_t>(complete.blocks) : 1;
  return std::make_unique<QuadChain>(problem, complete.ridge, blocks, pool, number);
}

}  // namespace ztp
