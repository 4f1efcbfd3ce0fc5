// Files of checksummed sections: what is written reads back, and every damage is seen.
#include "base/section_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.hpp"
#include "temp_dir.hpp"
#include "ztp/error.hpp"

namespace ztp {
namespace {

using test::TempDir;

TEST(SectionFile, ReadsBackAndRefusesDamage) {
  const TempDir dir;
  const std::string path = dir / "x.bin";
  const std::uint64_t numbers[] = {1, 2, 3};
  {
    SectionWriter writer(path);
    writer.values("numbers", numbers, 3);
    EXPECT_FALSE(std::filesystem::exists(path)) << "the name must be taken in commit() only";
    writer.commit();
  }
  EXPECT_EQ(SectionReader(path).values<std::uint64_t>("numbers")[2], 3u);
  EXPECT_THROW(SectionReader(path).text("other"), Error);

  const std::string whole = read_text(path);
  for (std::size_t cut = 0; cut < whole.size(); ++cut) {  // every truncation is refused
    write_text(path, whole.substr(0, cut));
    EXPECT_THROW(SectionReader(path).values<std::uint64_t>("numbers"), Error) << cut;
  }
  for (std::size_t at = 0; at < whole.find("end") - 16; ++at) {  // and every changed byte up to the end mark
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    write_text(path, changed);
    if (at >= 12 && at < 16) continue;  // padding of the section head, not read
    EXPECT_THROW(SectionReader(path).values<std::uint64_t>("numbers"), Error) << at;
  }
}

}  // namespace
}  // namespace ztp
