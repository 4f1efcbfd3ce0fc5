#include "store/draws_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <limits>

#include "base/file.hpp"
#include "store/draw_log.hpp"
#include "store/manifest.hpp"
#include "ztp/error.hpp"

namespace ztp {
namespace {

using Kind = DrawVariable::Kind;

// Opens a netCDF file of the run after comparing it with the manifest.
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

void check_shape(const NetcdfFile& file, NetcdfFile::Variable variable, const std::vector<std::size_t>& expected) {
  if (file.shape(variable) != expected)
    throw Error(ErrorKind::input,
                fmt::format("{}: damaged: a variable has not the size that options.json says", file.path()));
}

// A small file can announce any sizes, since chunks that were never written take no room. One draw must fit into the
// file before memory is allocated for it.
void check_room(const NetcdfFile& file, double floats) {
  std::error_code no_access;
  const std::uintmax_t bytes = std::filesystem::file_size(file.path(), no_access);
  if (no_access || 4 * floats > static_cast<double>(bytes))
    throw Error(ErrorKind::input, fmt::format("{}: damaged: shorter than one of its draws", file.path()));
}

double factor_floats(const DrawLayout& layout) {
  double floats = 0;
  for (const DrawVariable& variable : layout.variables)
    if (variable.kind == Kind::factor) floats += static_cast<double>(variable.floats());
  return floats;
}

constexpr std::size_t most_draws = 4'000'000;  // several times what --draws allows

// How a factor is read: numbers are multiplied by `scale`. Factors of ztp are probabilities, those of rivals any finite
// numbers. NaN must not pass: results are sorted, and sorting NaN is undefined.
struct FactorFormat {
  float scale;
  bool probabilities;

  bool allows(const std::vector<float>& values) const {
    const float largest = probabilities ? 1.001f : std::numeric_limits<float>::max();
    const float least = probabilities ? 0.0f : -largest;
    bool sound = true;
    for (const float value : values) sound &= value >= least && value <= largest;
    return sound;
  }
};

// Calls use(rows, values) for one block of rows after another.
void read_factor(const NetcdfFile& file, const StoredVariable& stored, const std::vector<std::size_t>& lead,
                 const FactorFormat& form, const std::function<void(Range, const float*)>& use) {
  const std::size_t n = stored.variable.rows, P = stored.variable.columns;
  const std::size_t step = std::max<std::size_t>(1, (4 << 20) / (4 * P));
  std::vector<float> values;
  for (std::size_t first = 0; first < n; first += step) {
    const Range rows{first, std::min(first + step, n)};
    values.resize(rows.size() * P);
    file.get(stored.in_file, slab_of(stored.variable, lead, first, rows.size()), values.data());
    if (!form.allows(values))
      throw Error(ErrorKind::input, fmt::format("{}: damaged: factors that cannot be", file.path()));
    for (float& value : values) value *= form.scale;
    use(rows, values.data());
  }
}

// Into a matrix of that size.
std::function<void(Range, const float*)> into(Matrix<float>& u, const DrawVariable& variable) {
  if (u.rows() != variable.rows || u.columns() != variable.columns) u = Matrix<float>(variable.rows, variable.columns);
  return [&u](Range rows, const float* values) {
    for (std::size_t j = rows.begin; j < rows.end; ++j, values += u.columns())
      std::copy(values, values + u.columns(), u.row(j));
  };
}

// The head of a draw as it was in draws.log; sweep 0 where a shorter chain has none.
DrawHead read_head(const NetcdfFile& file, std::size_t c, std::size_t d) {
  const int group = file.group("sample_stats");
  const NetcdfFile::Slab here = {{c, d}, {1, 1}};
  std::int64_t whole = 0;
  file.get(file.variable(group, "sweep"), here, &whole);
  DrawHead head{static_cast<std::uint32_t>(c), static_cast<std::uint32_t>(whole), {}};
  for (std::size_t s = 0; s < draw_stats.size() && head.sweep != 0; ++s) {
    const NetcdfFile::Variable variable = file.variable(group, std::string(draw_stats[s].stat_name));
    double real = 0;
    if (draw_stats[s].stat == TraceColumn::Stat::whole)
      file.get(variable, here, &whole);
    else
      file.get(variable, here, &real);
    head.stats[s] = draw_stats[s].stat == TraceColumn::Stat::whole ? static_cast<std::uint64_t>(whole)
                                                                   : std::bit_cast<std::uint64_t>(real);
  }
  return head;
}

}  // namespace

NetcdfFile::Slab slab_of(const DrawVariable& variable, const std::vector<std::size_t>& leading, std::size_t first,
                         std::size_t rows) {
  NetcdfFile::Slab slab{leading, std::vector<std::size_t>(leading.size(), 1)};
  for (const std::size_t size : variable.shape()) {
    slab.start.push_back(0);
    slab.count.push_back(size);
  }
  if (variable.kind == Kind::factor) {
    slab.start[leading.size()] = first;
    slab.count[leading.size()] = rows;
  }
  return slab;
}

DrawsFile::DrawsFile(const std::string& run_dir, const RunInfo& info)
    : probabilities_(!is_rival(info.options)),
      file_(open_checked(run_dir, info, "draws.nc")),
      layout_(draw_layout(info)) {
  const int group = file_.group("posterior"), stats = file_.group("sample_stats");
  const NetcdfFile::Variable sweep = file_.variable(stats, "sweep");
  const std::vector<std::size_t> grid = file_.shape(sweep);
  if (grid.size() != 2 || grid[0] > most_draws || grid[1] > most_draws || grid[0] * grid[1] > most_draws)
    throw Error(ErrorKind::input, fmt::format("{}: damaged: sample_stats/sweep", file_.path()));
  const auto stored = [&](Kind kind, std::size_t index) {
    const DrawVariable& variable = layout_.variable(kind, index);
    const NetcdfFile::Variable in_file = file_.variable(group, variable.name);
    std::vector<std::size_t> shape = grid;
    for (const std::size_t size : variable.shape()) shape.push_back(size);
    check_shape(file_, in_file, shape);
    return StoredVariable{variable, in_file};
  };
  for (std::size_t m = 0; m <= info.networks.size(); ++m) weights_.push_back(stored(Kind::weight, m));
  for (std::size_t f = 0; f < layout_.factors.matrices(); ++f) factors_.push_back(stored(Kind::factor, f));
  if (!probabilities_) intercept_ = stored(Kind::learned, 0);
  std::vector<std::int64_t> sweeps(grid[0] * grid[1]);
  file_.get(sweep, {{0, 0}, grid}, sweeps.data());
  for (std::size_t c = 0; c < grid[0]; ++c)
    for (std::size_t d = 0; d < grid[1]; ++d)
      if (sweeps[c * grid[1] + d] > 0) draws_.push_back({c, d});
  if (draws_.empty()) throw Error(ErrorKind::input, fmt::format("{}: damaged: no draws", file_.path()));
  check_room(file_, factor_floats(layout_));
}

std::vector<double> DrawsFile::log_weights(std::size_t i, std::size_t network) const {
  const StoredVariable& weights = weights_[network];
  std::vector<double> values(weights.variable.columns);
  file_.get(weights.in_file, slab_of(weights.variable, leading(i), 0, 1), values.data());
  for (double& value : values) {
    if (!(value >= 0 && std::isfinite(value)))
      throw Error(ErrorKind::input, fmt::format("{}: damaged: a weight", file_.path()));
    value = std::log(value);
  }
  return values;
}

double DrawsFile::intercept(std::size_t i) const {
  double value = 0;
  file_.get(intercept_.in_file, slab_of(intercept_.variable, leading(i), 0, 1), &value);
  if (!std::isfinite(value)) throw Error(ErrorKind::input, fmt::format("{}: damaged: an intercept", file_.path()));
  return value;
}

void DrawsFile::read_factor(std::size_t i, std::size_t f, const std::function<void(Range, const float*)>& use) const {
  const float n = static_cast<float>(factors_[f].variable.rows);
  ztp::read_factor(file_, factors_[f], leading(i), {n, probabilities_}, use);
}

void DrawsFile::load_factor(std::size_t i, std::size_t f, Matrix<float>& u) const {
  read_factor(i, f, into(u, factors_[f].variable));
}

State DrawsFile::make_state(ArrayMaker& arrays) const {
  return ztp::make_state(layout_.factors, {}, {}, arrays);
}

void DrawsFile::load(std::size_t i, State& state) const {
  for (std::size_t f = 0; f < factors_.size(); ++f)
    read_factor(i, f, [&](Range rows, const float* values) { state.factors[f]->write(rows, values); });
  state.tensor.log_weight = log_weights(i);
}

void restore_draw_log(const std::string& run_dir, const RunInfo& info, std::uint64_t length) {
  const std::string path = run_dir + "/draws.log", partial = path + ".partial";
  if (length == 0 || std::filesystem::exists(path)) return;
  check_manifest(run_dir, "draws.nc", "the run cannot go on");
  const NetcdfFile file = NetcdfFile::open(run_dir + "/draws.nc");
  const int group = file.group("posterior");
  const std::vector<std::size_t> grid = file.shape(file.variable(file.group("sample_stats"), "sweep"));
  const DrawLayout layout = draw_layout(info);
  std::vector<float> values(layout.floats());
  require_disk_space(partial, length);
  DrawLogWriter log(partial, layout, 0);
  for (std::size_t c = 0; c < grid.at(0); ++c)
    for (std::size_t d = 0; d < grid.at(1); ++d) {
      const DrawHead head = read_head(file, c, d);
      if (head.sweep == 0) continue;
      for (const DrawVariable& variable : layout.variables)
        file.get(file.variable(group, variable.name), slab_of(variable, {c, d}, 0, variable.rows),
                 values.data() + variable.offset);
      log.append(head, values);
    }
  log.sync();
  if (log.length() != length)
    throw Error(ErrorKind::input,
                fmt::format("{}/draws.nc: not as many draws as chain-{}.bin says; the run cannot go on", run_dir,
                            info.options.chains));
  publish_file(partial, path);
}

MeansFile::MeansFile(const std::string& run_dir, const RunInfo& info)
    : file_(open_checked(run_dir, info, "means.nc")), layout_(draw_layout(info)), rival_(is_rival(info.options)) {}

Matrix<float> MeansFile::factor(std::size_t chain, std::size_t f) const {
  const DrawVariable& variable = layout_.variable(Kind::factor, f);
  const StoredVariable stored{variable, file_.variable(file_.group("posterior_mean"), variable.name)};
  check_room(file_, static_cast<double>(variable.floats()));
  const std::vector<std::size_t> shape = file_.shape(stored.in_file);
  if (shape.size() != 3 || shape[1] != variable.rows || shape[2] != variable.columns || chain >= shape[0])
    throw Error(ErrorKind::input, fmt::format("{}: damaged: sizes differ from options.json", file_.path()));
  Matrix<float> u;
  read_factor(file_, stored, {chain}, {1.0f, !rival_}, into(u, variable));
  return u;
}

}  // namespace ztp
