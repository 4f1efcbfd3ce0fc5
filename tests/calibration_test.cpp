// Does the sampler draw from the posterior of the model? Two ways to know: exact posterior means of tiny tensors, and
// Geweke's joint test ("Getting it right", 2004). Each has twins with a planted bug, which it must catch.
//
// Seeds: 1 for the sampler, 2 and 3 for the simulators; nothing is retried. False alarms: the exact tests look at 64
// means with a limit of 4 standard errors from 100 batches (Student's t with 99 degrees of freedom: 1.2e-4 each, 0.8 %
// together); the joint tests share 1 % over all their functionals.
#include "calibration.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/math/quadrature/gauss.hpp>
#include <boost/math/special_functions/beta.hpp>
#include <cmath>
#include <functional>
#include <numbers>
#include <vector>

#include "statistics.hpp"

namespace ztp::test {
namespace {

// The samplers under test, built alike: a chain, or a twin of it with a bug.
struct MakeChain {
  using Type = Chain;
  Chain operator()(const Problem& problem, Kernel& kernel) const { return Chain(problem, kernel, 0); }
};
struct MakeTwin {
  using Type = Twin;
  Bug bug;
  Twin operator()(const Problem& problem, Kernel& kernel) const { return Twin(problem, kernel, bug); }
};

// ---- exact posterior means ------------------------------------------------------------------------------------------
//
// With b_i = 1(y_i >= 1), the likelihood of ones O and zeros Z is prod_Z e^(-z_i) prod_O (1 - e^(-z_i)), which
// multiplied out is a signed sum of exp(-sum_A z_i) over sets A. Under the prior each of these is a product over the
// components, which are independent and alike: phi(A)^R. phi is an integral over the factors of one component, with
// lambda and p integrated out beforehand:  psi(q) = E exp(-lambda q) = E (1 + q p / (1 - p))^(-g).  Links of a network
// are cells like any other.

struct Node {
  std::vector<double> value;  // a point of the simplex
  double weight;
};

// Gauss-Legendre in theta, u = sin^2 theta, for Beta(a, b): smooth if 2a and 2b are integers.
template <unsigned order>
std::vector<std::pair<double, double>> beta_nodes(double a, double b) {
  using Rule = boost::math::quadrature::gauss<double, order>;
  std::vector<std::pair<double, double>> nodes;
  for (std::size_t i = 0; i < order / 2; ++i)
    for (const double sign : {-1.0, 1.0}) {
      const double theta = std::numbers::pi / 4 * (1 + sign * Rule::abscissa()[i]);
      const double sine = std::sin(theta), cosine = std::cos(theta);
      nodes.push_back({sine * sine, std::numbers::pi / 4 * Rule::weights()[i] * 2 * std::pow(sine, 2 * a - 1) *
                                        std::pow(cosine, 2 * b - 1) / boost::math::beta(a, b)});
    }
  return nodes;
}

// Dirichlet(a, ..., a) over n entities, broken from a stick.
template <unsigned order>
std::vector<Node> dirichlet_nodes(std::size_t n, double a) {
  if (n == 1) return {{{1.0}, 1.0}};
  std::vector<Node> nodes;
  for (const auto& [first, weight] : beta_nodes<order>(a, a * static_cast<double>(n - 1)))
    for (const Node& rest : dirichlet_nodes<order>(n - 1, a)) {
      Node node{{first}, weight * rest.weight};
      for (const double value : rest.value) node.value.push_back((1 - first) * value);
      nodes.push_back(std::move(node));
    }
  return nodes;
}

// psi(q), by the trapezoidal rule over log(p / (1 - p)), whose error here is below 1e-10 for every q.
class LaplaceTransform {
 public:
  explicit LaplaceTransform(const WeightPrior& prior) : shape_(prior.shape) {
    const double a = prior.concentration * prior.mean, b = prior.concentration * (1 - prior.mean), step = 0.8;
    for (int i = -18; i <= 18; ++i) {
      odds_.push_back(std::exp(step * i));
      weight_.push_back(step * std::pow(odds_.back(), a) * std::pow(1 + odds_.back(), -a - b) /
                        boost::math::beta(a, b));
    }
  }
  double operator()(double q) const {
    double sum = 0;
    for (std::size_t i = 0; i < odds_.size(); ++i) sum += weight_[i] * std::pow(1 + q * odds_[i], -shape_);
    return sum;
  }

 private:
  double shape_;
  std::vector<double> odds_, weight_;
};

// Multiples in an exponent: of z of every cell, of the rate of every pair, of sum lambda and of sum beta.
struct Exponent {
  std::vector<double> cells, pairs;
  double lambda = 0, beta = 0;
};

// Posterior expectations of exp(-exponent) for a model with at most one network.
class ExactPosterior {
 public:
  template <unsigned order = 12>
  static ExactPosterior of(const Model& model, const Data& data) {
    ExactPosterior posterior(model, data);
    posterior.add_points<order>(0, {}, 1.0);
    posterior.evidence_ = posterior.joint(posterior.nothing());
    return posterior;
  }

  Exponent nothing() const { return {std::vector<double>(y_.size(), 0), std::vector<double>(x_.size(), 0)}; }

  // P(data).
  double evidence() const { return evidence_; }
  // E exp(-exponent) 1(data).
  double joint(const Exponent& exponent) const {
    Exponent total = exponent;
    std::vector<double*> ones;
    for (std::size_t i = 0; i < y_.size(); ++i) y_[i] > 0 ? ones.push_back(&total.cells[i]) : void(total.cells[i] += 1);
    for (std::size_t i = 0; i < x_.size(); ++i) x_[i] > 0 ? ones.push_back(&total.pairs[i]) : void(total.pairs[i] += 1);
    return signed_sum(total, ones, 0);
  }
  double mean(const Exponent& exponent) const { return joint(exponent) / evidence_; }

  // E log S = integral over t of (e^-t - E e^(-tS)) / t, for S = sum lambda.
  double mean_log_lambda() const {
    const double step = 0.5;
    double sum = 0;
    for (double x = -16; x <= 10; x += step) {
      Exponent exponent = nothing();
      exponent.lambda = std::exp(x);
      sum += step * (std::exp(-exponent.lambda) - mean(exponent));
    }
    return sum;
  }

 private:
  struct Point {
    std::vector<double> cells, pairs;  // prod_k u, and 2 u_i u_j
    double weight;
  };

  ExactPosterior(const Model& model, const Data& data)
      : model_(model), y_(data.y), tensor_(model.hyper.tensor), network_(model.hyper.network) {
    if (!data.x.empty()) x_ = data.x[0];
  }

  template <unsigned order>
  void add_points(std::size_t k, std::vector<std::vector<double>> u, double weight) {
    if (k == model_.K()) return add_point(u, weight);
    for (const Node& node : dirichlet_nodes<order>(model_.sizes[k], model_.hyper.dirichlet[k])) {
      std::vector<std::vector<double>> longer = u;
      longer.push_back(node.value);
      add_points<order>(k + 1, longer, weight * node.weight);
    }
  }
  void add_point(const std::vector<std::vector<double>>& u, double weight) {
    Point point{{}, {}, weight};
    for (std::size_t i = 0; i < y_.size(); ++i) {
      point.cells.push_back(1);
      for (std::size_t k = 0; k < model_.K(); ++k) point.cells.back() *= u[k][model_.cell(i)[k]];
    }
    if (!x_.empty()) {
      const std::vector<double>& v = u[model_.network_modes[0]];
      for (std::size_t i = 0; i < v.size(); ++i)
        for (std::size_t j = i + 1; j < v.size(); ++j) point.pairs.push_back(2 * v[i] * v[j]);
    }
    points_.push_back(std::move(point));
  }

  double phi(const Exponent& exponent) const {
    double sum = 0;
    for (const Point& point : points_) {
      double q = exponent.lambda, network_q = exponent.beta;
      for (std::size_t i = 0; i < y_.size(); ++i) q += exponent.cells[i] * point.cells[i];
      for (std::size_t i = 0; i < x_.size(); ++i) network_q += exponent.pairs[i] * point.pairs[i];
      sum += point.weight * tensor_(q) * (x_.empty() ? 1 : network_(network_q));
    }
    return sum;
  }
  double signed_sum(Exponent& exponent, const std::vector<double*>& ones, std::size_t next) const {
    if (next == ones.size()) return std::pow(phi(exponent), static_cast<double>(model_.R));
    const double without = signed_sum(exponent, ones, next + 1);
    *ones[next] += 1;
    const double with = signed_sum(exponent, ones, next + 1);
    *ones[next] -= 1;
    return without - with;
  }

  const Model& model_;
  std::vector<std::int64_t> y_, x_;
  LaplaceTransform tensor_, network_;
  std::vector<Point> points_;
  double evidence_ = 0;
};

// A quantity with its exact posterior mean, and the function of the parameters that a chain averages.
struct Quantity {
  std::string name;
  double exact;
  std::function<double(const Parameters&)> value;
};

double sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

Quantity laplace(const Model& model, const ExactPosterior& posterior, std::string name, Exponent exponent) {
  const double exact = posterior.mean(exponent);
  return {std::move(name), exact, [&model, exponent](const Parameters& q) {
            double total = exponent.lambda * sum(q.lambda);
            for (std::size_t i = 0; i < exponent.cells.size(); ++i)
              if (exponent.cells[i] > 0) total += exponent.cells[i] * model.rate(q, i);
            std::size_t pair = 0;
            if (!exponent.pairs.empty())
              for (std::size_t i = 0, n = q.u[model.network_modes[0]].size(); i < n; ++i)
                for (std::size_t j = i + 1; j < n; ++j) total += exponent.pairs[pair++] * model.pair_rate(q, 0, i, j);
            if (exponent.beta > 0) total += exponent.beta * sum(q.beta[0]);
            return std::exp(-total);
          }};
}

// P(b = 0) of every cell and pair, two joint probabilities, the law of sum lambda (and sum beta).
std::vector<Quantity> quantities(const Model& model, const ExactPosterior& posterior) {
  std::vector<Quantity> list;
  const auto add = [&](std::string name, auto change) {
    Exponent exponent = posterior.nothing();
    change(exponent);
    list.push_back(laplace(model, posterior, std::move(name), exponent));
  };
  for (std::size_t i = 0; i < model.cells(); ++i)
    add(fmt::format("P(cell {} = 0)", i), [&](Exponent& e) { e.cells[i] = 1; });
  for (std::size_t i = 0; i < posterior.nothing().pairs.size(); ++i)
    add(fmt::format("P(pair {} = 0)", i), [&](Exponent& e) { e.pairs[i] = 1; });
  add("P(first two = 0)", [](Exponent& e) { e.cells[0] = e.cells[1] = 1; });
  add("P(ends = 0)", [](Exponent& e) { e.cells.front() = e.cells.back() = 1; });
  for (const double t : {0.3, 2.0}) add(fmt::format("E exp(-{} sum lambda)", t), [&](Exponent& e) { e.lambda = t; });
  if (!posterior.nothing().pairs.empty()) {
    add("E exp(-sum beta)", [](Exponent& e) { e.beta = 1; });
    add("P(first cell = 0, first pair = 0)", [](Exponent& e) { e.cells[0] = e.pairs[0] = 1; });
  }
  list.push_back(
      {"E log sum lambda", posterior.mean_log_lambda(), [](const Parameters& q) { return std::log(sum(q.lambda)); }});
  return list;
}

struct Worst {
  double z = 0;
  std::string name;
  void consider(double other, const std::string& what) {
    if (std::isnan(other)) other = std::numeric_limits<double>::infinity();
    if (std::abs(other) <= std::abs(z)) return;
    z = other;
    name = what;
  }
};

// Fixed data: zeros and ones (edges) as listed.
Data fixed(std::vector<std::int64_t> y, std::vector<std::vector<std::int64_t>> x = {}) {
  Data data;
  data.y = std::move(y);
  data.x = std::move(x);
  return data;
}

struct Example {
  Model model;
  Data data;
};

Hyperparameters exact_hyper(std::vector<double> a) {
  return {std::move(a), {0.8, 5, 0.4}, {1.2, 4, 0.5}};
}

Example two_two_two(std::size_t R) {
  return {{{2, 2, 2}, {}, false, R, exact_hyper({1, 0.5, 1.5})}, fixed({1, 0, 0, 1, 0, 0, 1, 1})};
}
Example two_three(std::size_t R) {
  return {{{2, 3}, {}, false, R, exact_hyper({0.5, 1})}, fixed({1, 0, 1, 0, 1, 0})};
}
Example two_three_with_network(std::size_t R) {
  return {{{2, 3}, {1}, false, R, exact_hyper({1, 0.5})}, fixed({1, 0, 0, 0, 1, 0}, {{1, 0, 1}})};
}

constexpr std::size_t exact_batches = 100;
constexpr double exact_limit = 4;

// A long run of the sampler on fixed data, against the exact means.
template <class Make>
Worst compare(const Example& example, const std::vector<Quantity>& list, const char* kernel_name, std::size_t sweeps,
              Make make) {
  Pool pool(1);
  const auto kernel = make_kernel(kernel_name, pool);
  Observed observed(example.model, 1);
  observed.set(example.data);
  auto sampler = make(observed.problem(), *kernel);
  std::vector<BatchMeans> means(list.size(), BatchMeans(sweeps, exact_batches));
  Worst worst;
  for (std::size_t t = 0; t < sweeps + 500; ++t) {
    sampler.sweep();
    if (t < 500) continue;
    const Parameters q = parameters_of(sampler.state());
    if (!(sum(q.lambda) < 1e6)) return {std::numeric_limits<double>::infinity(), "the chain diverged"};
    for (std::size_t i = 0; i < list.size(); ++i) means[i].add(list[i].value(q));
  }
  for (std::size_t i = 0; i < list.size(); ++i)
    worst.consider((means[i].mean() - list[i].exact) / means[i].error(), list[i].name);
  return worst;
}

constexpr std::size_t exact_sweeps = 200'000;

std::vector<Quantity> quantities(const Example& example) {
  return quantities(example.model, ExactPosterior::of(example.model, example.data));
}

void expect_exact(const Example& example, const char* kernel) {
  const Worst worst = compare(example, quantities(example), kernel, exact_sweeps, MakeChain{});
  fmt::print("  largest |z| {:.2f} ({})\n", std::abs(worst.z), worst.name);
  EXPECT_LT(std::abs(worst.z), exact_limit) << worst.name;
}

void expect_caught(const Example& example, std::initializer_list<Bug> bugs) {
  const std::vector<Quantity> list = quantities(example);
  for (const Bug bug : bugs) {
    const Worst worst = compare(example, list, "cpu", exact_sweeps / 4, MakeTwin{bug});
    fmt::print("  {}: largest |z| {:.2f} ({})\n", name_of(bug), std::abs(worst.z), worst.name);
    EXPECT_GT(std::abs(worst.z), exact_limit) << name_of(bug) << " went unseen";
  }
}

TEST(Exact, TwoByTwoByTwo) {
  for (const std::size_t R : {1, 2}) expect_exact(two_two_two(R), "cpu");
}
TEST(Exact, TwoByThree) {
  expect_exact(two_three(1), "cpu");
  expect_exact(two_three(2), "reference");
}
TEST(Exact, TwoByThreeWithANetwork) {
  expect_exact(two_three_with_network(2), "cpu");
}

TEST(Exact, PlantedBugsAreCaught) {
  expect_caught(two_two_two(2), {Bug::gamma_scale, Bug::beta_shape, Bug::totals_plus_one, Bug::no_truncation});
  expect_caught(two_three_with_network(2), {Bug::no_diagonal, Bug::one_end});
}

// The yardstick itself: more nodes change nothing, and the probability of the data is that of simulating them.
TEST(Exact, TheExactMeansAreExact) {
  for (const Example& example : {two_two_two(2), two_three_with_network(2)}) {
    const ExactPosterior posterior = ExactPosterior::of(example.model, example.data);
    const ExactPosterior finer = ExactPosterior::of<24>(example.model, example.data);
    const double evidence = posterior.evidence();
    EXPECT_NEAR(evidence, finer.evidence(), 1e-6 * evidence);
    Generator generator(2);
    const double draws = 400'000;
    double hits = 0;
    for (double i = 0; i < draws; ++i) {
      const Data data = simulate(generator, example.model, draw_prior(generator, example.model));
      bool same = true;
      for (std::size_t c = 0; c < data.y.size(); ++c) same = same && (data.y[c] > 0) == (example.data.y[c] > 0);
      for (std::size_t m = 0; m < data.x.size(); ++m)
        for (std::size_t c = 0; c < data.x[m].size(); ++c)
          same = same && (data.x[m][c] > 0) == (example.data.x[m][c] > 0);
      hits += same;
    }
    const double z = (hits - draws * evidence) / std::sqrt(draws * evidence * (1 - evidence));
    fmt::print("  evidence {:.5f}, simulated {:.5f}, z {:.2f}\n", evidence, hits / draws, z);
    EXPECT_LT(std::abs(z), exact_limit);
  }
}

// ---- joint tests ----------------------------------------------------------------------------------------------------
//
// Two simulators of the joint law of parameters, data and latent counts. Marginal-conditional: parameters from the
// prior, then all counts. Successive-conditional: a sweep on the data at hand, and the triple (parameters it drew, data
// it conditioned on, counts it drew) is taken down; then data anew from the parameters, counts anew from both
// (draw_counts), and on. If the sampler is right both have the same means of everything. Data refreshed before the
// triple is taken would hide a sampler that ignores them.

using Functionals = std::vector<std::pair<const char*, double>>;

double bounded(std::int64_t y) {
  return static_cast<double>(std::min<std::int64_t>(y, 4));
}

void tensor_functionals(const Model& model, const Parameters& q, const Data& data, const Statistics& s,
                        Functionals& f) {
  const std::size_t last = model.cells() - 1;
  const auto seen = [&](std::size_t i) { return model.counts ? bounded(data.y[i]) : data.y[i] > 0 ? 1.0 : 0.0; };
  double ones = 0, row = 0, explained = 0;
  for (std::size_t i = 0; i <= last; ++i) {
    ones += seen(i);
    if (model.cell(i)[0] == 0) row += seen(i);
    explained += seen(i) * -std::expm1(-model.rate(q, i));
  }
  const double log_lambda = std::log(sum(q.lambda)), log_s = std::log1p(static_cast<double>(s.tensor[0]));
  f.push_back({"log lambda_1", std::log(q.lambda[0])});
  f.push_back({"log lambda_2", std::log(q.lambda[1])});
  f.push_back({"(log sum lambda)^2", log_lambda * log_lambda});
  f.push_back({"p_1", q.p[0]});
  f.push_back({"p_2^2", q.p[1] * q.p[1]});
  f.push_back({"p_1 log lambda_1", q.p[0] * std::log(q.lambda[0])});
  f.push_back({"P(first)", -std::expm1(-model.rate(q, 0))});
  f.push_back({"P(last)", -std::expm1(-model.rate(q, last))});
  f.push_back({"ones", ones});
  f.push_back({"ones^2", ones * ones});
  f.push_back({"first", seen(0)});
  f.push_back({"first * last", seen(0) * seen(last)});
  f.push_back({"ones * log sum lambda", ones * log_lambda});
  f.push_back({"ones * p_1", ones * q.p[0]});
  f.push_back({"ones * P", explained});
  f.push_back({"first * P(first)", seen(0) * -std::expm1(-model.rate(q, 0))});
  f.push_back({"first row * u_11", row * q.u[0][0][0]});
  f.push_back({"log(1 + s_1)", log_s});
  f.push_back({"log(1 + s_1) log lambda_1", log_s * std::log(q.lambda[0])});
  f.push_back({"log(1 + s_1) ones", log_s * ones});
  f.push_back({"log(1 + s_2)", std::log1p(static_cast<double>(s.tensor[1]))});
}

void factor_functionals(const Parameters& q, const Statistics& s, Functionals& f) {
  for (std::size_t k = 0; k < q.u.size(); ++k) {
    const double count = std::log1p(static_cast<double>(s.rows[k].row(0)[0]));
    f.push_back({"u_11", q.u[k][0][0]});
    f.push_back({"u_11^2", q.u[k][0][0] * q.u[k][0][0]});
    f.push_back({"u_11 u_12", q.u[k][0][0] * q.u[k][0][1]});
    f.push_back({"log u_n2", std::log(std::max(q.u[k].back()[1], 1e-30))});
    f.push_back({"log(1 + S_11)", count});
    f.push_back({"u_11 log(1 + S_11)", count * q.u[k][0][0]});
  }
}

void network_functionals(const Model& model, const Parameters& q, const Data& data, const Statistics& s, std::size_t m,
                         Functionals& f) {
  double edges = 0;
  for (const std::int64_t x : data.x[m]) edges += x > 0 ? 1 : 0;
  const double first = data.x[m][0] > 0 ? 1 : 0, log_beta = std::log(sum(q.beta[m]));
  const double log_v = std::log1p(static_cast<double>(s.networks[m][0]));
  f.push_back({"log beta_1", std::log(q.beta[m][0])});
  f.push_back({"(log sum beta)^2", log_beta * log_beta});
  f.push_back({"h_1", q.h[m][0]});
  f.push_back({"edges", edges});
  f.push_back({"edges^2", edges * edges});
  f.push_back({"edges * log sum beta", edges * log_beta});
  f.push_back({"first edge * P(first edge)", first * -std::expm1(-model.pair_rate(q, m, 0, 1))});
  f.push_back({"first edge * u_11", first * q.u[model.network_modes[m]][0][0]});
  f.push_back({"log(1 + v_1)", log_v});
  f.push_back({"log(1 + v_1) edges", log_v * edges});
  f.push_back({"log(1 + v_1) log beta_1", log_v * std::log(q.beta[m][0])});
}

const Functionals& functionals(const Model& model, const Parameters& q, const Data& data, const Statistics& s,
                               Functionals& f) {
  f.clear();
  tensor_functionals(model, q, data, s, f);
  factor_functionals(q, s, f);
  for (std::size_t m = 0; m < data.x.size(); ++m) network_functionals(model, q, data, s, m, f);
  return f;
}

constexpr std::size_t joint_batches = 200;
constexpr std::size_t joint_draws = 200'000;
constexpr std::size_t all_joint_functionals = 250;  // of the five models together, at most
const double joint_limit = two_sided_limit(0.01 / all_joint_functionals, joint_batches);
std::size_t functionals_seen = 0;

// The level above is right only for as many functionals as it was divided by.
class LevelIsHonest : public testing::Environment {
  void TearDown() override { EXPECT_LE(functionals_seen, all_joint_functionals); }
};
const auto* const level_is_honest = testing::AddGlobalTestEnvironment(new LevelIsHonest);

// Independent draws are their own batches: the same arithmetic serves both simulators.
std::vector<BatchMeans> marginal_conditional(const Model& model, std::size_t draws) {
  Generator generator(2);
  std::vector<BatchMeans> means;
  Functionals f;
  for (std::size_t i = 0; i < draws; ++i) {
    const Parameters q = draw_prior(generator, model);
    const Data data = simulate(generator, model, q);
    functionals(model, q, data, data.statistics, f);
    if (means.empty()) means.assign(f.size(), BatchMeans(draws, joint_batches));
    for (std::size_t j = 0; j < f.size(); ++j) means[j].add(f[j].second);
  }
  return means;
}

template <class Make>
Worst joint_test(const Model& model, const std::vector<BatchMeans>& prior, std::size_t draws, Make make) {
  Generator generator(3);
  Pool pool(1);
  const auto kernel = make_kernel("cpu", pool);
  Observed observed(model, 1);
  auto sampler = make(observed.problem(), *kernel);
  Data data = simulate(generator, model, draw_prior(generator, model));  // from the joint law itself: no burn-in
  std::swap(sampler.statistics(), data.statistics);
  std::vector<BatchMeans> means(prior.size(), BatchMeans(draws, joint_batches));
  Functionals f;
  for (std::size_t i = 0; i < draws; ++i) {
    observed.set(data);
    if (i > 0) sampler.draw_counts();
    sampler.sweep();
    const Parameters q = parameters_of(sampler.state());
    if (!(sum(q.lambda) < 1e6)) return {std::numeric_limits<double>::infinity(), "the chain diverged"};
    functionals(model, q, data, sampler.statistics(), f);
    for (std::size_t j = 0; j < f.size(); ++j) means[j].add(f[j].second);
    data = simulate(generator, model, q);
  }
  Worst worst;
  for (std::size_t j = 0; j < f.size(); ++j)
    worst.consider((means[j].mean() - prior[j].mean()) / std::hypot(means[j].error(), prior[j].error()), f[j].first);
  return worst;
}

Model joint_model(std::vector<std::uint32_t> sizes, std::vector<std::size_t> network_modes = {}, bool counts = false) {
  const std::vector<double> a(sizes.size(), 0.7);
  return {std::move(sizes), std::move(network_modes), counts, 2, {a, {1.2, 8, 0.5}, {0.9, 8, 0.6}}};
}

void expect_joint(const Model& model, std::initializer_list<Bug> bugs) {
  const std::vector<BatchMeans> prior = marginal_conditional(model, joint_draws);
  functionals_seen += prior.size();
  const Worst worst = joint_test(model, prior, joint_draws, MakeChain{});
  fmt::print("  {} functionals, limit {:.2f}, largest |z| {:.2f} ({})\n", prior.size(), joint_limit, std::abs(worst.z),
             worst.name);
  EXPECT_LT(std::abs(worst.z), joint_limit) << worst.name;
  for (const Bug bug : bugs) {
    const Worst caught = joint_test(model, prior, joint_draws / 4, MakeTwin{bug});
    fmt::print("  {}: largest |z| {:.2f} ({})\n", name_of(bug), std::abs(caught.z), caught.name);
    EXPECT_GT(std::abs(caught.z), joint_limit) << name_of(bug) << " went unseen";
  }
}

TEST(Joint, BinaryMatrix) {
  expect_joint(joint_model({3, 4}), {Bug::gamma_scale, Bug::totals_plus_one, Bug::ignores_data});
}
TEST(Joint, BinaryTensor) {
  expect_joint(joint_model({2, 3, 2}), {Bug::beta_shape, Bug::no_truncation});
}
TEST(Joint, CountTensor) {
  expect_joint(joint_model({2, 3, 2}, {}, true), {Bug::totals_plus_one, Bug::no_truncation});
}
TEST(Joint, OneNetwork) {
  expect_joint(joint_model({3, 4}, {1}), {Bug::no_diagonal, Bug::one_end});
}
TEST(Joint, TwoNetworks) {
  expect_joint(joint_model({3, 4}, {0, 1}), {Bug::no_diagonal});
}

// ---- the twins ------------------------------------------------------------------------------------------------------

// A twin without a bug is the chain bit by bit, so what the tests above catch is the bug.
TEST(Twins, WithoutABugEqualTheChain) {
  for (const bool counts : {false, true}) {
    const Model model = joint_model({3, 4, 2}, {0, 1}, counts);
    Generator generator(3);
    Observed observed(model, 1);
    observed.set(simulate(generator, model, draw_prior(generator, model)));
    Pool pool(1);
    const auto kernel = make_kernel("cpu", pool);
    Chain chain = MakeChain{}(observed.problem(), *kernel);
    Twin twin = MakeTwin{Bug::none}(observed.problem(), *kernel);
    for (int t = 0; t < 50; ++t) {
      chain.sweep();
      twin.sweep();
      chain.draw_counts();
      twin.draw_counts();
    }
    const Parameters a = parameters_of(chain.state()), b = parameters_of(twin.state());
    EXPECT_EQ(a.u, b.u);
    EXPECT_EQ(a.lambda, b.lambda);
    EXPECT_EQ(a.p, b.p);
    EXPECT_EQ(a.beta, b.beta);
    EXPECT_EQ(a.h, b.h);
    EXPECT_EQ(chain.statistics().tensor, twin.statistics().tensor);
    EXPECT_EQ(chain.statistics().networks, twin.statistics().networks);
  }
}

}  // namespace
}  // namespace ztp::test
