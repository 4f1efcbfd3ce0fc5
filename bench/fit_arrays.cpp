// The C++ call that Python's fit is compared with (experiments/python_overhead.py):
//   bench_fit_arrays CELLS MODES OPTIONS RUN
// CELLS has ids of 32 bits, cell after cell; OPTIONS are as in options.json. Prints the seconds of the call, of the
// wall clock and of the processors, and the memory in MiB when it began and at its peak.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "base/clock.hpp"
#include "base/memory.hpp"
#include "ztp/ztp.hpp"

namespace {

double processor_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

ztp::Arrays read_cells(const char* path, std::size_t K) {
  ztp::Arrays arrays;
  arrays.coords.resize(std::filesystem::file_size(path) / 4);
  std::FILE* file = std::fopen(path, "rb");
  if (file == nullptr || std::fread(arrays.coords.data(), 4, arrays.coords.size(), file) != arrays.coords.size())
    std::exit(1);
  std::fclose(file);
  for (std::size_t k = 0; k < K; ++k) {
    std::uint32_t largest = 0;
    for (std::size_t i = k; i < arrays.coords.size(); i += K) largest = std::max(largest, arrays.coords[i]);
    arrays.modes.push_back({fmt::format("mode{}", k + 1), ztp::LabelTable::numbered(0, largest + 1)});
  }
  return arrays;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  ztp::Arrays arrays = read_cells(argv[1], std::strtoul(argv[2], nullptr, 10));
  const ztp::FitOptions options = ztp::options_from_json(argv[3]);
  const double memory = ztp::resident_memory(), begin = ztp::clock_seconds(), processors = processor_seconds();
  ztp::fit(ztp::make_dataset(std::move(arrays)), options, argv[4]);
  fmt::print("{:.4f} {:.4f} {:.1f} {:.1f}\n", ztp::clock_seconds() - begin, processor_seconds() - processors,
             memory / (1 << 20), static_cast<double>(ztp::peak_memory()) / (1 << 20));
}
