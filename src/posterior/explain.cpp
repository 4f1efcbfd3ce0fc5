// Why cells are as probable as they are: the parts of components in their rates, or of entries of the core.
#include <algorithm>
#include <map>

#include "model/open_rates.hpp"
#include "posterior/posterior_impl.hpp"

namespace ztp {
namespace {

using RatePart = Recommendation::Part;

constexpr double least_share = 0.01;  // of the parts that are shown
// Of a rate at one draw: smaller parts are not added to their entries, since there may be any number of these.
constexpr double negligible = 1e-9;

void sort_parts(std::vector<RatePart>& parts) {
  std::sort(parts.begin(), parts.end(), [](const RatePart& a, const RatePart& b) { return a.share > b.share; });
}

std::vector<RatePart> largest_parts(const double* rate, std::size_t R) {
  double total = 0;
  for (std::size_t r = 0; r < R; ++r) total += rate[r];
  std::vector<RatePart> parts;
  for (std::size_t r = 0; r < R; ++r)
    if (rate[r] > least_share * total) parts.push_back({r + 1, rate[r] / total});
  sort_parts(parts);
  return parts;
}

// The rate of a cell over some draws, and the parts of core entries in it, by their columns (from 1).
class EntryParts {
 public:
  void add(const State& state, const std::uint32_t* cell) {
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
    const double least = negligible * rates.rate();
    rates.for_parts([&](std::size_t r, double part) {
      total_ += part;
      if (part <= least) return;
      std::vector<std::size_t> columns;
      for (std::size_t k = 0; k < layout.modes(); ++k) columns.push_back(layout.column(k, r) + 1);
      parts_[columns] += part;
    });
  }
  std::vector<RatePart> largest() const {
    std::vector<RatePart> parts;
    for (const auto& [columns, part] : parts_)
      if (part > least_share * total_) parts.push_back({0, part / total_, columns});
    sort_parts(parts);
    return parts;
  }

 private:
  double total_ = 0;
  std::map<std::vector<std::size_t>, double> parts_;
};

}  // namespace

std::vector<std::vector<RatePart>> Posterior::explain(const std::uint32_t* coords, std::size_t count) {
  impl_->require_rates("explain");
  impl_->check_cells(coords, count);
  const FactorLayout& layout = impl_->layout;
  const bool shared = !layout.columns_are_components();
  const std::size_t R = layout.components(), of_cell = shared ? 0 : R;
  Buffer<double> sum(count * of_cell), parts(count * of_cell);  // of each component, over the draws and of one
  std::fill(sum.begin(), sum.end(), 0.0);
  std::vector<EntryParts> entries(shared ? count : 0);
  const Blocks blocks{entries.size(), 8};
  for (const std::size_t i : impl_->draws_of(chains().front())) {
    impl_->draws.load(i, impl_->state);
    impl_->pool.for_blocks(blocks.count(), [&](std::size_t b) {
      for (std::size_t e = blocks.begin(b); e < blocks.end(b); ++e)
        entries[e].add(impl_->state, coords + e * layout.modes());
    });
    if (shared) continue;
    impl_->kernel->score_parts(coords, count, tensor_rates(impl_->state), parts.data());
    for (std::size_t x = 0; x < sum.size(); ++x) sum[x] += parts[x];
  }
  std::vector<std::vector<RatePart>> result(count);
  for (std::size_t e = 0; e < count; ++e)
    result[e] = shared ? entries[e].largest() : largest_parts(sum.data() + e * R, R);
  return result;
}

}  // namespace ztp
