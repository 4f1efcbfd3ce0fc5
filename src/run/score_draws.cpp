#include "run/score_draws.hpp"

#include <cmath>
#include <memory>

#include "kernel/host_arrays.hpp"
#include "kernel/kernel.hpp"
#include "kernel/logits.hpp"
#include "model/rates.hpp"

namespace ztp {

HeldOutSum score_draws(const DrawLogReader& log, std::uint32_t chain, const RunInfo& info, const TestCells& cells) {
  Pool pool(static_cast<unsigned>(info.options.threads));
  const std::unique_ptr<Kernel> kernel = make_kernel(info.options.kernel, pool);
  HostArrays host;
  const bool rival = is_rival(info.options);
  State state = make_state(log.layout().factors, {}, {}, rival ? static_cast<ArrayMaker&>(host) : *kernel);
  HeldOutSum sum{0, std::vector<double>(cells.size(), 0.0)};
  std::vector<double> z(cells.size());
  for (std::size_t i = 0; i < log.draws(); ++i) {
    if (log.head(i).chain != chain) continue;
    log.load(i, state);
    if (rival)
      logits(pool, recorded_model(state, log.learned(i, 0)), cells.coords.data(), cells.size(), z.data());
    else
      kernel->score(cells.coords.data(), cells.size(), tensor_rates(state), z.data());
    for (std::size_t e = 0; e < z.size(); ++e) sum.of_cells[e] += rival ? logistic(z[e]) : -std::expm1(-z[e]);
    ++sum.draws;
  }
  return sum;
}

}  // namespace ztp
