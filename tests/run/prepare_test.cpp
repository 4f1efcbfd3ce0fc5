// What the program chooses where an option is left to it, at the boundaries of each rule, and what options become for a
// chain.
#include "run/prepare.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "errors.hpp"
#include "ztp/error.hpp"

namespace ztp {
namespace {

using Change = std::function<void(FitOptions&)>;

// Two modes, and this many ones, or one of this count.
SparseTensor tensor_of(std::size_t ones, std::int64_t count = 0) {
  SparseTensor tensor;
  tensor.modes = {{"user", LabelTable::numbered(1, 1000)}, {"item", LabelTable::numbered(1, 1000)}};
  tensor.coords.resize(2 * ones);
  for (std::size_t e = 0; e < ones; ++e) {
    tensor.coords[2 * e] = static_cast<std::uint32_t>(e / 1000);
    tensor.coords[2 * e + 1] = static_cast<std::uint32_t>(e % 1000);
  }
  if (count > 0) tensor.counts.push_back(count);
  return tensor;
}

FitOptions completed(const SparseTensor& tensor, std::int64_t ones, const Change& change = {}) {
  FitOptions options;
  if (change) change(options);
  Dataset data;
  data.tensor.modes = tensor.modes;
  data.tensor.coords.append(tensor.coords.data(), tensor.coords.size());
  data.tensor.counts.append(tensor.counts.data(), tensor.counts.size());
  data.file_ones = static_cast<std::uint64_t>(ones) - tensor.nnz();  // as if the rest were in a file
  data.networks.resize(1);                                           // options of a network are allowed
  return complete_options(options, data);
}

FitOptions online(std::int64_t ones, const Change& change = {}) {
  return completed(tensor_of(1), ones, [&](FitOptions& o) {
    o.method = Method::online;
    if (change) change(o);
  });
}

TEST(CompleteOptions, CollapsedUpToFiftyThousandUnits) {
  const auto sampler = [](const SparseTensor& tensor) {
    return completed(tensor, static_cast<std::int64_t>(tensor.nnz())).sampler;
  };
  EXPECT_EQ(sampler(tensor_of(50000)), Sampler::collapsed);
  EXPECT_EQ(sampler(tensor_of(50001)), Sampler::plain);
  EXPECT_EQ(sampler(tensor_of(1, 50000)), Sampler::collapsed);  // counts are the units, not cells
  EXPECT_EQ(sampler(tensor_of(1, 50001)), Sampler::plain);
  EXPECT_EQ(online(10).sampler, Sampler::plain);
}

TEST(CompleteOptions, CollapsedIsRefusedAboveItsLimit) {
  const Change collapsed = [](FitOptions& o) { o.sampler = Sampler::collapsed; };
  EXPECT_EQ(completed(tensor_of(1, std::int64_t{1} << 28), 1, collapsed).sampler, Sampler::collapsed);
  EXPECT_THROW(completed(tensor_of(1, (std::int64_t{1} << 28) + 1), 1, collapsed), Error);
}

// A tenth of the ones; of more than ten million, at least twice the entities (here 2000), but never more than half of
// the ones.
TEST(CompleteOptions, MinibatchesFollowOnesAndEntities) {
  EXPECT_EQ(online(1).minibatch, 1);
  EXPECT_EQ(online(10).minibatch, 1);
  EXPECT_EQ(online(11).minibatch, 2);
  EXPECT_EQ(online(10'000'000).minibatch, 1'000'000);
  SparseTensor wide;
  for (const char* name : {"a", "b"}) wide.modes.push_back({name, LabelTable::numbered(1, 1'000'000)});
  const auto minibatch = [&](std::int64_t ones) {
    return completed(wide, ones, [](FitOptions& o) { o.method = Method::online; }).minibatch;
  };
  EXPECT_EQ(minibatch(10'000'000), 1'000'000);
  EXPECT_EQ(minibatch(10'000'001), 4'000'000);
  EXPECT_EQ(minibatch(100'000'000), 10'000'000);
  wide.modes.push_back({"c", LabelTable::numbered(1, 100'000'000)});
  EXPECT_EQ(minibatch(10'000'001), 5'000'001);
  EXPECT_EQ(online(100, [](FitOptions& o) { o.minibatch = 7; }).minibatch, 7);
}

TEST(CompleteOptions, FewOnesInAMinibatchHaveMeansOfCountsAndDrawsOfParameters) {
  using enum SampleOrMean;
  const struct {
    std::int64_t minibatch;
    SampleOrMean given, latent, parameters;
  } cases[] = {{1, automatic, mean, sample},
               {50000, automatic, mean, sample},
               {50001, automatic, sample, mean},
               {50000, sample, sample, sample},
               {50001, mean, mean, mean}};
  for (const auto& c : cases) {
    const FitOptions o = online(1'000'000, [&](FitOptions& options) {
      options.minibatch = c.minibatch;
      options.latent = options.parameters = c.given;
    });
    EXPECT_EQ(o.latent, c.latent) << c.minibatch << name_of(c.given);
    EXPECT_EQ(o.parameters, c.parameters) << c.minibatch << name_of(c.given);
    EXPECT_EQ(online_options(o).expected_counts, c.latent == mean);
    EXPECT_EQ(online_options(o).mean_parameters, c.parameters == mean);
  }
}

TEST(CompleteOptions, OnlineStepsAreHandedOn) {
  const OnlineOptions o = online_options(online(100, [](FitOptions& options) {
    options.parameters = SampleOrMean::sample;
    options.inner_draws = 3;
    options.kappa = 0.7;
    options.t0 = 12;
  }));
  EXPECT_EQ(o.inner_draws, 3u);
  EXPECT_EQ(o.kappa, 0.7);
  EXPECT_EQ(o.t0, 12);
}

TEST(CompleteOptions, BetaMeansAreOneOverTheRankAndAtMostAHalf) {
  for (const auto& [rank, mean] : {std::pair{1, 0.5}, {2, 0.5}, {4, 0.25}}) {
    const FitOptions o = completed(tensor_of(9), 9, [r = rank](FitOptions& options) { options.rank = r; });
    EXPECT_EQ(o.beta_mean, mean);
    EXPECT_EQ(o.network_beta_mean, mean);
  }
  EXPECT_EQ(completed(tensor_of(9), 9, [](FitOptions& o) { o.beta_mean = 0.3; }).beta_mean, 0.3);
}

// Every sweep after burn-in, or every second, fourth, ..., so that there are no more draws than asked for, or than a
// thousand (a draw has 160 kB here); online every fifth at least.
TEST(CompleteOptions, ScheduleIsFilledIn) {
  const struct {
    std::int64_t sweeps, chains, draws;
    Method method;
    std::int64_t burn_in, keep_every;
  } cases[] = {{1000, 4, -1, Method::batch, 500, 2},   {1000, 1, -1, Method::batch, 500, 1},
               {1001, 4, -1, Method::batch, 500, 2},   {1000, 1, 100, Method::batch, 500, 8},
               {300, 4, 100, Method::batch, 150, 8},   {100000, 4, -1, Method::batch, 50000, 256},
               {1000, 1, -1, Method::online, 500, 5},  {1000, 4, -1, Method::online, 500, 5},
               {1000, 1, 10, Method::online, 500, 80}, {8, 1, -1, Method::online, 4, 5},
               {2, 1, -1, Method::online, 1, 1}};
  for (const auto& c : cases) {
    const FitOptions o = completed(tensor_of(9), 9, [&](FitOptions& options) {
      options.sweeps = c.sweeps;
      options.chains = c.chains;
      options.draws = c.draws;
      options.method = c.method;
    });
    EXPECT_EQ(o.burn_in, c.burn_in) << c.sweeps;
    EXPECT_EQ(o.keep_every, c.keep_every) << c.sweeps << " " << c.chains << " " << c.draws << " " << name_of(c.method);
  }
  const FitOptions point = completed(tensor_of(9), 9, [](FitOptions& o) { o.model = Model::quad; });
  EXPECT_EQ(point.burn_in, 499);
  EXPECT_EQ(point.draws, 1);
}

TEST(CompleteOptions, SmallDataHaveMoreChains) {
  const auto chains = [](std::size_t ones, const std::function<void(FitOptions&)>& change = {}) {
    return completed(tensor_of(ones), ones,
                     [&](FitOptions& o) {
                       if (change) change(o);
                     })
        .chains;
  };
  EXPECT_EQ(chains(50000), 16);
  EXPECT_EQ(chains(50001), 4);
  EXPECT_EQ(chains(9, [](FitOptions& o) { o.method = Method::online; }), 4);
  EXPECT_EQ(chains(9, [](FitOptions& o) { o.model = Model::logistic; }), 4);
  EXPECT_EQ(chains(9, [](FitOptions& o) { o.model = Model::quad; }), 1);
  EXPECT_EQ(chains(9, [](FitOptions& o) { o.chains = 3; }), 3);
  EXPECT_EQ(chains(9, [](FitOptions& o) { o.draws = 5; }), 5) << "one draw of each";
  const auto too_few = [&] {
    chains(9, [](FitOptions& o) {
      o.chains = 3;
      o.draws = 2;
    });
  };
  EXPECT_EQ(test::error_of(too_few, ErrorKind::config),
            "--draws 2: must be at least --chains 3, one draw for each chain");
}

TEST(CompleteOptions, DrawsAreAsManyAsTakeAFewHundredMegabytes) {
  const auto planned = [](std::uint32_t entities, std::int64_t sweeps) {
    SparseTensor tensor = tensor_of(9);
    tensor.modes[0].labels = LabelTable::numbered(1, entities);
    const FitOptions o = completed(tensor, 9, [&](FitOptions& options) {
      options.sweeps = sweeps;
      options.chains = 4;
    });
    const DrawLayout layout(FactorLayout::cp({entities, 1000}, 20), o, {"a", "b"}, {});
    return std::pair{make_schedule(o, layout).draws(), layout.bytes()};
  };
  EXPECT_EQ(planned(1000, 1000).first, 1000u);
  const auto [some, bytes] = planned(20000, 10000);  // 1.7 MB each
  EXPECT_LE(some * bytes, std::uint64_t{256} << 20);
  EXPECT_GT(2 * some * bytes, std::uint64_t{256} << 20);
  const std::uint64_t few = planned(300000, 10000).first;  // 24 MB each
  EXPECT_LE(few, 100u);
  EXPECT_GT(few, 50u);
}

TEST(CompleteOptions, KeepEveryAndDrawsMustGoTogether) {
  const auto both = [](std::int64_t keep_every, std::int64_t draws) {
    return completed(tensor_of(9), 9, [&](FitOptions& o) {
      o.sweeps = 1000;
      o.chains = 4;
      o.keep_every = keep_every;
      o.draws = draws;
    });
  };
  EXPECT_EQ(both(20, 100).keep_every, 20);
  EXPECT_EQ(both(7, -1).keep_every, 7) << "all that are asked for";
  const std::string message = test::error_of([&] { both(20, 99); }, ErrorKind::config);
  EXPECT_EQ(
      message,
      "--keep-every 20 keeps 100 draws over all chains, but --draws 99 allows fewer; drop one of the two options, "
      "or use --keep-every 40");
  EXPECT_TRUE(test::holds(test::error_of([&] { both(1001, -1); }, ErrorKind::config),
                          "--keep-every 1001: no draw would be kept"));
  EXPECT_EQ(both(1000, -1).keep_every, 1000);
}

// The options of a run, every default filled in, are options of a fit that does the same.
TEST(CompleteOptions, AreWhatTheyAreWhenGivenAgain) {
  for (const Method method : {Method::batch, Method::online}) {
    Dataset data;
    data.tensor = tensor_of(9);
    FitOptions options;
    options.method = method;
    const FitOptions complete = complete_options(options, data);
    EXPECT_NE(options_to_json(complete), options_to_json(options));
    EXPECT_EQ(options_to_json(complete_options(complete, data)), options_to_json(complete)) << name_of(method);
  }
}

// The draws of a file pass 4 GiB: fewer are kept, and at least one.
TEST(ScheduleOf, DrawsStayWithinFourGibibytes) {
  FitOptions o = completed(tensor_of(9), 9, [](FitOptions& options) {
    options.sweeps = 1000;
    options.chains = 4;
    options.keep_every = 1;
  });
  const auto draws = [&](std::uint32_t rows) {
    o.rank = 1024;
    const DrawLayout layout(FactorLayout::cp({rows, 1}, 1024), o, {"a", "b"}, {});
    return std::pair{make_schedule(o, layout).draws(), layout.bytes()};
  };
  EXPECT_EQ(draws(100).first, 2000u);
  const auto [some, bytes] = draws(20000);  // 80 MB each
  EXPECT_LE(some * bytes, std::uint64_t{4} << 30);
  EXPECT_GT(2 * some * bytes, std::uint64_t{4} << 30);  // thinned by whole steps
  EXPECT_EQ(draws(2'000'000).first, 4u);                // 8 GB each, and each chain keeps one
}

TEST(ScheduleOf, CellsAreWatchedAtMostTwoThousandTimes) {
  const DrawLayout layout(FactorLayout::cp({3, 3}, 2), {}, {"a", "b"}, {});
  const auto every = [&](std::int64_t sweeps, Method method) {
    return make_schedule(completed(tensor_of(9), 9,
                                   [&](FitOptions& o) {
                                     o.sweeps = sweeps;
                                     o.method = method;
                                   }),
                         layout)
        .watch_every;
  };
  EXPECT_EQ(every(4000, Method::batch), 1u);
  EXPECT_EQ(every(8000, Method::batch), 2u);
  EXPECT_EQ(every(4000, Method::online), 10u);  // with the draws
}

TEST(HyperparametersOf, DirichletOfAllModesAndOfOne) {
  const SparseTensor tensor = tensor_of(9);
  const auto dirichlet = [&](const std::vector<std::string>& given) {
    return hyperparameters(completed(tensor, 9, [&](FitOptions& o) { o.dirichlet = given; }),
                           FactorLayout::cp(tensor.sizes(), 9), tensor.modes)
        .dirichlet;
  };
  EXPECT_EQ(dirichlet({"0.1"}), (std::vector<double>{0.1, 0.1}));
  EXPECT_EQ(dirichlet({"0.3"}), (std::vector<double>{0.3, 0.3}));
  EXPECT_EQ(dirichlet({"item=0.5"}), (std::vector<double>{0.1, 0.5}));
  EXPECT_EQ(dirichlet({"user=2", "0.3"}), (std::vector<double>{2, 0.3}));  // in any order
  EXPECT_EQ(dirichlet({"user=2", "item=1e9"}), (std::vector<double>{2, 1e9}));
}

TEST(HyperparametersOf, WhatIsLearnedAndFromWhere) {
  const SparseTensor tensor = tensor_of(9);
  const struct {
    const char* learn;
    bool dirichlet, shapes;
  } cases[] = {{"", false, false},
               {"dirichlet", true, false},
               {"gamma-shape", false, true},
               {"dirichlet,gamma-shape", true, true}};
  for (const auto& c : cases) {
    const FitOptions o = completed(tensor, 9, [&](FitOptions& options) {
      options.learn = c.learn;
      options.gamma_shape = 0.2;
      options.network_gamma_shape = 0.4;
      options.beta_concentration = 3;
      options.network_beta_concentration = 5;
      options.network_beta_mean = 0.7;
    });
    const Hyperparameters hyper = hyperparameters(o, FactorLayout::cp(tensor.sizes(), 3), tensor.modes);
    EXPECT_EQ(hyper.learn_dirichlet, c.dirichlet) << c.learn;
    EXPECT_EQ(hyper.learn_shapes, c.shapes) << c.learn;
    EXPECT_EQ(hyper.tensor.shape, 0.2);
    EXPECT_EQ(hyper.network.shape, 0.4);
    EXPECT_EQ(hyper.tensor.concentration, 3);
    EXPECT_EQ(hyper.network.concentration, 5);
    EXPECT_EQ(hyper.tensor.mean, 0.04);
    EXPECT_EQ(hyper.network.mean, 0.7);
  }
}

TEST(ProblemOf, SamplerStartSeedAndWhenLearningBegins) {
  Dataset data;
  data.tensor = tensor_of(9);
  const auto problem = [&](const Change& change) { return make_problem(completed(data.tensor, 9, change), data); };
  EXPECT_TRUE(problem({}).collapsed);
  EXPECT_FALSE(problem([](FitOptions& o) { o.sampler = Sampler::plain; }).collapsed);
  EXPECT_FALSE(problem({}).options.start == Start::prior);
  EXPECT_TRUE(problem([](FitOptions& o) { o.start = Start::prior; }).options.start == Start::prior);
  EXPECT_EQ(problem([](FitOptions& o) { o.seed = 77; }).seed, 77u);
  EXPECT_EQ(problem({}).learn_after, 50u);  // half of a burn-in, and at most 50 sweeps
  EXPECT_EQ(problem([](FitOptions& o) { o.sweeps = 40; }).learn_after, 10u);
  EXPECT_FALSE(problem([](FitOptions& o) { o.rank = 639; }).bounded);
  EXPECT_TRUE(problem([](FitOptions& o) { o.rank = 640; }).bounded);
  EXPECT_EQ(problem({}).missing, nullptr);
  data.missing.slices = {{7}, {}};
  EXPECT_EQ(problem({}).missing, &data.missing);
}

}  // namespace
}  // namespace ztp
