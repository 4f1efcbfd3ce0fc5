#include "baselines/logistic_chain.hpp"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "baselines/gram.hpp"
#include "baselines/polya_gamma.hpp"
#include "model/distributions.hpp"
#include "sampler/problem.hpp"
#include "ztp/error.hpp"

namespace ztp {
namespace {

constexpr std::size_t cells_at_a_time = 256;  // whose features are in cache together
constexpr std::size_t cells_per_block = 4096;
constexpr std::size_t most_rows_per_block = 64;
// The prior (M33): shapes of the multiplicative gamma process, and the precision of the intercept.
constexpr double first_shape = 2, later_shapes = 3;
constexpr double intercept_precision = 0.01;

}  // namespace

// A regression with weights omega, and a draw from the normal law that its sums are the natural parameters of.  (M35)
class RowWork {
 public:
  explicit RowWork(std::size_t columns)
      : columns_(columns), x_(cells_at_a_time, columns + 1), sums_(padded(columns + 1), columns + 1) {}

  void clear() {
    sums_.clear();
    used_ = 0;
  }

  // Where the features of the next cell go, the caller fills them in times sqrt(omega), and then calls `add` with
  // what is to be explained, kappa - omega times the known part of the logit, over sqrt(omega). As one more column, its
  // products with the features come with theirs.
  float* features() { return x_.row(used_); }
  void add(float target) {
    x_.row(used_)[columns_] = target;
    if (++used_ == cells_at_a_time) flush();
  }
  void flush() {
    if (used_ > 0) add_gram(x_.row(0), used_, columns_ + 1, x_.stride(), sums_.row(0));
    used_ = 0;
  }

  void take(const RowWork& other) {
    for (std::size_t r = 0; r <= columns_; ++r)
      for (std::size_t s = 0; s <= r; ++s) sums_.row(r)[s] += other.sums_.row(r)[s];
  }

  // Draws from N(V b, V), V = (A + diag(precision))^-1. False if that is not positive definite.
  bool draw(const std::vector<double>& precision, Stream& stream, Eigen::VectorXd& value) {
    const Eigen::Index R = static_cast<Eigen::Index>(columns_);
    Eigen::MatrixXd A(R, R);
    value.resize(R);
    for (Eigen::Index r = 0; r < R; ++r) {
      const float* row = sums_.row(static_cast<std::size_t>(r));
      for (Eigen::Index s = 0; s <= r; ++s) A(r, s) = static_cast<double>(row[s]);
      A(r, r) += precision[static_cast<std::size_t>(r)];
      value[r] = static_cast<double>(sums_.row(columns_)[r]);
    }
    const Eigen::LLT<Eigen::MatrixXd, Eigen::Lower> llt(A);
    if (llt.info() != Eigen::Success) return false;
    llt.matrixL().solveInPlace(value);
    for (Eigen::Index r = 0; r < R; ++r) value[r] += draw_normal(stream);
    llt.matrixU().solveInPlace(value);
    return true;
  }

 private:
  std::size_t columns_;
  Matrix<float> x_;
  Matrix<float> sums_;  // lower triangle of A, and below it b
  std::size_t used_ = 0;
};

LogisticChain::LogisticChain(const RivalProblem& problem, std::uint64_t zeros, Pool& pool, std::uint32_t number,
                             double ridge)
    : RivalChain(problem, pool, number),
      ridge_(ridge),
      cells_(training_cells(*problem.tensor, problem.missing, zeros, problem.seed)),
      delta_(problem.R, 1.0),
      theta_(cells_.size()),
      omega_(cells_.size()) {
  by_row_ = index_rows(cells_.coords.data(), cells_.size(), state_.layout);
  offset_ = std::log(cells_.zeros_used);  // of a case-control sample, only the intercept is off           (M37)
}

void LogisticChain::start() {
  const double ones = static_cast<double>(problem_.tensor->nnz());
  start_at_random(0.5, std::log(ones + 1) - std::log(static_cast<double>(cells_.size()) - ones + 1));
  std::fill(delta_.begin(), delta_.end(), 1.0);
  latent_step_ = -1;
}

double LogisticChain::step(bool) {
  if (latent_step_ != t_) draw_latent();  // at the start, and after a restart
  whole_ = false;
  ++t_;
  for (std::size_t k = 0; k < order(); ++k) {
    draw_rows(k);
    check_factors(k, t_);
  }
  draw_weights();
  draw_shrinkage();
  check_weights(t_);
  const double log_likelihood = draw_latent();
  whole_ = true;
  return log_likelihood;
}

void LogisticChain::restore(std::uint32_t t) {
  RivalChain::restore(t);
  latent_step_ = -1;
}

std::vector<CheckpointField> LogisticChain::checkpoint_fields() {
  std::vector<CheckpointField> result = RivalChain::checkpoint_fields();
  result.push_back({"delta", delta_.data(), delta_.size() * sizeof(double)});
  return result;
}

// omega_i ~ PG(1, theta_i), theta by (M32). Reads the factors, writes theta and omega, O(cells R K). Returns the
// log-likelihood.    (M34)
double LogisticChain::draw_latent() {
  logits(pool_, model(), cells_.coords.data(), cells_.size(), theta_.data());
  const StreamKey key = stream_key(problem_.seed, number_, Purpose::polya_gamma);
  const Blocks blocks{cells_.size(), cells_per_block};
  std::vector<double> sums(blocks.count(), 0.0);
  pool_.for_blocks(blocks.count(), [&](std::size_t b) {
    for (std::size_t i = blocks.begin(b); i < blocks.end(b); ++i) {
      const double theta = theta_[i];
      if (!std::isfinite(theta))
        throw Error(ErrorKind::numeric, fmt::format("sweep {}: the logit of a cell is not a finite number", t_));
      Stream stream(key, t_, i);
      omega_[i] = static_cast<float>(draw_polya_gamma(stream, theta));
      sums[b] -= std::log1p(std::exp(-std::abs(theta))) + std::max(0.0, cells_.one[i] != 0 ? -theta : theta);
    }
  });
  latent_step_ = t_;
  double sum = 0;
  for (const double part : sums) sum += part;
  return sum;
}

// u^(k)[j, .] given the other modes, for every j. Reads omega, writes u^(k), O(cells R^2 + n R^3).           (M35)
void LogisticChain::draw_rows(std::size_t k) {
  const Blocks blocks{u_[k].rows(), std::clamp<std::size_t>(u_[k].rows() / 64, 1, most_rows_per_block)};
  pool_.for_blocks(blocks.count(), [&](std::size_t b) {
    RowWork work(problem_.R);
    for (std::size_t j = blocks.begin(b); j < blocks.end(b); ++j) draw_row(k, j, work);
  });
}

void LogisticChain::draw_row(std::size_t k, std::size_t j, RowWork& work) {
  const std::size_t K = order(), R = problem_.R;
  const float b = static_cast<float>(intercept_);
  std::vector<float> w(padded(R), 0.0f);
  std::copy(weight_.begin(), weight_.end(), w.begin());
  const RowIndex& index = by_row_[k];
  work.clear();
  for (std::uint64_t at = index.begin[j]; at < index.begin[j + 1]; ++at) {
    const std::size_t i = index.entry.empty() ? at : index.entry[at];
    const float root = std::sqrt(omega_[i]);
    float* x = work.features();
    for (std::size_t r = 0; r < w.size(); ++r) x[r] = root * w[r];
    for (std::size_t other = 0; other < K; ++other) {
      if (other == k) continue;
      const float* row = u_[other].row(cells_.coords[i * K + other]);
      for (std::size_t r = 0; r < w.size(); ++r) x[r] *= row[r];
    }
    work.add((cells_.one[i] != 0 ? 0.5f : -0.5f) / root - root * b);
  }
  work.flush();
  Stream stream(stream_key(problem_.seed, number_, Purpose::rival_rows, static_cast<std::uint32_t>(k)), t_, j);
  Eigen::VectorXd value;
  if (!work.draw(std::vector<double>(R, ridge_), stream, value))
    throw Error(
        ErrorKind::numeric,
        fmt::format("sweep {}: mode {}, row {}: the normal distribution to draw from is degenerate", t_, k + 1, j + 1));
  for (std::size_t r = 0; r < R; ++r) u_[k].row(j)[r] = static_cast<float>(value[static_cast<Eigen::Index>(r)]);
}

// w and b together, given all factors. Reads omega, writes w and b, O(cells R^2).                            (M36)
void LogisticChain::draw_weights() {
  const std::size_t K = order(), R = problem_.R;
  const Blocks blocks{cells_.size(), 16 * cells_per_block};
  std::vector<RowWork> parts;
  for (std::size_t b = 0; b < blocks.count(); ++b) parts.emplace_back(R + 1);
  pool_.for_blocks(blocks.count(), [&](std::size_t b) {
    parts[b].clear();
    for (std::size_t i = blocks.begin(b); i < blocks.end(b); ++i) {
      const float root = std::sqrt(omega_[i]);
      float* x = parts[b].features();
      std::fill(x, x + padded(R), root);
      for (std::size_t k = 0; k < K; ++k) {
        const float* row = u_[k].row(cells_.coords[i * K + k]);
        for (std::size_t r = 0; r < padded(R); ++r) x[r] *= row[r];
      }
      x[R] = root;
      parts[b].add((cells_.one[i] != 0 ? 0.5f : -0.5f) / root);
    }
    parts[b].flush();
  });
  for (std::size_t b = 1; b < parts.size(); ++b) parts[0].take(parts[b]);
  std::vector<double> precision = precision_;
  precision.push_back(intercept_precision);
  Stream stream(stream_key(problem_.seed, number_, Purpose::rival_rows, static_cast<std::uint32_t>(K)), t_, 0);
  Eigen::VectorXd value;
  if (!parts[0].draw(precision, stream, value))
    throw Error(ErrorKind::numeric, fmt::format("sweep {}: the normal distribution of the weights is degenerate", t_));
  for (std::size_t r = 0; r < R; ++r) weight_[r] = value[static_cast<Eigen::Index>(r)];
  intercept_ = value[static_cast<Eigen::Index>(R)];
}

// delta given the weights, one after the other, and tau_r = delta_1 ... delta_r. Reads w, writes delta and tau, O(R^2).
// (M38)
void LogisticChain::draw_shrinkage() {
  const std::size_t R = problem_.R;
  const StreamKey key = stream_key(problem_.seed, number_, Purpose::rival_weights);
  for (std::size_t h = 0; h < R; ++h) {
    double tau = 1, sum = 0;  // tau without delta_h
    for (std::size_t r = 0; r < R; ++r) {
      if (r != h) tau *= delta_[r];
      if (r >= h) sum += tau * weight_[r] * weight_[r];
    }
    const double shape = (h == 0 ? first_shape : later_shapes) + 0.5 * static_cast<double>(R - h);
    Stream stream(key, t_, h);
    delta_[h] = std::exp(draw_log_gamma(stream, shape)) / (1 + 0.5 * sum);
  }
  double tau = 1;
  for (std::size_t r = 0; r < R; ++r) precision_[r] = tau *= delta_[r];
}

}  // namespace ztp
