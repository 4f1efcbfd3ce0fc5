// Conversion of text to a tensor file: the same data as by reading the text, in a fair order, with any memory and any
// threads.
#include "ztp/convert.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>

#include "base/file.hpp"
#include "statistics.hpp"
#include "temp_dir.hpp"
#include "tensor/shuffle.hpp"
#include "ztp/error.hpp"
#include "ztp/tensor_file.hpp"

namespace ztp {
namespace {

class ConvertTest : public testing::Test {
 protected:
  ReadOptions text(const std::string& name, const std::string& content) {
    ReadOptions options;
    options.file = directory_ / name;
    std::ofstream(options.file, std::ios::binary) << content;
    return options;
  }
  // The bytes of the result.
  std::string converted(const ReadOptions& options, const ConvertOptions& settings = {}) {
    const std::string out = directory_ / "bytes.ztpt";
    convert(options, out, settings);
    const std::string bytes = read_text(out);
    std::filesystem::remove(out);
    return bytes;
  }
  // The text and its tensor file are the same data set; the file is in the order of the hash.
  ConvertSummary expect_same_data(const ReadOptions& options, std::size_t ones_per_block) {
    const std::string out = directory_ / "same.ztpt";
    ConvertOptions settings;
    settings.ones_per_block = ones_per_block;
    settings.force = true;
    const ConvertSummary summary = convert(options, out, settings);
    const Dataset from_text = read_dataset(options);
    ReadOptions file_options;
    file_options.file = out;
    file_options.counts = options.counts;
    file_options.threads = 2;
    const Dataset from_file = read_dataset(file_options);
    EXPECT_EQ(fingerprint(from_file.tensor, {}), fingerprint(from_text.tensor, {}));
    EXPECT_EQ(from_file.tensor.counts.size(), from_text.tensor.counts.size());
    EXPECT_TRUE(from_file.warnings.empty());
    EXPECT_EQ(summary.ones, from_text.tensor.nnz());
    EXPECT_EQ(summary.duplicates, from_text.duplicates);
    EXPECT_EQ(summary.zeros, from_text.zeros);
    EXPECT_EQ(summary.lines, from_text.lines);
    EXPECT_EQ(summary.warnings, from_text.warnings);
    for (const Mode& mode : from_file.tensor.modes) EXPECT_EQ(mode.labels.find(mode.labels[0]), 0u);
    expect_shuffled(out, from_text.tensor);
    EXPECT_EQ(TensorFile(out).fingerprint(), summary.fingerprint);
    EXPECT_EQ(TensorFile(out).total_count(), summary.total_count);
    TensorFile(out).verify();
    return summary;
  }
  static void expect_shuffled(const std::string& path, const SparseTensor& tensor) {
    const TensorFile file(path);
    const std::size_t K = tensor.order();
    std::vector<std::pair<std::uint64_t, std::vector<std::uint32_t>>> expected(tensor.nnz());
    for (std::size_t e = 0; e < tensor.nnz(); ++e)
      expected[e] = {shuffle_hash(tensor.cell(e), K), {tensor.cell(e), tensor.cell(e) + K}};
    std::sort(expected.begin(), expected.end());
    std::vector<std::uint32_t> coords(file.ones() * K);
    file.read(0, file.ones(), coords.data(), nullptr);
    ASSERT_EQ(file.ones(), tensor.nnz());
    for (std::size_t e = 0; e < tensor.nnz(); ++e)
      ASSERT_TRUE(std::equal(expected[e].second.begin(), expected[e].second.end(), coords.data() + e * K)) << e;
  }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(directory_.path()), {}));
  }

  test::TempDir directory_;
};

// `lines` cells of a .tns file with a value, many of them repeated if there are few entities.
std::vector<std::string> random_lines(std::size_t lines, unsigned entities, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::string> result;
  for (std::size_t i = 0; i < lines; ++i)
    result.push_back(
        fmt::format("{} {} {} {}\n", 1 + random() % entities, 1 + random() % entities, 1 + random() % 9, random() % 4));
  return result;
}

std::string joined(const std::vector<std::string>& lines) {
  return fmt::format("{}", fmt::join(lines, ""));
}

TEST_F(ConvertTest, SameDataAsText) {
  std::string named = "#user\titem\tweek\tcount\n";
  std::mt19937 random(3);
  for (int i = 0; i < 5000; ++i)
    named += fmt::format("u{}\ti{}\t{}\t{}\n", random() % 90, random() % 80, random() % 9, random() % 3);
  ReadOptions options = text("named.tsv", named);
  for (const std::size_t per_block : {64, 65536}) {
    options.counts = false;
    options.values = true;
    const ConvertSummary binary = expect_same_data(options, per_block);
    EXPECT_GT(binary.duplicates, 0u);
    EXPECT_GT(binary.zeros, 0u);
    EXPECT_EQ(binary.warnings.size(), 2u);
    EXPECT_EQ(binary.total_count, binary.ones);
    options.counts = true;
    EXPECT_GT(expect_same_data(options, per_block).total_count, binary.ones);
  }
  ReadOptions indexed = text("indexed.tns", joined(random_lines(5000, 70, 4)));
  EXPECT_EQ(expect_same_data(indexed, 100).modes[2].second, 9u);
  indexed.counts = true;
  expect_same_data(indexed, 1);
  expect_same_data(text("pair.mtx", "%%MatrixMarket matrix coordinate pattern general\n4 5 3\n1 1\n4 2\n1 3\n"), 2);
  expect_same_data(text("five.tsv", "a\tb\tc\td\te\na\tb\tc\td\tf\nb\tb\tc\td\te\n"), 2);
}

TEST_F(ConvertTest, FullListsOfLabels) {
  text("users.txt", "zoe\nb\nann\nc\n");
  ReadOptions options = text("few.tsv", "#user\titem\nann\tx\nb\ty\nc\tx\nann\ty\n");
  options.labels = {"user=" + directory_ / "users.txt"};
  EXPECT_EQ(expect_same_data(options, 2).modes[0].second, 4u);
  // Of a numbered mode only the numbers that occur need a label; a second list of the same mode takes the first one's
  // place.
  text("numbers.txt", "7\n1\n5\n");
  text("more.txt", "5\n6\n7\n1\n");
  options = text("few.tns", "1 2 1\n5 1 1\n7 2 1\n");
  options.labels = {"mode1=" + directory_ / "numbers.txt", "mode1=" + directory_ / "more.txt"};
  EXPECT_EQ(expect_same_data(options, 2).modes[0].second, 4u);
  // Those that are not listed come after those that are.
  text("numbers.txt", "7\n1\n");
  options.labels.pop_back();
  EXPECT_EQ(expect_same_data(options, 2).modes[0].second, 3u);
  text("numbers.txt", "8\n9\n");
  EXPECT_THROW(convert(options, directory_ / "no.ztpt"), Error);
  EXPECT_FALSE(std::filesystem::exists(directory_ / "no.ztpt"));
}

TEST_F(ConvertTest, SameBytesWithAnyMemoryThreadsAndOrder) {
  std::vector<std::string> lines = random_lines(30000, 900, 6);
  ReadOptions options = text("a.tns", joined(lines));
  std::shuffle(lines.begin(), lines.end(), std::mt19937(8));
  ReadOptions shuffled = text("b.tns", joined(lines));
  shuffled.threads = 2;
  // 20000 cells in 256 buckets are more than the 64 that so little memory allows: buckets are taken apart again.
  ConvertOptions tiny;
  tiny.memory = 1;
  for (const bool counts : {false, true}) {
    options.counts = shuffled.counts = counts;
    options.threads = 1;
    const std::string expected = converted(options);
    ASSERT_GT(expected.size(), 20000u * 12);
    EXPECT_TRUE(converted(shuffled, tiny) == expected);
    if (counts) continue;
    EXPECT_TRUE(converted(options, tiny) == expected);
    options.threads = 2;
    EXPECT_TRUE(converted(options) == expected);
  }
}

// Buckets that are too large only because their cells are repeated shrink, and are not taken apart for ever.
TEST_F(ConvertTest, ManyRepeatsInLittleMemory) {
  std::string lines;
  for (int i = 0; i < 60000; ++i) lines += fmt::format("{} 1 2\n", 1 + i % 3);
  ReadOptions options = text("repeats.tns", lines);
  options.counts = true;
  ConvertOptions tiny;
  tiny.memory = 1;
  const std::string out = directory_ / "out.ztpt";
  const ConvertSummary summary = convert(options, out, tiny);
  EXPECT_EQ(summary.ones, 3u);
  EXPECT_EQ(summary.duplicates, 59997u);
  std::uint32_t coords[6];
  std::int64_t counts[3];
  TensorFile(out).read(0, 3, coords, counts);
  for (const std::int64_t count : counts) EXPECT_EQ(count, 40000);
}

TEST_F(ConvertTest, StoppedAnywhereLeavesNothing) {
  text("list.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n");
  ReadOptions options = text("a.tns", joined(random_lines(3000, 50, 1)));
  options.labels = {"mode3=" + directory_ / "list.txt"};
  const std::string out = directory_ / "out.ztpt";
  ConvertOptions settings;
  settings.memory = 1;
  int asked = 0, stops = 0;
  for (int last = 0; !std::filesystem::exists(out); last += 7, asked = 0) {
    const ConvertSummary summary = convert(options, out, settings, {}, [&] { return asked++ >= last; });
    EXPECT_NE(summary.stopped, std::filesystem::exists(out));
    EXPECT_EQ(files(), summary.stopped ? 2u : 3u);
    stops += summary.stopped ? 1 : 0;
  }
  EXPECT_GT(stops, 20);
}

TEST_F(ConvertTest, ErrorsLeaveWhatWasThere) {
  const ReadOptions good = text("good.tsv", "a\tx\nb\ty\n");
  const std::string out = directory_ / "out.ztpt";
  convert(good, out);
  const std::string before = read_text(out);
  ConvertOptions force;
  force.force = true;
  ReadOptions bad = text("bad.tsv", "a\tx\t4611686018427387904\nb\ty\t4611686018427387904\n");
  bad.counts = true;
  EXPECT_THROW(convert(bad, out, force), Error);
  EXPECT_THROW(convert(text("ragged.tsv", "a\tx\nb\n"), out, force), Error);
  ReadOptions zeros = text("zeros.tsv", "a\tx\t0\n");
  zeros.values = true;
  EXPECT_THROW(convert(zeros, out, force), Error);
  EXPECT_TRUE(read_text(out) == before);
  EXPECT_EQ(files(), 5u);
  convert(text("other.tsv", "a\tz\n"), out, force);
  EXPECT_EQ(TensorFile(out).ones(), 1u);
  ReadOptions network = good;  // the program has no such flag
  network.networks = {"mode1=edges.tsv"};
  EXPECT_THROW(convert(network, directory_ / "again.ztpt"), Error);
}

// P(chi^2 >= observed) that the ids of mode 1 in the first tenth and in the rest come from the same urn.
double fairness_p(const std::vector<std::uint32_t>& ids, std::size_t entities) {
  std::vector<double> early(entities, 0), all(entities, 0);
  for (std::size_t e = 0; e < ids.size(); ++e) {
    all[ids[e]] += 1;
    if (e < ids.size() / 10) early[ids[e]] += 1;
  }
  const double part = static_cast<double>(ids.size() / 10) / static_cast<double>(ids.size());
  double statistic = 0;
  for (std::size_t j = 0; j < entities; ++j) {
    EXPECT_GE(all[j] * part, 10) << "too few ones for the test";
    const double difference = early[j] - all[j] * part;
    statistic += difference * difference * (1 / (all[j] * part) + 1 / (all[j] * (1 - part)));
  }
  return test::chi_squared_tail(statistic, static_cast<double>(entities - 1));
}

// A stretch of the file is a fair sample of all ones, though the text is sorted and some entities have many more ones
// than others. Seed 12; false-alarm probability 1e-6. Its twin, the ones in the order of the text, must fail.
TEST_F(ConvertTest, AStretchIsAFairSample) {
  constexpr std::size_t entities = 200, ones = 60000;
  std::mt19937 random(12);
  std::string lines;
  std::vector<std::uint32_t> in_order;
  for (std::uint32_t j = 0; j < entities; ++j)
    for (std::size_t i = 0; i < ones / entities / 2 + 3 * j / 2; ++i) {
      lines += fmt::format("{} {} {} 1\n", j + 1, 1 + random() % 50000, 1 + random() % 50);
      in_order.push_back(j);
    }
  const ReadOptions options = text("sorted.tns", lines);
  ConvertOptions settings;
  settings.ones_per_block = 512;
  const std::string out = directory_ / "out.ztpt";
  convert(options, out, settings);
  const TensorFile file(out);
  std::vector<std::uint32_t> coords(file.ones() * file.order()), ids;
  file.read(0, file.ones(), coords.data(), nullptr);
  for (std::size_t i = 0; i < coords.size(); i += file.order()) ids.push_back(coords[i]);
  EXPECT_GT(fairness_p(ids, entities), 1e-6);
  EXPECT_LT(fairness_p(in_order, entities), 1e-6);
}

}  // namespace
}  // namespace ztp
