// Oracle: scores of cells, their parts and probabilities of candidates against plain loops, over odd shapes, in every
// kernel and instruction set. Parity: for any number of threads, bit by bit. Everything is a function of the seed 7; no
// chance.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "kernel/cpu/candidates.hpp"
#include "worlds.hpp"

namespace ztp::test {
namespace score_tests {

constexpr std::uint64_t seed = 7;

TEST(Rates, SearchOrderIsAPermutation) {
  for (const std::size_t R : {1u, 15u, 16u, 17u, 100u}) {
    const std::vector<std::size_t> order = search_order(R);
    EXPECT_EQ(order.size(), R);
    EXPECT_EQ(std::set<std::size_t>(order.begin(), order.end()).size(), R);
  }
  EXPECT_EQ(search_order(20)[1], 16u);
}

// ---- cells ----------------------------------------------------------------------------------------------------------

std::vector<WorldCase> all_cases() {
  std::vector<WorldCase> cases;
  for (const std::size_t R : {1, 3, 15, 16, 17, 100})
    for (const std::size_t entries : {1, 2 * 4096 + 17}) {
      for (const bool tiny : {false, true}) cases.push_back({12, R, entries, Kind::ones, 1, Shape::cp, tiny});
      for (const WorldCase& c : few_cases(R, entries))
        if (c.kind == Kind::ones) cases.push_back(c);
    }
  return cases;
}

std::vector<double> score(Kernel& kernel, const World& world) {
  std::vector<double> z(world.size());
  const Loaded loaded(kernel, world, world.cells());
  kernel.score(world.coords.data(), world.size(), loaded.rates, z.data());
  return z;
}

std::vector<double> score_parts(Kernel& kernel, const World& world) {
  std::vector<double> parts(world.size() * world.R());
  const Loaded loaded(kernel, world, world.cells());
  kernel.score_parts(world.coords.data(), world.size(), loaded.rates, parts.data());
  return parts;
}

TEST(Oracle, Score) {
  Pool pool(2);
  for (const WorldCase& c : all_cases()) {
    World world = make_world(c, seed);
    // Cells to be predicted come in any order, and a rate of zero is a legal score.
    for (std::size_t e = 1; e < world.size() / 2; e += 2)
      std::swap_ranges(&world.coords[e * c.K], &world.coords[(e + 1) * c.K], &world.coords[(world.size() - e) * c.K]);
    std::fill_n(world.u[0].row(world.coords[0]), world.u[0].columns(), 0.0f);
    std::vector<double> wanted = plain_log_z(world);
    for (double& value : wanted) value = std::exp(value);
    for_each_variant(pool, [&](Kernel& kernel, const std::string& name) {
      const std::vector<double> z = score(kernel, world), parts = score_parts(kernel, world);
      EXPECT_EQ(z[0], 0);
      for (std::size_t e = 0; e < z.size(); ++e) {
        ASSERT_NEAR(z[e], wanted[e], (name == "reference" ? 1e-6 : 1e-5) * wanted[e]) << name << ", " << c.name();
        if (e % 50 > 0) continue;
        const std::vector<double> log_rates = plain_log_rates(world, e);
        for (std::size_t r = 0; r < c.R; ++r) {
          // A weight that is too small for a float beside the largest is none.
          const double part = c.tiny && r % 3 == 1 ? 0 : std::exp(log_rates[r]);
          ASSERT_NEAR(parts[e * c.R + r], part, 1e-6 * part) << name << ", " << c.name();
        }
      }
    });
  }
}

TEST(Parity, Score) {
  for (const WorldCase& c : few_cases(17, 2 * 4096 + 17)) {
    const World world = make_world(c, seed);
    const auto same = [](const std::vector<double>& a, const std::vector<double>& b) { return same_bits(a, b); };
    expect_parity(
        c.name(), [&](Kernel& kernel) { return score(kernel, world); }, same);
    expect_parity(
        c.name(), [&](Kernel& kernel) { return score_parts(kernel, world); }, same);
  }
}

// ---- candidates -----------------------------------------------------------------------------------------------------

// Two draws of n candidates and 8 queries a tile, the rates of which go from 1e-12 up. A float rate is within (P + 5)
// 2^-24 of itself, and each sum of two probabilities rounds once more.
void compare(std::size_t n, std::size_t P, std::size_t tiles) {
  using cpu::candidates_per_panel, cpu::queries_per_tile;
  const std::size_t panels = (n + candidates_per_panel - 1) / candidates_per_panel, queries = tiles * queries_per_tile;
  Matrix<float> u(n, P), packed(panels * P, candidates_per_panel);
  Buffer<float> weights(queries * P), scale(queries);
  Stream stream(stream_key(5, 0, Purpose::simulate), 0, n);
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t q = 0; q < P; ++q) u.row(j)[q] = static_cast<float>(stream.uniform());
  for (float& value : weights) value = static_cast<float>(stream.uniform());
  for (std::size_t i = 0; i < queries; ++i)
    scale[i] = static_cast<float>(std::pow(10.0, static_cast<double>(i % 14) - 12));
  Pool pool(2);
  for_each_kernel(pool, [&](Kernel& kernel, const std::string&) {
    const auto factors = upload(kernel, u);
    for (std::size_t panel = 0; panel < panels; ++panel) cpu::pack_panel(*factors, panel, packed.row(panel * P));
  });
  const cpu::CandidateDraw draw{packed.row(0), weights.data(), scale.data()};
  const std::vector<cpu::CandidateDraw> draws = {draw, draw};
  for_each_target([&](const std::string& target) {
    Matrix<float> sums(queries, panels * candidates_per_panel);
    cpu::add_probabilities(pool, draws, P, tiles, sums);
    for (std::size_t i = 0; i < queries; ++i)
      for (std::size_t j = 0; j < sums.columns(); ++j) {
        double z = 0;
        for (std::size_t q = 0; q < P && j < n; ++q)
          z += static_cast<double>(
                   weights[i / queries_per_tile * P * queries_per_tile + q * queries_per_tile + i % queries_per_tile]) *
               static_cast<double>(u.row(j)[q]);
        const double wanted = -2 * std::expm1(-z * static_cast<double>(scale[i]));
        ASSERT_NEAR(static_cast<double>(sums.row(i)[j]), wanted, wanted * 0x1p-24 * static_cast<double>(P + 10))
            << target << ", " << n << " candidates, P " << P << ", query " << i << ", candidate " << j;
      }
  });
}

TEST(Oracle, Candidates) {
  for (const std::size_t n : {1, 31, 32, 45, 200})
    for (const std::size_t P : {1, 7, 16, 33}) compare(n, P, 2);
  compare(70, 5, 70);  // more than one block of tiles
}

}  // namespace score_tests
}  // namespace ztp::test
