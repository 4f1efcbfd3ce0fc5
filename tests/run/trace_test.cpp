// trace.tsv, which diagnose reads, and draws.nc, which ArviZ reads, have the same numbers to the last bit: R-hat and
// ESS are of ranks, and a rounded digit makes a tie. A fit of the seed 1: deterministic.
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "diagnose/chain_table.hpp"
#include "store/netcdf.hpp"
#include "temp_dir.hpp"
#include "ztp/fit.hpp"

namespace ztp {
namespace {

using test::TempDir;

TEST(Trace, AndDrawsHaveTheSameNumbers) {
  const TempDir dir;
  Dataset data;
  data.tensor.modes = {{"a", LabelTable::numbered(1, 20)}, {"b", LabelTable::numbered(1, 20)}};
  for (std::uint32_t i = 0; i < 20; ++i)
    for (std::uint32_t j = i % 3; j < 20; j += 3)
      for (const std::uint32_t id : {i, j}) data.tensor.coords.push_back(id);
  FitOptions options;
  options.rank = 4;
  options.sweeps = 40;
  options.keep_every = 1;
  options.threads = 1;
  options.chains = 2;
  options.learn = "gamma-shape";
  fit(std::move(data), options, dir / "run");
  const ChainTable trace = read_chain_table(dir / "run/trace.tsv", 2);
  const NetcdfFile draws = NetcdfFile::open(dir / "run/draws.nc");
  for (const auto& [column, group, name] : std::vector<std::array<const char*, 3>>{
           {"log_likelihood", "sample_stats", "lp"}, {"gamma_shape", "posterior", "gamma_shape"}}) {
    const DrawsOfChains expected = trace.draws(trace.column(column), {0, 1}, 20);
    for (std::size_t c = 0; c < 2; ++c) {
      std::vector<double> stored(20);
      draws.get(draws.variable(draws.group(group), name), {{c, 0}, {1, 20}}, stored.data());
      EXPECT_EQ(stored, expected[c]) << name;
    }
  }
}

}  // namespace
}  // namespace ztp
