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
  plan.chains = 4;
  const Schedule thinned = plan.thinned_to(100);
  EXPECT_EQ(thinned.keep_every, 20u);
  EXPECT_EQ(thinned.chains * thinned.draws_per_chain(), 100u);
  EXPECT_GE(plan.thinned_to(1).draws_per_chain(), 1u);
  const Schedule odd{
      .chains = 3, .sweeps = 13, .burn_in = 6, .keep_every = 2};  // a step of 2 would pass the 7 sweeps after burn-in
  EXPECT_EQ(odd.thinned_to(2).draws_per_chain(), 1u);
}

}  // namespace
}  // namespace ztp
