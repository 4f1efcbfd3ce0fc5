// Rivals as models of a fit: registered or not, and with data at the ends of what is allowed. Functions of the seed 1;
// no chance in a run.
#include <gtest/gtest.h>

#include <functional>

#include "errors.hpp"
#include "extreme_data.hpp"
#include "run/rivals.hpp"
#include "temp_dir.hpp"
#include "ztp/fit.hpp"
#include "ztp/posterior.hpp"
#include "ztp/rivals.hpp"

namespace ztp::test {
namespace {

// A library without them says so before it makes anything.
TEST(RivalFits, MustBeRegistered) {
  const TempDir dir;
  FitOptions options;
  options.chains = 1;
  options.model = Model::logistic;
  const auto fitted = [&] { fit(full({3, 4, 5}), options, dir / "run"); };
  register_rivals({});
  EXPECT_TRUE(holds(error_of(fitted, ErrorKind::config), "--model logistic: this build of ztp has no rivals"));
  EXPECT_FALSE(std::filesystem::exists(dir / "run"));
  add_rivals();
  fitted();
  EXPECT_TRUE(std::filesystem::exists(dir / "run"));
}

// The rivals, too, end on little data and on too regular data.
TEST(RivalFits, EndWithProbabilities) {
  const TempDir dir;
  add_rivals();
  const auto one = [] {
    Dataset data = dataset({6, 5, 4});
    add(data, {2, 3, 1});
    return data;
  };
  const std::vector<std::function<Dataset()>> worlds = {
      one,
      [] {
        return full({3, 4, 5});
      },
      [] {
        return full({1, 1});
      },
      [] {
        return random_ones({1, 12, 9}, 40);
      },
      [] { return random_ones(std::vector<std::uint32_t>(12, 2), 40); }};
  int runs = 0;
  for (const Model model : {Model::logistic, Model::quad, Model::pwquad})
    for (const auto& world : worlds) {
      const std::int64_t rank = runs % 2 == 0 ? 1 : 30;
      FitOptions options;
      options.chains = 1;
      options.model = model;
      options.rank = rank;
      options.sweeps = 20;
      options.threads = 1;
      const std::string run = dir / std::to_string(++runs);
      const std::vector<std::uint32_t> sizes = sizes_of(world());
      ASSERT_EQ(fit(world(), options, run), FitOutcome::complete);
      Posterior posterior(run, 1);
      const std::vector<Cell> cells = cells_of(sizes, 5);
      Cell coords;
      for (const Cell& cell : cells) coords.insert(coords.end(), cell.begin(), cell.end());
      for (const Prediction& p : posterior.predict(coords.data(), cells.size()))
        EXPECT_TRUE(p.probability >= 0 && p.probability <= 1) << name_of(model) << " " << rank << " " << p.probability;
    }
}

}  // namespace
}  // namespace ztp::test
