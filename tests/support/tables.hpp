// Text files of cells, and all that a reader makes of one.
#pragma once
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "io/table.hpp"
#include "temp_dir.hpp"

namespace ztp::test {

using Ids = std::vector<std::uint32_t>;
using Names = std::vector<std::string>;

struct Result {
  std::size_t order = 0;
  Ids coords;
  std::vector<std::int64_t> values;
  std::vector<std::uint64_t> lines;
  std::vector<Mode> modes;
  std::uint64_t zero_cells = 0;
};

inline Result read_all(const TableSpec& spec, unsigned threads = 1) {
  Pool pool(threads);
  TableReader reader(spec, pool);
  Result result;
  result.order = reader.order();
  CellBlock block;
  while (reader.next(block)) {
    EXPECT_GT(block.cells(result.order), 0u);
    result.coords.insert(result.coords.end(), block.coords.begin(), block.coords.end());
    result.values.insert(result.values.end(), block.values.begin(), block.values.end());
    result.lines.insert(result.lines.end(), block.lines.begin(), block.lines.end());
  }
  result.modes = reader.take_modes();
  result.zero_cells = reader.zero_cells();
  return result;
}

inline Names labels_of(const Mode& mode) {
  Names labels;
  for (std::uint32_t id = 0; id < mode.labels.size(); ++id) labels.push_back(mode.labels[id]);
  return labels;
}

inline Names mode_names(const Result& result) {
  Names names;
  for (const Mode& mode : result.modes) names.push_back(mode.name);
  return names;
}

inline LabelTable table_of(const Names& labels) {
  LabelTable table;
  for (const std::string& label : labels) table.add(label);
  return table;
}

inline std::string gzip(const std::string& text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, text.size()) + 32, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

inline std::string zstd(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  out.resize(ZSTD_compress2(context, out.data(), out.size(), text.data(), text.size()));
  ZSTD_freeCCtx(context);
  return out;
}

class IoTest : public testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& content) {
    const std::string path = directory_ / name;
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }
  TableSpec spec(const std::string& name, const std::string& content, ValueKind values = ValueKind::none) {
    TableSpec result;
    result.path = file(name, content);
    result.values = values;
    return result;
  }
  Result read(const std::string& name, const std::string& content, ValueKind values = ValueKind::none) {
    return read_all(spec(name, content, values));
  }

  TempDir directory_;
};

// A random .tsv of many lines with empty ones among them, every label seen at several places.
inline std::string random_tsv(std::size_t lines, const char* line_end = "\n") {
  std::mt19937 random(7);
  std::string text;
  for (std::size_t i = 0; i < lines; ++i) {
    if (random() % 50 == 0) text += line_end;
    text +=
        fmt::format("u{}\titem-with-a-longer-name-{}\tv{}{}", random() % 400, random() % 90, random() % 7, line_end);
  }
  return text;
}

}  // namespace ztp::test
