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
#include "forwarding_kernel.hpp"
#include "host_copies.hpp"
#include "sampler/problem.hpp"

namespace ztp::test {

inline constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
inline constexpr float infinite = std::numeric_limits<float>::infinity();

// The real kernel, but for one draw of columns in which a value is replaced, as if its gamma draw had gone wrong.
class FaultyKernel final : public ForwardingKernel {
 public:
  struct Fault {
    std::size_t draw;                // of which columns, from 0
    std::optional<std::size_t> row;  // none: all of the column
    std::size_t component;
    float value;
  };
  using ForwardingKernel::ForwardingKernel;
  void plant(const Fault& fault) {
    fault_ = fault;
    draws_ = 0;
  }
  void fail_after(int allocations) { allocations_left_ = allocations; }

  void draw_gammas(const Columns& columns, StreamKey key, std::uint32_t t, Factors& u) override {
    real_.draw_gammas(columns, key, t, u);
    if (fault_ && draws_++ == fault_->draw) spoil(u);
  }
  // The same columns once more, where their sum was not to be trusted.
  std::vector<double> draw_in_logs(const Columns& columns, const std::vector<std::size_t>& which,
                                   const std::vector<double>& log_rest, StreamKey key, std::uint32_t t,
                                   Factors& u) override {
    std::vector<double> sums = real_.draw_in_logs(columns, which, log_rest, key, t, u);
    for (std::size_t i = 0; fault_ && draws_ == fault_->draw + 1 && i < which.size(); ++i)
      if (which[i] == fault_->component) sums[i] = spoil(u);
    return sums;
  }
  ExactSum allocate(const Ones& ones, const Rates& rates, StreamKey key, const DrawSettings& settings,
                  const CountSums& sums) override {
    if (allocations_left_ == 0) throw Error(ErrorKind::numeric, "planted in the counts");
    if (allocations_left_ > 0) --allocations_left_;
    return real_.allocate(ones, rates, key, settings, sums);
  }

 private:
  // Returns the sum of the column.
  double spoil(Factors& u) const {
    Matrix<float> values = on_host(u);
    double sum = 0;
    for (std::size_t j = 0; j < u.rows(); ++j) {
      float& value = values.row(j)[fault_->component];
      if (!fault_->row || *fault_->row == j) value = fault_->value;
      sum += static_cast<double>(value);
    }
    write_rows(u, [&](std::size_t j, float* row) { std::copy_n(values.row(j), u.columns(), row); });
    return sum;
  }

  std::optional<Fault> fault_;
  std::size_t draws_ = 0;
  int allocations_left_ = -1;
};

// 40 users x 30 items x 20 days with a ring of users, and the first two days missing.
struct FaultyWorld {
  SparseTensor tensor;
  std::vector<Network> networks;
  Missing missing;
  Pool pool{2};
  std::unique_ptr<Kernel> real = make_kernel(KernelName::cpu, pool);
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
    problem.layout = FactorLayout::cp(tensor.sizes(), 5);
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
