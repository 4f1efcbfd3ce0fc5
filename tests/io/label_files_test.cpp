// Files of labels.
#include "io/label_files.hpp"

#include <gtest/gtest.h>

#include "io/text_writer.hpp"
#include "temp_dir.hpp"

namespace ztp {
namespace {

using test::TempDir;

TEST(LabelFiles, LabelsComeBackAsTheyWere) {
  const TempDir dir;
  LabelTable labels;
  for (const char* label : {"\xef\xbb\xbfmark", "#hash", "plain"}) labels.add(label);
  write_label_file(dir / "labels", labels);
  const LabelTable again = read_label_file(dir / "labels");
  ASSERT_EQ(again.size(), labels.size());
  for (std::uint32_t j = 0; j < labels.size(); ++j) EXPECT_EQ(again[j], labels[j]);
}

}  // namespace
}  // namespace ztp
