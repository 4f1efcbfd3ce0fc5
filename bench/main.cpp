// ztp-bench: how fast the sampler is on this machine, part by part, as tables and as a JSON file. `ztp bench` runs it.
//
// Kernels are timed by Google Benchmark, whole sweeps by the chain itself. Beside its own time the allocation step has
// that of its two limits, measured in the same run: reading and multiplying the rows of the ones without any draw, and
// copying memory. The program needs no netCDF; `make bench-bundle` puts it with all it needs into a folder that runs on
// a bare machine.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <new>

#include "base/file.hpp"
#include "machine.hpp"
#include "suite.hpp"
#include "ztp/error.hpp"
#include "ztp/version.hpp"

namespace ztp::bench {
namespace {

struct Part {
  std::string name;
  std::string title;
  void (*run)(Suite&);
};
const std::vector<Part> parts = {
    {"bandwidth", "copying memory", bench_bandwidth},
    {"gamma", "gamma draws on one thread, against std::gamma_distribution<float> with std::mt19937", bench_gamma},
    {"allocate", "the allocation step, against reading and multiplying alone and against copying", bench_allocate},
    {"sweep", "whole sweeps, against copying what they must move", bench_sweep},
    {"cuda", "whole sweeps on a GPU, and beside them the two halves and what they move", bench_cuda},
    {"rank", "sweeps against the rank", bench_rank},
    {"threads", "sweeps against threads", bench_threads},
    {"scaling", "sweeps of simulated tensors against ones, rank and modes", bench_scaling},
    {"score", "rates of random cells", bench_score},
};

constexpr const char* footer = R"(Examples:
  ztp bench                                      everything, a few minutes
  ztp bench --only gamma,allocate --threads 1
  ztp bench --tensor ones.tsv --only sweep,rank,threads
  ztp bench --quick --json quick.json

Each figure is a median, with the smallest and the largest of its repeats. "wanted" is what the project has set
itself; whether it holds does not change the exit code, since another machine may be slower.)";

void add_flags(CLI::App& app, Options& options) {
  std::vector<std::string> names;
  for (const Part& part : parts) names.push_back(part.name);
  if (const char* data = std::getenv("ZTP_DATA")) options.data = data;
  options.threads = hardware_threads();
  app.set_version_flag("--version", std::string("ztp ") + version());
  app.option_defaults()->always_capture_default();
  app.add_flag("--quick", options.quick, "small shapes and short repeats: shows that it works, not how fast it is");
  app.add_option("--json", options.json, "file for all figures");
  app.add_option("--threads", options.threads, "most threads to use")->check(CLI::Range(1, 1024));
  app.add_option("--only", options.only, "parts to run, separated by commas; else all")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember(names));
  app.add_option("--data", options.data, "directory with scholars/tensor.tsv.gz; by default $ZTP_DATA");
  app.add_option("--tensor", options.tensor, "time this tensor in place of those of the suite: .tsv, .tns or .mtx");
  app.footer(footer);
}

void run(const Options& options) {
  AtomicFile file(options.json);  // opened first: a name that cannot be written is an error now, not in ten minutes
  fmt::print("ztp {}, {}, threads {} of {}, {}, {}\n\n", version(), cpu_name(), options.threads, hardware_threads(),
             simd_target(), compiler());
  Suite suite(options);
  for (const Part& part : parts) {
    const std::vector<std::string>& only = options.only;
    if (!only.empty() && std::find(only.begin(), only.end(), part.name) == only.end()) continue;
    suite.report.begin(part.name, part.title);
    part.run(suite);
    suite.report.end();
  }
  const nlohmann::ordered_json json = {{"version", version()},
                                       {"quick", options.quick},
                                       {"most_threads", options.threads},
                                       {"machine", describe_machine()},
                                       {"parts", suite.report.json()}};
  file.write(json.dump(2) + "\n");
  file.commit();
}

}  // namespace
}  // namespace ztp::bench

int main(int argc, char** argv) {
  CLI::App app("ztp bench: how fast the sampler is on this machine");
  app.name("ztp bench");
  ztp::bench::Options options;
  ztp::bench::add_flags(app, options);
  try {
    app.parse(argc, argv);
    ztp::bench::run(options);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const ztp::Error& error) {
    fmt::print(stderr, "ztp bench: {}\n", error.what());
    return 2 + static_cast<int>(error.kind());  // the exit codes of ztp
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "ztp bench: out of memory\n");
    return 7;
  } catch (const std::exception& error) {
    fmt::print(stderr, "ztp bench: {}\n", error.what());
    return 1;
  }
  return 0;
}
