// Parity and invariants of batch chains, plain and with everything that can be missing or learned, without and with counts regrouped: the
// same bits for any number of threads and after a restart, and sums that must agree. Everything is a function of the seed 11; there is no
// chance in a run.
#include "sampler/chain.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <numeric>

#include "carried.hpp"
#include "tensor/records.hpp"
#include "worlds.hpp"

namespace ztp::test {
namespace {

constexpr std::uint64_t seed = 11;
using Cell = std::vector<std::uint32_t>;
constexpr unsigned team_sizes[] = {2, 3, 7};

struct Data {
  SparseTensor tensor;
  std::vector<Network> networks;
  Missing missing;
  Problem problem;
};

struct Shape {
  std::vector<std::uint32_t> sizes;
  std::size_t ones, listed, missing_entities, R;
};
const Shape several_blocks{{700, 300, 4}, 4 * 2048 + 17, 6000, 6, 20};

struct Setting {
  const char* name;
  bool everything;  // slices in two modes, listed cells, pairs of a network are missing; all that can be learned is
  bool regroup;
};

// Pairs of a network, some of which are missing if `everything` is there.
void add_network(std::size_t mode, std::size_t edges, bool everything, Data& data) {
  Network network;
  network.mode = mode;
  const std::uint32_t n = data.tensor.modes[mode].labels.size();
  for (std::size_t e = 0; e < 2 * edges; ++e) {
    Stream stream(world_key(seed, 10), static_cast<std::uint32_t>(mode), e);
    const auto i = static_cast<std::uint32_t>(stream.below(n - 1));
    const std::uint32_t pair[] = {i, i + 1 + static_cast<std::uint32_t>(stream.below(n - 1 - i))};
    // By their sum, so that no pair is in both lists.
    if ((pair[0] + pair[1]) % 3 != 0)
      network.edges.append(pair, 2);
    else if (everything)
      network.missing.append(pair, 2);
  }
  sort_and_merge_records(network.edges, 2);
  sort_and_merge_records(network.missing, 2);
  data.networks.push_back(std::move(network));
}

// Missing entities are the last of modes 0 and 1 and the first of mode 0. Ones and listed cells differ in whether the sum of their
// coordinates is a multiple of three.
void add_cells(const Shape& shape, bool everything, Data& data) {
  const std::size_t K = shape.sizes.size();
  const auto gone = static_cast<std::uint32_t>(shape.missing_entities / 2);
  for (const std::uint32_t n : shape.sizes) data.tensor.modes.push_back({"mode", LabelTable::numbered(1, n)});
  Buffer<std::uint32_t> listed;
  for (std::size_t e = 0; data.tensor.nnz() < shape.ones || listed.size() < K * shape.listed; ++e) {
    Stream stream(world_key(seed, 11), 0, e);
    Cell cell;
    for (const std::uint32_t n : shape.sizes) cell.push_back(static_cast<std::uint32_t>(stream.below(n)));
    const bool in_slice = cell[0] == 0 || cell[0] >= shape.sizes[0] - gone || cell[1] >= shape.sizes[1] - gone;
    if ((cell[0] + cell[1] + cell[2]) % 3 == 0)
      listed.append(cell.data(), K);
    else if (!in_slice)
      data.tensor.coords.append(cell.data(), K);
  }
  data.tensor.sort_and_merge();
  if (!everything) return;
  data.missing.slices.resize(K);
  data.missing.slices[0].push_back(0);
  for (std::uint32_t j = 0; j < gone; ++j)
    for (const std::size_t k : {0, 1}) data.missing.slices[k].push_back(shape.sizes[k] - gone + j);
  add_missing_cells(data.tensor, listed, data.missing);
}

void fill(const Shape& shape, const Setting& setting, Data& data) {
  add_cells(shape, setting.everything, data);
  add_network(0, 2500, setting.everything, data);
  add_network(1, 900, setting.everything, data);
  Problem& problem = data.problem;
  problem.tensor = &data.tensor;
  problem.networks = data.networks;
  problem.hyper.dirichlet.assign(shape.sizes.size(), 0.1);
  problem.hyper.tensor = problem.hyper.network = {0.1, 1, 1 / static_cast<double>(shape.R)};
  problem.hyper.learn_dirichlet = problem.hyper.learn_shapes = setting.everything;
  problem.R = shape.R;
  problem.seed = seed;
  if (setting.everything) problem.missing = &data.missing;
  problem.learn_after = 1;
  problem.regroup = setting.regroup;
}

class ChainTest : public testing::TestWithParam<Setting> {
 protected:
  void SetUp() override { fill(several_blocks, GetParam(), data_); }
  Data data_;
};

using Values = std::vector<double>;

void expect_same(Chain& a, Chain& b, const std::string& name) {
  EXPECT_TRUE(carried_bytes(a) == carried_bytes(b)) << name;
  for (std::size_t k = 0; k < a.state().u.size(); ++k)
    EXPECT_TRUE(same_bits(a.state().u[k], b.state().u[k])) << name << ", mode " << k;
  EXPECT_TRUE(same_bits(a.state().tensor.log_weight, b.state().tensor.log_weight)) << name;
  EXPECT_TRUE(same_bits(a.state().tensor.log_p, b.state().tensor.log_p)) << name;
  for (std::size_t m = 0; m < a.state().networks.size(); ++m)
    EXPECT_TRUE(same_bits(a.state().networks[m].log_weight, b.state().networks[m].log_weight)) << name;
}

Values run(Chain& chain, int sweeps) {
  Values log_likelihood;
  for (int t = 0; t < sweeps; ++t) log_likelihood.push_back(chain.sweep());
  return log_likelihood;
}

Values start_and_run(Chain& chain, int sweeps) {
  chain.start();
  return run(chain, sweeps);
}

TEST_P(ChainTest, ThreadsMakeNoDifference) {
  Pool one(1);
  const auto alone = make_kernel("cpu", one);
  Chain expected(data_.problem, *alone, 0);
  const Values log_likelihood = start_and_run(expected, 20);
  for (const unsigned threads : team_sizes) {
    Pool pool(threads);
    const auto team = make_kernel("cpu", pool);
    Chain chain(data_.problem, *team, 0);
    EXPECT_TRUE(same_bits(start_and_run(chain, 20), log_likelihood)) << threads << " threads";
    expect_same(chain, expected, fmt::format("{} threads", threads));
  }
}

// What a checkpoint holds is all that a chain needs to go on as if it had not stopped.
TEST_P(ChainTest, ResumedEqualsUninterrupted) {
  Pool pool(2);
  const auto kernel = make_kernel("cpu", pool);
  for (const int stop : {0, 1, 4}) {
    Chain whole(data_.problem, *kernel, 1), first(data_.problem, *kernel, 1), second(data_.problem, *kernel, 1);
    const Values expected = start_and_run(whole, 7);
    Values got = start_and_run(first, stop);
    restore(second, carried_bytes(first), first.steps_done());
    for (const double value : run(second, 7 - stop)) got.push_back(value);
    EXPECT_TRUE(same_bits(got, expected)) << stop;
    expect_same(second, whole, fmt::format("stopped after {} sweeps", stop));
  }
}

// Chains, like seeds, must differ: two that agreed would double-count their draws. And what the setting says makes a difference.
TEST_P(ChainTest, ChainsSeedsAndSettingsDiffer) {
  Pool pool(1);
  const auto kernel = make_kernel("cpu", pool);
  Problem other_seed = data_.problem, not_regrouped = data_.problem, not_missing = data_.problem;
  other_seed.seed += 1;
  not_regrouped.regroup = !GetParam().regroup;
  not_missing.missing = nullptr;
  Chain chain(data_.problem, *kernel, 0), second(data_.problem, *kernel, 1), reseeded(other_seed, *kernel, 0),
      regrouped(not_regrouped, *kernel, 0), complete(not_missing, *kernel, 0);
  for (Chain* one : {&chain, &second, &reseeded, &regrouped, &complete}) start_and_run(*one, 2);
  EXPECT_NE(chain.statistics().tensor, second.statistics().tensor);
  EXPECT_NE(chain.statistics().tensor, reseeded.statistics().tensor);
  EXPECT_NE(chain.statistics().tensor, regrouped.statistics().tensor);
  EXPECT_EQ(chain.statistics().tensor == complete.statistics().tensor, !GetParam().everything);
}

std::int64_t sum(const std::vector<std::int64_t>& values) {
  return std::accumulate(values.begin(), values.end(), std::int64_t{0});
}

// Row sums of every mode are the totals, plus two ends for each count of a network of that mode; what comes from ones is part of it and has
// a count for each one.
TEST_P(ChainTest, RowSumsAreTotals) {
  Pool pool(2);
  const auto kernel = make_kernel("cpu", pool);
  Chain chain(data_.problem, *kernel, 0);
  chain.start();
  for (int t = 0; t < 5; ++t) {
    chain.sweep();
    const Statistics& statistics = chain.statistics();
    for (std::size_t r = 0; r < data_.problem.R; ++r) {
      ASSERT_LE(statistics.from_ones[r], statistics.tensor[r]);
      for (std::size_t k = 0; k < 3; ++k) {
        std::int64_t expected = statistics.tensor[r], column = 0;
        for (std::size_t m = 0; m < data_.networks.size(); ++m)
          if (data_.networks[m].mode == k) expected += 2 * statistics.networks[m][r];
        for (std::size_t j = 0; j < statistics.rows[k].rows(); ++j) column += statistics.rows[k].row(j)[r];
        ASSERT_EQ(column, expected);
      }
    }
    EXPECT_GE(sum(statistics.from_ones), static_cast<std::int64_t>(data_.tensor.nnz()));
    EXPECT_EQ(sum(statistics.tensor) > sum(statistics.from_ones), GetParam().everything);
  }
}

INSTANTIATE_TEST_SUITE_P(Settings, ChainTest,
                         testing::Values(Setting{"Plain", false, false}, Setting{"Everything", true, false},
                                         Setting{"Regrouped", false, true}, Setting{"EverythingRegrouped", true, true}),
                         [](const auto& setting) { return std::string(setting.param.name); });

// Lists that are there and empty are the same as none at all, with networks and without.
TEST(MissingChain, NothingMissingIsTheSameAsNull) {
  Pool pool(2);
  const auto kernel = make_kernel("cpu", pool);
  for (const bool networks : {true, false}) {
    Data data;
    fill(several_blocks, {"", true, true}, data);
    if (!networks) data.problem.networks = {};
    data.problem.missing = nullptr;
    Chain expected(data.problem, *kernel, 0);
    const Values log_likelihood = start_and_run(expected, 4);
    for (const std::size_t modes : {0, 3}) {
      Missing empty;
      empty.slices.resize(modes);
      Problem problem = data.problem;
      problem.missing = &empty;
      Chain chain(problem, *kernel, 0);
      EXPECT_TRUE(same_bits(start_and_run(chain, 4), log_likelihood)) << modes << " empty lists";
      expect_same(chain, expected, fmt::format("{} empty lists", modes));
    }
  }
}

// 10^15 cells, of which 2 * 10^12 are in missing slices: a sweep that looked at each of them would take an hour at the least, and one that
// does not takes a fraction of a second. The limit is far from both.
TEST(MissingChain, ASweepDoesNotLookAtEveryMissingCell) {
  Data data;
  fill({{100'000, 100'000, 100'000}, 2000, 1000, 200, 3}, {"", true, false}, data);
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
}  // namespace ztp::test
