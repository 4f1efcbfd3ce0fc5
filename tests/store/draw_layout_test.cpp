// The variables of a draw where modes share a matrix and components columns, and their dimensions in draws.nc.
#include "store/draw_layout.hpp"

#include <gtest/gtest.h>

#include "shared_columns.hpp"
#include "store/draw_log.hpp"
#include "store/draws_nc.hpp"
#include "store/netcdf.hpp"
#include "temp_dir.hpp"
#include "ztp/error.hpp"

namespace ztp::test {
namespace {

using Shape = std::vector<std::size_t>;

TEST(DrawLayout, OfSharedColumns) {
  FitOptions options;
  options.learn = "dirichlet,gamma-shape";
  const DrawLayout layout(shared_layout(), options, {"from", "to", "kind"}, {1, 2});
  EXPECT_EQ(layout.learned, (std::vector<std::string>{"dirichlet_from", "dirichlet_kind", "gamma_shape",
                                                      "gamma_shape_network_1", "gamma_shape_network_2"}));
  std::vector<std::pair<std::string, Shape>> shapes;
  for (const DrawVariable& variable : layout.variables)
    if (variable.kind != DrawVariable::Kind::learned) shapes.emplace_back(variable.name, variable.shape());
  const std::vector<std::pair<std::string, Shape>> expected = {
      {"lambda", {6}}, {"p", {6}},      {"column_from", {6}}, {"column_to", {6}}, {"column_kind", {6}}, {"beta_1", {3}},
      {"h_1", {3}},    {"beta_2", {4}}, {"h_2", {4}},         {"u_from", {7, 3}}, {"u_kind", {5, 4}}};
  EXPECT_EQ(shapes, expected);
  EXPECT_EQ(layout.floats(), 6u + 6 + 3 * 6 + 2 * 3 + 2 * 4 + 5 + 7 * 3 + 5 * 4);
}

TEST(DrawLayout, OfSharedColumnsInDrawsNc) {
  const TempDir dir;
  Dataset data;
  data.tensor.modes = {
      {"from", LabelTable::numbered(1, 7)}, {"to", LabelTable::numbered(1, 7)}, {"kind", LabelTable::numbered(1, 5)}};
  data.networks.resize(1);
  data.networks[0].mode = 1;
  data.missing.slices.resize(3);
  RunInfo info;
  info.options.rank = 6;
  for (const Mode& mode : data.tensor.modes) info.modes.push_back({mode.name, mode.labels.size(), true, 0});
  info.networks.resize(1);
  const DrawLayout layout(shared_layout(), info.options, {"from", "to", "kind"}, {1});
  std::vector<float> draw(layout.floats());
  for (std::size_t i = 0; i < draw.size(); ++i) draw[i] = static_cast<float>(i);
  DrawLogWriter(dir / "draws.log", layout, 0).append(DrawHead{0, 1, {}}, draw);
  const DrawLogReader log(dir / "draws.log", layout);
  Pool pool(2);
  DrawFiles(dir.path(), info, data, layout, DrawFiles::Sizes::of(log)).write(info, data, log, pool);

  const NetcdfFile draws = NetcdfFile::open(dir / "draws.nc"), means = NetcdfFile::open(dir / "means.nc");
  for (const DrawVariable& variable : layout.variables) {
    const NetcdfFile::Variable in_draws = draws.variable(draws.group("posterior"), variable.name);
    Shape shape = variable.shape();
    shape.insert(shape.begin(), 1);
    std::vector<float> values(variable.floats());
    if (variable.kind == DrawVariable::Kind::column) {
      EXPECT_THROW(means.variable(means.group("posterior_mean"), variable.name), Error) << "columns have no means";
    } else {
      const NetcdfFile::Variable in_means = means.variable(means.group("posterior_mean"), variable.name);
      EXPECT_EQ(means.shape(in_means), shape) << variable.name;
      means.get(in_means, {Shape(shape.size(), 0), shape}, values.data());
      EXPECT_EQ(values.front(), static_cast<float>(variable.offset)) << variable.name;
      EXPECT_EQ(values.back(), static_cast<float>(variable.offset + variable.floats() - 1)) << variable.name;
    }
    shape.insert(shape.begin(), 1);
    EXPECT_EQ(draws.shape(in_draws), shape) << variable.name;
    values.assign(values.size(), -1);
    draws.get(in_draws, {Shape(shape.size(), 0), shape}, values.data());
    EXPECT_EQ(values.front(), static_cast<float>(variable.offset)) << variable.name;
    EXPECT_EQ(values.back(), static_cast<float>(variable.offset + variable.floats() - 1)) << variable.name;
  }
}

}  // namespace
}  // namespace ztp::test
