// Fits the world data set and asks one question of it:  example DATA_DIRECTORY RUN_DIRECTORY
#include <cstdio>
#include <ztp/fit.hpp>
#include <ztp/posterior.hpp>

int main(int, char** argv) {
  const std::string data = argv[1], run = argv[2];
  ztp::ReadOptions files{.file = data + "/tensor.tsv",
                         .labels = {data + "/labels"},
                         .networks = {"country=" + data + "/network-country.tsv"}};
  ztp::FitOptions options{.rank = 20, .sweeps = 200};
  ztp::fit(ztp::read_dataset(files), options, run);

  ztp::Posterior posterior(run);
  const auto id = [&](std::size_t k, const char* label) { return *posterior.modes()[k].labels.find(label); };
  const std::uint32_t cell[] = {id(0, "Norway"), id(1, "NATO"), id(2, "2020-24")};
  const ztp::Prediction p = posterior.predict(cell, 1)[0];
  std::printf("P(Norway, NATO, 2020-24) = %.3f, 90 %% interval %.3f to %.3f\n", p.probability, p.q05, p.q95);
}
