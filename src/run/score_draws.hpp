// Held-out cells by draws that a run has kept.
#pragma once
#include "sampler/held_out.hpp"
#include "store/draw_log.hpp"
#include "ztp/run_info.hpp"
#include "ztp/tensor.hpp"

namespace ztp {

// The probabilities of the cells, added up over the draws of a chain.
HeldOutSum score_draws(const DrawLogReader& log, std::uint32_t chain, const RunInfo& info, const TestCells& cells);

}  // namespace ztp
