// Fits the world data set and asks one question of it:  example DATA_DIRECTORY RUN_DIRECTORY
#include <cstdio>
#include <ztp/ztp.hpp>

int main(int argc, char** argv) try {
  if (argc != 3) throw ztp::Error(ztp::ErrorKind::usage, "usage: example DATA_DIRECTORY RUN_DIRECTORY");
  const std::string data = argv[1], run = argv[2];
  ztp::ReadOptions files{.file = data + "/tensor.tsv",
                         .labels = {data + "/labels"},
                         .networks = {"country=" + data + "/network-country.tsv"}};
  ztp::FitOptions options{.rank = 20, .sweeps = 200, .chains = 4};
  ztp::fit(ztp::read_dataset(files, options), options, run);

  ztp::Posterior posterior(run);
  const auto id = [&](std::size_t k, const std::string& label) {
    const auto found = posterior.modes()[k].labels.find(label);
    if (!found) throw ztp::Error(ztp::ErrorKind::input, "no " + posterior.modes()[k].name + " is called " + label);
    return *found;
  };
  const std::uint32_t cell[] = {id(0, "Norway"), id(1, "NATO"), id(2, "2020-24")};
  const ztp::Prediction p = posterior.predict(cell, 1)[0];
  std::printf("P(Norway, NATO, 2020-24) = %.3f, 90 %% interval %.3f to %.3f\n", p.probability, p.q05, p.q95);
} catch (const ztp::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
