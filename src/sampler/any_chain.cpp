#include "sampler/any_chain.hpp"

namespace ztp {
namespace {

WeightPrior with_shape(WeightPrior prior, double shape) {
  prior.shape = shape;
  return prior;
}

}  // namespace

AnyChain::AnyChain(const Problem& problem, Kernel& kernel, std::uint32_t number)
    : problem_(problem), kernel_(kernel), number_(number), counts_(problem, kernel, number) {
  const std::vector<std::uint32_t> sizes = sizes_of(*problem.tensor);
  state_ = make_state(sizes, problem.networks.size(), problem.R, problem.hyper);
  statistics_ = make_statistics(sizes, problem.networks.size(), problem.R);
}

void AnyChain::restore(std::uint32_t t, const Shapes& shapes) {
  t_ = t;
  state_.shapes = shapes;
}

WeightPrior AnyChain::tensor_prior() const {
  return with_shape(problem_.hyper.tensor, state_.shapes.tensor);
}

WeightPrior AnyChain::network_prior(std::size_t m) const {
  return with_shape(problem_.hyper.network, state_.shapes.networks[m]);
}

void AnyChain::draw_parameters(std::uint32_t t) {
  const double scale = statistics_.scale;
  for (std::size_t k = 0; k < state_.u.size(); ++k)
    kernel_.draw_columns({statistics_.rows[k], state_.shapes.dirichlet[k], scale}, counts_.key(Purpose::columns, k), t,
                         state_.u[k]);
  draw_weights(tensor_prior(), statistics_.tensor, problem_.seed, number_, t, -1, state_.tensor, scale);
  for (std::size_t m = 0; m < state_.networks.size(); ++m)
    draw_weights(network_prior(m), statistics_.networks[m], problem_.seed, number_, t, static_cast<int>(m),
                 state_.networks[m], scale);
}

}  // namespace ztp
