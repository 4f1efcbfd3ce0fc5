// The memory that a fit holds is there when its first sweep ends: a run that begins will not die of memory hours later.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>

#include "base/random.hpp"
#include "temp_dir.hpp"
#include "ztp/convert.hpp"
#include "ztp/fit.hpp"

namespace ztp {
namespace {

using test::TempDir;

// In bytes: what is in memory now, and the most that ever was.
struct Resident {
  double now = 0, peak = 0;
};
Resident resident() {
  std::ifstream file("/proc/self/status");
  Resident result;
  std::string word;
  while (file >> word) {
    if (word == "VmRSS:") file >> result.now;
    if (word == "VmHWM:") file >> result.peak;
  }
  return {1024 * result.now, 1024 * result.peak};
}

Dataset many_ones(std::size_t ones) {
  const std::uint32_t sizes[] = {20000, 10000, 500};
  Dataset data;
  for (const std::uint32_t n : sizes)
    data.tensor.modes.push_back({"n" + std::to_string(n), LabelTable::numbered(1, n)});
  Stream stream(stream_key(1, 0, Purpose::simulate), 0, 0);
  for (std::size_t e = 0; e < ones; ++e)
    for (const std::uint32_t n : sizes)
      // uneven, as data are: half of the ones in a tenth of the entities
      data.tensor.coords.push_back(static_cast<std::uint32_t>(stream.below(stream.uniform() < 0.5 ? n / 10 : n)));
  data.tensor.sort_and_merge();
  return data;
}

// The same, to be read from a tensor file while the fit runs.
Dataset in_a_file(const Dataset& data, const TempDir& dir) {
  std::string text;
  for (std::size_t e = 0; e < data.tensor.nnz(); ++e)
    for (std::size_t k = 0; k < 3; ++k) text += std::to_string(data.tensor.cell(e)[k]) + (k < 2 ? "\t" : "\n");
  std::ofstream(dir / "ones.tsv") << text;
  ReadOptions options;
  options.file = dir / "ones.tsv";
  convert(options, dir / "ones.ztpt");
  options.file = dir / "ones.ztpt";
  options.stream = true;
  return read_dataset(options);
}

class ResidentTest : public testing::TestWithParam<const char*> {};

TEST_P(ResidentTest, GrowsNoMoreAfterTheFirstSweep) {
  const TempDir dir;
  FitOptions options;
  options.chains = 1;
  options.rank = 50;
  options.sweeps = 50;
  options.burn_in = 49;  // draws are kept in the end
  options.threads = 2;
  const std::string way = GetParam();
  options.method = way.starts_with("online") ? Method::online : Method::batch;
  // Buffers of the collapsed one grow with the components it splits.
  if (way == "batch") options.sampler = Sampler::plain;
  Resident before, first, last;
  FitCallbacks callbacks;
  callbacks.stop_requested = [&] {  // asked before every sweep
    if (before.now == 0) before = resident();
    return false;
  };
  callbacks.on_sweep = [&](const SweepReport& report) {
    const Resident now = resident();
    if (report.sweep == 1) first = now;
    if (report.sweep + 1 == options.sweeps) last = now;
  };
  Dataset data = way == "online_file" ? in_a_file(many_ones(300000), dir) : many_ones(1000000);
  ASSERT_EQ(fit(std::move(data), options, dir / "run", callbacks), FitOutcome::complete);
  const auto mib = [](double bytes) { return bytes / 1048576; };
  std::printf("%s: resident %.1f MiB before the first sweep, %.1f after it, %.1f after %d; peak %.1f, %.1f and %.1f\n",
              way.c_str(), mib(before.now), mib(first.now), mib(last.now), static_cast<int>(options.sweeps - 1),
              mib(before.peak), mib(first.peak), mib(last.peak));
  EXPECT_LT(first.now, std::max(1.03 * before.now, before.now + 0x1p21));
  EXPECT_LT(last.now, std::max(1.03 * first.now, first.now + 0x1p21));
  EXPECT_LT(last.peak, std::max(1.03 * first.peak, first.peak + 0x1p21));
}

INSTANTIATE_TEST_SUITE_P(Ways, ResidentTest, testing::Values("batch", "online", "online_file"),
                         [](const auto& way) { return std::string(way.param); });

}  // namespace
}  // namespace ztp
