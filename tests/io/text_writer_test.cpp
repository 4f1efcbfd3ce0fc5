// Text files that get their name when they are whole.
#include "io/text_writer.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "errors.hpp"
#include "temp_dir.hpp"

namespace ztp {
namespace {

TEST(TextWriter, LeavesNothingBehindWithoutCommit) {
  const test::TempDir directory;
  { TextWriter(directory.path() + "/a").write(std::string(3 << 20, 'x')); }
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
  TextWriter file(directory.path() + "/a");
  file.write(std::string(3 << 20, 'x'));
  file.put('y');
  EXPECT_FALSE(std::filesystem::exists(directory.path() + "/a"));
  file.commit();
  EXPECT_EQ(std::filesystem::file_size(directory.path() + "/a"), (3u << 20) + 1);
  EXPECT_EQ(file.bytes(), (3u << 20) + 1);
}

TEST(TextWriter, FailuresNameThePath) {
  const std::string message = test::error_of([] { TextWriter("/no/such/place"); }, ErrorKind::io);
  EXPECT_TRUE(test::holds(message, "/no/such/place"));
  EXPECT_TRUE(test::holds(message, "No such file"));
}

}  // namespace
}  // namespace ztp
