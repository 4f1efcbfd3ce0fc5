// draws.nc beside the draws: what ArviZ looks for in a file.
#include "store/draws_nc.hpp"

#include <gtest/gtest.h>
#include <netcdf.h>

#include <cmath>
#include <filesystem>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "base/file.hpp"
#include "store/data_groups.hpp"
#include "store/draw_log.hpp"
#include "store/netcdf.hpp"
#include "store/packed.hpp"
#include "temp_dir.hpp"
#include "ztp/error.hpp"

namespace ztp {
namespace {

using test::TempDir;
using Numbers = std::vector<std::int64_t>;

constexpr const char* began = "2019-01-17T00:00:00Z";

void fill(Buffer<std::uint32_t>& buffer, const std::vector<std::uint32_t>& values) {
  buffer.append(values.data(), values.size());
}

// Modes with names that the file needs for itself, three counts, two networks (one without edges), and of everything
// something missing.
Dataset small_data() {
  Dataset data;
  data.tensor.modes = {{"one", LabelTable::numbered(1, 4)}, {"mode_one", LabelTable()}, {"count", LabelTable()}};
  for (const char* label : {"x", "y", "z"}) data.tensor.modes[1].labels.add(label);
  for (const char* label : {"p", "q"}) data.tensor.modes[2].labels.add(label);
  fill(data.tensor.coords, {0, 1, 0, 2, 0, 1, 2, 2, 0});
  for (const std::int64_t count : Numbers{5, 1, std::int64_t{1} << 40}) data.tensor.counts.push_back(count);
  data.networks.resize(2);
  data.networks[0].mode = 1;
  fill(data.networks[0].edges, {0, 1, 1, 2});
  fill(data.networks[0].missing, {0, 2});
  data.missing.slices = {{3}, {}, {}};
  fill(data.missing.cells, {1, 1, 1});
  return data;
}

RunInfo info_of(const Dataset& data) {
  RunInfo info;
  info.version = "9.8.7";
  info.created = began;
  info.options.rank = 2;
  info.options.chains = 2;
  info.options.likelihood = Likelihood::count;
  info.options.seed = ~std::uint64_t{0};
  info.options.burn_in = 50;
  info.options.gamma_shape = 0.1;
  info.options.beta_mean = 0.5;
  info.keep_every = 3;
  for (const Mode& mode : data.tensor.modes) {
    info.modes.push_back({mode.name, mode.labels.size(), mode.labels.is_numbered(), 0});
    info.modes.back().dirichlet = 0.25 * static_cast<double>(info.modes.size());
  }
  info.networks.resize(data.networks.size());
  return info;
}

// draws.nc and means.nc of one draw.
void write(const std::string& dir, const RunInfo& info, const Dataset& data) {
  const DrawLayout layout = draw_layout(info);
  {
    DrawLogWriter writer(dir + "/draws.log", layout, 0);
    writer.append(DrawHead{0, 1, {}}, std::vector<float>(layout.floats(), 0.5f));
  }
  const DrawLogReader log(dir + "/draws.log", layout);
  Pool pool(2);
  DrawFiles(dir, info, data, layout, DrawFiles::Sizes::of(log)).write(info, data, log, pool);
}

class DrawsNc : public testing::Test {
 protected:
  void write_small(const RunInfo& info) {
    write(dir_.path(), info, data_);
    file_.reset(new NetcdfFile(NetcdfFile::open(dir_ / "draws.nc")));
  }
  std::vector<std::size_t> shape(const std::string& group, const std::string& name) {
    return file_->shape(file_->variable(file_->group(group), name));
  }
  template <class Number = std::int64_t>
  std::vector<Number> numbers(const std::string& group, const std::string& name) {
    const std::vector<std::size_t> size = shape(group, name);
    std::vector<Number> values(std::accumulate(size.begin(), size.end(), std::size_t{1}, std::multiplies<>()));
    file_->get(file_->variable(file_->group(group), name), {std::vector<std::size_t>(size.size(), 0), size},
               values.data());
    return values;
  }
  bool has(const std::string& group, const std::string& name) {
    int id = -1;
    return nc_inq_varid(file_->group(group), name.c_str(), &id) == NC_NOERR;
  }
  std::uint64_t number_attribute(const std::string& group, const std::string& name) {
    unsigned long long value = 0;
    EXPECT_EQ(nc_get_att_ulonglong(file_->group(group), NC_GLOBAL, name.c_str(), &value), NC_NOERR) << name;
    return value;
  }

  const TempDir dir_;
  const Dataset data_ = small_data();
  std::unique_ptr<NetcdfFile> file_;
};

// Of a file, or with a group's name, of that.
std::string text_attribute(const std::string& path, const char* group, const char* name) {
  int file = -1;
  std::size_t length = 0;
  EXPECT_EQ(nc_open(path.c_str(), NC_NOWRITE, &file), NC_NOERR);
  int place = file;
  EXPECT_TRUE(*group == 0 || nc_inq_grp_ncid(file, group, &place) == NC_NOERR) << group;
  EXPECT_EQ(nc_inq_attlen(place, NC_GLOBAL, name, &length), NC_NOERR) << group << " " << name;
  std::string text(length, ' ');
  EXPECT_EQ(nc_get_att_text(place, NC_GLOBAL, name, text.data()), NC_NOERR) << group << " " << name;
  nc_close(file);
  return text;
}

TEST_F(DrawsNc, SaysEverywhereWhatMadeItAndWhen) {
  write_small(info_of(data_));
  file_->close();
  for (const char* group : {"", "posterior", "sample_stats", "observed_data", "constant_data"}) {
    EXPECT_EQ(text_attribute(dir_ / "draws.nc", group, "inference_library"), "ztp");
    EXPECT_EQ(text_attribute(dir_ / "draws.nc", group, "inference_library_version"), "9.8.7");
    EXPECT_EQ(text_attribute(dir_ / "draws.nc", group, "created_at"), began);
  }
  for (const char* group : {"", "posterior_mean"})
    EXPECT_EQ(text_attribute(dir_ / "means.nc", group, "created_at"), began);
}

TEST_F(DrawsNc, HasTheOnesByRow) {
  write_small(info_of(data_));
  EXPECT_EQ(numbers("observed_data", "mode_mode_one"), (Numbers{0, 2, 2}));  // of the mode "one"
  EXPECT_EQ(numbers("observed_data", "mode_one"), (Numbers{1, 0, 2}));
  EXPECT_EQ(numbers("observed_data", "mode_count"), (Numbers{0, 1, 0}));
  EXPECT_EQ(numbers("observed_data", "count"), (Numbers{5, 1, std::int64_t{1} << 40}));
}

TEST_F(DrawsNc, HasWhatDoesNotChange) {
  write_small(info_of(data_));
  const std::string group = "constant_data";
  EXPECT_EQ(number_attribute(group, "rank"), 2u);
  EXPECT_EQ(number_attribute(group, "seed"), ~std::uint64_t{0});
  EXPECT_EQ(number_attribute(group, "burn_in"), 50u);
  EXPECT_EQ(number_attribute(group, "keep_every"), 3u);
  EXPECT_EQ(numbers(group, "ones"), Numbers{3});
  EXPECT_EQ(numbers(group, "entities"), (Numbers{4, 3, 2}));
  EXPECT_EQ(numbers<double>(group, "dirichlet"), (std::vector<double>{0.25, 0.5, 0.75}));
  EXPECT_EQ(numbers<double>(group, "gamma_shape"), std::vector<double>{0.1});
  EXPECT_EQ(numbers<double>(group, "network_gamma_shape"), std::vector<double>{0.1});
  EXPECT_EQ(numbers<double>(group, "beta_mean"), std::vector<double>{0.5});
  EXPECT_EQ(shape(group, "network_mode"), std::vector<std::size_t>{2});
  EXPECT_EQ(numbers(group, "network_edges"), (Numbers{2, 0}));
  EXPECT_EQ(shape(group, "edges_1"), (std::vector<std::size_t>{2, 2}));
  EXPECT_EQ(numbers(group, "edges_1"), (Numbers{0, 1, 1, 2}));
  EXPECT_FALSE(has(group, "edges_2"));
  EXPECT_EQ(numbers(group, "missing_pairs_1"), (Numbers{0, 2}));
  EXPECT_EQ(numbers(group, "missing_cells"), (Numbers{1, 1, 1}));
  EXPECT_EQ(numbers(group, "missing_slices"), (Numbers{0, 3}));
}

TEST_F(DrawsNc, HasNoConstantThatIsDrawnOrNotOfTheModel) {
  RunInfo info = info_of(data_);
  info.options.learn = "gamma-shape,dirichlet";
  write_small(info);
  for (const char* name : {"dirichlet", "gamma_shape", "network_gamma_shape"})
    EXPECT_FALSE(has("constant_data", name)) << name;
  EXPECT_TRUE(has("constant_data", "beta_concentration"));
  info.options.learn.clear();
  for (const Model rival : {Model::logistic, Model::quad}) {
    info.options.model = rival;
    write_small(info);
    EXPECT_FALSE(has("constant_data", "beta_concentration"));
    EXPECT_EQ(numbers<double>("constant_data", "ridge"), std::vector<double>{1});
  }
}

// Chains run one after the other: of an interrupted run the last is short.
TEST_F(DrawsNc, HasNoNumbersWhereAChainIsShorter) {
  const RunInfo info = info_of(data_);
  const DrawLayout layout = draw_layout(info);
  {
    DrawLogWriter writer(dir_ / "draws.log", layout, 0);
    for (const DrawHead& head : {DrawHead{0, 1, {}}, DrawHead{0, 2, {}}, DrawHead{1, 1, {}}})
      writer.append(head, std::vector<float>(layout.floats(), 0.5f));
  }
  Pool pool(2);
  const DrawLogReader log(dir_ / "draws.log", layout);
  DrawFiles(dir_.path(), info, data_, layout, DrawFiles::Sizes::of(log)).write(info, data_, log, pool);
  file_.reset(new NetcdfFile(NetcdfFile::open(dir_ / "draws.nc")));
  EXPECT_EQ(numbers("sample_stats", "sweep"), (Numbers{1, 2, 1, 0}));
  for (const char* name : {"lambda", "u_one"}) {
    const std::vector<double> values = numbers<double>("posterior", name);
    const std::size_t present = values.size() / 4 * 3;
    for (std::size_t i = 0; i < values.size(); ++i)
      EXPECT_TRUE(i < present ? values[i] == 0.5 : std::isnan(values[i])) << name << " " << i << ": " << values[i];
  }
}

// Where a GPU samples, they are begun before there are draws.
TEST_F(DrawsNc, IsTheSameWhenItIsBegunBeforeTheDraws) {
  const RunInfo info = info_of(data_);
  write(dir_.path(), info, data_);
  const std::string draws = read_text(dir_ / "draws.nc"), means = read_text(dir_ / "means.nc");
  const DrawLogReader log(dir_ / "draws.log", draw_layout(info));
  Pool pool(3);
  {
    DrawFiles files(dir_.path(), info, data_, draw_layout(info), {1, 1, 1});
    EXPECT_TRUE(files.fit(log));
    files.write(info, data_, log, pool);
  }
  EXPECT_TRUE(read_text(dir_ / "draws.nc") == draws);
  EXPECT_TRUE(read_text(dir_ / "means.nc") == means);
}

// A mode that is so large that its factors are packed, and two chains.
class PackedDrawsNc : public testing::Test {
 protected:
  static constexpr std::uint32_t rows = 600000;
  PackedDrawsNc() {
    data_.tensor.modes = {{"a", LabelTable::numbered(0, rows)}, {"b", LabelTable::numbered(0, 2)}};
    fill(data_.tensor.coords, {0, 1, 7, 0});
    info_ = info_of(data_);
    info_.options.likelihood = Likelihood::binary;
    layout_.emplace(draw_layout(info_));
    values_.resize(layout_->floats());
    for (std::size_t i = 0; i < values_.size(); ++i) values_[i] = 1.0f / static_cast<float>(1 + i % 1001);
  }
  std::vector<DrawHead> heads() const { return {{0, 1, {}}, {0, 2, {}}, {1, 1, {}}, {1, 2, {}}}; }
  std::vector<float> values(const DrawHead& head) const {
    std::vector<float> values = values_;
    for (float& value : values) value /= static_cast<float>(2 * head.chain + head.sweep);
    return values;
  }
  // The log, and what followed it.
  std::vector<std::shared_ptr<const StoredDraw>> write_log() {
    std::vector<std::shared_ptr<const StoredDraw>> followed(heads().size());
    DrawLogWriter writer(dir_ / "draws.log", *layout_, 0, 2);
    writer.follow([&](std::size_t number, auto draw) { followed[number] = std::move(draw); });
    for (const DrawHead& head : heads()) writer.append(head, values(head));
    writer.sync();
    return followed;
  }
  void write(DrawFiles& files, const DrawLogReader& log) {
    Pool pool(2);
    files.write(info_, data_, log, pool);
  }

  const TempDir dir_;
  Dataset data_;
  RunInfo info_;
  std::optional<DrawLayout> layout_;
  std::vector<float> values_;
};

TEST_F(PackedDrawsNc, HasRoundedFactorsThatAnyReaderUnpacks) {
  write_log();
  const DrawLogReader log(dir_ / "draws.log", *layout_);
  DrawFiles files(dir_.path(), info_, data_, *layout_, DrawFiles::Sizes::of(log));
  write(files, log);
  const NetcdfFile file = NetcdfFile::open(dir_ / "draws.nc");
  const int group = file.group("posterior");
  const DrawVariable& factor = layout_->variable(DrawVariable::Kind::factor, 0);
  ASSERT_TRUE(factor.packed);
  EXPECT_FALSE(layout_->variable(DrawVariable::Kind::factor, 1).packed);
  std::vector<float> found(factor.floats());
  for (const std::size_t d : {0u, 1u}) {
    file.get(file.variable(group, factor.name), {{1, d, 0, 0}, {1, 1, rows, 2}}, found.data());
    const std::vector<float> given = values(heads()[2 + d]);
    for (std::size_t i = 0; i < found.size(); ++i) ASSERT_EQ(found[i], rounded_to_pack(given[factor.offset + i])) << i;
  }
  const NetcdfFile means = NetcdfFile::open(dir_ / "means.nc");
  means.get(means.variable(means.group("posterior_mean"), factor.name), {{1, 0, 0}, {1, rows, 2}}, found.data());
  const std::vector<float> first = values(heads()[2]), second = values(heads()[3]);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double sum = static_cast<double>(rounded_to_pack(first[factor.offset + i])) +
                       static_cast<double>(rounded_to_pack(second[factor.offset + i]));
    ASSERT_EQ(found[i], static_cast<float>(sum / 2)) << i;
  }
}

// As draws come while a GPU samples: in about the order of drawing.
TEST_F(PackedDrawsNc, IsTheSameWhenDrawsAreFollowed) {
  const auto followed = write_log();
  const DrawLogReader log(dir_ / "draws.log", *layout_);
  {
    DrawFiles files(dir_.path(), info_, data_, *layout_, {2, 4, 2});
    EXPECT_TRUE(files.fit(log));
    write(files, log);
  }
  const std::string draws = read_text(dir_ / "draws.nc"), means = read_text(dir_ / "means.nc");
  {
    DrawFiles files(dir_.path(), info_, data_, *layout_, {2, 4, 2});
    for (const std::size_t number : {1u, 0u, 2u, 3u}) files.follow(number, followed[number]);
    ASSERT_TRUE(files.fit(log));
    write(files, log);
  }
  EXPECT_TRUE(read_text(dir_ / "draws.nc") == draws);
  EXPECT_TRUE(read_text(dir_ / "means.nc") == means);
}

// An interrupted run has fewer draws than were planned, and chains side by side another order than the file.
TEST_F(PackedDrawsNc, FollowedDrawsOfAnotherOrderDoNotFit) {
  const auto followed = write_log();
  const DrawLogReader log(dir_ / "draws.log", *layout_);
  DrawFiles fewer(dir_.path(), info_, data_, *layout_, {2, 4, 2});
  for (const std::size_t number : {0u, 1u, 2u}) fewer.follow(number, followed[number]);
  EXPECT_FALSE(fewer.fit(log));
  fewer.discard();
  DrawFiles mixed(dir_.path(), info_, data_, *layout_, {2, 4, 2});
  mixed.follow(0, followed[2]);
  mixed.follow(1, followed[0]);
  mixed.follow(2, followed[1]);
  mixed.follow(3, followed[3]);
  EXPECT_FALSE(mixed.fit(log));
}

TEST_F(DrawsNc, LeavesNothingOfADamagedLog) {
  const RunInfo info = info_of(data_);
  write(dir_.path(), info, data_);
  std::filesystem::remove(dir_ / "draws.nc");
  std::filesystem::remove(dir_ / "means.nc");
  std::string bytes = read_text(dir_ / "draws.log");
  bytes[sizeof(DrawHead) + 5] ^= 1;
  write_text(dir_ / "draws.log", bytes);
  const DrawLogReader log(dir_ / "draws.log", draw_layout(info));
  Pool pool(2);
  EXPECT_THROW(
      DrawFiles(dir_.path(), info, data_, log.layout(), DrawFiles::Sizes::of(log)).write(info, data_, log, pool),
      Error);
  for (const auto& entry : std::filesystem::directory_iterator(dir_.path()))
    EXPECT_EQ(entry.path().filename().string(), "draws.log");
}

TEST(DrawsNcOfManyOnes, LeavesThemOut) {
  const TempDir dir;
  for (const std::uint32_t extra : {0u, 1u}) {
    const std::uint32_t ones = static_cast<std::uint32_t>(most_stored_rows) + extra;
    Dataset data;
    data.tensor.modes = {{"a", LabelTable::numbered(0, ones)}, {"b", LabelTable::numbered(0, 1)}};
    for (std::uint32_t e = 0; e < ones; ++e) fill(data.tensor.coords, {e, 0});
    RunInfo info = info_of(data);
    info.options.likelihood = Likelihood::binary;
    write(dir.path(), info, data);
    const NetcdfFile file = NetcdfFile::open(dir / "draws.nc");
    const int group = file.group("observed_data");
    unsigned long long dropped = 0;
    const int found = nc_get_att_ulonglong(group, NC_GLOBAL, "left_out_ones", &dropped);
    if (extra > 0) {
      EXPECT_EQ(dropped, ones);
      EXPECT_THROW(file.variable(group, "a"), Error);
      continue;
    }
    EXPECT_EQ(found, NC_ENOTATT);
    std::int64_t last = 0;
    file.get(file.variable(group, "a"), {{ones - 1}, {1}}, &last);
    EXPECT_EQ(last, ones - 1);
  }
}

}  // namespace
}  // namespace ztp
