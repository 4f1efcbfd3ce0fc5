// Rows and draws of chains that took turns: what is dropped when they go on, and the order in the end.
#include "store/chain_rows.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/file.hpp"
#include "store/draw_log.hpp"
#include "temp_dir.hpp"

namespace ztp {
namespace {

using OfChains = std::vector<std::uint64_t>;

struct ChainRows : testing::Test {
  OfChains keep(const std::string& text, const KeepsSweep& keeps) {
    write_text(path, text);
    return keep_rows(path, 2, keeps);
  }
  std::string now() const { return read_text(path); }
  test::TempDir dir;
  const std::string path = dir / "trace.tsv";
  const KeepsSweep up_to_two = [](std::uint32_t, std::uint32_t sweep) { return sweep <= 2; };
};

TEST_F(ChainRows, AreCutAtTheEndOrTakenOutOfTheMiddle) {
  EXPECT_EQ(keep("chain\tsweep\tx\n0\t1\ta\n1\t1\tb\n0\t2\tc\n0\t3\td\n1\t3\te\n", up_to_two), (OfChains{2, 1}));
  EXPECT_EQ(now(), "chain\tsweep\tx\n0\t1\ta\n1\t1\tb\n0\t2\tc\n");
  const auto zero_to_one = [](std::uint32_t chain, std::uint32_t sweep) { return chain == 1 || sweep <= 1; };
  EXPECT_EQ(keep("chain\tsweep\n0\t1\n1\t1\n0\t2\n1\t2\n0\t3\n1\t3\n", zero_to_one), (OfChains{1, 3}));
  EXPECT_EQ(now(), "chain\tsweep\n0\t1\n1\t1\n1\t2\n1\t3\n");
  EXPECT_EQ(keep("chain\tsweep\n0\t7\n", up_to_two), (OfChains{0, 0}));
  EXPECT_EQ(now(), "chain\tsweep\n");
}

TEST_F(ChainRows, WhatAKillLeftIsDropped) {
  for (const std::string& left :
       std::vector<std::string>{"0\t2", "0\t2\tx", "0\t", "junk\n", std::string(3, '\0'), "7\t1\tx\n", "0\tx\n"}) {
    EXPECT_EQ(keep("chain\tsweep\n0\t1\tx\n" + left, up_to_two), (OfChains{1, 0})) << left;
    EXPECT_EQ(now(), "chain\tsweep\n0\t1\tx\n") << left;
  }
  EXPECT_EQ(keep("chain\tsw", up_to_two), (OfChains{0, 0}));
  EXPECT_EQ(now(), "");
  EXPECT_EQ(keep_rows(dir / "none.tsv", 2, up_to_two), (OfChains{0, 0}));
}

TEST_F(ChainRows, AreSortedByChain) {
  write_text(path, "chain\tsweep\n1\t1\n0\t1\n1\t2\n0\t2\n");
  sort_rows(path, 2);
  EXPECT_EQ(now(), "chain\tsweep\n0\t1\n0\t2\n1\t1\n1\t2\n");
  sort_rows(path, 2);
  EXPECT_EQ(now(), "chain\tsweep\n0\t1\n0\t2\n1\t1\n1\t2\n");
}

TEST_F(ChainRows, TheLastNumberOfEachChain) {
  write_text(path, "chain\tsweep\tlp\tk\n1\t1\t-7.25\t3\n0\t1\t-1\t4\n1\t2\t\t5\n0\t2\t-2.5\t6\n1\t3\t-9");
  EXPECT_EQ(last_values(path, 2, "lp"), (std::vector<double>{-2.5, -7.25}));
  EXPECT_EQ(last_values(path, 2, "k"), (std::vector<double>{6, 5}));
  EXPECT_TRUE(std::isnan(last_values(path, 3, "lp")[2]));
}

// Longer than what is read at a time.
TEST_F(ChainRows, OfALongFile) {
  std::string text = "chain\tsweep\n", first, second;
  for (int t = 1; t <= 60000; ++t) {
    const std::string tail =
        "\t" + std::to_string(t) + "\t" + std::string(static_cast<std::size_t>(t % 50), 'x') + "\n";
    first += "0" + tail;
    second += t <= 50000 ? "1" + tail : "";
    text += "0" + tail + "1" + tail;
  }
  EXPECT_EQ(keep(text, [](std::uint32_t chain, std::uint32_t t) { return chain == 0 || t <= 50000; }),
            (OfChains{60000, 50000}));
  sort_rows(path, 2);
  EXPECT_TRUE(now() == "chain\tsweep\n" + first + second);
}

TEST(KeepDraws, DropsWhatIsNotWantedAndWhatIsDamaged) {
  const test::TempDir dir;
  FitOptions options;
  options.chains = 2;
  options.rank = 2;
  const DrawLayout layout(FactorLayout::cp({3, 3}, 2), options, {"a", "b"}, {});
  const std::string path = dir / "draws.log";
  {
    DrawLogWriter log(path, layout, 0);
    for (std::uint32_t t = 1; t <= 4; ++t)
      for (std::uint32_t c = 0; c < 2; ++c)
        log.append(DrawHead{c, t, {}}, std::vector<float>(layout.floats(), static_cast<float>(10 * c + t)));
  }
  std::string bytes = read_text(path);
  bytes[7 * record_bytes(layout) + 60] ^= 1;                                      // chain 1, sweep 4
  write_text(path, bytes + std::string(bytes.data(), record_bytes(layout) - 1));  // and an incomplete one
  const auto all = [](std::uint32_t, std::uint32_t) { return true; };
  EXPECT_EQ(keep_draws(path, layout, all), (OfChains{4, 3}));
  EXPECT_EQ(read_text(path).size(), 7 * record_bytes(layout));
  const auto even = [](std::uint32_t chain, std::uint32_t sweep) { return chain == 0 && sweep % 2 == 0; };
  EXPECT_EQ(keep_draws(path, layout, even), (OfChains{2, 0}));
  const DrawLogReader log(path, layout);
  ASSERT_EQ(log.draws(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(log.head(i).sweep, 2 * i + 2);
    float value = 0;
    log.verify_sums(i);
    log.read(i, 0, 1, &value);
    EXPECT_EQ(value, static_cast<float>(2 * i + 2));
  }
  EXPECT_EQ(keep_draws(path, layout, [](std::uint32_t, std::uint32_t) { return false; }), (OfChains{0, 0}));
  EXPECT_EQ(read_text(path), "");
  EXPECT_EQ(keep_draws(dir / "none.log", layout, all), (OfChains{0, 0}));
}

}  // namespace
}  // namespace ztp
