// How draws are stored: the log while a fit runs, and the names of the file that it becomes.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cmath>
#include <csignal>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/file.hpp"
#include "kernel/host_arrays.hpp"
#include "store/draw_log.hpp"
#include "store/netcdf.hpp"
#include "store/packed.hpp"
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

// Draws of several pieces: those of the first two matrices do not end where variables do, the third is packed.
struct LargeDraws {
  LargeDraws() {
    state.factors[0]->write({0, 2500}, values(2500 * 30, 1).data());
    state.factors[1]->write({0, 4001}, values(4001 * 30, 2).data());
    state.factors[2]->write({0, 40001}, values(40001 * 30, 3).data());
    state.tensor.log_weight.assign(30, std::log(2.0));
  }
  static std::vector<float> values(std::size_t count, std::size_t first) {
    std::vector<float> list(count);
    for (std::size_t i = 0; i < count; ++i) list[i] = static_cast<float>((first + i) % 1013);
    return list;
  }
  static FitOptions options() {
    FitOptions options;
    options.rank = 30;
    options.chains = 1;
    return options;
  }
  void write(const std::string& path, unsigned threads) {
    DrawLogWriter writer(path, layout, 0, threads);
    for (std::uint32_t t = 1; t <= 3; ++t) {
      SweepReport report;
      report.sweep = t;
      state.tensor.log_weight[0] = t;
      writer.append(state, report);
    }
    writer.sync();
  }

  const DrawLayout layout{FactorLayout::cp({2500, 4001, 40001}, 30), options(), {"a", "b", "c"}, {}};
  const DrawPieces pieces{layout};
  HostArrays arrays;
  State state = make_state(layout.factors, {}, {}, arrays);
};

TEST(DrawLog, SeveralThreadsWriteTheSameBytes) {
  const TempDir dir;
  LargeDraws draws;
  ASSERT_EQ(draws.pieces.count(), 5u);
  draws.write(dir / "one", 1);
  draws.write(dir / "four", 4);
  EXPECT_EQ(read_text(dir / "one").size(), 3 * record_bytes(draws.layout));
  EXPECT_TRUE(read_text(dir / "one") == read_text(dir / "four"));
  const DrawLogReader reader(dir / "four", draws.layout);
  for (const std::size_t f : {1u, 2u}) {
    const DrawVariable& factor = draws.layout.variable(DrawVariable::Kind::factor, f);
    EXPECT_EQ(factor.packed, f == 2);
    std::vector<float> values(factor.floats());
    const std::vector<float> given = LargeDraws::values(values.size(), f + 1);
    reader.read(2, factor.offset, values.size(), values.data());
    for (std::size_t i = 0; i < values.size(); ++i) {
      const float value = given[i] / static_cast<float>(factor.rows);
      ASSERT_EQ(values[i], factor.packed ? rounded_to_pack(value) : value) << f << " " << i;
    }
    // From the middle of a piece to the middle of another.
    reader.read(2, factor.offset + 12345, 100000, values.data());
    ASSERT_EQ(values[99999], factor.packed ? rounded_to_pack(given[112344] / 40001.0f) : given[112344] / 4001.0f);
  }
}

TEST(DrawLog, WhoFollowsGetsEveryPieceAsItIsStored) {
  const TempDir dir;
  LargeDraws draws;
  std::mutex mutex;
  std::map<std::size_t, std::shared_ptr<const StoredDraw>> followed;
  {
    DrawLogWriter writer(dir / "log", draws.layout, 0, 4);
    writer.follow([&](std::size_t number, std::shared_ptr<const StoredDraw> draw) {
      const std::scoped_lock lock(mutex);
      EXPECT_TRUE(followed.emplace(number, std::move(draw)).second);
    });
    SweepReport report;
    for (std::uint32_t t = 1; t <= 3; ++t) {
      report.sweep = t;
      writer.append(draws.state, report);
    }
    writer.sync();
  }
  const DrawLogReader reader(dir / "log", draws.layout);
  ASSERT_EQ(followed.size(), 3u);
  for (const auto& [number, draw] : followed) {
    EXPECT_EQ(draw->head.sweep, number + 1);
    for (std::size_t p = 0; p < draws.pieces.count(); ++p) EXPECT_EQ(draw->pieces[p], reader.stored_piece(number, p));
  }
}

TEST(DrawPieces, CoverADrawWithoutGaps) {
  const LargeDraws draws;
  std::uint64_t number = 0, byte = 0;
  for (std::size_t p = 0; p < draws.pieces.count(); ++p) {
    const DrawPiece piece = draws.pieces[p];
    EXPECT_EQ(piece.first, number);
    EXPECT_EQ(piece.begin, byte);
    EXPECT_EQ(piece.packed(), p >= 3);
    EXPECT_EQ(draws.pieces.with_number(number), p);
    EXPECT_EQ(draws.pieces.with_number(piece.end() - 1), p);
    number = piece.end();
    byte += piece.bytes;
  }
  EXPECT_EQ(number, draws.layout.floats());
  EXPECT_EQ(byte, draws.pieces.bytes());
  // Half the room for the packed matrix: whole chunks, of which the last is padded.
  EXPECT_LT(draws.pieces[3].bytes, 2.02 * 34952 * 30);
}

// Pieces are written in any order: a kill may leave a record with a gap before one that is whole.
TEST(DrawLog, ARecordWithAGapIsDropped) {
  const TempDir dir;
  LargeDraws draws;
  const std::string path = dir / "draws.log";
  draws.write(path, 2);
  const std::string whole = read_text(path);
  const std::uint64_t bytes = record_bytes(draws.layout);
  for (const std::uint64_t gap : {bytes, bytes + 1000, bytes + draws.pieces[1].begin + 1000,
                                  bytes + draws.pieces[3].begin + 100000, 2 * bytes - 30}) {
    std::string text = whole;
    text.replace(gap, 30, std::string(30, '\0'));
    write_text(path, text);
    EXPECT_EQ(keep_draws(path, draws.layout, [](std::uint32_t, std::uint32_t) { return true; }),
              std::vector<std::uint64_t>{2});
    EXPECT_TRUE(read_text(path) == whole.substr(0, bytes) + whole.substr(2 * bytes)) << gap;
  }
}

// A limit on the size of files stands for a full disk, which has room again later.
TEST(DrawLog, WhoWasToldOfAFailureIsToldAgain) {
  const TempDir dir;
  const LargeDraws draws;
  const std::vector<float> values(draws.layout.floats());
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{record_bytes(draws.layout), before.rlim_max};
  DrawLogWriter writer(dir / "draws.log", draws.layout, 0, 2);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  writer.append(DrawHead{0, 1, {}}, values);
  EXPECT_NO_THROW(writer.sync());
  const auto append_more = [&] {
    for (std::uint32_t t = 2; t <= 4; ++t) writer.append(DrawHead{0, t, {}}, values);
    writer.sync();
  };
  EXPECT_THROW(append_more(), Error);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_THROW(writer.sync(), Error);
}

TEST(Netcdf, ModeNamesBecomeLegalNames) {
  EXPECT_EQ(netcdf_names({"user id", "7days", "draw", "user_id", "p", "u_x"}),
            (std::vector<std::string>{"user_id", "mode_7days", "mode_draw", "user_id_4", "mode_p", "mode_u_x"}));
}

}  // namespace
}  // namespace ztp
