#include "sampler/update_chain.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ztp {
namespace {

void copy(const Statistics& from, Statistics& to) {
  to.scale = from.scale;
  for (std::size_t k = 0; k < from.rows.size(); ++k)
    std::copy(from.rows[k].row(0), from.rows[k].row(from.rows[k].rows()), to.rows[k].row(0));
  to.tensor = from.tensor;
  to.networks = from.networks;
  to.from_ones = from.from_ones;
  to.from_edges = from.from_edges;
}

}  // namespace

UpdateChain::UpdateChain(const Problem& problem, const OnlineOptions& options, Minibatches& ones,
                         const std::vector<Minibatches*>& edges, Kernel& kernel, std::uint32_t number,
                         std::uint32_t looks)
    : OnlineChain(problem, options, ones, edges, kernel, number), looks_(looks) {}

void UpdateChain::start() {
  fit_scale(std::pow(looks_, -options_.kappa));
  if (looks_ == 1) return;
  old_ = make_statistics(problem_.tensor->sizes(), problem_.networks.size(), problem_.R);
  copy(statistics_, old_);
}

double UpdateChain::step(bool) {
  return step_by_halves([&] { set_parameters(); },
                        [&] {
                          if (t_ == 1)
                            filter();
                          else
                            draw_again();
                          return std::numeric_limits<double>::quiet_NaN();
                        });
}

void UpdateChain::filter() {
  const LatentCounts::How how{.t = t_, .expected = options_.expected_counts, .anywhere = true};
  add_all_edges(1, how);
  for (std::uint32_t b = 0; b < ones_.count(); ++b) {
    set_parameters_for(b, b + 1);  // by now edges tell of entities that are new
    add_part(b, 1, how);
  }
}

void UpdateChain::draw_again() {
  const double rho = std::pow(t_, -options_.kappa);
  const LatentCounts::How how{.t = t_, .expected = options_.expected_counts, .anywhere = true};
  for (std::size_t k = 0; k < statistics_.rows.size(); ++k) kernel_.move(old_.rows[k], rho, statistics_.rows[k]);
  const auto move = [&](const std::vector<std::int64_t>& old, std::vector<std::int64_t>& now) {
    for (std::size_t r = 0; r < now.size(); ++r) now[r] = moved(now[r], old[r], rho);
  };
  move(old_.tensor, statistics_.tensor);
  move(old_.from_ones, statistics_.from_ones);
  move(old_.from_edges, statistics_.from_edges);
  for (std::size_t m = 0; m < edges_.size(); ++m) move(old_.networks[m], statistics_.networks[m]);
  add_all_edges(rho, how);
  for (std::uint32_t b = 0; b < ones_.count(); ++b) add_part(b, rho, how);
}

void UpdateChain::add_all_edges(double weight, const LatentCounts::How& how) {
  for (std::size_t m = 0; m < edges_.size(); ++m)
    for (std::size_t b = 0; b < edges_[m]->count(); ++b) add_edges(m, b, weight, how);
}

void UpdateChain::add_part(std::uint32_t b, double weight, LatentCounts::How how) {
  how.chunk = b;
  add_ones(b, std::min<std::size_t>(b + 1, ones_.count() - 1), weight, how);
}

}  // namespace ztp
