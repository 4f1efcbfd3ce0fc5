// What missing cells ask of a kernel and of a chain. Oracle: cpu against the reference and both against plain loops.
// Parity: the same bits for any number of threads, after a restart, and without anything missing. Everything is a
// function of the seed 11; there is no chance in a run.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>
#include <tuple>
#include <vector>

#include "kernel/entry_draw.hpp"
#include "kernel/kernel.hpp"
#include "model/distributions.hpp"
#include "sampler/chain.hpp"
#include "tensor/records.hpp"

namespace ztp {
namespace {

constexpr std::uint64_t seed = 11;
constexpr std::size_t some_blocks = 2 * 4096 + 17;  // entries: several blocks and a bit
constexpr unsigned team_sizes[] = {2, 3};

StreamKey key(std::uint32_t what) {
  return stream_key(seed, what, Purpose::simulate);
}

template <class T>
bool same_bits(const Matrix<T>& a, const Matrix<T>& b) {
  return a.bytes() == b.bytes() && std::memcmp(a.row(0), b.row(0), a.bytes()) == 0;
}
bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

// ---- allocate -------------------------------------------------------------------------------------------------------

enum class Kind { ones, counts, missing };
enum class Size { moderate, tiny, huge };

struct Case {
  std::size_t K, R, entries;
  Kind kind = Kind::missing;
  Size rates = Size::moderate;
  std::string name() const {
    return fmt::format("K = {}, R = {}, {} entries of kind {}, rates {}", K, R, entries, static_cast<int>(kind),
                       static_cast<int>(rates));
  }
};

struct World {
  std::vector<Matrix<float>> u;
  std::vector<double> log_weight;
  std::vector<std::uint32_t> coords;
  std::vector<std::int64_t> counts;
  bool missing = false;

  std::size_t size() const { return coords.size() / u.size(); }
  Entries entries() const { return {coords.data(), counts.empty() ? nullptr : counts.data(), size(), missing}; }
  Rates rates() const {
    std::vector<const Matrix<float>*> pointers;
    for (const auto& matrix : u) pointers.push_back(&matrix);
    return make_rates(pointers, log_weight);
  }
};

// Columns from a Dirichlet, modes of one row among them.
void draw_factors(const Case& c, World& world) {
  static constexpr std::size_t rows_of_mode[] = {41, 301, 1, 2, 8, 1, 3, 40, 6, 2, 9, 4};
  Pool pool(1);
  const auto reference = make_kernel("reference", pool);
  for (std::size_t k = 0; k < c.K; ++k) {
    const Matrix<std::int64_t> S(rows_of_mode[k], c.R);
    Matrix<float>& u = world.u.emplace_back(S.rows(), c.R);
    reference->draw_columns({S, 0.3}, key(1), static_cast<std::uint32_t>(k), u);
    for (std::size_t j = 0; j < S.rows() && c.rates == Size::tiny; j += 2)
      for (std::size_t r = 0; r < c.R; ++r) u.row(j)[r] *= 1e-10f;  // products pass below the smallest float
  }
}

World make_world(const Case& c) {
  World world;
  world.missing = c.kind == Kind::missing;
  draw_factors(c, world);
  double log_volume = 0;
  for (const auto& u : world.u) log_volume += std::log(static_cast<double>(u.rows()));
  for (std::size_t e = 0; e < c.entries; ++e) {
    Stream stream(key(2), 0, e);
    for (const auto& u : world.u) world.coords.push_back(static_cast<std::uint32_t>(stream.below(u.rows())));
    if (c.kind == Kind::counts) world.counts.push_back(1 + static_cast<std::int64_t>(stream.below(30)));
  }
  sort_records(world.coords.data(), c.entries, c.K, nullptr);
  for (std::size_t r = 0; r < c.R; ++r) {
    Stream stream(key(3), 0, r);
    const double per_cell = c.rates == Size::huge ? std::log(1e4) : 0;
    world.log_weight.push_back(log_volume + per_cell + draw_normal(stream) - std::log(static_cast<double>(c.R)));
  }
  return world;
}

struct Result {
  std::vector<Matrix<std::int64_t>> rows;
  std::vector<std::int64_t> totals;
  std::vector<Part> parts;  // in one piece
  double log_likelihood = 0;
};

Result allocate(Kernel& kernel, const World& world) {
  Result result;
  const Rates rates = world.rates();
  Sums sums;
  Allocation parts;
  for (const auto& u : world.u) result.rows.emplace_back(u.rows(), rates.R);
  for (auto& rows : result.rows) sums.rows.push_back(&rows);
  result.totals.assign(rates.R, 0);
  sums.totals = result.totals.data();
  sums.parts = &parts;
  result.log_likelihood = kernel.allocate(world.entries(), rates, key(4), 3, sums);
  for (const auto& block : parts) result.parts.insert(result.parts.end(), block.begin(), block.end());
  return result;
}

// Positive, in the order of the entries, and in every mode and in total what the sums say.
void expect_parts_are_the_sums(const Result& result, const World& world, const std::string& name) {
  const std::size_t K = world.u.size(), R = result.totals.size();
  std::vector<Matrix<std::int64_t>> rows;
  for (const auto& u : world.u) rows.emplace_back(u.rows(), R);
  std::vector<std::int64_t> totals(R, 0), of_entry(world.size(), 0);
  std::uint32_t last = 0;
  for (const Part& part : result.parts) {
    ASSERT_GT(part.count, 0) << name;
    ASSERT_GE(part.entry, last) << name;
    last = part.entry;
    for (std::size_t k = 0; k < K; ++k) rows[k].row(world.coords[part.entry * K + k])[part.component] += part.count;
    totals[part.component] += part.count;
    of_entry[part.entry] += part.count;
  }
  for (std::size_t k = 0; k < K; ++k) EXPECT_TRUE(same_bits(rows[k], result.rows[k])) << name;
  EXPECT_EQ(totals, result.totals) << name;
  if (!world.counts.empty()) {
    EXPECT_EQ(of_entry, world.counts) << name;
  } else if (!world.missing) {
    EXPECT_GE(*std::min_element(of_entry.begin(), of_entry.end()), 1) << name;
  }
}

// The units that one kernel has given to another component, or has and the other has not.
double units_moved(const Result& a, const Result& b) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> difference;
  for (const Part& part : a.parts) difference[{part.entry, part.component}] += static_cast<double>(part.count);
  for (const Part& part : b.parts) difference[{part.entry, part.component}] -= static_cast<double>(part.count);
  double gained = 0, lost = 0;
  for (const auto& [where, units] : difference) (units > 0 ? gained : lost) += std::abs(units);
  return std::max(gained, lost);
}

// The rate of each cell, worked out in logs without a kernel.
std::vector<double> plain_rates(const World& world) {
  const std::size_t K = world.u.size();
  std::vector<double> z(world.size(), 0.0);
  for (std::size_t e = 0; e < world.size(); ++e)
    for (std::size_t r = 0; r < world.log_weight.size(); ++r) {
      double log_rate = world.log_weight[r];
      for (std::size_t k = 0; k < K; ++k)
        log_rate += std::log(static_cast<double>(world.u[k].row(world.coords[e * K + k])[r]) /
                             static_cast<double>(world.u[k].rows()));
      z[e] += std::exp(log_rate);
    }
  return z;
}

// As in kernel_test: float products put every boundary between components, and z itself, within delta of its place
// relative to the rate; a unit then lands elsewhere, or appears, with probability at most 2 R delta. That plus six
// standard deviations, and where a cell has many units a rejection that one kernel alone makes moves sqrt(y) at once.
double moves_allowed(const Case& c, const Result& reference, const std::vector<double>& z) {
  const double R = static_cast<double>(c.R), K = static_cast<double>(c.K);
  const double delta = (K + 1 + std::ceil(R / 16) + 16) * 0x1p-24;
  double units = 0;
  for (const std::int64_t total : reference.totals) units += static_cast<double>(total);
  const double most = c.kind == Kind::counts ? 30 : *std::max_element(z.begin(), z.end());
  const double expected = 2 * R * delta * units;
  return expected + 6 * std::sqrt(expected * std::max(1.0, std::sqrt(most)));
}

TEST(Oracle, AllocateOfMissingCellsAndTheirParts) {
  Pool pool(2);
  const auto cpu = make_kernel("cpu", pool), reference = make_kernel("reference", pool);
  for (const std::size_t K : {2, 3, 12})
    for (const std::size_t R : {1, 3, 15, 16, 17, 100})
      for (const std::size_t entries : {std::size_t{1}, some_blocks})
        for (const Size size : {Size::moderate, Size::tiny, Size::huge}) {
          const Case c{K, R, entries, Kind::missing, size};
          const World world = make_world(c);
          const Result fast = allocate(*cpu, world), slow = allocate(*reference, world);
          expect_parts_are_the_sums(fast, world, c.name());
          expect_parts_are_the_sums(slow, world, c.name());
          const std::vector<double> z = plain_rates(world);
          EXPECT_LE(units_moved(fast, slow), moves_allowed(c, slow, z)) << c.name();
          // The likelihood of what is missing takes back the rate that all cells are charged for, but for cells whose
          // count is zero for sure: those may be passed over.
          const double rate = std::accumulate(z.begin(), z.end(), 0.0);
          const double passed_over = static_cast<double>(entries) * std::exp(log_smallest_mean);
          EXPECT_NEAR(slow.log_likelihood, rate, 1e-9 * rate + passed_over) << c.name();
          EXPECT_NEAR(fast.log_likelihood, rate, 1e-5 * rate + passed_over) << c.name();
        }
}

TEST(Oracle, PartsOfOnesAndCounts) {
  Pool pool(2);
  const auto cpu = make_kernel("cpu", pool), reference = make_kernel("reference", pool);
  for (const Kind kind : {Kind::ones, Kind::counts})
    for (const std::size_t R : {1, 16, 17, 100})
      for (const Size size : {Size::moderate, Size::tiny, Size::huge}) {
        const Case c{3, R, some_blocks, kind, size};
        const World world = make_world(c);
        const Result fast = allocate(*cpu, world), slow = allocate(*reference, world);
        expect_parts_are_the_sums(fast, world, c.name());
        expect_parts_are_the_sums(slow, world, c.name());
        EXPECT_LE(units_moved(fast, slow), moves_allowed(c, slow, plain_rates(world))) << c.name();
      }
}

// Shares that are small integers times a power of two are added up without rounding in float and in double, so that
// both kernels must write the very same parts in the same order. No share is the sum of those after it: there a
// binomial has p = 1/2, where it turns from counting successes to counting failures, and the last bit of p decides.
TEST(Oracle, PartsAreTheSameWhereFloatsAreExact) {
  Pool pool(2);
  const auto cpu = make_kernel("cpu", pool), reference = make_kernel("reference", pool);
  for (const Kind kind : {Kind::ones, Kind::counts, Kind::missing})
    for (const std::size_t R : {3, 17, 100}) {
      const Case c{3, R, some_blocks, kind};
      World world = make_world(c);
      world.log_weight.assign(R, std::log(41.0 * 301) - std::log(150.0) - std::log(static_cast<double>(R) / 10));
      for (std::size_t k = 0; k < c.K; ++k)
        for (std::size_t j = 0; j < world.u[k].rows(); ++j)
          for (std::size_t r = 0; r < R; ++r)
            world.u[k].row(j)[r] = k == 0 ? static_cast<float>(100 + (3 * r + 17 * j) % 100)  // no two are the same
                                          : std::ldexp(1.0f, -static_cast<int>(j % 4));
      const Result fast = allocate(*cpu, world), slow = allocate(*reference, world);
      ASSERT_EQ(fast.parts.size(), slow.parts.size()) << c.name();
      EXPECT_GT(fast.parts.size(), 1000u) << c.name();
      for (std::size_t i = 0; i < fast.parts.size(); ++i) {
        const auto as_tuple = [](const Part& part) { return std::tuple(part.entry, part.component, part.count); };
        ASSERT_EQ(as_tuple(fast.parts[i]), as_tuple(slow.parts[i])) << c.name();
      }
    }
}

// A missing cell that no component can reach is no error, as it would be for a one: its count is zero.
TEST(Oracle, MissingCellsOfRateZeroStayEmpty) {
  Pool pool(2);
  for (const char* name : {"cpu", "reference"}) {
    World world = make_world({3, 17, some_blocks});
    const std::uint32_t row = world.coords[3 * 5000];
    std::fill(world.u[0].row(row), world.u[0].row(row) + 17, 0.0f);
    const Result result = allocate(*make_kernel(name, pool), world);
    std::int64_t there = 0, all = 0;
    for (std::size_t r = 0; r < 17; ++r) {
      there += result.rows[0].row(row)[r];
      all += result.totals[r];
    }
    EXPECT_EQ(there, 0) << name;
    EXPECT_GT(all, 0) << name;
  }
}

// ---- place, column_mass, tally --------------------------------------------------------------------------------------

// Mostly zero, some of them enormous, and values on both sides of 256.
Matrix<std::int64_t> sparse_counts(std::size_t rows, std::size_t R) {
  Matrix<std::int64_t> S(rows, R);
  for (std::size_t j = 0; j < rows; ++j)
    for (std::size_t r = 0; r < R; ++r) {
      Stream stream(key(5), static_cast<std::uint32_t>(r), j);
      if (r % 5 == 4 || stream.below(3) != 0) continue;
      const std::uint64_t which = stream.below(50);
      S.row(j)[r] = which == 0 ? 10'000'000'000 : static_cast<std::int64_t>(which < 5 ? 252 + which : stream.below(20));
    }
  return S;
}

Matrix<float> columns(std::size_t rows, std::size_t R) {
  Pool pool(1);
  Matrix<float> u(rows, R);
  make_kernel("reference", pool)->draw_columns({sparse_counts(rows, R), 0.1}, key(6), 1, u);
  return u;
}

// No mask, and one for each value wanted: a third of the rows is marked.
struct Masks {
  std::vector<std::uint8_t> mark;
  explicit Masks(std::size_t rows) {
    for (std::size_t j = 0; j < rows; ++j) mark.push_back(Stream(key(7), 0, j).below(3) == 0 ? 1 : 0);
  }
  std::vector<Rows> all() const { return {{}, {mark.data(), 1}, {mark.data(), 0}}; }
};

// From none to a billion; a component whose wanted rows have no share at all can have none.
std::vector<std::int64_t> totals_to_place(const Matrix<float>& u, Rows rows) {
  static constexpr std::int64_t some[] = {1, 0, 9, 2, 1'000'000'000, 8, 300, 5};
  std::vector<std::int64_t> totals;
  for (std::size_t r = 0; r < u.columns(); ++r) {
    double mass = 0;
    for (std::size_t j = 0; j < u.rows(); ++j) mass += rows.contains(j) ? static_cast<double>(u.row(j)[r]) : 0;
    totals.push_back(mass > 0 ? some[r % std::size(some)] : 0);
  }
  return totals;
}

Matrix<std::int64_t> place(Kernel& kernel, const Matrix<float>& u, Rows rows) {
  Matrix<std::int64_t> S(u.rows(), u.columns());
  for (std::size_t j = 0; j < u.rows(); ++j) std::fill(S.row(j), S.row(j) + u.columns(), 7);  // it adds
  kernel.place(u, rows, totals_to_place(u, rows), {key(8), 5}, {{&S}});
  return S;
}

void expect_placed(const Matrix<std::int64_t>& S, const Matrix<float>& u, Rows rows, const std::string& name) {
  const std::vector<std::int64_t> totals = totals_to_place(u, rows);
  for (std::size_t r = 0; r < u.columns(); ++r) {
    std::int64_t column = 0;
    for (std::size_t j = 0; j < u.rows(); ++j) {
      const bool may_have_some = rows.contains(j) && u.row(j)[r] > 0;
      ASSERT_GE(S.row(j)[r], 7) << name;
      ASSERT_TRUE(may_have_some || S.row(j)[r] == 7) << name << ", row " << j;
      column += S.row(j)[r] - 7;
    }
    ASSERT_EQ(column, totals[r]) << name << ", component " << r;
  }
}

constexpr std::size_t row_counts[] = {1, 2, 255, 256, 257, 700};
constexpr std::size_t ranks[] = {1, 3, 16, 17, 100};

// Both kernels work in double on the same numbers in the same order, so they give the very same counts.
TEST(Oracle, Place) {
  Pool pool(2);
  const auto cpu = make_kernel("cpu", pool), reference = make_kernel("reference", pool);
  for (const std::size_t n : row_counts)
    for (const std::size_t R : ranks) {
      const Matrix<float> u = columns(n, R);
      const Masks masks(n);
      for (const Rows& rows : masks.all()) {
        const std::string name = fmt::format("{} rows, R = {}, {} mask, {} wanted", n, R,
                                             rows.mask == nullptr ? "no" : "a", static_cast<int>(rows.wanted));
        const Matrix<std::int64_t> fast = place(*cpu, u, rows), slow = place(*reference, u, rows);
        expect_placed(fast, u, rows, name);
        EXPECT_TRUE(same_bits(fast, slow)) << name;
      }
    }
}

// A mask that wants no row has no mass and nothing to place.
TEST(Oracle, NoRowsWanted) {
  Pool pool(2);
  for (const char* name : {"cpu", "reference"}) {
    const auto kernel = make_kernel(name, pool);
    const Matrix<float> u = columns(300, 17);
    const std::vector<std::uint8_t> none(300, 0);
    const Rows rows{none.data(), 1};
    EXPECT_EQ(kernel->column_mass(u, rows), std::vector<double>(17, 0.0)) << name;
    const Matrix<std::int64_t> S = place(*kernel, u, rows);
    for (std::size_t j = 0; j < 300; ++j)
      for (std::size_t r = 0; r < 17; ++r) ASSERT_EQ(S.row(j)[r], 7) << name;
  }
}

TEST(Oracle, ColumnMass) {
  Pool pool(2);
  for (const char* name : {"cpu", "reference"}) {
    const auto kernel = make_kernel(name, pool);
    for (const std::size_t n : row_counts)
      for (const std::size_t R : ranks) {
        const Matrix<float> u = columns(n, R);
        const Masks masks(n);
        for (const Rows& rows : masks.all()) {
          const std::vector<double> mass = kernel->column_mass(u, rows);
          ASSERT_EQ(mass.size(), R);
          for (std::size_t r = 0; r < R; ++r) {
            double expected = 0;
            for (std::size_t j = 0; j < n; ++j)
              if (rows.mask == nullptr || rows.mask[j] == rows.wanted) expected += static_cast<double>(u.row(j)[r]);
            expected /= static_cast<double>(n);
            ASSERT_NEAR(mass[r], expected, 1e-12 * expected) << name << ", " << n << " rows, R = " << R;
          }
        }
      }
  }
}

TEST(Oracle, Tally) {
  Pool pool(2);
  for (const char* name : {"cpu", "reference"}) {
    const auto kernel = make_kernel(name, pool);
    EXPECT_TRUE(kernel->tally(Matrix<std::int64_t>(10, 17)).empty()) << name;
    for (const std::size_t n : {1, 2, 4095, 4096, 4097, 9000})
      for (const std::size_t R : {1, 3, 17}) {
        const Matrix<std::int64_t> S = sparse_counts(n, R);
        std::map<std::int64_t, std::int64_t> times;
        for (std::size_t j = 0; j < n; ++j)
          for (std::size_t r = 0; r < R; ++r)
            if (S.row(j)[r] > 0) ++times[S.row(j)[r]];
        EXPECT_EQ(kernel->tally(S), Tally(times.begin(), times.end())) << name << ", " << n << " rows, R = " << R;
      }
  }
}

// ---- parity of the kernel -------------------------------------------------------------------------------------------

bool same_parts(const std::vector<Part>& a, const std::vector<Part>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Part& x, const Part& y) {
    return x.entry == y.entry && x.component == y.component && x.count == y.count;
  });
}

TEST(Parity, AllocateWithParts) {
  Pool one(1);
  const auto alone = make_kernel("cpu", one);
  for (const Case& c : {Case{2, 3, some_blocks}, Case{3, 17, some_blocks, Kind::missing, Size::huge},
                        Case{12, 16, some_blocks, Kind::missing, Size::tiny}, Case{3, 100, some_blocks, Kind::ones},
                        Case{3, 17, some_blocks, Kind::counts}}) {
    const World world = make_world(c);
    const Result expected = allocate(*alone, world);
    for (const unsigned threads : team_sizes) {
      Pool pool(threads);
      const Result got = allocate(*make_kernel("cpu", pool), world);
      for (std::size_t k = 0; k < c.K; ++k) EXPECT_TRUE(same_bits(got.rows[k], expected.rows[k])) << c.name();
      EXPECT_EQ(got.totals, expected.totals) << c.name();
      EXPECT_TRUE(same_parts(got.parts, expected.parts)) << c.name();
      EXPECT_TRUE(same_bits({got.log_likelihood}, {expected.log_likelihood})) << c.name();
    }
  }
}

TEST(Parity, PlaceColumnMassAndTally) {
  Pool one(1);
  const auto alone = make_kernel("cpu", one);
  const Matrix<float> u = columns(1500, 17);
  const Masks masks(1500);
  const Matrix<std::int64_t> S = sparse_counts(9000, 17);
  for (const unsigned threads : team_sizes) {
    Pool pool(threads);
    const auto team = make_kernel("cpu", pool);
    for (const Rows& rows : masks.all()) {
      EXPECT_TRUE(same_bits(place(*team, u, rows), place(*alone, u, rows))) << threads;
      EXPECT_TRUE(same_bits(team->column_mass(u, rows), alone->column_mass(u, rows))) << threads;
    }
    EXPECT_EQ(team->tally(S), alone->tally(S)) << threads;
  }
}

// ---- chains ---------------------------------------------------------------------------------------------------------

struct Data {
  SparseTensor tensor;
  std::vector<Network> networks;
  Missing missing;
  Problem problem;
};

// Everything that can be missing at once: slices in two modes, listed cells, pairs of a network.
struct Shape {
  std::vector<std::uint32_t> sizes;
  std::size_t ones, listed, missing_entities, R;
};
const Shape small{{700, 300, 4}, 5000, 6000, 6, 20};

void add_network(std::size_t mode, std::size_t edges, Data& data) {
  Network network;
  network.mode = mode;
  const std::uint32_t n = data.tensor.modes[mode].labels.size();
  for (std::size_t e = 0; e < 2 * edges; ++e) {
    Stream stream(key(10), static_cast<std::uint32_t>(mode), e);
    const auto i = static_cast<std::uint32_t>(stream.below(n - 1));
    const std::uint32_t pair[] = {i, i + 1 + static_cast<std::uint32_t>(stream.below(n - 1 - i))};
    // By their sum, so that no pair is in both lists.
    ((pair[0] + pair[1]) % 3 == 0 ? network.missing : network.edges).append(pair, 2);
  }
  sort_and_merge_records(network.edges, 2);
  sort_and_merge_records(network.missing, 2);
  data.networks.push_back(std::move(network));
}

// Missing entities are the last of modes 0 and 1 and the first of mode 0. Ones and listed cells differ in whether the
// sum of their coordinates is a multiple of three.
void fill(const Shape& shape, Data& data) {
  const std::size_t K = shape.sizes.size();
  const auto gone = static_cast<std::uint32_t>(shape.missing_entities / 2);
  for (const std::uint32_t n : shape.sizes) data.tensor.modes.push_back({"mode", LabelTable::numbered(1, n)});
  data.missing.slices.resize(K);
  data.missing.slices[0].push_back(0);
  for (std::uint32_t j = 0; j < gone; ++j)
    for (const std::size_t k : {0, 1}) data.missing.slices[k].push_back(shape.sizes[k] - gone + j);
  Buffer<std::uint32_t> listed;
  for (std::size_t e = 0; data.tensor.nnz() < shape.ones || listed.size() < K * shape.listed; ++e) {
    Stream stream(key(11), 0, e);
    std::vector<std::uint32_t> cell;
    for (const std::uint32_t n : shape.sizes) cell.push_back(static_cast<std::uint32_t>(stream.below(n)));
    const bool in_slice = cell[0] == 0 || cell[0] >= shape.sizes[0] - gone || cell[1] >= shape.sizes[1] - gone;
    if ((cell[0] + cell[1] + cell[2]) % 3 == 0)
      listed.append(cell.data(), K);
    else if (!in_slice)
      data.tensor.coords.append(cell.data(), K);
  }
  data.tensor.sort_and_merge();
  add_missing_cells(data.tensor, listed, data.missing);
  add_network(0, 2000, data);
  add_network(1, 900, data);
  const double share = 1 / static_cast<double>(shape.R);
  data.problem = {&data.tensor, data.networks, {{0.1, 0.1, 0.1}, {0.1, 1, share}, {0.1, 1, share}, true, true},
                  shape.R,      seed,          &data.missing,
                  false,        true};
}

void expect_same(const Chain& a, const Chain& b, const std::string& name) {
  for (std::size_t k = 0; k < a.state().u.size(); ++k) {
    EXPECT_TRUE(same_bits(a.state().u[k], b.state().u[k])) << name;
    EXPECT_TRUE(same_bits(a.statistics().rows[k], b.statistics().rows[k])) << name;
  }
  EXPECT_TRUE(same_bits(a.state().tensor.log_weight, b.state().tensor.log_weight)) << name;
  EXPECT_TRUE(same_bits(a.state().tensor.log_p, b.state().tensor.log_p)) << name;
  for (std::size_t m = 0; m < a.state().networks.size(); ++m)
    EXPECT_TRUE(same_bits(a.state().networks[m].log_weight, b.state().networks[m].log_weight)) << name;
  EXPECT_TRUE(same_bits(a.learned(), b.learned())) << name;
  EXPECT_EQ(a.statistics().tensor, b.statistics().tensor) << name;
  EXPECT_EQ(a.statistics().networks, b.statistics().networks) << name;
  EXPECT_EQ(a.statistics().from_ones, b.statistics().from_ones) << name;
  EXPECT_EQ(a.statistics().from_edges, b.statistics().from_edges) << name;
}

std::vector<double> run(Chain& chain, int sweeps) {
  std::vector<double> log_likelihood;
  for (int t = 0; t < sweeps; ++t) log_likelihood.push_back(chain.sweep());
  return log_likelihood;
}

std::vector<double> start_and_run(Chain& chain, int sweeps) {
  chain.start();
  return run(chain, sweeps);
}

TEST(MissingChain, ThreadsMakeNoDifference) {
  Data data;
  fill(small, data);
  Pool one(1);
  const auto alone = make_kernel("cpu", one);
  Chain expected(data.problem, *alone, 0);
  const std::vector<double> log_likelihood = start_and_run(expected, 10);
  for (const unsigned threads : team_sizes) {
    Pool pool(threads);
    const auto team = make_kernel("cpu", pool);
    Chain chain(data.problem, *team, 0);
    EXPECT_TRUE(same_bits(start_and_run(chain, 10), log_likelihood)) << threads << " threads";
    expect_same(chain, expected, fmt::format("{} threads", threads));
  }
}

TEST(MissingChain, ResumedEqualsUninterrupted) {
  Data data;
  fill(small, data);
  Pool pool(2);
  const auto kernel = make_kernel("cpu", pool);
  for (const int stop : {0, 1, 4}) {
    Chain whole(data.problem, *kernel, 1), first(data.problem, *kernel, 1), second(data.problem, *kernel, 1);
    const std::vector<double> expected = start_and_run(whole, 7);
    std::vector<double> got = start_and_run(first, stop);
    std::swap(second.statistics(), first.statistics());
    second.shapes() = first.state().shapes;
    second.restore(first.steps_done());
    for (const double value : run(second, 7 - stop)) got.push_back(value);
    EXPECT_TRUE(same_bits(got, expected)) << stop;
    expect_same(second, whole, fmt::format("stopped after {} sweeps", stop));
  }
}

// Lists that are there and empty are the same as none at all, with networks and without.
TEST(MissingChain, NothingMissingIsTheSameAsNull) {
  Pool pool(2);
  const auto kernel = make_kernel("cpu", pool);
  for (const bool networks : {true, false}) {
    Data data;
    fill(small, data);
    if (!networks) data.problem.networks = {};
    Problem null = data.problem;
    null.missing = nullptr;
    Chain expected(null, *kernel, 0);
    const std::vector<double> log_likelihood = start_and_run(expected, 6);
    for (const std::size_t modes : {0, 3}) {
      Missing empty;
      empty.slices.resize(modes);
      Problem problem = data.problem;
      problem.missing = &empty;
      Chain chain(problem, *kernel, 0);
      EXPECT_TRUE(same_bits(start_and_run(chain, 6), log_likelihood)) << modes << " empty lists";
      expect_same(chain, expected, fmt::format("{} empty lists", modes));
    }
    // And what is missing makes a difference.
    Chain other(data.problem, *kernel, 0);
    EXPECT_FALSE(same_bits(start_and_run(other, 6), log_likelihood));
  }
}

std::int64_t sum(const std::vector<std::int64_t>& values) {
  return std::accumulate(values.begin(), values.end(), std::int64_t{0});
}

// Row sums of every mode are the totals, plus two ends for each count of a network of that mode; what comes from ones
// is part of it and has a count for each one.
TEST(MissingChain, RowSumsAreTotals) {
  Data data;
  fill(small, data);
  Pool pool(2);
  const auto kernel = make_kernel("cpu", pool);
  Chain chain(data.problem, *kernel, 0);
  chain.start();
  for (int t = 0; t < 5; ++t) {
    chain.sweep();
    const Statistics& statistics = chain.statistics();
    for (std::size_t r = 0; r < data.problem.R; ++r) {
      ASSERT_LE(statistics.from_ones[r], statistics.tensor[r]);
      for (std::size_t k = 0; k < 3; ++k) {
        std::int64_t expected = statistics.tensor[r], column = 0;
        for (std::size_t m = 0; m < data.networks.size(); ++m)
          if (data.networks[m].mode == k) expected += 2 * statistics.networks[m][r];
        for (std::size_t j = 0; j < statistics.rows[k].rows(); ++j) column += statistics.rows[k].row(j)[r];
        ASSERT_EQ(column, expected);
      }
    }
    EXPECT_GE(sum(statistics.from_ones), static_cast<std::int64_t>(data.tensor.nnz()));
    EXPECT_GT(sum(statistics.tensor), sum(statistics.from_ones));
  }
}

// 10^15 cells, of which 2 * 10^12 are in missing slices: a sweep that looked at each of them would take an hour at the
// least, and one that does not takes a fraction of a second. The limit is far from both.
TEST(MissingChain, ASweepDoesNotLookAtEveryMissingCell) {
  Data data;
  fill({{100'000, 100'000, 100'000}, 2000, 1000, 200, 3}, data);
  EXPECT_GT(missing_volume(data.tensor, data.missing), 1.9e12);
  Pool pool(1);
  const auto kernel = make_kernel("cpu", pool);
  Chain chain(data.problem, *kernel, 0);
  chain.start();
  const auto before = std::chrono::steady_clock::now();
  chain.sweep();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - before;
  EXPECT_LT(took.count(), 60);
  RecordProperty("seconds", fmt::format("{}", took.count()));
}

}  // namespace
}  // namespace ztp
