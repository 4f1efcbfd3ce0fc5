// The sorted list of ones and its fingerprint, by hand. Seed 3 where numbers are drawn; no chance in a run.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/random.hpp"
#include "tensor/records.hpp"
#include "ztp/tensor.hpp"

namespace ztp {
namespace {

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

}  // namespace
}  // namespace ztp
