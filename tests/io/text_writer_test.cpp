// Text files that get their name when they are whole.
#include "io/text_writer.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "errors.hpp"
#include "temp_dir.hpp"

namespace ztp {
namespace {

TEST(TextWriter, WritesNumbersAsTheyAre) {
  std::vector<std::uint64_t> numbers = {0, ~std::uint64_t{0}};
  for (std::uint64_t power = 1; power < 10'000'000'000'000'000'000u; power *= 10)
    numbers.insert(numbers.end(), {power - 1, power, power + 1, 7 * power / 3});
  for (const std::uint64_t number : numbers) {
    char text[max_digits];
    EXPECT_EQ(std::string(text, format_number(text, number)), std::to_string(number));
  }
}

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
