// Chains side by side: what is recorded is what one after the other would record, callbacks stay in the calling thread,
// and a chain that fails stops the others. The chains here only count; nothing is random.
#include "sampler/run_chains.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <set>
#include <stdexcept>
#include <thread>

namespace ztp::test {
namespace {

// A chain that does nothing but count its steps, and throws in the step `fails_at`, when so many chains have begun.
class Counting final : public Chain {
 public:
  struct Failure {
    std::uint32_t chain = 99, fails_at = 0;
    int when_begun = 0;
    std::atomic<int> begun = 0;
  };
  Counting(std::uint32_t number, Failure& failure) : Chain(number), failure_(failure) {}
  void start() override {}
  double step(bool) override {
    if (t_ == 0) ++failure_.begun;
    if (number_ == failure_.chain && t_ + 1 == failure_.fails_at) {
      while (failure_.begun < failure_.when_begun) std::this_thread::yield();
      throw std::runtime_error("chain " + std::to_string(number_));
    }
    return -static_cast<double>(++t_);
  }
  void draw_state() override {}
  std::vector<CheckpointField> checkpoint_fields() override { return {}; }
  std::vector<double> learned() const override { return {}; }
  void describe(SweepReport&) const override {}
  void probabilities(const std::uint32_t*, std::size_t count, double* probability) const override {
    std::fill(probability, probability + count, 1.0 / (1 + t_));
  }

 private:
  Failure& failure_;
};

// Records the sweeps of each chain, and notices two calls at once.
struct Record : Observer {
  std::map<std::uint32_t, std::vector<std::uint32_t>> swept, drawn;
  std::set<std::uint32_t> ended, stopped, failed;
  std::map<std::uint32_t, std::uint64_t> held_out_draws;
  std::atomic<int> inside = 0;
  bool two_at_once = false;

  void note(const std::function<void()>& body) {
    two_at_once = two_at_once || ++inside > 1;
    body();
    --inside;
  }
  void on_draw(const RunningChain& now) override {
    note([&] { drawn[now.report.chain].push_back(now.report.sweep); });
  }
  void on_sweep(const RunningChain& now) override {
    note([&] { swept[now.report.chain].push_back(now.report.sweep); });
  }
  void on_end(const RunningChain& now) override {
    note([&] {
      ended.insert(now.report.chain);
      if (now.held_out != nullptr) held_out_draws[now.report.chain] = now.held_out->sum().draws;
    });
  }
  void on_stop(const RunningChain& now) override {
    note([&] { stopped.insert(now.report.chain); });
  }
  void on_failure(const RunningChain& now) override {
    note([&] { failed.insert(now.report.chain); });
  }
};

constexpr Schedule schedule{.chains = 5, .sweeps = 400, .burn_in = 100, .keep_every = 7};

Counting::Failure no_failure;

ChainMaker counting(Counting::Failure& failure = no_failure) {
  return [&](std::uint32_t c, std::size_t) { return std::make_unique<Counting>(c, failure); };
}

TEST(RunChains, SideBySideRecordsWhatOneAfterTheOtherDoes) {
  TestCells cells;
  for (const std::uint8_t id : {std::uint8_t{0}, std::uint8_t{1}}) {
    cells.coords.push_back(id);
    cells.outcome.push_back(id);
  }
  for (const std::size_t side_by_side : {1u, 2u, 3u, 5u, 9u}) {
    Record record;
    std::map<std::uint32_t, std::vector<std::uint32_t>> told;
    std::set<std::uint64_t> done;
    const std::thread::id caller = std::this_thread::get_id();
    RunControl control;
    control.tell = [&](const SweepReport& report) {
      EXPECT_EQ(std::this_thread::get_id(), caller);
      told[report.chain].push_back(report.sweep);
      done.insert(report.done);
      EXPECT_EQ(report.planned, 2000u);
    };
    control.stop_requested = [&] {
      EXPECT_EQ(std::this_thread::get_id(), caller);
      return false;
    };
    EXPECT_TRUE(run_chains(counting(), schedule, {}, {&cells, &cells}, record, control, side_by_side));
    EXPECT_FALSE(record.two_at_once);
    EXPECT_EQ(record.ended.size(), 5u);
    EXPECT_TRUE(told == record.swept) << "every sweep is told, in the order of its chain";
    EXPECT_EQ(done.size(), 2000u);
    for (std::uint32_t c = 0; c < 5; ++c) {
      ASSERT_EQ(record.swept[c].size(), 400u);
      for (std::uint32_t t = 1; t <= 400; ++t) EXPECT_EQ(record.swept[c][t - 1], t);
      EXPECT_EQ(record.drawn[c].size(), 43u);
      EXPECT_EQ(record.held_out_draws[c], 43u) << "held-out scores are of one chain";
    }
  }
}

TEST(RunChains, PlacesAreTakenByOneChainAtATime) {
  std::vector<std::atomic<int>> taken(3);
  class Placed final : public Chain {
   public:
    Placed(std::uint32_t number, std::atomic<int>& taken) : Chain(number), taken_(taken) { EXPECT_EQ(++taken_, 1); }
    ~Placed() override { --taken_; }
    void start() override {}
    double step(bool) override { return ++t_, -1; }
    void draw_state() override {}
    std::vector<CheckpointField> checkpoint_fields() override { return {}; }
    std::vector<double> learned() const override { return {}; }
    void describe(SweepReport&) const override {}
    void probabilities(const std::uint32_t*, std::size_t, double*) const override {}

   private:
    std::atomic<int>& taken_;
  };
  Record record;
  const auto make = [&](std::uint32_t c, std::size_t place) { return std::make_unique<Placed>(c, taken.at(place)); };
  EXPECT_TRUE(run_chains(make, {.chains = 20, .sweeps = 50, .burn_in = 10}, {}, {}, record, {}, 3));
  EXPECT_EQ(record.ended.size(), 20u);
}

TEST(RunChains, ChainsGoOnWhereTheyWere) {
  for (const std::size_t side_by_side : {1u, 2u, 4u}) {
    Record record;
    StartedChains started{{400, 0, 399, 120}, [](RunningChain& now) {
                            constexpr std::uint32_t done[] = {400, 0, 399, 120};
                            now.chain.restore(done[now.chain.number()]);
                            now.report.seconds = 3;
                          }};
    std::uint64_t least = 2000;
    RunControl control;
    control.tell = [&](const SweepReport& report) { least = std::min(least, report.done); };
    EXPECT_TRUE(run_chains(counting(), schedule, started, {}, record, control, side_by_side));
    EXPECT_EQ(least, 400u + 399 + 120 + 1);
    EXPECT_EQ(record.swept.count(0), 0u);
    EXPECT_EQ(record.swept[1].size(), 400u);
    EXPECT_EQ(record.swept[2], std::vector<std::uint32_t>{400});
    EXPECT_EQ(record.swept[3].front(), 121u);
  }
}

TEST(RunChains, AFailureStopsTheOthersAndIsThrownOnce) {
  for (const std::size_t side_by_side : {1u, 2u, 5u}) {
    Record record;
    Schedule endless = schedule;
    endless.sweeps = 4000000;  // the others are far from their end
    endless.burn_in = 3999999;
    const int others = static_cast<int>(std::min<std::size_t>(side_by_side, 4)) - 1;  // of the four that have not ended
    Counting::Failure failure{.chain = 1, .fails_at = 300, .when_begun = others + 1};
    try {
      run_chains(counting(failure), endless, {{4000000}, {}}, {}, record, {}, side_by_side);
      FAIL() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "chain 1");
    }
    EXPECT_EQ(record.failed, std::set<std::uint32_t>{1});
    EXPECT_EQ(record.swept[1].back(), 299u);
    EXPECT_TRUE(record.ended.empty());
    EXPECT_EQ(record.stopped.size(), static_cast<std::size_t>(others));
  }
}

TEST(RunChains, AStopEndsAllOfThem) {
  Schedule endless = schedule;
  endless.sweeps = 4000000;
  endless.burn_in = 3999999;
  for (const std::size_t side_by_side : {1u, 3u}) {
    Record record;
    std::map<std::uint32_t, std::uint32_t> told;
    RunControl control;
    control.tell = [&](const SweepReport& report) { told[report.chain] = report.sweep; };
    control.stop_requested = [&] { return told.size() == side_by_side && told[0] >= 10; };
    EXPECT_FALSE(run_chains(counting(), endless, {}, {}, record, control, side_by_side));
    EXPECT_EQ(record.stopped.size(), side_by_side);
    EXPECT_TRUE(record.ended.empty());
    for (const auto& [chain, sweeps] : record.swept) EXPECT_EQ(told[chain], sweeps.back()) << "the last are told, too";
  }
}

TEST(RunChains, WhatACallbackThrowsComesOutWhenAllHaveStopped) {
  Schedule endless = schedule;
  endless.sweeps = 4000000;
  endless.burn_in = 3999999;
  Record record;
  int calls = 0;
  std::set<std::uint32_t> told;
  RunControl control;
  control.tell = [&](const SweepReport& report) {
    told.insert(report.chain);
    if (told.size() == 2) throw ++calls;
  };
  EXPECT_THROW(run_chains(counting(), endless, {}, {}, record, control, 2), int);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(record.stopped.size(), 2u);
}

}  // namespace
}  // namespace ztp::test
