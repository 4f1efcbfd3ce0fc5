// A number that goes bad stops a rival with iteration, mode and row.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "baselines/logistic_chain.hpp"
#include "baselines/quad_chain.hpp"
#include "faulty_world.hpp"

namespace ztp::test {
namespace {

template <class Rival>
void plant(Rival& chain, const std::string& name, std::size_t byte, double value) {
  for (const CheckpointField& field : chain.checkpoint_fields()) {
    if (field.name != name) continue;
    const float small = static_cast<float>(value);
    if (name == "u1")
      std::memcpy(static_cast<char*>(field.data) + byte, &small, sizeof(small));
    else
      std::memcpy(static_cast<char*>(field.data) + byte, &value, sizeof(value));
  }
}

TEST(Numeric, RivalsNameIterationModeAndRow) {
  FaultyWorld world;
  Pool alone(1);  // with more, any row could be the first to fail
  const RivalProblem problem{&world.tensor, nullptr, 3, 1};
  QuadChain quad(problem, 0.1, 1, alone, 0);
  quad.start();
  quad.step(true);
  plant(quad, "u1", 0, std::nan(""));  // mode item, row 1
  quad.restore(1);
  std::string message = message_of([&] { quad.step(true); });
  EXPECT_TRUE(message.starts_with("iteration 2: mode 1, row 1 has no minimum")) << message;
  EXPECT_FALSE(quad.whole());

  LogisticChain logistic(problem, 2000, alone, 0);
  logistic.start();
  logistic.step(true);
  EXPECT_TRUE(logistic.whole());
  plant(logistic, "weight", 0, std::nan(""));
  message = message_of([&] { logistic.step(true); });
  EXPECT_TRUE(message.starts_with("sweep 2: mode user, row 1")) << message;
  EXPECT_FALSE(logistic.whole());
}

}  // namespace
}  // namespace ztp::test
