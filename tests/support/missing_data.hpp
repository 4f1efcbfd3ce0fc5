// A small tensor of which something is missing.
#pragma once
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "temp_dir.hpp"
#include "ztp/read.hpp"

namespace ztp::test {

using Ids = std::vector<std::uint32_t>;

inline Ids ids(const Buffer<std::uint32_t>& buffer) {
  return {buffer.begin(), buffer.end()};
}

// ann, bob, cid, dan by x, y, z; dan has no ones. Ids are places in these lists.
class MissingData : public testing::Test {
 protected:
  MissingData() {
    write("ones.tsv", "#user\titem\nann\tx\nann\ty\nbob\ty\ncid\tz\n");
    write("users.txt", "ann\nbob\ncid\ndan\n");
    options_.file = dir_ / "ones.tsv";
    options_.labels = {"user=" + (dir_ / "users.txt")};
  }
  std::string write(const std::string& name, const std::string& text) {
    std::ofstream(dir_ / name, std::ios::binary) << text;
    return dir_ / name;
  }
  Dataset read() const { return read_dataset(options_); }

  TempDir dir_;
  ReadOptions options_;
};

}  // namespace ztp::test
