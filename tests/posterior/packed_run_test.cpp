// A run with a mode that is so large that its factors are packed: the same answers from draws.nc as any reader of netCDF
// would give, and the same run after more sweeps. Data have the seed 3, and fits the seed 1: deterministic.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "base/file.hpp"
#include "planted.hpp"
#include "store/draws_file.hpp"
#include "store/run_info.hpp"
#include "temp_dir.hpp"
#include "ztp/fit.hpp"
#include "ztp/posterior.hpp"

namespace ztp {
namespace {

constexpr std::uint32_t rows = 300000;
constexpr std::size_t R = 4;

Dataset large_data() {
  SimulateOptions planted;
  planted.dims = {rows, 40};
  planted.ones = 3000;
  planted.rank = 3;
  planted.seed = 3;
  Simulated simulated = simulate(planted);
  return test::as_dataset(simulated);
}

FitOptions options(std::int64_t sweeps) {
  FitOptions options;
  options.rank = R;
  options.sweeps = sweeps;
  options.burn_in = 2;
  options.keep_every = 2;
  options.chains = 2;
  options.threads = 2;
  options.sampler = Sampler::plain;
  return options;
}

TEST(PackedRun, AnswersAreThoseOfTheFile) {
  const test::TempDir dir;
  fit(large_data(), options(6), dir / "run");
  Posterior posterior(dir / "run");
  const RunInfo info = posterior.info();
  const NetcdfFile file = NetcdfFile::open(dir / "run/draws.nc");
  const int group = file.group("posterior");
  const std::string mode = posterior.modes()[0].name, other = posterior.modes()[1].name;
  std::vector<float> u(std::size_t{rows} * R), v(40 * R);
  std::vector<double> lambda(R);
  const std::uint32_t cells[] = {0, 0, 7, 39, 131072, 11, 262143, 5, 262144, 5, rows - 1, 20};
  std::vector<double> sums(std::size(cells) / 2, 0.0);
  for (const std::size_t c : {0u, 1u})
    for (const std::size_t d : {0u, 1u}) {
      file.get(file.variable(group, "u_" + mode), {{c, d, 0, 0}, {1, 1, rows, R}}, u.data());
      file.get(file.variable(group, "u_" + other), {{c, d, 0, 0}, {1, 1, 40, R}}, v.data());
      file.get(file.variable(group, "lambda"), {{c, d, 0}, {1, 1, R}}, lambda.data());
      for (std::size_t e = 0; e < sums.size(); ++e) {
        double z = 0;
        for (std::size_t r = 0; r < R; ++r)
          z += lambda[r] * static_cast<double>(u[cells[2 * e] * R + r]) *
               static_cast<double>(v[cells[2 * e + 1] * R + r]);
        sums[e] += -std::expm1(-z) / 4;
      }
    }
  const std::vector<Prediction> predictions = posterior.predict(cells, sums.size());
  for (std::size_t e = 0; e < sums.size(); ++e)
    EXPECT_NEAR(predictions[e].probability, sums[e], 1e-5 * sums[e] + 1e-300) << e;  // the kernel has floats
  // Means, too, which are not packed.
  const MeansFile means(dir / "run", info);
  EXPECT_EQ(means.factor(1, 0).rows(), rows);
}

// A run that is replaced while another reader has it open: each reads its own file, although both have the same path.
TEST(PackedRun, IsReadFromItsOwnFile) {
  const test::TempDir dir;
  const std::uint32_t cells[] = {0, 0, 7, 39, 131072, 11, 262143, 5, 262144, 5, rows - 1, 20};
  const auto predict = [&](Posterior& posterior) {
    std::vector<double> probabilities;
    for (const Prediction& of_cell : posterior.predict(cells, std::size(cells) / 2))
      probabilities.push_back(of_cell.probability);
    return probabilities;
  };
  std::vector<std::vector<double>> wanted;
  for (const std::uint64_t seed : {1u, 2u}) {
    FitOptions of_seed = options(4);
    of_seed.seed = seed;
    const std::string run = dir / std::to_string(seed);
    fit(large_data(), of_seed, run);
    Posterior alone(run);
    wanted.push_back(predict(alone));
  }
  ASSERT_NE(wanted[0], wanted[1]);
  std::filesystem::rename(dir / "1", dir / "run");
  Posterior first(dir / "run");
  EXPECT_EQ(predict(first), wanted[0]);
  std::filesystem::rename(dir / "run", dir / "1");
  std::filesystem::rename(dir / "2", dir / "run");
  Posterior second(dir / "run");
  EXPECT_EQ(predict(second), wanted[1]);
  EXPECT_EQ(predict(first), wanted[0]);
}

// A matrix that is a little larger than the smallest that is packed has chunks of equal size.
TEST(PackedRun, TakesHalfTheRoomOfFloats) {
  const test::TempDir dir;
  fit(large_data(), options(4), dir / "run");
  const double plain = 2.0 * sizeof(float) * (rows + 40) * R;  // two chains with one draw each
  const double numbers_of_rows = sizeof(std::int64_t) * (rows + 40), rest = 1 << 16;
  EXPECT_LT(static_cast<double>(std::filesystem::file_size(dir / "run/draws.nc")),
            0.51 * plain + numbers_of_rows + rest);
}

TEST(PackedRun, GoesOnToTheSameBytes) {
  const test::TempDir dir;
  fit(large_data(), options(10), dir / "whole");
  fit(large_data(), options(6), dir / "run");
  ResumeOptions more;
  more.sweeps = 10;
  resume(dir / "run", {}, more);
  for (const char* name : {"/draws.nc", "/means.nc"})
    EXPECT_TRUE(read_text(dir / "whole" + name) == read_text(dir / "run" + name)) << name;
}

}  // namespace
}  // namespace ztp
