#include "store/draws_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "store/manifest.hpp"
#include "ztp/error.hpp"

namespace ztp {
namespace {

// Opens a file of the run, if it is the one that was written.
NetcdfFile open_checked(const std::string& run_dir, const RunInfo& info, const std::string& name) {
  const std::string path = run_dir + "/" + name;
  const bool complete = info.status == "complete";
  std::error_code no_access;
  if (!std::filesystem::exists(path, no_access))
    throw Error(ErrorKind::input, complete
                                      ? fmt::format("{}: damaged: its {} is gone; fit again", run_dir, name)
                                      : fmt::format("{}: no draws yet; 'ztp resume {}' goes on", run_dir, run_dir));
  check_manifest(run_dir, name, complete ? "fit again" : fmt::format("'ztp resume {}' makes it again", run_dir));
  return NetcdfFile::open(path);
}

std::vector<std::string> names_of(const RunInfo& info) {
  std::vector<std::string> names;
  for (const auto& mode : info.modes) names.push_back(mode.name);
  return netcdf_names(names);
}

void check_shape(const NetcdfFile& file, int group, int variable, const std::vector<std::size_t>& expected,
                 const std::string& path) {
  if (file.shape(group, variable) != expected)
    throw Error(ErrorKind::input, fmt::format("{}: damaged: a variable has not the size that options.json says", path));
}

// A small file can announce any sizes, for parts that were never written. That of one draw must fit into it before there is memory for it.
void check_room(const std::string& path, double floats) {
  std::error_code no_access;
  const std::uintmax_t bytes = std::filesystem::file_size(path, no_access);
  if (no_access || 4 * floats > static_cast<double>(bytes))
    throw Error(ErrorKind::input, fmt::format("{}: damaged: shorter than one of its draws", path));
}

// Of all factors.
double floats_of(const RunInfo& info) {
  double rows = 0;
  for (const auto& mode : info.modes) rows += mode.size;
  return rows * static_cast<double>(info.options.rank);
}

constexpr std::size_t most_draws = 4'000'000;  // several times what --draws allows

// Factors of ztp are probabilities, those of rivals any numbers. Others sort what comes of them, and sorting what is not a number is
// undefined.
bool can_be_factors(const std::vector<float>& values, bool probabilities) {
  const float largest = probabilities ? 1.001f : std::numeric_limits<float>::max();
  const float least = probabilities ? 0.0f : -largest;
  bool sound = true;
  for (const float value : values) sound &= value >= least && value <= largest;
  return sound;
}

// Rows of a chunked variable into a padded matrix, each value times `scale`.
void read_rows(const NetcdfFile& file, int group, int variable, std::vector<std::size_t> start, float scale,
               bool probabilities, const std::string& path, Matrix<float>& u) {
  const std::size_t R = u.columns(), step = std::max<std::size_t>(1, (4 << 20) / (4 * R));
  std::vector<float> buffer;
  std::vector<std::size_t> count(start.size(), 1);
  start.insert(start.end(), {0, 0});
  count.insert(count.end(), {0, R});
  std::size_t& first = start[start.size() - 2];
  std::size_t& rows = count[count.size() - 2];
  for (first = 0; first < u.rows(); first += step) {
    rows = std::min(step, u.rows() - first);
    buffer.resize(rows * R);
    file.get(group, variable, start, count, buffer.data());
    if (!can_be_factors(buffer, probabilities))
      throw Error(ErrorKind::input, fmt::format("{}: damaged: factors that cannot be", path));
    for (std::size_t j = 0; j < rows; ++j)
      for (std::size_t r = 0; r < R; ++r) u.row(first + j)[r] = buffer[j * R + r] * scale;
  }
}

}  // namespace

DrawsFile::DrawsFile(const std::string& run_dir, const RunInfo& info)
    : info_(info),
      path_(run_dir + "/draws.nc"),
      file_(open_checked(run_dir, info, "draws.nc")),
      group_(file_.group("posterior")),
      lambda_(file_.variable(group_, "lambda")) {
  const std::size_t R = static_cast<std::size_t>(info.options.rank);
  const int stats = file_.group("sample_stats");
  const int sweep = file_.variable(stats, "sweep");
  const std::vector<std::size_t> grid = file_.shape(stats, sweep);
  if (grid.size() != 2 || grid[0] > most_draws || grid[1] > most_draws || grid[0] * grid[1] > most_draws)
    throw Error(ErrorKind::input, fmt::format("{}: damaged: sample_stats/sweep", path_));
  check_shape(file_, group_, lambda_, {grid[0], grid[1], R}, path_);
  for (std::size_t k = 0; k < info.modes.size(); ++k) {
    factors_.push_back(file_.variable(group_, "u_" + names_of(info)[k]));
    check_shape(file_, group_, factors_.back(), {grid[0], grid[1], info.modes[k].size, R}, path_);
  }
  if (info.options.model != "ztp") {
    intercept_ = file_.variable(group_, "intercept");
    check_shape(file_, group_, intercept_, {grid[0], grid[1]}, path_);
  }
  std::vector<std::int64_t> sweeps(grid[0] * grid[1]);
  file_.get(stats, sweep, {0, 0}, grid, sweeps.data());
  for (std::size_t c = 0; c < grid[0]; ++c)
    for (std::size_t d = 0; d < grid[1]; ++d)
      if (sweeps[c * grid[1] + d] > 0) draws_.push_back({c, d});
  if (!draws_.empty()) check_room(path_, floats_of(info));
}

std::vector<double> DrawsFile::log_weights(std::size_t i) const {
  std::vector<double> values(static_cast<std::size_t>(info_.options.rank));
  file_.get(group_, lambda_, {draws_[i].chain, draws_[i].draw, 0}, {1, 1, values.size()}, values.data());
  for (double& value : values) {
    if (!(value >= 0 && std::isfinite(value)))
      throw Error(ErrorKind::input, fmt::format("{}: damaged: a weight", path_));
    value = std::log(value);
  }
  return values;
}

double DrawsFile::intercept(std::size_t i) const {
  double value = 0;
  file_.get(group_, intercept_, {draws_[i].chain, draws_[i].draw}, {1, 1}, &value);
  if (!std::isfinite(value)) throw Error(ErrorKind::input, fmt::format("{}: damaged: an intercept", path_));
  return value;
}

void DrawsFile::load_factor(std::size_t i, std::size_t k, Matrix<float>& u) const {
  const std::size_t R = static_cast<std::size_t>(info_.options.rank), n = info_.modes[k].size;
  if (u.rows() != n || u.columns() != R) u = Matrix<float>(n, R);
  read_rows(file_, group_, factors_[k], {draws_[i].chain, draws_[i].draw}, static_cast<float>(n),
            info_.options.model == "ztp", path_, u);
}

void DrawsFile::load(std::size_t i, State& state) const {
  state.R = static_cast<std::size_t>(info_.options.rank);
  state.u.resize(info_.modes.size());
  for (std::size_t k = 0; k < info_.modes.size(); ++k) load_factor(i, k, state.u[k]);
  state.tensor.log_weight = log_weights(i);
}

Matrix<float> load_mean_factor(const std::string& run_dir, const RunInfo& info, std::size_t chain, std::size_t k) {
  const NetcdfFile file = open_checked(run_dir, info, "means.nc");
  const int group = file.group("posterior_mean");
  const int variable = file.variable(group, "u_" + names_of(info)[k]);
  check_room(run_dir + "/means.nc", static_cast<double>(info.modes[k].size) * static_cast<double>(info.options.rank));
  Matrix<float> u(info.modes[k].size, static_cast<std::size_t>(info.options.rank));
  const std::vector<std::size_t> shape = file.shape(group, variable);
  if (shape.size() != 3 || shape[1] != u.rows() || shape[2] != u.columns() || chain >= shape[0])
    throw Error(ErrorKind::input, fmt::format("{}/means.nc: damaged: sizes differ from options.json", run_dir));
  read_rows(file, group, variable, {chain}, 1.0f, info.options.model == "ztp", run_dir + "/means.nc", u);
  return u;
}

}  // namespace ztp
