// A chain's data, and a kernel in which one number goes bad when it is told to.
#pragma once
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "errors.hpp"
#include "kernel/kernel.hpp"
#include "sampler/problem.hpp"

namespace ztp::test {

inline constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
inline constexpr float infinite = std::numeric_limits<float>::infinity();

// The real kernel, but for one draw of columns in which a value is replaced, as if its gamma draw had gone wrong.
class FaultyKernel final : public Kernel {
 public:
  struct Fault {
    std::size_t draw;                // which call of draw_columns, from 0
    std::optional<std::size_t> row;  // none: all of the column
    std::size_t component;
    float value;
  };
  explicit FaultyKernel(Kernel& real) : real_(real) {}
  void plant(const Fault& fault) {
    fault_ = fault;
    calls_ = 0;
  }

  std::vector<double> draw_columns(const Columns& columns, StreamKey key, std::uint32_t sweep,
                                   Matrix<float>& u) override {
    std::vector<double> sums = real_.draw_columns(columns, key, sweep, u);
    if (!fault_ || calls_++ != fault_->draw) return sums;
    const std::size_t r = fault_->component;
    for (std::size_t j = 0; j < u.rows(); ++j)
      if (!fault_->row || *fault_->row == j) u.row(j)[r] = fault_->value;
    sums[r] = 0;
    for (std::size_t j = 0; j < u.rows(); ++j) sums[r] += static_cast<double>(u.row(j)[r]);
    fault_.reset();
    return sums;
  }
  double allocate(const Entries& entries, const Rates& rates, StreamKey key, std::uint32_t sweep,
                  const Sums& sums) override {
    if (allocations_left_ == 0) throw Error(ErrorKind::numeric, "planted in the counts");
    if (allocations_left_ > 0) --allocations_left_;
    return real_.allocate(entries, rates, key, sweep, sums);
  }
  void fail_after(int allocations) { allocations_left_ = allocations; }

  void mean_columns(const Columns& columns, Matrix<float>& u) override { real_.mean_columns(columns, u); }
  double impute_diagonal(const Matrix<float>& u, const std::vector<double>& log_beta, StreamKey key,
                         std::uint32_t sweep, const Sums& sums) override {
    return real_.impute_diagonal(u, log_beta, key, sweep, sums);
  }
  std::vector<double> column_mass(const Matrix<float>& u, Rows rows) override { return real_.column_mass(u, rows); }
  void place(const Matrix<float>& u, Rows rows, const std::vector<std::int64_t>& totals, const Streams& streams,
             const Sums& sums) override {
    real_.place(u, rows, totals, streams, sums);
  }
  void spread(const Matrix<float>& u, Rows rows, int power, const std::vector<double>& factor,
              Matrix<std::int64_t>& S) override {
    real_.spread(u, rows, power, factor, S);
  }
  void shift(int bits, Matrix<std::int64_t>& S) override { real_.shift(bits, S); }
  void move(const Matrix<std::int64_t>& towards, double part, Matrix<std::int64_t>& S) override {
    real_.move(towards, part, S);
  }
  Tally tally(const Matrix<std::int64_t>& S) override { return real_.tally(S); }
  void score(const std::uint32_t* coords, std::size_t count, const Rates& rates, double* z) override {
    real_.score(coords, count, rates, z);
  }
  void add_probabilities(std::span<const CandidateDraw> draws, std::size_t R, std::size_t tiles,
                         Matrix<float>& sums) override {
    real_.add_probabilities(draws, R, tiles, sums);
  }

 private:
  Kernel& real_;
  std::optional<Fault> fault_;
  std::size_t calls_ = 0;
  int allocations_left_ = -1;
};

// 40 users x 30 items x 20 days with a ring of users, and the first two days missing.
struct FaultyWorld {
  SparseTensor tensor;
  std::vector<Network> networks;
  Missing missing;
  Pool pool{2};
  std::unique_ptr<Kernel> real = make_kernel("cpu", pool);
  FaultyKernel kernel{*real};
  Problem problem;

  explicit FaultyWorld(bool plain = true) {
    const std::vector<std::pair<const char*, std::uint32_t>> modes = {{"user", 40}, {"item", 30}, {"day", 20}};
    for (const auto& [name, size] : modes) tensor.modes.push_back({name, LabelTable::numbered(1, size)});
    Stream stream(stream_key(3, 0, Purpose::simulate), 0, 0);
    for (int e = 0; e < 800; ++e)
      for (const auto& [name, size] : modes)
        tensor.coords.push_back(static_cast<std::uint32_t>(size == 20 ? 2 + stream.below(18) : stream.below(size)));
    tensor.sort_and_merge();
    problem.tensor = &tensor;
    problem.R = 5;
    problem.seed = 11;
    problem.hyper = {{0.1, 0.1, 0.1}, {0.1, 1, 0.2}, {0.1, 1, 0.2}};
    if (plain) return;
    Network& ring = networks.emplace_back();
    for (std::uint32_t j = 0; j < 39; ++j) ring.edges.push_back(j), ring.edges.push_back(j + 1);
    missing.slices = {{}, {}, {0, 1}};
    problem.networks = networks;
    problem.missing = &missing;
    problem.hyper.learn_dirichlet = problem.hyper.learn_shapes = true;
  }
};

inline std::string message_of(const std::function<void()>& body) {
  return error_of(body, ErrorKind::numeric);
}

inline const std::string remedy =
    "; fewer components, or --dirichlet and --gamma-shape nearer to their defaults, may help; if they are at their "
    "defaults, please report this";

}  // namespace ztp::test
