// Which sweeps are kept as draws.
#include <gtest/gtest.h>

#include "sampler/run_chains.hpp"

namespace ztp {
namespace {

TEST(Schedule, KeepsAndThins) {
  Schedule plan;  // 1000 sweeps, burn-in 500, every 5
  EXPECT_EQ(plan.draws_per_chain(), 100u);
  EXPECT_FALSE(plan.keeps(500));
  EXPECT_TRUE(plan.keeps(505));
  EXPECT_EQ(plan.draws_until(505), 1u);
  EXPECT_EQ(plan.draws_until(504), 0u);
  plan.chains = 4;
  const Schedule thinned = plan.thinned_to(100);
  EXPECT_EQ(thinned.keep_every, 20u);
  EXPECT_EQ(thinned.draws(), 100u);
  EXPECT_EQ(plan.thinned_to(99).keep_every, 40u);
  EXPECT_EQ(plan.thinned_to(1).draws_per_chain(), 1u);
  const Schedule odd{.chains = 3, .sweeps = 13, .burn_in = 6, .keep_every = 2};
  EXPECT_EQ(odd.thinned_to(2).draws_per_chain(), 1u);
  EXPECT_TRUE(odd.thinned_to(2).keeps(8));
}

// However far a run goes on, what it has kept so far contains what is then wanted of these sweeps.
TEST(Schedule, LongerRunsWantNoDrawThatShorterOnesDropped) {
  const auto plan = [](std::uint32_t sweeps, std::uint64_t most) {
    return Schedule{.chains = 3, .sweeps = sweeps, .burn_in = sweeps / 2, .keep_every = 1}
        .thinned_to(most)
        .watching_at_most(20);
  };
  for (const std::uint64_t most : {3, 10, 37, 1000})
    for (std::uint32_t before = 1; before <= 90; ++before) {
      const Schedule first = plan(before, most);
      EXPECT_GE(first.draws(), 3u);
      EXPECT_LE(first.draws(), std::max<std::uint64_t>(most, 3));
      EXPECT_LE(first.watches_until(before), 20u);
      for (std::uint32_t after = before; after <= 300; ++after) {
        const Schedule second = plan(after, most);
        std::uint32_t draws = 0;
        for (std::uint32_t t = 1; t <= before; ++t) {
          ASSERT_TRUE(!second.keeps(t) || first.keeps(t)) << before << " " << after << " " << t;
          ASSERT_TRUE(!second.watches(t) || first.watches(t)) << before << " " << after << " " << t;
          draws += second.keeps(t);
        }
        ASSERT_EQ(second.draws_until(before), draws);
      }
    }
}

}  // namespace
}  // namespace ztp
