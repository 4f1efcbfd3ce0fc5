// Oracle: the fast kernel against the reference, over awkward shapes. Parity: the fast kernel against itself, for any
// number of threads, bit by bit. Everything is a function of the seed 7; there is no chance in a run.
#include "kernel/kernel.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "model/distributions.hpp"
#include "sampler/chain.hpp"
#include "targets.hpp"
#include "tensor/records.hpp"
#include "ztp/error.hpp"

namespace ztp {
namespace {

constexpr std::uint64_t seed = 7;
constexpr std::size_t some_blocks = 4 * 2048 + 17;  // entries: several blocks and a bit

enum class Size { moderate, tiny, huge };

struct Case {
  std::size_t K, R, entries;
  Size rates = Size::moderate;
  bool observed = false;
  std::string name() const {
    return fmt::format("K = {}, R = {}, {} entries, rates {}, {}", K, R, entries, static_cast<int>(rates),
                       observed ? "counts" : "ones");
  }
};

// A state and entries for a kernel to work on.
struct World {
  std::vector<Matrix<float>> u;
  std::vector<double> log_weight;
  std::vector<std::uint32_t> coords;
  std::vector<std::int64_t> counts;

  std::size_t size() const { return coords.size() / u.size(); }
  Entries entries() const { return {coords.data(), counts.empty() ? nullptr : counts.data(), size()}; }
  Rates rates() const {
    std::vector<const Matrix<float>*> pointers;
    for (const auto& matrix : u) pointers.push_back(&matrix);
    return make_rates(pointers, log_weight);
  }
};

// Modes of one row among them, and the last quarter of each larger mode left without an entry.
std::size_t rows_of_mode(std::size_t k) {
  static constexpr std::size_t rows[] = {41, 301, 1, 2, 8, 1, 3, 40, 6, 2, 9, 4};
  return rows[k];
}

StreamKey world_key(std::uint32_t purpose) {
  return stream_key(seed, purpose, Purpose::simulate);
}

void place_entries(const Case& c, World& world) {
  for (std::size_t e = 0; e < c.entries; ++e) {
    Stream stream(world_key(1), 0, e);
    for (std::size_t k = 0; k < c.K; ++k) {
      const std::size_t n = rows_of_mode(k);
      world.coords.push_back(static_cast<std::uint32_t>(stream.below(n - n / 4)));
    }
    const std::int64_t small = 1 + static_cast<std::int64_t>(stream.below(30));
    if (c.observed) world.counts.push_back(e % 1000 == 0 ? (std::int64_t{1} << 31) + small : small);  // past 32 bits
  }
}

// Factors as a chain would have them after its start: entries given to components at random, then columns from a
// Dirichlet.
void draw_factors(const Case& c, World& world) {
  Pool pool(1);
  const auto reference = make_kernel("reference", pool);
  for (std::size_t k = 0; k < c.K; ++k) {
    Matrix<std::int64_t> S(rows_of_mode(k), c.R);
    for (std::size_t e = 0; e < c.entries; ++e)
      S.row(world.coords[e * c.K + k])[Stream(world_key(2), 0, e).below(c.R)] += 1;
    world.u.emplace_back(rows_of_mode(k), c.R);
    reference->draw_columns({S, 0.1}, world_key(3), static_cast<std::uint32_t>(k), world.u.back());
    if (c.rates != Size::tiny) continue;
    for (std::size_t j = 0; j < S.rows(); j += 2)  // products over many modes pass below the smallest float
      for (std::size_t r = 0; r < c.R; ++r) world.u.back().row(j)[r] *= 1e-10f;
  }
}

// Sorted, as a tensor's entries are, unless asked otherwise: runs of equal leading coordinates are what cpu makes use
// of.
World make_world(const Case& c, bool sorted = true) {
  World world;
  place_entries(c, world);
  if (sorted) sort_records(world.coords.data(), c.entries, c.K, c.observed ? world.counts.data() : nullptr);
  draw_factors(c, world);
  double log_volume = 0;
  for (std::size_t k = 0; k < c.K; ++k) log_volume += std::log(static_cast<double>(rows_of_mode(k)));
  for (std::size_t r = 0; r < c.R; ++r) {
    Stream stream(world_key(4), 0, r);
    const double base = c.rates == Size::huge ? log_volume + std::log(1e4) : std::log(static_cast<double>(c.entries));
    // In the tiny case every third weight is too small for a float as well.
    world.log_weight.push_back(base + draw_normal(stream) - (c.rates == Size::tiny && r % 3 == 1 ? 300 : 0));
  }
  return world;
}

// What allocate gives.
struct Allocation {
  std::vector<Matrix<std::int64_t>> rows;
  std::vector<std::int64_t> totals;
  double log_likelihood = 0;
};

// `indexed`: with rows found by an index, and with sums that hold something else before.
Allocation allocate(Kernel& kernel, const World& world, bool indexed = false) {
  Allocation result;
  const Rates rates = world.rates();
  Sums sums;
  for (const auto& u : world.u) result.rows.emplace_back(u.rows(), rates.R);
  for (auto& rows : result.rows) sums.rows.push_back(&rows);
  result.totals.assign(rates.R, 0);
  sums.totals = result.totals.data();
  Entries entries = world.entries();
  std::vector<RowIndex> index;
  if (indexed) {
    std::vector<std::size_t> sizes;
    for (const auto& u : world.u) sizes.push_back(u.rows());
    index = index_rows(entries.coords, entries.count, sizes);
    entries.by_row = &index;
    sums.fresh = true;
    for (auto& rows : result.rows)
      for (std::size_t j = 0; j < rows.rows(); ++j) rows.row(j)[j % rates.R] = 99;
  }
  result.log_likelihood = kernel.allocate(entries, rates, world_key(5), 3, sums);
  return result;
}

// The units that one kernel has put elsewhere than the other, or has and the other has not; the largest over modes.
double units_moved(const Allocation& a, const Allocation& b) {
  double moved = 0;
  for (std::size_t k = 0; k < a.rows.size(); ++k) {
    double gained = 0, lost = 0;
    for (std::size_t j = 0; j < a.rows[k].rows(); ++j)
      for (std::size_t r = 0; r < a.totals.size(); ++r) {
        const double difference = static_cast<double>(a.rows[k].row(j)[r] - b.rows[k].row(j)[r]);
        (difference > 0 ? gained : lost) += std::abs(difference);
      }
    moved = std::max({moved, gained, lost});
  }
  return moved;
}

double sum(const std::vector<std::int64_t>& values) {
  double result = 0;
  for (const std::int64_t value : values) result += static_cast<double>(value);
  return result;
}

// Row sums of every mode are the totals, and observed counts are all given out.
void expect_consistent(const Allocation& allocation, const World& world, const std::string& name) {
  for (const auto& rows : allocation.rows)
    for (std::size_t r = 0; r < allocation.totals.size(); ++r) {
      std::int64_t column = 0;
      for (std::size_t j = 0; j < rows.rows(); ++j) column += rows.row(j)[r];
      ASSERT_EQ(column, allocation.totals[r]) << name;
    }
  if (!world.counts.empty())
    EXPECT_EQ(sum(allocation.totals), sum(world.counts)) << name;
  else
    EXPECT_GE(sum(allocation.totals), static_cast<double>(world.size())) << name;
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const std::size_t K : {2, 3, 5, 12})
    for (const std::size_t R : {1, 3, 15, 16, 17, 100})
      for (const std::size_t entries : {std::size_t{1}, some_blocks})
        for (const Size size : {Size::moderate, Size::tiny, Size::huge})
          for (const bool observed : {false, true}) cases.push_back({K, R, entries, size, observed});
  return cases;
}

// ---- oracle ---------------------------------------------------------------------------------------------------------

// The reference adds shares up in double, cpu in float: K products, R / 16 sums in a lane and 16 lanes, each rounded by
// at most 2^-24, put every one of the R - 1 boundaries between components, and z itself, within delta of where they
// should be, relative to the rate. So a unit is expected to land elsewhere with probability at most 2 R delta, and is
// allowed that plus six standard deviations. Where one entry has many units, the binomial that splits them can reject a
// proposal in one kernel and accept it in the other: then all that is left of the entry is drawn anew, and sqrt(y)
// units move at once.
double moves_allowed(const Case& c, const Allocation& reference, const World& world) {
  const double R = static_cast<double>(c.R), K = static_cast<double>(c.K);
  const double delta = (K + 1 + std::ceil(R / 16) + 16) * 0x1p-24;
  std::vector<double> most(world.counts.begin(), world.counts.end());
  if (!c.observed) {
    Pool pool(1);
    most.resize(world.size());
    make_kernel("reference", pool)->score(world.coords.data(), world.size(), world.rates(), most.data());
  }
  const double units_at_once = std::max(1.0, std::sqrt(*std::max_element(most.begin(), most.end())));
  const double expected = 2 * R * delta * sum(reference.totals);
  return expected + 6 * std::sqrt(expected * units_at_once);
}

TEST(Oracle, AllocateGivesTheSameCounts) {
  Pool pool(2);
  const auto cpu = make_kernel("cpu", pool), reference = make_kernel("reference", pool);
  for (const Case& c : all_cases()) {
    const World world = make_world(c);
    const Allocation slow = allocate(*reference, world);
    expect_consistent(slow, world, c.name());
    const double allowed = moves_allowed(c, slow, world);
    test::for_each_target([&](const std::string& target) {
      const Allocation fast = allocate(*cpu, world), indexed = allocate(*cpu, world, true);
      expect_consistent(fast, world, c.name() + target);
      EXPECT_LE(units_moved(fast, slow), allowed) << target << ", " << c.name() << ", of " << sum(slow.totals);
      EXPECT_EQ(units_moved(fast, indexed), 0) << target << ", " << c.name();
      EXPECT_NEAR(fast.log_likelihood, slow.log_likelihood, 1e-5 * std::abs(slow.log_likelihood)) << c.name();
    });
  }
}

// An empty list of entries is legal (a tensor without ones) and changes nothing.
TEST(Oracle, AllocateNothing) {
  Pool pool(3);
  for (const char* name : {"cpu", "reference"}) {
    World world = make_world({3, 17, 10});
    world.coords.clear();
    const Allocation nothing = allocate(*make_kernel(name, pool), world);
    EXPECT_EQ(nothing.log_likelihood, 0) << name;
    EXPECT_EQ(sum(nothing.totals), 0) << name;
  }
}

// 64 modes of 2^17 rows have 10^327 cells: neither the rate of a cell nor its likelihood may underflow with 1 / volume.
TEST(Oracle, AllocateWhereTheVolumePassesTheLargestDouble) {
  Pool pool(1);
  Matrix<float> u(1u << 17, 1);
  for (std::size_t j = 0; j < u.rows(); ++j) u.row(j)[0] = 1.0f;
  const Rates rates = make_rates(std::vector<const Matrix<float>*>(64, &u), {std::log(5.0)});
  const std::vector<std::uint32_t> coords(64 * 3, 11);
  const double expected = 3 * (std::log(5.0) - 64 * 17 * std::log(2.0));
  for (const char* name : {"cpu", "reference"}) {
    Matrix<std::int64_t> rows(u.rows(), 1);
    std::int64_t total = 0;
    const Sums sums{std::vector<Matrix<std::int64_t>*>(64, &rows), &total};
    const double log_likelihood =
        make_kernel(name, pool)->allocate({coords.data(), nullptr, 3}, rates, world_key(5), 1, sums);
    EXPECT_NEAR(log_likelihood, expected, 1e-9 * std::abs(expected)) << name;
    EXPECT_EQ(total, 3) << name;
  }
}

// Shares made so that their float sum is rounded up fourteen times: one draw in a million runs past the end of the
// running sum. It must stop at the last component that has a share, never at one that has none.
TEST(Oracle, ShareZeroIsNeverChosen) {
  Pool pool(2);
  const auto cpu = make_kernel("cpu", pool);
  Matrix<float> u(1, 16), one(1, 16);
  for (std::size_t r = 0; r < 16; ++r) {
    u.row(0)[r] = r == 0 ? 1.0f : r < 15 ? 0.6f * 0x1p-23f : 0.0f;
    one.row(0)[r] = 1.0f;
  }
  const Rates rates = make_rates({&u, &one}, std::vector<double>(16, -50.0));
  const std::size_t count = 500'000;
  const std::vector<std::uint32_t> coords(2 * count, 0);
  Matrix<std::int64_t> first(1, 16), second(1, 16);
  std::vector<std::int64_t> totals(16, 0);
  for (std::uint32_t sweep = 0; sweep < 16; ++sweep)
    cpu->allocate({coords.data(), nullptr, count}, rates, world_key(5), sweep, {{&first, &second}, totals.data()});
  EXPECT_EQ(totals[15], 0);
  EXPECT_EQ(sum(totals), 16.0 * count);
}

// A one that no component can explain, or a factor that is not a number, stops the run and names the sweep.
TEST(Oracle, RateZeroIsAnError) {
  for (const unsigned threads : {1u, 3u}) {
    Pool pool(threads);
    for (const char* name : {"cpu", "reference"})
      for (const float bad : {0.0f, std::numeric_limits<float>::quiet_NaN()}) {
        World world = make_world({3, 17, some_blocks});
        const std::uint32_t row = world.coords[3 * 5000];
        for (std::size_t r = 0; r < 17; ++r) world.u[0].row(row)[r] = bad;
        try {
          allocate(*make_kernel(name, pool), world);
          ADD_FAILURE() << name << ": no error";
        } catch (const Error& error) {
          EXPECT_EQ(error.kind(), ErrorKind::numeric);
          EXPECT_NE(std::string(error.what()).find("sweep 3"), std::string::npos) << error.what();
        }
      }
  }
}

TEST(Oracle, Score) {
  Pool pool(2);
  const auto cpu = make_kernel("cpu", pool), reference = make_kernel("reference", pool);
  for (const Case& c : all_cases()) {
    if (c.observed) continue;
    World world = make_world(c, false);  // cells to be predicted come in any order
    for (std::size_t r = 0; r < c.R; ++r) world.u[0].row(world.coords[0])[r] = 0;  // a rate of zero is a legal score
    std::vector<double> fast(world.size()), slow(world.size());
    reference->score(world.coords.data(), world.size(), world.rates(), slow.data());
    test::for_each_target([&](const std::string& target) {
      cpu->score(world.coords.data(), world.size(), world.rates(), fast.data());
      EXPECT_EQ(fast[0], 0);
      for (std::size_t e = 0; e < world.size(); ++e)
        ASSERT_NEAR(fast[e], slow[e], 1e-5 * slow[e]) << target << c.name();
    });
  }
}

// Counts for draw_columns: mostly zero, some of them enormous.
Matrix<std::int64_t> sparse_counts(std::size_t rows, std::size_t R) {
  Matrix<std::int64_t> S(rows, R);
  for (std::size_t j = 0; j < rows; ++j)
    for (std::size_t r = 0; r < R; ++r) {
      Stream stream(world_key(6), static_cast<std::uint32_t>(r), j);
      if (r % 5 != 4 && stream.below(3) == 0)  // every fifth component is empty
        S.row(j)[r] = stream.below(50) == 0 ? 10'000'000'000 : static_cast<std::int64_t>(stream.below(20));
    }
  return S;
}

// The draws are the same numbers in float and in double, but for roundings. Where U^(1/a) is 1e-30 and less it is compared with 1e-30;
// where the cube of Marsaglia and Tsang is nearly zero, its digits are lost, and an acceptance can flip: one in 10^5 may differ.
TEST(Oracle, DrawColumns) {
  Pool pool(2);
  const auto cpu = make_kernel("cpu", pool), reference = make_kernel("reference", pool);
  test::for_each_target([&](const std::string& target) {
    std::size_t draws = 0, different = 0;
    for (const std::size_t rows : {1, 2, 255, 256, 257, 1000})
      for (const std::size_t R : {1, 3, 15, 16, 17, 20, 25, 100})
        for (const double a : {0.05, 0.5, 3.0}) {
          const Matrix<std::int64_t> S = sparse_counts(rows, R);
          Matrix<float> fast(rows, R), slow(rows, R);
          cpu->draw_columns({S, a}, world_key(7), 9, fast);
          reference->draw_columns({S, a}, world_key(7), 9, slow);
          for (std::size_t j = 0; j < rows; ++j) {
            for (std::size_t r = 0; r < R; ++r, ++draws) {
              const double wanted = static_cast<double>(slow.row(j)[r]);
              different += std::abs(static_cast<double>(fast.row(j)[r]) - wanted) > 1.5e-5 * wanted + 1e-30;
            }
            for (std::size_t r = R; r < padded(R); ++r) ASSERT_EQ(fast.row(j)[r], 0) << target << ": padding";
          }
        }
    EXPECT_LE(static_cast<double>(different), 1e-5 * static_cast<double>(draws)) << target;
  });
}

// Shapes so small that every draw of a column underflows: a column still sums to n, and nothing is NaN.
TEST(Oracle, ColumnsOfTinyShapesStayColumns) {
  Pool pool(2);
  for (const char* name : {"cpu", "reference"})
    for (const double a : {1e-6, 1e-3, 0.01}) {
      const std::size_t rows = 300, R = 17;
      const Matrix<std::int64_t> S(rows, R);
      Matrix<float> u(rows, R);
      make_kernel(name, pool)->draw_columns({S, a}, world_key(8), 1, u);
      for (std::size_t r = 0; r < R; ++r) {
        double column = 0;
        for (std::size_t j = 0; j < rows; ++j) column += static_cast<double>(u.row(j)[r]);
        EXPECT_NEAR(column, 300, 300 * 1e-6) << name << ", a = " << a;
      }
    }
}

// The padding of a row must stay zero: the vector loops run over it.
TEST(Oracle, PaddingStaysZero) {
  Pool pool(1);
  for (const char* name : {"cpu", "reference"}) {
    Matrix<float> u(10, 17);
    make_kernel(name, pool)->draw_columns({sparse_counts(10, 17), 0.1}, world_key(7), 1, u);
    for (std::size_t j = 0; j < 10; ++j)
      for (std::size_t r = 17; r < u.stride(); ++r) EXPECT_EQ(u.row(j)[r], 0.0f) << name;
  }
}

struct Diagonal {
  Matrix<std::int64_t> S;
  std::vector<std::int64_t> v;
  double rate;
};

// The same u for every kernel; weights from hardly any count to millions.
Diagonal impute(Kernel& kernel, std::size_t rows, std::size_t R) {
  Pool pool(1);
  Matrix<float> u(rows, R);
  make_kernel("reference", pool)->draw_columns({sparse_counts(rows, R), 0.1}, world_key(9), 1, u);
  std::vector<double> log_beta(R);
  for (std::size_t r = 0; r < R; ++r) log_beta[r] = 4.0 * static_cast<double>(r % 6) - 4;
  Diagonal result{Matrix<std::int64_t>(rows, R), std::vector<std::int64_t>(R, 0), 0};
  result.rate = kernel.impute_diagonal(u, log_beta, world_key(10), 4, {{&result.S}, result.v.data()});
  return result;
}

// Both kernels work in double on the same numbers, so they give the very same counts. Each count has two ends.
TEST(Oracle, ImputeDiagonal) {
  Pool pool(2);
  const auto cpu = make_kernel("cpu", pool), reference = make_kernel("reference", pool);
  for (const std::size_t rows : {1, 2, 256, 700})
    for (const std::size_t R : {1, 3, 16, 17, 100}) {
      const Diagonal fast = impute(*cpu, rows, R), slow = impute(*reference, rows, R);
      EXPECT_EQ(fast.v, slow.v) << rows << " rows, R = " << R;
      EXPECT_EQ(std::memcmp(fast.S.row(0), slow.S.row(0), slow.S.bytes()), 0) << rows << " rows, R = " << R;
      EXPECT_NEAR(fast.rate, slow.rate, 1e-12 * slow.rate);
      for (std::size_t r = 0; r < R; ++r) {
        std::int64_t ends = 0;
        for (std::size_t j = 0; j < rows; ++j) ends += fast.S.row(j)[r];
        EXPECT_EQ(ends, 2 * fast.v[r]);
      }
    }
}

// ---- parity ---------------------------------------------------------------------------------------------------------

template <class T>
bool same_bits(const Matrix<T>& a, const Matrix<T>& b) {
  return a.bytes() == b.bytes() && std::memcmp(a.row(0), b.row(0), a.bytes()) == 0;
}
bool same_bits(double a, double b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}
bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

constexpr unsigned team_sizes[] = {2, 3, 7};

TEST(Parity, AllocateAndScore) {
  Pool one(1);
  const auto alone = make_kernel("cpu", one);
  for (const Case& c : {Case{2, 3, some_blocks}, Case{3, 17, some_blocks, Size::huge},
                        Case{3, 100, some_blocks, Size::moderate, true}, Case{12, 16, some_blocks, Size::tiny}}) {
    const World world = make_world(c);
    const Allocation expected = allocate(*alone, world);
    std::vector<double> z(world.size()), z_expected(world.size());
    alone->score(world.coords.data(), world.size(), world.rates(), z_expected.data());
    for (const unsigned threads : team_sizes) {
      Pool pool(threads);
      const auto team = make_kernel("cpu", pool);
      const Allocation got = allocate(*team, world);
      for (std::size_t k = 0; k < c.K; ++k) EXPECT_TRUE(same_bits(got.rows[k], expected.rows[k])) << c.name();
      EXPECT_EQ(got.totals, expected.totals) << c.name();
      EXPECT_TRUE(same_bits(got.log_likelihood, expected.log_likelihood)) << c.name();
      team->score(world.coords.data(), world.size(), world.rates(), z.data());
      EXPECT_TRUE(same_bits(z, z_expected)) << c.name();
    }
  }
}

TEST(Parity, ColumnsAndDiagonal) {
  Pool one(1);
  const auto alone = make_kernel("cpu", one);
  const Matrix<std::int64_t> S = sparse_counts(1500, 17);
  Matrix<float> expected(1500, 17), got(1500, 17);
  alone->draw_columns({S, 0.1}, world_key(7), 9, expected);
  const Diagonal diagonal = impute(*alone, 1500, 17);
  for (const unsigned threads : team_sizes) {
    Pool pool(threads);
    const auto team = make_kernel("cpu", pool);
    team->draw_columns({S, 0.1}, world_key(7), 9, got);
    EXPECT_TRUE(same_bits(got, expected)) << threads;
    const Diagonal again = impute(*team, 1500, 17);
    EXPECT_TRUE(same_bits(again.S, diagonal.S)) << threads;
    EXPECT_EQ(again.v, diagonal.v) << threads;
    EXPECT_TRUE(same_bits(again.rate, diagonal.rate)) << threads;
  }
}

// A tensor with two networks, large enough for several blocks of everything.
struct Data {
  SparseTensor tensor;
  std::vector<Network> networks;
  Problem problem;
};

void add_network(std::size_t mode, std::size_t edges, Data& data) {
  Network network;
  network.mode = mode;
  const std::uint32_t n = data.tensor.modes[mode].labels.size();
  for (std::size_t e = 0; e < edges; ++e) {
    Stream stream(world_key(12), static_cast<std::uint32_t>(mode), e);
    const auto i = static_cast<std::uint32_t>(stream.below(n - 1));
    network.edges.push_back(i);
    network.edges.push_back(i + 1 + static_cast<std::uint32_t>(stream.below(n - 1 - i)));
  }
  data.networks.push_back(std::move(network));
}

void fill(Data& data) {
  const std::uint32_t sizes[] = {700, 300, 4};
  for (const std::uint32_t n : sizes) data.tensor.modes.push_back({"mode", LabelTable::numbered(1, n)});
  for (std::size_t e = 0; e < some_blocks; ++e) {
    Stream stream(world_key(11), 0, e);
    for (const std::uint32_t n : sizes) data.tensor.coords.push_back(static_cast<std::uint32_t>(stream.below(n)));
  }
  data.tensor.sort_and_merge();
  add_network(0, 5000, data);
  add_network(1, 900, data);
  const std::size_t R = 20;
  data.problem = {&data.tensor, data.networks, {{0.1, 0.1, 0.1}, {0.1, 1, 1.0 / R}, {0.1, 1, 1.0 / R}}, R, seed};
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
  EXPECT_EQ(a.statistics().tensor, b.statistics().tensor) << name;
  EXPECT_EQ(a.statistics().networks, b.statistics().networks) << name;
}

std::vector<double> run(Chain& chain, int sweeps) {
  std::vector<double> log_likelihood;
  for (int t = 0; t < sweeps; ++t) log_likelihood.push_back(chain.sweep());
  return log_likelihood;
}

TEST(Parity, TwentySweepsOfAChainWithNetworks) {
  Data data;
  fill(data);
  Pool one(1);
  const auto alone = make_kernel("cpu", one);
  Chain expected(data.problem, *alone, 0);
  expected.start();
  const std::vector<double> log_likelihood = run(expected, 20);
  for (const unsigned threads : team_sizes) {
    Pool pool(threads);
    const auto team = make_kernel("cpu", pool);
    Chain chain(data.problem, *team, 0);
    chain.start();
    EXPECT_TRUE(same_bits(run(chain, 20), log_likelihood)) << threads << " threads";
    expect_same(chain, expected, fmt::format("{} threads", threads));
  }
}

// What a checkpoint holds, the statistics and the sweep number, is all that a chain needs to go on as if it had not
// stopped.
TEST(Parity, ResumedEqualsUninterrupted) {
  Data data;
  fill(data);
  Pool pool(2);
  const auto kernel = make_kernel("cpu", pool);
  Chain whole(data.problem, *kernel, 1), first(data.problem, *kernel, 1), second(data.problem, *kernel, 1);
  whole.start();
  run(whole, 6);
  first.start();
  run(first, 3);
  std::swap(second.statistics(), first.statistics());
  second.shapes() = first.state().shapes;
  second.restore(first.steps_done());
  run(second, 3);
  expect_same(second, whole, "resumed");
}

// Chains, like seeds, must differ: two chains that agreed would double-count their draws.
TEST(Parity, ChainsDiffer) {
  Data data;
  fill(data);
  Pool pool(1);
  const auto kernel = make_kernel("cpu", pool);
  Chain a(data.problem, *kernel, 0), b(data.problem, *kernel, 1);
  for (Chain* chain : {&a, &b}) {
    chain->start();
    chain->sweep();
  }
  EXPECT_NE(a.statistics().tensor, b.statistics().tensor);
}

// Row sums of every mode are the totals, plus two ends for each count of a network of that mode; each one has a count.
TEST(Invariants, RowSumsAreTotals) {
  Data data;
  fill(data);
  Pool pool(2);
  const auto kernel = make_kernel("cpu", pool);
  Chain chain(data.problem, *kernel, 0);
  chain.start();
  for (int t = 0; t < 5; ++t) {
    chain.sweep();
    for (std::size_t k = 0; k < 3; ++k)
      for (std::size_t r = 0; r < data.problem.R; ++r) {
        std::int64_t expected = chain.statistics().tensor[r], column = 0;
        for (std::size_t m = 0; m < data.networks.size(); ++m)
          if (data.networks[m].mode == k) expected += 2 * chain.statistics().networks[m][r];
        for (std::size_t j = 0; j < chain.state().u[k].rows(); ++j) column += chain.statistics().rows[k].row(j)[r];
        ASSERT_EQ(column, expected);
      }
    EXPECT_GE(sum(chain.statistics().tensor), static_cast<double>(data.tensor.nnz()));
  }
}

}  // namespace
}  // namespace ztp
