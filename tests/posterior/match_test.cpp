// Components of one chain in another: overlaps and matches by hand, and whole runs of planted blocks.
#include "ztp/match.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "base/random.hpp"
#include "errors.hpp"
#include "posterior/overlap.hpp"
#include "store/draws_file.hpp"
#include "temp_dir.hpp"
#include "ztp/fit.hpp"
#include "ztp/posterior.hpp"

namespace ztp {
namespace {

using test::TempDir;

Matrix<float> random_factor(std::size_t n, std::size_t R, Stream& stream) {
  Matrix<float> u(n, R);
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t r = 0; r < R; ++r) u.row(j)[r] = static_cast<float>(std::pow(stream.uniform(), 8));
  return u;
}

Matrix<double> filled(std::size_t rows, std::size_t columns, double value) {
  Matrix<double> result(rows, columns);
  for (std::size_t r = 0; r < rows; ++r) std::fill_n(result.row(r), columns, value);
  return result;
}

double column_sum(const Matrix<float>& u, std::size_t r) {
  double sum = 0;
  for (std::size_t j = 0; j < u.rows(); ++j) sum += static_cast<double>(u.row(j)[r]);
  return sum;
}

double naive_overlap(const Matrix<float>& u, std::size_t r, const Matrix<float>& v, std::size_t s) {
  double sum = 0;
  for (std::size_t j = 0; j < u.rows(); ++j)
    sum += std::sqrt(static_cast<double>(u.row(j)[r]) * static_cast<double>(v.row(j)[s]));
  return sum / std::sqrt(column_sum(u, r) * column_sum(v, s));
}

// Seed 8. Columns that do not sum to one; neither rows nor columns fill their blocks.
TEST(Overlap, AgreesWithDoublesOnAnyNumberOfThreads) {
  Stream stream(stream_key(8, 0, Purpose::simulate), 0, 0);
  const Matrix<float> u = random_factor(1000, 19, stream), v = random_factor(1000, 37, stream);
  const Matrix<double> expected = [&] {
    Matrix<double> result(19, 37);
    for (std::size_t r = 0; r < 19; ++r)
      for (std::size_t s = 0; s < 37; ++s) result.row(r)[s] = 0.5 * naive_overlap(u, r, v, s);
    return result;
  }();
  Matrix<double> found[2];
  for (const unsigned threads : {1u, 3u}) {
    Stream again(stream_key(8, 0, Purpose::simulate), 0, 0);
    Matrix<float> a = random_factor(1000, 19, again), b = random_factor(1000, 37, again);
    Pool pool(threads);
    take_square_roots(a, pool);
    take_square_roots(b, pool);
    Matrix<double>& overlap = found[threads == 1 ? 0 : 1] = filled(19, 37, 0.5);
    multiply_by_overlaps(a, b, pool, overlap);
    for (std::size_t r = 0; r < 19; ++r)
      for (std::size_t s = 0; s < 37; ++s)
        ASSERT_NEAR(overlap.row(r)[s], expected.row(r)[s], 2e-5 * expected.row(r)[s]) << r << " " << s;
  }
  for (std::size_t r = 0; r < 19; ++r)
    EXPECT_TRUE(std::equal(found[0].row(r), found[0].row(r) + 37, found[1].row(r))) << "threads make a difference";
}

TEST(Overlap, IsOneOfEqualColumnsAndZeroOfDisjointOnes) {
  Matrix<float> u(600, 3);  // two halves, and a column of zeros
  for (std::size_t j = 0; j < 600; ++j) u.row(j)[j < 300 ? 0 : 1] = static_cast<float>(1 + j % 7);
  Pool pool(1);
  take_square_roots(u, pool);
  Matrix<double> overlap = filled(3, 3, 1);
  multiply_by_overlaps(u, u, pool, overlap);
  for (std::size_t r = 0; r < 3; ++r)
    for (std::size_t s = 0; s < 3; ++s) EXPECT_NEAR(overlap.row(r)[s], r == s && r < 2 ? 1 : 0, 2e-5) << r << " " << s;
}

// The last two of each chain are empty, with factors of the prior that are alike and overlap with everything more than
// the true partners do.
TEST(Match, EmptyComponentsDoNotDisturb) {
  const std::vector<double> weights = {500, 300, 1e-3, 1e-4}, other_weights = {1e-4, 280, 1e-3, 520};
  Matrix<double> overlap = filled(4, 4, 0.95);
  overlap.row(0)[3] = overlap.row(1)[1] = 0.9;
  overlap.row(0)[1] = overlap.row(1)[3] = 0.1;
  const std::vector<ComponentMatch> matches = match_by_overlap(overlap, weights, other_weights);
  EXPECT_EQ(matches[0].partner, 3u);
  EXPECT_EQ(matches[1].partner, 1u);
  EXPECT_EQ(matches[0].overlap, 0.9);
  EXPECT_NEAR(matches[0].weight_share, 500 / 800.0011, 1e-12);
  EXPECT_NEAR(matches[0].partner_weight_share, 520 / 800.0011, 1e-12);
  EXPECT_NEAR(matches[0].agreement, 0.9 * 2 * std::sqrt(500.0 * 520) / 1020, 1e-12);  // (M48)
}

// Component 1 covers everything, as the prior does, and the other chain has only an empty one left for it: the overlap
// says that they are the same. Their weights must say that they are not.
TEST(Match, AComponentThatOneChainAloneHasIsNotStable) {
  Matrix<double> overlap = filled(2, 2, 0);
  overlap.row(0)[0] = overlap.row(1)[1] = 1;
  const std::vector<ComponentMatch> matches = match_by_overlap(overlap, {400, 100}, {400, 0.1});
  EXPECT_EQ(matches[1].partner, 1u);
  EXPECT_EQ(matches[1].overlap, 1);
  EXPECT_LT(matches[1].agreement, 0.08);
  EXPECT_GT(matches[0].agreement, 0.99);
}

TEST(Match, OfMoreComponentsThanTheOtherChainHas) {
  const std::vector<ComponentMatch> matches = match_by_overlap(filled(3, 1, 0.5), {1, 3, 2}, {7});
  EXPECT_FALSE(matches[0].partner);
  EXPECT_EQ(matches[1].partner, 0u);
  EXPECT_FALSE(matches[2].partner);
  EXPECT_EQ(matches[0].overlap + matches[0].agreement + matches[0].partner_weight_share, 0);
}

// Blocks of 10 entities of each of three modes, half of whose cells are ones: entity a, b or c and 10 times the block
// and a digit.
struct World {
  std::vector<std::string> modes;
  std::vector<std::size_t> blocks;
  std::uint64_t seed;

  Dataset data() const {
    Dataset data;
    for (const std::string& name : modes) {
      data.tensor.modes.push_back({name, LabelTable()});
      for (std::size_t i = 10 * blocks.size();
           name == "b" && i-- > 0;)  // ids of its own, so that no mode can stand for another
        data.tensor.modes.back().labels.add(fmt::format("b{}", 10 * blocks[i / 10] + i % 10));
    }
    Stream stream(stream_key(seed, 0, Purpose::simulate), 0, 0);
    for (const std::size_t block : blocks)
      for (std::size_t cell = 0; cell < 1000; ++cell) {
        if (stream.uniform() < 0.5) continue;
        const std::size_t digits[] = {cell / 100, cell / 10 % 10, cell % 10};
        for (std::size_t k = 0; k < 3; ++k)
          data.tensor.coords.push_back(
              data.tensor.modes[k].labels.add(fmt::format("{}{}", modes[k], 10 * block + digits[k])));
      }
    data.tensor.sort_and_merge();
    return data;
  }
};

void fit_world(const World& world, std::int64_t rank, std::int64_t chains, const std::string& run) {
  FitOptions options;
  options.rank = rank;
  options.chains = chains;
  options.sweeps = 300;
  options.seed = world.seed;
  fit(world.data(), options, run);
}

// The block of the 10 largest of a column, if it is one.
std::optional<std::size_t> block_of(const std::vector<float>& u, std::size_t R, std::size_t r,
                                    const LabelTable& labels) {
  std::vector<std::uint32_t> order(labels.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return u[a * R + r] > u[b * R + r]; });
  std::set<std::size_t> blocks;
  for (std::size_t i = 0; i < 10; ++i) blocks.insert(std::stoul(labels[order[i]].substr(1)) / 10);
  return blocks.size() == 1 ? std::optional(*blocks.begin()) : std::nullopt;
}

// The block of a component by the first mode of one chain.
std::optional<std::size_t> block_of(const std::string& run, Posterior& posterior, std::size_t chain, std::size_t r) {
  const Matrix<float> u = MeansFile(run, posterior.info()).factor(chain, 0);
  std::vector<float> column(u.rows());
  for (std::size_t j = 0; j < u.rows(); ++j) column[j] = u.row(j)[r];
  return block_of(column, 1, 0, posterior.modes()[0].labels);
}

// Seed 3, for data and fit. With the seeds 3 to 12 the least stability was 0.997.
TEST(MatchChains, FindsPlantedBlocksInEveryChain) {
  const TempDir dir;
  fit_world({{"a", "b", "c"}, {0, 1, 2, 3}, 3}, 8, 3, dir / "run");
  Posterior posterior(dir / "run", 2);
  const Matching matching = posterior.match_chains(1);
  EXPECT_EQ(matching.reference, 1u);
  EXPECT_EQ(matching.others, (std::vector<std::size_t>{0, 2}));
  std::vector<std::vector<float>> mean;
  for (std::size_t k = 0; k < 3; ++k) mean.push_back(posterior.matched_mean_factor(matching, k));
  std::set<std::size_t> blocks;
  bool moved = false;
  std::size_t occupied = 0;
  for (const Component& component : posterior.components(1, 1)) {
    const std::size_t r = component.number - 1;
    const Matching::Summary& summary = matching.components[r];
    if (component.weight < weight_of_empty) {
      EXPECT_TRUE(std::isnan(summary.stability) && std::isnan(component.stability));
      continue;
    }
    ++occupied;
    EXPECT_EQ(component.stability, summary.stability);
    EXPECT_GT(summary.stability, 0.9);
    EXPECT_LT(summary.weight_sd, 0.05 * summary.weight_mean);
    EXPECT_NEAR(summary.weight_mean, component.weight, 0.1 * component.weight);
    const auto block = block_of(dir / "run", posterior, 1, r);
    ASSERT_TRUE(block);
    blocks.insert(*block);
    for (std::size_t c = 0; c < 2; ++c) {
      const std::size_t partner = matching.matches[c][r].partner.value();
      EXPECT_EQ(block_of(dir / "run", posterior, matching.others[c], partner), block);
      moved |= partner != r;
    }
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_EQ(block_of(mean[k], 8, r, posterior.modes()[k].labels), block) << "mode " << k;
      double sum = 0;
      for (std::size_t j = 0; j < 40; ++j) sum += static_cast<double>(mean[k][j * 8 + r]);
      EXPECT_NEAR(sum, 1, 1e-4);
    }
  }
  EXPECT_EQ(occupied, 4u);
  EXPECT_EQ(blocks.size(), 4u);
  EXPECT_TRUE(moved) << "all chains have the same order: the test sees nothing";
}

// A matching that is made up: the average must be the one of (M49), column by column, and a partner without weight adds
// nothing.
TEST(MatchChains, AveragesByWhatChainsHaveInCommon) {
  const TempDir dir;
  fit_world({{"a", "b", "c"}, {0, 1}, 3}, 3, 2, dir / "run");
  Posterior posterior(dir / "run", 1);
  Matching matching = posterior.match_chains();
  matching.matches[0] = {{0, 2, 0.5, 0, 0.4, 0.1}, {1, 0, 1, 0, 0.6, 0}, {2, 1, 0, 0, 0, 0.9}};
  const std::vector<float> mean = posterior.matched_mean_factor(matching, 1);
  const Matrix<float> u = MeansFile(dir / "run", posterior.info()).factor(0, 1);
  const Matrix<float> v = MeansFile(dir / "run", posterior.info()).factor(1, 1);
  for (std::size_t j = 0; j < u.rows(); ++j) {
    EXPECT_NEAR(mean[3 * j], (0.4f * u.row(j)[0] + 0.1f * v.row(j)[2]) / 0.5f, 1e-6);  // sqrt(0.4 * 0.1) 0.5 = 0.1
    EXPECT_NEAR(mean[3 * j + 1], u.row(j)[1], 1e-6);
    EXPECT_NEAR(mean[3 * j + 2], u.row(j)[2], 1e-6);
  }
  const auto refusal = [&](const Matching& given, std::size_t mode) {
    return test::error_of([&] { posterior.matched_mean_factor(given, mode); }, ErrorKind::usage);
  };
  EXPECT_TRUE(test::holds(refusal(matching, 3), "mode 3 of 3"));
  Matching other = matching;  // of another run
  other.others[0] = 7;
  EXPECT_TRUE(test::holds(refusal(other, 1), "the matching has not the chains"));
  other = matching;
  other.matches[0][1].partner.reset();
  EXPECT_TRUE(test::holds(refusal(other, 1), "the matching has not the chains"));
  other = matching;
  other.matches.clear();
  EXPECT_TRUE(test::holds(refusal(other, 1), "the matching has not the chains"));
}

TEST(MatchChains, OfOneChainKnowsNoStability) {
  const TempDir dir;
  fit_world({{"a", "b", "c"}, {0, 1}, 3}, 3, 1, dir / "run");
  Posterior posterior(dir / "run", 1);
  const Matching matching = posterior.match_chains();
  EXPECT_TRUE(matching.others.empty());
  for (const Matching::Summary& summary : matching.components)
    EXPECT_TRUE(std::isnan(summary.stability) && std::isnan(summary.weight_sd) && summary.weight_mean > 0);
  const std::vector<float> mean = posterior.matched_mean_factor(matching, 2);
  const Matrix<float> u = MeansFile(dir / "run", posterior.info()).factor(0, 2);
  for (std::size_t j = 0; j < u.rows(); ++j) EXPECT_TRUE(std::equal(u.row(j), u.row(j) + 3, &mean[3 * j]));
  EXPECT_TRUE(test::holds(test::error_of([&] { posterior.match_chains(1); }, ErrorKind::config),
                          "chain 2 (counted from 1) has no draws"));
}

// Seeds 3 and 4. The second run has other ids, another order of modes, fewer components, a block that the first has
// not, and not its last.
TEST(MatchComponents, OfTwoRunsByNamesAndLabels) {
  const TempDir dir;
  fit_world({{"a", "b", "c"}, {0, 1, 2, 3}, 3}, 8, 1, dir / "one");
  fit_world({{"c", "a", "b"}, {4, 2, 1, 0}, 4}, 6, 2, dir / "two");
  Posterior one(dir / "one", 2), two(dir / "two", 2);
  const std::vector<ComponentMatch> matches = one.match_components(0, two, 1);
  ASSERT_EQ(matches.size(), 8u);
  std::size_t found = 0, partners = 0;
  for (const ComponentMatch& match : matches) {
    partners += match.partner ? 1 : 0;
    if (match.weight_share < 0.01) continue;
    const auto block = block_of(dir / "one", one, 0, match.component);
    ASSERT_TRUE(block);
    if (*block == 3) {
      EXPECT_LT(match.agreement, 0.1) << "the other run has not seen it";
    } else {
      ++found;
      EXPECT_GT(match.overlap, 0.9);
      EXPECT_GT(match.agreement, 0.9);
      EXPECT_EQ(block_of(dir / "two", two, 1, match.partner.value()), block);
    }
  }
  EXPECT_EQ(found, 3u);
  EXPECT_EQ(partners, 6u);
  fit_world({{"a", "b", "d"}, {0}, 3}, 2, 1, dir / "three");
  Posterior three(dir / "three", 1);
  EXPECT_TRUE(test::holds(test::error_of([&] { one.match_components(0, three, 0); }, ErrorKind::config),
                          "different modes cannot be matched: a, b, c and a, b, d"));
}

}  // namespace
}  // namespace ztp
