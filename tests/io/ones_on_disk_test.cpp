// Ones that are sorted on disk are those that are sorted in memory, with any memory and any threads.
#include "io/ones_on_disk.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>

#include "io/cell_order.hpp"
#include "io/read.hpp"
#include "temp_dir.hpp"
#include "ztp/convert.hpp"
#include "ztp/error.hpp"
#include "ztp/split.hpp"

namespace ztp {
namespace {

template <class T>
std::vector<T> listed(const Buffer<T>& values) {
  return {values.begin(), values.end()};
}

class OnesOnDisk : public testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& content) {
    std::ofstream(directory_ / name, std::ios::binary) << content;
    return directory_ / name;
  }
  // Reads the same in memory and on disk, there with room for 64 ones, for some hundred, and for all.
  void expect_same(ReadOptions options) {
    const Dataset expected = read_dataset(options);
    for (const double memory : {1.0, 8 * 16384.0, 8e9})
      for (const unsigned threads : {1u, 3u}) {
        SCOPED_TRACE(fmt::format("{} bytes, {} threads", memory, threads));
        options.threads = threads;
        const Dataset data = read_dataset(options, SortSpace{directory_.path(), memory});
        EXPECT_EQ(listed(data.tensor.coords), listed(expected.tensor.coords));
        EXPECT_EQ(listed(data.tensor.counts), listed(expected.tensor.counts));
        EXPECT_EQ(fingerprint(data.tensor, data.networks, data.missing),
                  fingerprint(expected.tensor, expected.networks, expected.missing));
        EXPECT_EQ(data.lines, expected.lines);
        EXPECT_EQ(data.duplicates, expected.duplicates);
        EXPECT_EQ(data.zeros, expected.zeros);
        EXPECT_EQ(data.warnings, expected.warnings);
        EXPECT_EQ(data.notes, expected.notes);
        EXPECT_EQ(data.files.size(), expected.files.size());
      }
  }
  // The same from a tensor file.
  void expect_same_converted(ReadOptions options) {
    expect_same(options);
    ReadOptions text = options;
    text.networks.clear();
    text.missing.clear();
    text.missing_slices.clear();
    text.tie.clear();
    ConvertOptions settings;
    settings.force = true;
    settings.ones_per_block = 64;
    options.file = directory_ / "same.ztpt";
    convert(text, options.file, settings);
    options.labels.clear();
    options.values = false;
    expect_same(options);
  }

  test::TempDir directory_;
};

// Half of the lines have one of a few entities, so that buckets differ; a third of the cells come again.
std::string lines(std::size_t count, const std::string& header) {
  std::mt19937 random(5);
  std::string text = header, line;
  const auto pick = [&](unsigned n) { return random() % (random() % 2 == 0 ? std::max(n / 50, 1u) : n); };
  for (std::size_t i = 0; i < count; ++i) {
    if (i % 3 != 2 || line.empty()) line = fmt::format("u{}\tu{}\tw{}", pick(3000), pick(700), pick(9));
    text += fmt::format("{}\t{}\n", line, random() % 4);
  }
  return text;
}

TEST_F(OnesOnDisk, OfText) {
  ReadOptions options;
  options.file = file("ones.tsv", lines(6000, "#user\titem\tweek\tcount\n"));
  options.values = true;
  expect_same_converted(options);
  options.counts = true;
  expect_same_converted(options);
}

TEST_F(OnesOnDisk, WithLabelsTiedModesNetworksAndMissingData) {
  std::string all;
  for (int i = 2999; i >= 0; --i) all += fmt::format("u{}\n", i);
  ReadOptions options;
  options.file = file("ones.tsv", lines(4000, "#user\titem\tweek\tcount\n"));
  options.values = options.counts = true;
  options.labels = {"user=" + file("users.txt", all + "nobody\nno one\n")};
  options.networks = {"user=" + file("edges.tsv", "u1\tu2\nu2\tu3\nu2\tu1\n")};
  options.missing = file("missing.tsv", "nobody\tu1\tw1\nno one\tu1\tw1\nno one\tu2\tw1\n");
  options.missing_slices = {"user=" + file("slices.txt", "nobody\n")};
  expect_same_converted(options);
  options.labels.clear();
  options.missing.clear();
  options.missing_slices.clear();
  options.tie = {"user=item"};
  expect_same_converted(options);
}

TEST_F(OnesOnDisk, OfIndexedFiles) {
  std::mt19937 random(7);
  std::string text;
  for (int i = 0; i < 3000; ++i)
    text += fmt::format("{} {} 1 {}\n", 1 + random() % 70000, 1 + random() % 3, random() % 5);
  ReadOptions options;
  options.file = file("ones.tns", text);
  expect_same_converted(options);
  options.counts = true;
  expect_same_converted(options);
}

// One cell very often, and many cells of one pair of entities: no bits of the first modes tell them apart.
TEST_F(OnesOnDisk, OfFewDifferentCells) {
  std::string text = "#a\tb\tc\n";
  for (int i = 0; i < 2000; ++i) text += fmt::format("x\ty\t{}\n", i % 400);
  for (int i = 0; i < 2000; ++i) text += "x\ty\tz\n";
  for (int i = 0; i < 300; ++i) text += fmt::format("{}\t{}\tz\n", i, i);
  ReadOptions options;
  options.file = file("ones.tsv", text);
  expect_same_converted(options);
}

// Holding out cells changes the ones where they are.
TEST_F(OnesOnDisk, AreHeldOut) {
  ReadOptions options;
  options.file = file("ones.tsv", lines(3000, "#user\titem\tweek\tcount\n"));
  options.values = options.counts = true;
  Dataset expected = read_dataset(options), data = read_dataset(options, SortSpace{directory_.path(), 1});
  const std::uint32_t* const place = data.tensor.coords.data();
  SplitOptions how;
  how.holdout = 0.2;
  for (Dataset* of : {&expected, &data}) EXPECT_GT(hold_out(of->tensor, how).test_ones, 100u);
  EXPECT_EQ(listed(data.tensor.coords), listed(expected.tensor.coords));
  EXPECT_EQ(listed(data.tensor.counts), listed(expected.tensor.counts));
  EXPECT_EQ(data.tensor.coords.data(), place);
}

TEST_F(OnesOnDisk, LeavesNoFile) {
  ReadOptions options;
  options.file = file("ones.tsv", lines(3000, "#user\titem\tweek\tcount\n"));
  const Dataset data = read_dataset(options, SortSpace{directory_.path(), 1});
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory_.path()), {}), 1);
}

TEST_F(OnesOnDisk, NamesTheFolderThatCannotBeWritten) {
  ReadOptions options;
  options.file = file("ones.tsv", lines(30, "#user\titem\tweek\tcount\n"));
  try {
    read_dataset(options, SortSpace{directory_ / "none", 1});
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::io);
    EXPECT_EQ(std::string(error.what()),
              fmt::format("cannot write a temporary file in {}: No such file or directory", directory_ / "none"));
  }
}

TEST(SortMemory, IsBounded) {
  constexpr double MiB = 1 << 20;
  EXPECT_EQ(sort_memory(0, 16384 * MiB), 256 * MiB);
  EXPECT_EQ(sort_memory(8192 * MiB, 16384 * MiB), 512 * MiB);
  EXPECT_EQ(sort_memory(1e15, 16384 * MiB), 2048 * MiB);
  EXPECT_EQ(sort_memory(0, 64 * MiB), 8 * MiB);
}

// Digits of eight bits, one after the other, are in the order of the cells.
TEST(CellOrder, DigitsAreInTheOrderOfTheIds) {
  std::vector<Mode> modes;
  for (const std::uint32_t n : {300u, 1u, 5u, 70000u, 2000000000u})
    modes.push_back({fmt::format("m{}", n), LabelTable::numbered(1, n)});
  const CellOrder order = CellOrder::by_ids(modes);
  EXPECT_EQ(order.bits(), 9u + 0 + 3 + 17 + 31);
  std::mt19937 random(2);
  const auto digits = [&](const std::vector<std::uint32_t>& cell) {
    std::vector<unsigned> all;
    for (unsigned skip = 0; skip < order.bits(); skip += 8) all.push_back(order.digit(cell.data(), skip));
    EXPECT_LT(*std::max_element(all.begin(), all.end()), 256u);
    return all;
  };
  const auto near = [&](std::uint32_t n) { return random() % 2 == 0 ? random() % std::min(n, 3u) : random() % n; };
  for (int i = 0; i < 20000; ++i) {
    std::vector<std::uint32_t> a, b;
    for (const Mode& mode : modes)
      for (auto* cell : {&a, &b}) cell->push_back(static_cast<std::uint32_t>(near(mode.labels.size())));
    EXPECT_EQ(a < b, digits(a) < digits(b));
    EXPECT_EQ(a == b, digits(a) == digits(b));
  }
}

}  // namespace
}  // namespace ztp
