#include "base/version.hpp"

#include <gtest/gtest.h>

TEST(version, later_versions_of_the_same_major_number_continue_a_run) {
  EXPECT_TRUE(ztp::continues(ztp::version()));
  EXPECT_TRUE(ztp::continues("1.0.0", "1.0.0"));
  EXPECT_TRUE(ztp::continues("1.0.0", "1.0.1"));
  EXPECT_TRUE(ztp::continues("1.9.3", "1.10.0"));
}

TEST(version, other_major_numbers_and_older_versions_do_not) {
  EXPECT_FALSE(ztp::continues("1.0.0", "2.0.0"));
  EXPECT_FALSE(ztp::continues("0.9.0", "1.0.0"));
  EXPECT_FALSE(ztp::continues("1.10.0", "1.9.3"));
  EXPECT_FALSE(ztp::continues("1.0.1", "1.0.0"));
  EXPECT_FALSE(ztp::continues("", "1.0.0"));
  EXPECT_FALSE(ztp::continues("one", "1.0.0"));
}
