// How draws are stored: the log while a fit runs, and the names of the file that it becomes.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "base/file.hpp"
#include "kernel/host_arrays.hpp"
#include "store/draw_log.hpp"
#include "store/netcdf.hpp"
#include "temp_dir.hpp"
#include "ztp/error.hpp"

namespace ztp {
namespace {

using test::TempDir;

TEST(DrawLog, IgnoresAHalfRecordAndSeesDamage) {
  const TempDir dir;
  const std::string path = dir / "draws.log";
  FitOptions options;
  options.rank = 2;
  options.chains = 2;
  const DrawLayout layout(FactorLayout::cp({3, 1}, 2), options, {"a", "b"}, {0});
  EXPECT_EQ(layout.floats(), 4u + 4u + 6u + 2u);
  HostArrays arrays;
  State state = make_state(layout.factors, {0}, {}, arrays);
  const float row[] = {0, 3};  // stored as n u: u is 1
  state.factors[0]->write({2, 3}, row);
  state.tensor.log_weight = {0, std::log(5.0)};
  SweepReport report;
  report.chain = 1;
  report.sweep = 7;
  {
    DrawLogWriter writer(path, layout, 0);
    writer.append(state, report);
    writer.append(state, report);
  }
  const std::string whole = read_text(path);
  write_text(path, whole.substr(0, whole.size() - 5));
  const DrawLogReader reader(path, layout);
  ASSERT_EQ(reader.draws(), 1u);
  EXPECT_EQ(reader.head(0).sweep, 7u);
  float values[16];
  reader.read(0, 0, 16, values);
  EXPECT_FLOAT_EQ(values[1], 5);
  EXPECT_FLOAT_EQ(values[8 + 5], 1);
  reader.verify_sums(0);
  reader.read_piece(0, 0, values);
  std::string damaged = whole;
  damaged[40] = static_cast<char>(damaged[40] ^ 4);
  write_text(path, damaged);
  EXPECT_THROW(DrawLogReader(path, layout).read_piece(0, 0, values), Error);
  damaged = whole;
  damaged[4] = static_cast<char>(damaged[4] ^ 4);
  write_text(path, damaged);
  EXPECT_THROW(DrawLogReader(path, layout).verify_sums(0), Error);
}

TEST(Netcdf, ModeNamesBecomeLegalNames) {
  EXPECT_EQ(netcdf_names({"user id", "7days", "draw", "user_id", "p", "u_x"}),
            (std::vector<std::string>{"user_id", "mode_7days", "mode_draw", "user_id_4", "mode_p", "mode_u_x"}));
}

}  // namespace
}  // namespace ztp
