// Where bytes come from and how they are shared out: compressed files and streams are read like plain ones, and nothing
// depends on threads or blocks, nor does the line that is refused. What else is refused: tests/bad_inputs.
#include "io/source.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "errors.hpp"
#include "tables.hpp"
#include "tensor/label_hash.hpp"

namespace ztp::test {
namespace {

// ---- compression and files

TEST_F(IoTest, CompressedFilesAreKnownByTheirBytesNotTheirNames) {
  const std::string text = random_tsv(20000);
  const Result plain = read("a.tsv", text);
  const std::string half = text.substr(0, text.size() / 2), rest = text.substr(text.size() / 2);
  const std::string forms[] = {gzip(text),
                               zstd(text),
                               gzip(half) + gzip(rest),
                               zstd(half) + zstd(rest),
                               gzip("") + gzip(text),
                               gzip(text) + std::string(512, '\0')};
  for (const std::string& bytes : forms) {
    const Result result = read("b.tsv", bytes);
    EXPECT_EQ(result.coords, plain.coords);
  }
  EXPECT_EQ(read("plain.tsv.gz", text).coords, plain.coords);
}

// Standard input replaced by a pipe that hands out a few bytes at a time.
class StdinPipe {
 public:
  explicit StdinPipe(std::string bytes) : saved_(dup(STDIN_FILENO)) {
    int ends[2];
    if (pipe(ends) != 0 || dup2(ends[0], STDIN_FILENO) < 0) throw std::runtime_error("pipe failed");
    close(ends[0]);
    writer_ = std::thread([end = ends[1], text = std::move(bytes)] {
      for (std::size_t at = 0; at < text.size(); at += 3)
        if (write(end, text.data() + at, std::min<std::size_t>(3, text.size() - at)) < 0) break;
      close(end);
    });
  }
  ~StdinPipe() {
    writer_.join();
    dup2(saved_, STDIN_FILENO);
    close(saved_);
  }

 private:
  int saved_;
  std::thread writer_;
};

TEST_F(IoTest, StandardInputIsReadPlainAndCompressed) {
  TableSpec table;
  table.path = "-";
  for (const std::string& bytes : {std::string("a\tb\nc\td\n"), gzip("a\tb\nc\td\n"), zstd("a\tb\nc\td\n")}) {
    const StdinPipe input(bytes);
    EXPECT_EQ(read_all(table).coords, (Ids{0, 0, 1, 1}));
  }
  {
    const StdinPipe input("%%MatrixMarket matrix coordinate pattern general\n5 3 1\n1 2\n");
    EXPECT_EQ(read_all(table).modes[0].labels.size(), 5u);
  }
}

// ---- threads and blocks

TEST_F(IoTest, NothingDependsOnThreadsOrBlocks) {
  std::string indices;
  for (int i = 0; i < 3000; ++i) indices += fmt::format("{} {} {} {}\n", i * 7 % 311 + 1, i % 97 + 1, i % 5 + 1, i % 4);
  std::string named = "#user\titem\tvenue\n" + random_tsv(3000, "\r\n");
  named.resize(named.size() - 2);
  for (const bool tsv : {true, false}) {
    TableSpec table = tsv ? spec("a.tsv", named) : spec("a.tns", indices, ValueKind::counts);
    table.keep_lines = true;
    const Result expected = read_all(table);
    for (const unsigned threads : {1u, 2u, 5u})
      for (const std::size_t block_bytes : {1u, 64u, 1000u, 40000u}) {
        table.block_bytes = block_bytes;
        const Result result = read_all(table, threads);
        EXPECT_EQ(result.coords, expected.coords);
        EXPECT_EQ(result.values, expected.values);
        EXPECT_EQ(result.lines, expected.lines);
        EXPECT_EQ(result.zero_cells, expected.zero_cells);
        for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(labels_of(result.modes[k]), labels_of(expected.modes[k]));
      }
  }
}

// A frame of zstd whose only block is bad. With room for all of it zstd decodes it in another way, and used to say
// something else of it.
TEST_F(IoTest, WhatIsSaidOfABadFrameDoesNotDependOnBlocks) {
  TableSpec table = spec("a.zst", std::string("\x28\xb5\x2f\xfd\x20\x61\xfb\x31\x03\x74\x24\x0a\x24\x72", 14));
  std::set<std::string> messages;
  for (const std::size_t block_bytes : {1u, 64u, 256u, 1u << 20}) {
    table.block_bytes = block_bytes;
    messages.insert(error_of([&] { read_all(table); }));
  }
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_NE(messages.begin()->find("corrupt zstd data"), std::string::npos) << *messages.begin();
}

TEST_F(IoTest, IdsAreThoseOfANaiveReader) {
  const std::string text = random_tsv(4000);
  TableSpec table = spec("a.tsv", text);
  table.block_bytes = 3000;
  const Result result = read_all(table, 3);
  std::vector<Names> seen(3);
  Ids expected;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    std::istringstream fields(line);
    std::string label;
    for (std::size_t k = 0; std::getline(fields, label, '\t'); ++k) {
      const auto place = std::find(seen[k].begin(), seen[k].end(), label);
      expected.push_back(static_cast<std::uint32_t>(place - seen[k].begin()));
      if (place == seen[k].end()) seen[k].push_back(label);
    }
  }
  EXPECT_EQ(result.coords, expected);
  for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(labels_of(result.modes[k]), seen[k]);
}

// 32-bit hashes of this many labels collide a few times (about 5): equal hashes must not make labels equal.
TEST_F(IoTest, LabelsWithEqualHashesStayApart) {
  constexpr std::uint32_t count = 200000;
  std::string text;
  std::set<std::uint32_t> hashes;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::string label = fmt::format("{:x}", i);
    text += label + "\ty\n";
    hashes.insert(label_hash(label));
  }
  ASSERT_LT(hashes.size(), count) << "no hashes are equal: other labels are needed";
  TableSpec table = spec("a.tsv", text);
  table.block_bytes = 16 << 20;
  const Result result = read_all(table);
  ASSERT_EQ(result.modes[0].labels.size(), count);
  for (std::uint32_t i = 0; i < count; ++i) ASSERT_EQ(result.coords[2 * i], i);
}

TEST_F(IoTest, TheFirstBadLineIsReportedForAnyThreadsAndBlocks) {
  std::string text;
  for (int i = 1; i <= 4000; ++i)
    text += i == 2500 || i == 2600 || i == 3900 ? "lonely\n" : fmt::format("user{}\tmovie\n", i);
  std::string entries = "sptensor\n2\n5000 3\n2000\n";
  for (int i = 1; i <= 3000; ++i) entries += i == 2500 ? "x\n" : fmt::format("{} 1 1\n", i);
  TableSpec tsv = spec("a.tsv", text), tns = spec("a.tns", entries);
  const auto error = [](const TableSpec& table, unsigned threads) {
    return error_of([&] { read_all(table, threads); }, ErrorKind::input, table.path);
  };
  for (const unsigned threads : {1u, 4u})
    for (const std::size_t block_bytes : {1u, 300u, 5000u, 1u << 20}) {
      tsv.block_bytes = tns.block_bytes = block_bytes;
      EXPECT_TRUE(error(tsv, threads).starts_with("F:2500:7: expected 2 columns")) << threads << " " << block_bytes;
      EXPECT_TRUE(error(tns, threads).starts_with("F:2005:1: more entries than the 2000"))
          << threads << " " << block_bytes;
    }
}

}  // namespace
}  // namespace ztp::test
