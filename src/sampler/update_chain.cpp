#include "sampler/update_chain.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ztp {
namespace {

void copy(Statistics& from, Statistics& to) {
  to.scale = from.scale;
  for (std::size_t f = 0; f < from.rows.size(); ++f)
    for_blocks_of_rows(*from.rows[f],
                       [&](Range rows, const std::int64_t* values) { to.rows[f]->write(rows, values); });
  const std::vector<Statistics::Totals> totals = from.totals(), copies = to.totals();
  for (std::size_t i = 0; i < totals.size(); ++i) *copies[i].counts = *totals[i].counts;
}

}  // namespace

void UpdateChain::start() {
  fit_scale(std::pow(options_.looks, -options_.kappa));
  if (options_.looks == 1) return;
  old_ = make_statistics(problem_.layout, problem_.network_matrices(), true, kernel_);
  copy(statistics_, old_);
}

// (M29), and in further looks (M25) for the new data alone. O(new data R K + R sum_k n_k) for each minibatch.
double UpdateChain::step(bool) {
  Step step(*this);
  set_parameters();
  step.begin_counts();
  if (t_ == 1)
    filter();
  else
    draw_again();
  step.end();
  return std::numeric_limits<double>::quiet_NaN();
}

// The first look: s <- s + s(new ones), v <- v + v(new edges), the parameters following after each minibatch.   (M29)
// Reads and changes state and statistics.
void UpdateChain::filter() {
  const DrawSettings settings{.t = t_, .expected = options_.expected_counts, .anywhere = true};
  add_all_edges(1, settings);
  for (std::uint32_t b = 0; b < ones_.count(); ++b) {
    set_parameters_for(b, b + 1);  // by now edges tell of entities that are new
    add_part(b, 1, settings);
  }
}

// A further look: what the new data have in the statistics moves by rho towards new counts of theirs.    (M25), (M29)
// Reads the state, changes the statistics.
void UpdateChain::draw_again() {
  const double rho = std::pow(t_, -options_.kappa);
  const DrawSettings settings{.t = t_, .expected = options_.expected_counts, .anywhere = true};
  for (std::size_t f = 0; f < statistics_.rows.size(); ++f) kernel_.move(*old_.rows[f], rho, *statistics_.rows[f]);
  const std::vector<Statistics::Totals> now = statistics_.totals(), old = old_.totals();
  for (std::size_t i = 0; i < now.size(); ++i)
    for (std::size_t r = 0; r < now[i].counts->size(); ++r)
      (*now[i].counts)[r] = moved((*now[i].counts)[r], (*old[i].counts)[r], rho);
  add_all_edges(rho, settings);
  for (std::uint32_t b = 0; b < ones_.count(); ++b) add_part(b, rho, settings);
}

void UpdateChain::add_all_edges(double weight, const DrawSettings& settings) {
  for (std::size_t m = 0; m < edges_.size(); ++m)
    for (std::size_t b = 0; b < edges_[m]->count(); ++b) add_edges(m, b, weight, settings);
}

void UpdateChain::add_part(std::uint32_t b, double weight, const DrawSettings& settings) {
  add_ones(b, std::min<std::size_t>(b + 1, ones_.count() - 1), weight, settings);
}

}  // namespace ztp
