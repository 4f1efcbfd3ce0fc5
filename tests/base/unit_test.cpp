// Values worked out by hand: sorting, metrics, files, options.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <set>

#include "base/file.hpp"
#include "base/section_file.hpp"
#include "kernel/kernel.hpp"
#include "posterior/impl.hpp"
#include "store/draw_log.hpp"
#include "store/netcdf.hpp"
#include "sampler/run_chains.hpp"
#include "temp_dir.hpp"
#include "ztp/error.hpp"
#include "ztp/metrics.hpp"
#include "ztp/options.hpp"
#include "ztp/tensor.hpp"

namespace ztp {
namespace {

using test::TempDir;

SparseTensor small_tensor() {
  SparseTensor tensor;
  tensor.modes = {{"a", LabelTable::numbered(1, 3)}, {"b", LabelTable::numbered(1, 400)}};
  const std::uint32_t cells[] = {2, 1, 0, 300, 2, 1, 0, 5, 1, 399, 2, 1};
  tensor.coords.append(cells, 12);
  return tensor;
}

TEST(SparseTensor, SortsMergesAndAddsCounts) {
  SparseTensor tensor = small_tensor();
  const std::int64_t counts[] = {1, 2, 4, 8, 16, 32};
  tensor.counts.append(counts, 6);
  EXPECT_EQ(tensor.sort_and_merge(), 2u);
  const std::vector<std::uint32_t> coords(tensor.coords.begin(), tensor.coords.end());
  EXPECT_EQ(coords, (std::vector<std::uint32_t>{0, 5, 0, 300, 1, 399, 2, 1}));
  EXPECT_EQ(std::vector<std::int64_t>(tensor.counts.begin(), tensor.counts.end()),
            (std::vector<std::int64_t>{8, 2, 16, 37}));
}

TEST(SparseTensor, FindsItsOnesAndNoOthers) {
  SparseTensor tensor = small_tensor();
  tensor.sort_and_merge();
  const std::uint32_t present[] = {0, 300}, absent[] = {0, 299}, last[] = {2, 2};
  EXPECT_TRUE(tensor.contains(present));
  EXPECT_FALSE(tensor.contains(absent));
  EXPECT_FALSE(tensor.contains(last));
}

// Radix sort against std::sort, with buckets larger and smaller than its insertion sort takes.
TEST(SparseTensor, RecordSortEqualsStandardSort) {
  Stream stream(stream_key(3, 0, Purpose::simulate), 0, 0);
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{23}, std::size_t{5000}})
    for (const std::uint64_t bound : {std::uint64_t{2}, std::uint64_t{300}, std::uint64_t{1} << 31}) {
      std::vector<std::array<std::uint32_t, 3>> expected(count);
      for (auto& record : expected)
        for (auto& word : record) word = static_cast<std::uint32_t>(stream.below(bound));
      std::vector<std::uint32_t> records;
      std::vector<std::int64_t> payload;
      for (const auto& record : expected) {
        records.insert(records.end(), record.begin(), record.end());
        payload.push_back(static_cast<std::int64_t>(record[0]) * 7 + record[2]);
      }
      std::sort(expected.begin(), expected.end());
      sort_records(records.data(), count, 3, payload.data());
      for (std::size_t i = 0; i < count; ++i) {
        ASSERT_TRUE(
            std::equal(expected[i].begin(), expected[i].end(), records.begin() + static_cast<std::ptrdiff_t>(3 * i)));
        ASSERT_EQ(payload[i], static_cast<std::int64_t>(expected[i][0]) * 7 + expected[i][2]);
      }
    }
}

TEST(SparseTensor, FingerprintSeesEveryPart) {
  std::set<std::uint64_t> seen;
  SparseTensor tensor = small_tensor();
  seen.insert(fingerprint(tensor, {}));
  tensor.coords[0] = 1;
  seen.insert(fingerprint(tensor, {}));
  tensor.modes[0].labels = LabelTable::numbered(0, 3);
  seen.insert(fingerprint(tensor, {}));
  tensor.modes[1].name = "c";
  seen.insert(fingerprint(tensor, {}));
  tensor.counts.push_back(1);
  seen.insert(fingerprint(tensor, {}));
  std::vector<Network> networks(1);
  networks[0].edges.push_back(0);
  networks[0].edges.push_back(1);
  seen.insert(fingerprint(tensor, networks));
  networks[0].mode = 1;
  seen.insert(fingerprint(tensor, networks));
  EXPECT_EQ(seen.size(), 7u);
}

Metrics metrics_of(const std::vector<std::pair<double, bool>>& cells) {
  MetricsCollector collector;
  for (const auto& [p, one] : cells) collector.add(p, one);
  return collector.finish();
}

TEST(Metrics, PerfectAndReversedRanking) {
  EXPECT_DOUBLE_EQ(metrics_of({{0.1, false}, {0.2, false}, {0.9, true}}).auc_roc, 1);
  EXPECT_DOUBLE_EQ(metrics_of({{0.1, true}, {0.2, false}, {0.9, false}}).auc_roc, 0);
}

// Scores 0.5 0.5 0.5 | 0.8 0.9: ones at 0.5, 0.5 and 0.9. Of the 3 x 2 pairs: 0.9 beats both zeros, each 0.5 ties with the
// zero at 0.5 and loses to the zero at 0.8: (2 + 2 * 0.5) / 6.
TEST(Metrics, TiesCountHalf) {
  const Metrics m = metrics_of({{0.5, true}, {0.5, false}, {0.8, false}, {0.5, true}, {0.9, true}});
  EXPECT_DOUBLE_EQ(m.auc_roc, 0.5);
  // Thresholds 0.9: precision 1, recall 1/3; 0.8: recall stays; 0.5: precision 3/5, recall 1.
  EXPECT_NEAR(m.auc_pr, 1.0 / 3 + 2.0 / 3 * 0.6, 1e-15);
  EXPECT_EQ(m.ones, 3u);
  EXPECT_EQ(m.zeros, 2u);
}

TEST(Metrics, LossesByHandAndClamped) {
  const Metrics m = metrics_of({{0.25, true}, {0.5, false}});
  EXPECT_NEAR(m.log_loss, (std::log(4.0) + std::log(2.0)) / 2, 1e-15);
  EXPECT_NEAR(m.brier, (0.5625 + 0.25) / 2, 1e-15);
  EXPECT_NEAR(metrics_of({{0.0, true}}).log_loss, -std::log(1e-12), 1e-9);
  EXPECT_NEAR(metrics_of({{1.0, false}}).log_loss, -std::log(1e-12), 1e-3);
  EXPECT_TRUE(std::isnan(metrics_of({{0.5, true}}).auc_roc));
}

// Forty cells in two groups of ties: in each the share of ones differs from the probability by a known amount.
TEST(Metrics, CalibrationErrorKeepsTiesTogether) {
  std::vector<std::pair<double, bool>> cells;
  for (int i = 0; i < 20; ++i) cells.emplace_back(0.25, i < 10);  // off by 0.25
  for (int i = 0; i < 20; ++i) cells.emplace_back(0.75, i < 15);  // exact
  EXPECT_NEAR(metrics_of(cells).calibration_error, 0.125, 1e-12);
}

TEST(Quantile, InterpolatesBetweenOrderStatistics) {
  const float values[] = {1, 2, 4};
  EXPECT_DOUBLE_EQ(quantile(values, 3, 0.5), 2);
  EXPECT_DOUBLE_EQ(quantile(values, 3, 0.75), 3);
  EXPECT_DOUBLE_EQ(quantile(values, 1, 0.05), 1);
}

TEST(Schedule, KeepsAndThins) {
  Schedule plan;  // 1000 sweeps, burn-in 500, every 5
  EXPECT_EQ(plan.draws_per_chain(), 100u);
  EXPECT_FALSE(plan.keeps(500));
  EXPECT_TRUE(plan.keeps(505));
  plan.chains = 4;
  const Schedule thinned = plan.thinned_to(100);
  EXPECT_EQ(thinned.keep_every, 20u);
  EXPECT_EQ(thinned.chains * thinned.draws_per_chain(), 100u);
  EXPECT_GE(plan.thinned_to(1).draws_per_chain(), 1u);
  Schedule odd{3, 13, 6, 2, 2};  // a step of 2 would pass the 7 sweeps after burn-in
  EXPECT_EQ(odd.thinned_to(2).draws_per_chain(), 1u);
}

TEST(SectionFile, ReadsBackAndRefusesDamage) {
  const TempDir dir;
  const std::string path = dir / "x.bin";
  const std::uint64_t numbers[] = {1, 2, 3};
  {
    SectionWriter writer(path);
    writer.values("numbers", numbers, 3);
    EXPECT_FALSE(std::filesystem::exists(path)) << "the name must be taken in commit() only";
    writer.commit();
  }
  EXPECT_EQ(SectionReader(path).values<std::uint64_t>("numbers")[2], 3u);
  EXPECT_THROW(SectionReader(path).text("other"), Error);

  const std::string whole = read_text(path);
  for (std::size_t cut = 0; cut < whole.size(); ++cut) {  // every truncation is refused
    write_text(path, whole.substr(0, cut));
    EXPECT_THROW(SectionReader(path).values<std::uint64_t>("numbers"), Error) << cut;
  }
  for (std::size_t at = 0; at < whole.find("end") - 16; ++at) {  // and every changed byte up to the end mark
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    write_text(path, changed);
    if (at >= 12 && at < 16) continue;  // padding of the section head, not read
    EXPECT_THROW(SectionReader(path).values<std::uint64_t>("numbers"), Error) << at;
  }
}

TEST(DrawLog, IgnoresAHalfRecordAndSeesDamage) {
  const TempDir dir;
  const std::string path = dir / "draws.log";
  DrawLayout layout{2, {3, 1}, 1};
  EXPECT_EQ(layout.floats(), 4u + 4u + 6u + 2u);
  State state;
  state.R = 2;
  state.u.emplace_back(3, 2);
  state.u.emplace_back(1, 2);
  state.u[0].row(2)[1] = 3;  // stored as n u: u is 1
  state.tensor = Weights(2);
  state.tensor.log_weight = {0, std::log(5.0)};
  state.networks.push_back(Weights(2));
  SweepReport report;
  report.chain = 1;
  report.sweep = 7;
  {
    DrawLogWriter writer(path, layout, 0);
    writer.append(state, report);
    writer.append(state, report);
  }
  const std::string whole = read_text(path);
  write_text(path, whole.substr(0, whole.size() - 5));
  const DrawLogReader reader(path, layout);
  ASSERT_EQ(reader.draws(), 1u);
  EXPECT_EQ(reader.head(0).sweep, 7u);
  float values[16];
  reader.read(0, 0, 16, values);
  EXPECT_FLOAT_EQ(values[1], 5);
  EXPECT_FLOAT_EQ(values[8 + 5], 1);
  reader.verify(0);
  std::string damaged = whole;
  damaged[40] = static_cast<char>(damaged[40] ^ 4);
  write_text(path, damaged);
  EXPECT_THROW(DrawLogReader(path, layout).verify(0), Error);
}

TEST(Options, RoundTripThroughJson) {
  FitOptions options;
  options.rank = 7;
  options.seed = 18446744073709551615ull;
  options.dirichlet = {"0.2", "user=0.01"};
  options.beta_mean = 0.125;
  const FitOptions back = options_from_json(options_to_json(options));
  EXPECT_EQ(back.rank, 7);
  EXPECT_EQ(back.seed, options.seed);
  EXPECT_EQ(back.dirichlet, options.dirichlet);
  EXPECT_EQ(back.beta_mean, 0.125);
}

TEST(Options, EachRangeIsEnforcedAndNamed) {
  const auto message = [](auto change) -> std::string {
    FitOptions options;
    change(options);
    try {
      check_options(options);
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(message([](FitOptions& o) { o.rank = 0; }), "--rank 0: must be between 1 and 100000");
  EXPECT_EQ(message([](FitOptions& o) { o.gamma_shape = -1; }),
            "--gamma-shape -1: must be between 1e-06 and 1000000000");
  EXPECT_EQ(message([](FitOptions& o) { o.likelihood = "x"; }), "--likelihood x: must be one of: binary, count");
  EXPECT_EQ(message([](FitOptions& o) { o.burn_in = 1000; }),
            "--burn-in 1000: must be below --sweeps 1000, which includes it");
  EXPECT_EQ(message([](FitOptions& o) { o.burn_in = -5; }), "--burn-in -5: must be between 0 and 4294967295");
  EXPECT_EQ(message([](FitOptions& o) { o.threads = -4; }), "--threads -4: must be between 1 and 1024");
  EXPECT_EQ(message([](FitOptions& o) { o.chains = 200; }).substr(0, 12), "--draws 100:");
  EXPECT_EQ(message([](FitOptions& o) { o.beta_mean = 1.5; }).substr(0, 16), "--beta-mean 1.5:");
  EXPECT_EQ(message([](FitOptions& o) { o.beta_mean = std::nan(""); }).substr(0, 16), "--beta-mean nan:");
  EXPECT_EQ(message([](FitOptions& o) { o.holdout = 0.1, o.test = "t"; }).substr(0, 20), "--holdout and --test");
  EXPECT_EQ(message([](FitOptions& o) { o.minibatch = 9; }), "--minibatch has no effect without --method online");
  EXPECT_EQ(message([](FitOptions& o) { o.zeros_per_one = 3; }), "--zeros-per-one has no effect without --holdout");
  EXPECT_EQ(message([](FitOptions& o) { o.model = "quad", o.kappa = 1; }).substr(0, 34),
            "--kappa is not used by --model qua");
  EXPECT_EQ(message([](FitOptions&) {}), "accepted");
  FitOptions of_network;
  of_network.network_gamma_shape = 1;
  check_options(of_network);
  EXPECT_THROW(check_options(of_network, false), Error);
}

TEST(Netcdf, ModeNamesBecomeLegalNames) {
  EXPECT_EQ(netcdf_names({"user id", "7days", "draw", "user_id", "p", "u_x"}),
            (std::vector<std::string>{"user_id", "mode_7days", "mode_draw", "user_id_4", "mode_p", "mode_u_x"}));
}

TEST(Rates, SearchOrderIsAPermutation) {
  for (const std::size_t R : {1u, 15u, 16u, 17u, 100u}) {
    const std::vector<std::size_t> order = search_order(R);
    EXPECT_EQ(order.size(), R);
    EXPECT_EQ(std::set<std::size_t>(order.begin(), order.end()).size(), R);
  }
  EXPECT_EQ(search_order(20)[1], 16u);
}

TEST(LabelTable, ListedHasNoIndexUntilAsked) {
  LabelTable table = LabelTable::listed("abbcc", {1, 3, 5});
  EXPECT_EQ(table.size(), 3u);
  EXPECT_EQ(table[1], "bb");
  EXPECT_FALSE(table.is_indexed());
  EXPECT_THROW(table.find("bb"), Error);
  EXPECT_THROW(table.add("bb"), Error);
  EXPECT_THROW(table.add("new"), Error);
  table.index();
  table.index();
  EXPECT_TRUE(table.is_indexed());
  EXPECT_EQ(table.find("bb"), 1u);
  EXPECT_EQ(table.find("b"), std::nullopt);
  EXPECT_EQ(table.add("cc"), 2u);
  EXPECT_EQ(table.add("new"), 3u);
}

TEST(LabelTable, ListedEqualsAdded) {
  LabelTable added;
  std::string characters;
  std::vector<std::uint64_t> ends;
  for (int j = 0; j < 5000; ++j) {
    const std::string label = std::to_string(j * 37);
    added.add(label);
    characters += label;
    ends.push_back(characters.size());
  }
  const std::size_t letters = characters.size();
  characters.shrink_to_fit();
  ends.shrink_to_fit();
  LabelTable listed = LabelTable::listed(std::move(characters), std::move(ends));
  EXPECT_LE(listed.bytes(), 16 * 5000 + letters);
  listed.index();
  for (int j = 0; j < 5000 * 37; ++j) ASSERT_EQ(listed.find(std::to_string(j)), added.find(std::to_string(j)));
}

TEST(LabelTable, BadLists) {
  LabelTable twice = LabelTable::listed("abcab", {2, 3, 5});
  EXPECT_THROW(twice.index(), Error);
  EXPECT_FALSE(twice.is_indexed());
  EXPECT_THROW(twice.find("c"), Error);
  EXPECT_THROW(LabelTable::listed("abc", {1, 2}), Error);
  EXPECT_THROW(LabelTable::listed("abc", {2, 1, 3}), Error);
  LabelTable empty = LabelTable::listed("", {});
  EXPECT_EQ(empty.find("a"), std::nullopt);
  EXPECT_EQ(empty.add("a"), 0u);
  LabelTable numbered = LabelTable::numbered(1, 9);
  numbered.index();
  EXPECT_EQ(numbered.find("9"), 8u);
}

}  // namespace
}  // namespace ztp
