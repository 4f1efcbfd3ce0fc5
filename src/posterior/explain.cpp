// Why cells are as probable as they are: the parts of components in their rates, or of entries of the core.
#include <algorithm>

#include "model/open_rates.hpp"
#include "posterior/posterior_impl.hpp"
#include "posterior/rate_parts.hpp"

namespace ztp {
namespace {

// Where components share columns: the parts of the rate of a cell at one draw, whose matrices may have some rows alone.
void add_parts(const State& state, const std::uint32_t* cell, RateParts& parts) {
  const FactorLayout& layout = state.layout;
  OpenRates rates(layout, state.tensor.log_weight);
  std::vector<float> row(layout.most_columns());
  for (std::size_t k = 0; k < layout.modes(); ++k) {
    if (layout.is_one_hot(layout.matrix(k))) {
      rates = rates.given_own(k, cell[k]);
      continue;
    }
    state.of_mode(k).read({cell[k], cell[k] + std::size_t{1}}, row.data());
    rates.give(k, row.data());
  }
  const double least = RateParts::negligible * rates.rate();
  rates.for_parts([&](std::size_t r, double part) {
    if (part > least) parts.add(layout, r, part);
  });
}

}  // namespace

std::vector<std::vector<Recommendation::Part>> Posterior::explain(const std::uint32_t* coords, std::size_t count) {
  impl_->require_rates("explain");
  impl_->check_cells(coords, count);
  const FactorLayout& layout = impl_->layout;
  const bool shared = !layout.columns_are_components();
  const std::size_t R = layout.components();
  Buffer<double> of_draw(shared ? 0 : count * R);
  std::vector<RateParts> parts(count);
  for (std::size_t first = 0, cells; first < count; first += cells) {
    const DrawRows rows(impl_->draws, coords + first * layout.modes(), count - first, impl_->room());
    State state = rows.make_state(*impl_->kernel);
    cells = rows.cells();
    const Blocks blocks{cells, 8};
    for (const std::size_t i : impl_->draws_of(chains().front())) {
      rows.load(i, state);
      if (!shared) impl_->kernel->score_parts(rows.coords(), cells, tensor_rates(state), of_draw.data());
      impl_->pool.for_blocks(blocks.count(), [&](std::size_t b) {
        for (std::size_t e = blocks.begin(b); e < blocks.end(b); ++e)
          if (shared)
            add_parts(state, rows.coords() + e * layout.modes(), parts[first + e]);
          else
            parts[first + e].add_all(layout, of_draw.data() + e * R, 1);
      });
    }
  }
  std::vector<std::vector<Recommendation::Part>> result;
  for (const RateParts& of_cell : parts) result.push_back(of_cell.largest());
  return result;
}

}  // namespace ztp
