// The sampler of the logistic rival against its own prior (Geweke's joint test), and a prior that is another one, which
// must be told apart.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "baselines/logistic_chain.hpp"
#include "checkpoint_bytes.hpp"
#include "model/distributions.hpp"
#include "quad_world.hpp"
#include "statistics.hpp"

namespace ztp::test {
namespace {

// What the joint law of parameters and data is looked at through: bounded, so that heavy tails of the prior do no harm.
constexpr std::size_t functionals = 8;
std::vector<double> look(const std::vector<CheckpointField>& parts, double ones) {
  const auto values = [&](std::size_t i) { return static_cast<const double*>(parts[i].data); };
  const auto bounded = [](double x) { return x * x / (1 + x * x); };
  const float* u = static_cast<const float*>(parts[3].data);  // of the first mode, row 0; rows are 16 floats
  return {bounded(values(0)[0]),
          bounded(values(0)[1]),
          bounded(values(1)[1]),
          std::tanh(values(2)[0] / 10),
          bounded(static_cast<double>(u[0])),
          std::tanh(static_cast<double>(u[0]) * values(0)[0] * 3),
          bounded(values(2)[0] / 10),
          ones};
}

// delta, tau, w, b and u from their prior, b with this precision.
void draw_prior(Stream& stream, const std::vector<CheckpointField>& parts, double precision) {
  const auto values = [&](std::size_t i) { return static_cast<double*>(parts[i].data); };
  double tau = 1;
  for (std::size_t r = 0; r < 2; ++r) {
    double& delta = static_cast<double*>(parts.back().data)[r];
    delta = std::exp(draw_log_gamma(stream, r == 0 ? 2.0 : 3.0));
    values(1)[r] = tau *= delta;
    values(0)[r] = draw_normal(stream) / std::sqrt(tau);
  }
  values(2)[0] = draw_normal(stream) / std::sqrt(precision);
  for (std::size_t part = 3; part + 1 < parts.size(); ++part)
    for (std::size_t j = 0; j < parts[part].bytes / 64; ++j)
      for (std::size_t r = 0; r < 2; ++r)
        static_cast<float*>(parts[part].data)[16 * j + r] = static_cast<float>(draw_normal(stream));
}

// Ones drawn at the parameters that the chain carries; returns their share.
double draw_data(Stream& stream, RivalChain& chain, SparseTensor& tensor) {
  tensor.coords.resize(0);
  double cells = 0;
  for (const Cell& cell : all_cells({2, 3, 2})) {
    double p = 0;
    chain.probabilities(cell.data(), 1, &p);
    if (stream.uniform() < p) tensor.coords.append(cell.data(), cell.size());
    ++cells;
  }
  return static_cast<double>(tensor.nnz()) / cells;
}

// Geweke (2004): parameters and data drawn from the joint law, and by turns of the sampler and new data, have the same
// means. The smallest p-value over the functionals. 2 x 3 x 2 cells, R = 2; seed as given, batches of 1000 steps.
double smallest_p(double simulated_precision, std::size_t length, std::uint32_t seed) {
  Pool pool(1);
  SparseTensor tensor;
  for (const std::uint32_t n : {2u, 3u, 2u}) tensor.modes.push_back({"mode", LabelTable::numbered(1, n)});
  tensor.coords.append(Cell{0, 0, 0}.data(), 3);
  const std::size_t batches = length / 1000;
  std::vector<BatchMeans> joint(functionals, {length, batches}), turns(functionals, {length, batches});
  Stream stream(stream_key(seed, 0, Purpose::simulate), 0, 0);
  LogisticChain parameters({&tensor, nullptr, 2, 1}, all_zeros(tensor), pool, 0);
  for (std::size_t t = 0; t < length; ++t) {
    draw_prior(stream, parameters.checkpoint_fields(), simulated_precision);
    const std::vector<double> values = look(parameters.checkpoint_fields(), draw_data(stream, parameters, tensor));
    for (std::size_t i = 0; i < functionals; ++i) joint[i].add(values[i]);
  }
  for (std::size_t t = 0; t < length; ++t) {
    const double ones = draw_data(stream, parameters, tensor);
    const std::vector<double> values = look(parameters.checkpoint_fields(), ones);
    for (std::size_t i = 0; i < functionals; ++i) turns[i].add(values[i]);
    LogisticChain chain({&tensor, nullptr, 2, seed * 1000000ull + t}, all_zeros(tensor), pool, 0);
    restore(chain, checkpoint_bytes(parameters), 0);
    chain.step(true);
    restore(parameters, checkpoint_bytes(chain), 0);
  }
  double smallest = 1;
  for (std::size_t i = 0; i < functionals; ++i) {
    const double error = std::hypot(joint[i].error(), turns[i].error());
    smallest = std::min(smallest, normal_p((joint[i].mean() - turns[i].mean()) / error));
  }
  return smallest;
}

// 8 p-values, each of which fails below 1e-3 / 8. Batch means have 59 degrees of freedom, for which the normal law is
// near enough: the false alarm is at most 2e-3.
TEST(LogisticChain, AgreesWithItsPrior) {
  EXPECT_GT(smallest_p(0.01, 60000, 1), 1e-3 / functionals);
}

TEST(LogisticChain, DisagreesWithAnotherPrior) {
  EXPECT_LT(smallest_p(0.04, 60000, 1), 1e-3 / functionals);
}

}  // namespace
}  // namespace ztp::test
