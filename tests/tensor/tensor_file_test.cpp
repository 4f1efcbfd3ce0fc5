// The tensor file: what is written comes back, whatever is damaged is refused by name.
#include "ztp/tensor_file.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <random>
#include <set>

#include "base/file.hpp"
#include "base/pool.hpp"
#include "errors.hpp"
#include "temp_dir.hpp"
#include "tensor/shuffle.hpp"
#include "tensor/tensor_writer.hpp"
#include "ztp/error.hpp"

namespace ztp {
namespace {

using Cell = std::vector<std::uint32_t>;

struct Sample {
  std::vector<Mode> modes;
  std::vector<Cell> cells;  // in the order of the file
  std::vector<std::int64_t> counts;
};

// Modes alternate between named and numbered, 40 entities each.
Sample random_sample(std::size_t K, std::size_t ones, bool counted, unsigned seed, std::size_t long_label = 0) {
  std::mt19937 random(seed);
  Sample sample;
  for (std::size_t k = 0; k < K; ++k) {
    LabelTable labels = LabelTable::numbered(static_cast<std::uint32_t>(k), 40);
    if (k % 2 == 0) {
      labels = LabelTable();
      for (int j = 0; j < 40; ++j)
        labels.add(fmt::format("{} of {}{}", j, k, std::string(j == 3 ? long_label : 0, 'x')));
    }
    sample.modes.push_back({fmt::format("mode {}", k), std::move(labels)});
  }
  std::set<std::pair<std::uint64_t, Cell>> ordered;
  while (ordered.size() < ones) {
    Cell cell(K);
    for (std::uint32_t& id : cell) id = static_cast<std::uint32_t>(random() % 40);
    ordered.emplace(shuffle_hash(cell.data(), K), cell);
  }
  for (const auto& [hash, cell] : ordered) {
    sample.cells.push_back(cell);
    if (counted) sample.counts.push_back(static_cast<std::int64_t>(1 + random() % 9) << (random() % 50));
  }
  return sample;
}

void write(const std::string& path, const Sample& sample, std::size_t ones_per_block) {
  TensorWriter writer(path, sample.modes, !sample.counts.empty(), ones_per_block);
  for (std::size_t e = 0; e < sample.cells.size(); ++e)
    writer.add(sample.cells[e].data(), sample.counts.empty() ? 1 : sample.counts[e]);
  writer.commit();
}

void expect_stretch(const TensorFile& file, const Sample& sample, std::uint64_t first, std::size_t count) {
  Cell coords(count * file.order(), ~0u);
  std::vector<std::int64_t> counts(count, -1);
  file.read(first, count, coords.data(), counts.data());
  for (std::size_t i = 0; i < count; ++i) {
    const Cell cell(coords.begin() + static_cast<std::ptrdiff_t>(i * file.order()),
                    coords.begin() + static_cast<std::ptrdiff_t>((i + 1) * file.order()));
    ASSERT_EQ(cell, sample.cells[first + i]) << "one " << first + i;
    ASSERT_EQ(counts[i], sample.counts.empty() ? 1 : sample.counts[first + i]);
  }
}

void put_bytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

// The message of the error that opening the file and checking all of it throws; empty if it is whole.
std::string complaint(const std::string& path) {
  const std::string message = test::error_of([&] { TensorFile(path).verify(); }, ErrorKind::input);
  if (message == "no error") return "";
  EXPECT_TRUE(message.starts_with(path)) << message;
  return message;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != text.npos;
}

// Blocks of 4, 4 and 2 ones, if written as blocks of 4.
Sample small_sample(bool counted = true) {
  return random_sample(3, 10, counted, 5);
}

TEST(TensorFile, RoundTrip) {
  const test::TempDir directory;
  const std::string path = directory / "a.ztpt";
  for (const std::size_t K : {2, 5})
    for (const bool counted : {false, true})
      for (const auto& [ones, per_block] :
           {std::pair<std::size_t, std::size_t>{1, 1}, {64, 64}, {65, 64}, {900, 1000}}) {
        const Sample sample = random_sample(K, ones, counted, 11);
        write(path, sample, per_block);
        const TensorFile file(path);
        EXPECT_EQ(file.path(), path);
        EXPECT_EQ(file.order(), K);
        EXPECT_EQ(file.ones(), ones);
        EXPECT_EQ(file.has_counts(), counted);
        EXPECT_EQ(file.ones_per_block(), per_block);
        EXPECT_EQ(file.blocks(), (ones + per_block - 1) / per_block);
        std::uint64_t total = counted ? 0 : ones;
        for (const std::int64_t count : sample.counts) total += static_cast<std::uint64_t>(count);
        EXPECT_EQ(file.total_count(), total);
        expect_stretch(file, sample, 0, ones);
        expect_stretch(file, sample, ones / 3, ones / 2);
        expect_stretch(file, sample, ones, 0);
        EXPECT_EQ(complaint(path), "");
      }
}

TEST(TensorFile, ModesComeBack) {
  const test::TempDir directory;
  const Sample sample = random_sample(5, 20, false, 2, 5 * label_piece / 2);  // several pieces a mode
  write(directory / "a.ztpt", sample, 8);
  const TensorFile file(directory / "a.ztpt");
  const std::vector<Mode> modes = file.modes();
  ASSERT_EQ(modes.size(), 5u);
  for (std::size_t k = 0; k < 5; ++k) {
    EXPECT_EQ(modes[k].name, sample.modes[k].name);
    EXPECT_EQ(file.mode_name(k), sample.modes[k].name);
    EXPECT_EQ(file.mode_size(k), 40u);
    EXPECT_EQ(modes[k].labels.is_numbered(), k % 2 == 1);
    EXPECT_EQ(modes[k].labels.is_indexed(), k % 2 == 1);
    ASSERT_EQ(modes[k].labels.size(), 40u);
    for (std::uint32_t j = 0; j < 40; ++j) EXPECT_EQ(modes[k].labels[j], sample.modes[k].labels[j]);
  }
}

TEST(TensorFile, ReadsFromSeveralThreads) {
  const test::TempDir directory;
  const Sample sample = random_sample(3, 1000, true, 3);
  write(directory / "a.ztpt", sample, 10);
  const TensorFile file(directory / "a.ztpt");
  Cell coords(3000);
  std::vector<std::int64_t> counts(1000);
  Pool(4).for_blocks(125, [&](std::size_t b) { file.read(8 * b, 8, coords.data() + 24 * b, counts.data() + 8 * b); });
  for (std::size_t e = 0; e < 1000; ++e)
    ASSERT_TRUE(std::equal(sample.cells[e].begin(), sample.cells[e].end(), coords.begin() + static_cast<long>(3 * e)));
  EXPECT_EQ(counts, sample.counts);
}

TEST(TensorFile, OutsideIsAnError) {
  const test::TempDir directory;
  write(directory / "a.ztpt", small_sample(), 4);
  const TensorFile file(directory / "a.ztpt");
  Cell coords(300);
  EXPECT_THROW(file.read(9, 2, coords.data(), nullptr), Error);
  EXPECT_THROW(file.read(11, 0, coords.data(), nullptr), Error);
  EXPECT_THROW(TensorWriter(directory / "b.ztpt", small_sample().modes, false, 0), Error);
}

TEST(TensorFile, Recognises) {
  const test::TempDir directory;
  write(directory / "a.ztpt", small_sample(), 4);
  put_bytes(directory / "text.ztpt", "a\tb\nc\td\n");
  put_bytes(directory / "short.ztpt", "ZTPT");
  ASSERT_EQ(mkfifo((directory / "pipe").c_str(), 0600), 0);
  EXPECT_TRUE(TensorFile::recognises(directory / "a.ztpt"));
  for (const char* name : {"text.ztpt", "short.ztpt", "pipe", "nothing", ""})
    EXPECT_FALSE(TensorFile::recognises(directory / name)) << name;
  EXPECT_FALSE(TensorFile::recognises("-"));
  EXPECT_TRUE(has(complaint(directory / "text.ztpt"), "not a file of 'ztp convert'"));
}

TEST(TensorFile, TruncatedAnywhereIsRefused) {
  const test::TempDir directory;
  const std::string path = directory / "a.ztpt", cut = directory / "cut.ztpt";
  for (const bool counted : {false, true}) {
    const Sample sample = small_sample(counted);
    write(path, sample, 4);
    const std::string whole = read_text(path);
    const TensorFormat format{ReadFile(path)};
    ASSERT_EQ(format.labels_offset(3), whole.size());
    for (std::size_t length = 0; length < whole.size(); ++length) {
      put_bytes(cut, whole.substr(0, length));
      const std::string message = complaint(cut);
      ASSERT_NE(message, "") << length;
      if (length < format.header_bytes()) continue;
      if (length < format.labels_offset(0)) {
        const std::size_t block = length < format.block_offset(1) ? 1 : length < format.block_offset(2) ? 2 : 3;
        EXPECT_TRUE(has(message, fmt::format("cut off in block {} (of 3)", block))) << message;
      } else {
        EXPECT_TRUE(has(message, length < format.labels_offset(1) ? "mode 0" : "mode 2")) << message;
      }
    }
    put_bytes(cut, whole + "x");
    EXPECT_TRUE(has(complaint(cut), "longer than its header says"));
  }
}

TEST(TensorFile, AnyFlippedByteIsNoticedWhereItIs) {
  const test::TempDir directory;
  const std::string path = directory / "a.ztpt", bad = directory / "bad.ztpt";
  const Sample sample = small_sample();
  write(path, sample, 4);
  const std::string whole = read_text(path);
  const TensorFormat format{ReadFile(path)};
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string bytes = whole;
    bytes[i] = static_cast<char>(bytes[i] ^ (1 << (i % 8)));
    put_bytes(bad, bytes);
    const std::string message = complaint(bad);
    ASSERT_NE(message, "") << "byte " << i;
    if (i < format.header_bytes()) {
      EXPECT_THROW(TensorFile{bad}, Error) << "byte " << i;
      continue;
    }
    const TensorFile file(bad);
    if (i >= format.labels_offset(0)) {
      EXPECT_TRUE(has(message, fmt::format("labels of mode mode {}", i < format.labels_offset(1) ? 0 : 2))) << message;
      EXPECT_THROW(file.modes(), Error);
      expect_stretch(file, sample, 0, 10);
      continue;
    }
    const std::size_t block = i < format.block_offset(1) ? 0 : i < format.block_offset(2) ? 1 : 2;
    EXPECT_TRUE(has(message, fmt::format("block {} (of 3) is damaged: wrong checksum", block + 1))) << message;
    Cell coords(30);
    EXPECT_THROW(file.read(4 * block + 1, 1, coords.data(), nullptr), Error);
    expect_stretch(file, sample, block == 0 ? 4 : 0, 4);  // the others can be read
  }
}

TEST(TensorFile, SwappedBlocksAreRefused) {
  const test::TempDir directory;
  const std::string path = directory / "a.ztpt";
  write(path, small_sample(), 4);
  const TensorFormat format{ReadFile(path)};
  const std::string whole = read_text(path);
  const std::size_t one = format.block_offset(0), two = format.block_offset(1), three = format.block_offset(2);
  put_bytes(path,
            whole.substr(0, one) + whole.substr(two, three - two) + whole.substr(one, two - one) + whole.substr(three));
  EXPECT_TRUE(has(complaint(path), "block 1 (of 3)")) << complaint(path);
}

TEST(TensorFile, ImpossibleContentsAreRefusedDespiteRightChecksums) {
  const test::TempDir directory;
  const std::string path = directory / "a.ztpt";
  Sample sample = small_sample();
  sample.cells[6][1] = 40;
  write(path, sample, 4);
  EXPECT_TRUE(has(complaint(path), "block 2 (of 3) is damaged: entity 40 of mode mode 1, which has 40"))
      << complaint(path);
  sample = small_sample();
  sample.counts[9] = 0;
  write(path, sample, 4);
  EXPECT_TRUE(has(complaint(path), "block 3 (of 3) is damaged: a count of 0")) << complaint(path);

  // Whole blocks and a whole header, but not of the same file.
  write(path, small_sample(), 4);
  TensorFormat format{ReadFile(path)};
  format.head.fingerprint ^= 1;
  std::string bytes = read_text(path);
  bytes.replace(0, format.header_bytes(), format.header());
  put_bytes(path, bytes);
  EXPECT_TRUE(has(complaint(path), "the contents do not match the header")) << complaint(path);
  format.head.version = 2;
  bytes.replace(0, format.header_bytes(), format.header());
  put_bytes(path, bytes);
  EXPECT_TRUE(has(complaint(path), "format 2, this one reads 1")) << complaint(path);
}

TEST(TensorFile, FingerprintFollowsContents) {
  const test::TempDir directory;
  const std::string path = directory / "a.ztpt";
  const auto fingerprint_of = [&](const Sample& sample) {
    write(path, sample, 4);
    return TensorFile(path).fingerprint();
  };
  std::set<std::uint64_t> seen = {fingerprint_of(small_sample())};
  EXPECT_EQ(fingerprint_of(small_sample()), *seen.begin());
  Sample changed = small_sample();
  ++changed.counts[5];
  seen.insert(fingerprint_of(changed));
  changed = small_sample();
  changed.modes[1].name = "other";
  seen.insert(fingerprint_of(changed));
  changed = small_sample();
  changed.modes[1].labels = LabelTable::numbered(7, 40);
  seen.insert(fingerprint_of(changed));
  changed = small_sample();
  changed.modes[0].labels.add("one more");
  seen.insert(fingerprint_of(changed));
  seen.insert(fingerprint_of(small_sample(false)));
  EXPECT_EQ(seen.size(), 6u);
}

}  // namespace
}  // namespace ztp
