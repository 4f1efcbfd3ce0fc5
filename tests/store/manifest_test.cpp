// Checksums of the files of a run: small files as a whole, large ones in pieces.
#include "store/manifest.hpp"

#include <gtest/gtest.h>

#include <string>

#include "base/file.hpp"
#include "temp_dir.hpp"
#include "ztp/error.hpp"

namespace ztp {
namespace {

constexpr std::size_t piece = 4 << 20;

TEST(Manifest, FilesOfAnyLengthAreTheSameForAnyNumberOfThreads) {
  const test::TempDir dir;
  for (const std::size_t length : {std::size_t{0}, piece, piece + 1, 3 * piece + 17}) {
    std::string bytes(length, 'x');
    write_text(dir / "file", bytes);
    add_to_manifest(dir.path(), {"file"}, 3);
    const std::string manifest = read_text(dir / "manifest.json");
    EXPECT_EQ(manifest.find("pieces") != std::string::npos, length > piece) << length;
    add_to_manifest(dir.path(), {"file"});
    EXPECT_EQ(read_text(dir / "manifest.json"), manifest);
    check_manifest(dir.path(), "file", "", 2);
    if (length == 0) continue;
    for (const std::size_t place : {std::size_t{0}, length / 2, length - 1}) {
      std::string damaged = bytes;
      damaged[place] = 'y';
      write_text(dir / "file", damaged);
      EXPECT_THROW(check_manifest(dir.path(), "file", "", 2), Error) << length << " " << place;
    }
    write_text(dir / "file", bytes + "x");
    EXPECT_THROW(check_manifest(dir.path(), "file"), Error);
  }
}

// As earlier versions listed large files.
TEST(Manifest, AnEarlierOneIsRead) {
  const test::TempDir dir;
  write_text(dir / "file", std::string(piece + 5, 'a'));
  write_text(dir / "manifest.json",
             "{\"format\": 1, \"files\": {\"file\": {\"bytes\": 4194309, \"xxh3\": \"70faf0516bd1403e\"}}}");
  check_manifest(dir.path(), "file");
  write_text(dir / "file", std::string(piece + 5, 'b'));
  EXPECT_THROW(check_manifest(dir.path(), "file"), Error);
}

}  // namespace
}  // namespace ztp
