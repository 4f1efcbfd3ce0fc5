// The kernels that are tested. One that is added to kernel_names() must pass every test of tests/kernel.
#pragma once
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "elsewhere_kernel.hpp"
#include "host_copies.hpp"
#include "kernel/cuda/cuda_kernel.hpp"
#include "kernel/kernel.hpp"
#include "targets.hpp"

namespace ztp::test {

// `cuda` where there is a GPU and the library for it (make test-cuda).
inline const std::vector<std::string>& kernel_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all = {"cpu", "reference", "elsewhere"};
    if (has_cuda()) all.push_back("cuda");
    return all;
  }();
  return names;
}

// Those whose draws are tested by their distribution. Not `elsewhere`, which lets cpu draw: bit for bit the same, as
// elsewhere_test says.
inline std::vector<std::string> drawing_kernel_names() {
  std::vector<std::string> names = {"cpu", "reference"};
  if (has_cuda()) names.push_back("cuda");
  return names;
}

inline std::unique_ptr<Kernel> make_test_kernel(const std::string& name, Pool& pool) {
  if (name == "elsewhere") return std::make_unique<ElsewhereKernel>(make_kernel(KernelName::cpu, pool));
  return make_kernel(choice_named<KernelName>(name).value(), pool);
}

// check(kernel, name) for each of them.
template <class Check>
void for_each_kernel(Pool& pool, const Check& check) {
  for (const std::string& name : kernel_names()) check(*make_test_kernel(name, pool), name);
}

// check(kernel, name) for those that are compared with the reference: all others, and cpu in every instruction set.
template <class Check>
void for_each_fast_kernel(Pool& pool, const Check& check) {
  for (const std::string& name : kernel_names()) {
    if (name == "reference") continue;
    const auto kernel = make_test_kernel(name, pool);
    if (name == "cpu")
      for_each_target([&](const std::string& target) { check(*kernel, target); });
    else
      check(*kernel, name);
  }
}

// Those of them that know bounds: a GPU looks at all components.
template <class Check>
void for_each_bounding_kernel(Pool& pool, const Check& check) {
  for_each_fast_kernel(pool, [&](Kernel& kernel, const std::string& name) {
    if (name != "cuda") check(kernel, name);
  });
}

// All of these and the reference.
template <class Check>
void for_each_variant(Pool& pool, const Check& check) {
  check(*make_test_kernel("reference", pool), "reference");
  for_each_fast_kernel(pool, check);
}

// What make(kernel) returns must be the same for any number of threads, as same(one, other) says.
template <class Make, class Same>
void expect_parity(const std::string& what, const Make& make, const Same& same) {
  Pool one(1);
  for (const std::string& name : kernel_names()) {
    if (name == "reference") continue;
    const auto wanted = make(*make_test_kernel(name, one));
    for (const unsigned threads : {2u, 3u, 7u}) {
      Pool pool(threads);
      EXPECT_TRUE(same(make(*make_test_kernel(name, pool)), wanted)) << name << ", " << threads << " threads: " << what;
    }
  }
}

// For tests of distributions: each kernel draws from streams of its own. From the same ones they would make the same
// draws, and the second would tell nothing new.
class KernelDraws : public testing::TestWithParam<std::string> {
 protected:
  KernelDraws() : pool_(1), kernel_(make_test_kernel(GetParam(), pool_)) {}

  const std::string& name() const { return GetParam(); }
  StreamKey key(std::uint64_t seed, std::uint32_t test) const {
    const auto& names = kernel_names();
    const auto number = std::find(names.begin(), names.end(), name()) - names.begin();
    return stream_key(seed, test, Purpose::simulate, static_cast<std::uint32_t>(number));
  }

  Pool pool_;
  std::unique_ptr<Kernel> kernel_;
};

// ---- arrays ---------------------------------------------------------------------------------------------------------

// In one piece: a write may cost much more than what it copies.
template <class T>
void write_at_once(const Matrix<T>& from, RowArray<T>& to) {
  std::vector<T> packed;
  for (std::size_t j = 0; j < from.rows(); ++j) packed.insert(packed.end(), from.row(j), from.row(j) + from.columns());
  to.write({0, from.rows()}, packed.data());
}

inline std::unique_ptr<Factors> upload(Kernel& kernel, const Matrix<float>& u, std::uint64_t first_row = 0) {
  auto factors = kernel.factors(u.rows(), u.columns(), {.first = first_row});
  write_at_once(u, *factors);
  return factors;
}

inline std::unique_ptr<Counts> upload(Kernel& kernel, const Matrix<std::int64_t>& S, bool wide = false,
                                      std::uint64_t first_row = 0) {
  auto counts = kernel.counts(S.rows(), S.columns(), wide, {.first = first_row});
  write_at_once(S, *counts);
  return counts;
}

template <class T>
bool same_bits(const Matrix<T>& a, const Matrix<T>& b) {
  return a.bytes() == b.bytes() && std::memcmp(a.row(0), b.row(0), a.bytes()) == 0;
}
template <class T>
bool same_bits(const RowArray<T>& a, const RowArray<T>& b) {
  return same_bits(on_host(a), on_host(b));
}
inline bool same_bits(double a, double b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}
inline bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

template <class T>
std::vector<double> column_sums(const Matrix<T>& values) {
  std::vector<double> sums(values.columns(), 0.0);
  for (std::size_t j = 0; j < values.rows(); ++j)
    for (std::size_t q = 0; q < sums.size(); ++q) sums[q] += static_cast<double>(values.row(j)[q]);
  return sums;
}

}  // namespace ztp::test
