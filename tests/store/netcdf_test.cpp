// Files of netCDF that cannot be written.
#include "store/netcdf.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "temp_dir.hpp"
#include "ztp/error.hpp"

namespace ztp {
namespace {

// From now on the disk is full for a file that is open.
void fill_disk_of(const std::string& path) {
  const int full = open("/dev/full", O_RDWR);
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    if (std::filesystem::read_symlink(entry.path(), gone) == path) dup2(full, std::stoi(entry.path().filename()));
  }
}

// Writes a file, and ends the program as main does: with 6, if it cannot be written. The disk is full after some draws.
[[noreturn]] void write_and_exit(const std::string& path, std::size_t full_at) {
  try {
    NetcdfFile file = NetcdfFile::create(path);
    const int group = file.add_group("posterior");
    const int draw = file.add_dimension(group, "draw", 100), row = file.add_dimension(group, "row", 1000);
    const NetcdfFile::Variable variable =
        file.add_variable(group, "u", NetcdfFile::Type::floats, {draw, row}, {1, 1000});
    const std::vector<float> values(1000, 0.5f);
    for (std::size_t d = 0; d < 100; ++d) {
      if (d == full_at) fill_disk_of(path);
      file.put(variable, {{d, 0}, {1, 1000}}, values.data());
    }
    file.close();
  } catch (const Error& error) {
    std::exit(error.kind() == ErrorKind::io ? 6 : 1);
  }
  std::exit(0);
}

// HDF5 would crash when the program ends, with what it could not write.
TEST(NetcdfDeathTest, AFullDiskIsAnErrorAndNothingElse) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const test::TempDir dir;
  EXPECT_EXIT(write_and_exit(dir / "good.nc", 100), testing::ExitedWithCode(0), "");
  for (const std::size_t full_at : {0, 1, 50, 99})
    EXPECT_EXIT(write_and_exit(dir / "full.nc", full_at), testing::ExitedWithCode(6), "") << full_at;
}

}  // namespace
}  // namespace ztp
