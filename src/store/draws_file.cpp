#include "store/draws_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <limits>

#include "base/file.hpp"
#include "base/pool.hpp"
#include "store/draw_log.hpp"
#include "store/manifest.hpp"
#include "store/packed.hpp"
#include "ztp/error.hpp"

namespace ztp {
namespace {

using Kind = DrawVariable::Kind;

// Opens a netCDF file of the run after comparing it with the manifest.
NetcdfFile open_checked(const std::string& run_dir, const RunInfo& info, const std::string& name, unsigned threads) {
  const std::string path = run_dir + "/" + name;
  const bool complete = info.status == "complete";
  std::error_code no_access;
  if (!std::filesystem::exists(path, no_access))
    throw Error(ErrorKind::input,
                complete ? fmt::format("{}: damaged: its {} is missing; fit again", run_dir, name)
                         : fmt::format("{}: no draws yet; 'ztp resume {}' continues the fit", run_dir, run_dir));
  const std::string remedy = complete ? "fit again" : fmt::format("'ztp resume {}' makes it again", run_dir);
  check_manifest(run_dir, name, remedy, threads);
  return NetcdfFile::open(path);
}

// A small file can announce any sizes, since chunks that were never written take no room. One draw must fit into the
// file before memory is allocated for it.
void check_room(const NetcdfFile& file, std::uint64_t needed) {
  std::error_code no_access;
  const std::uintmax_t bytes = std::filesystem::file_size(file.path(), no_access);
  if (no_access || needed > bytes) throw_damaged(file.path(), "shorter than one of its draws");
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

// A factor matrix of a file: of draws, or means.
struct StoredFactor {
  const NetcdfFile& file;
  const ReadFile* bytes;  // of the same file, if it has chunks that are packed
  const StoredVariable& stored;
};

// Rows of one slab that was packed, read past HDF5, which would unpack all of it and take several times as long. False,
// if it was not.
bool read_packed(const StoredFactor& from, const NetcdfFile::Slab& slab, Range rows, std::vector<float>& values) {
  const DrawVariable& variable = from.stored.variable;
  if (!variable.packed || from.bytes == nullptr) return false;
  const std::size_t of_slab = variable.rows_of_a_slab(), first = rows.begin % of_slab;
  std::vector<std::size_t> start = slab.start;
  start[start.size() - 2] = rows.begin - first;
  const Extent chunk = from.file.chunk(from.stored.in_file, start);
  return unpack_part([&](std::uint64_t offset, void* bytes,
                         std::size_t count) { from.bytes->read(chunk.begin + offset, bytes, count); },
                     chunk.end - chunk.begin, of_slab * variable.columns, first * variable.columns, values.size(),
                     values.data());
}

// Some rows of one slab, without gaps.
void read_slab(const StoredFactor& from, const NetcdfFile::Slab& slab, Range rows, const FactorFormat& form,
               std::vector<float>& values) {
  values.resize(rows.size() * from.stored.variable.columns);
  if (!read_packed(from, slab, rows, values)) from.file.get(from.stored.in_file, slab, values.data());
  if (!form.allows(values)) throw_damaged(from.file.path(), "invalid factors");
  for (float& value : values) value *= form.scale;
}

// Calls use(rows, values) for one block of rows after another.
void read_factor(const StoredFactor& from, const std::vector<std::size_t>& lead, const FactorFormat& form,
                 const std::function<void(Range, const float*)>& use) {
  std::vector<float> values;
  for_slabs(from.stored.variable, lead, [&](const NetcdfFile::Slab& slab, Range rows) {
    read_slab(from, slab, rows, form, values);
    use(rows, values.data());
  });
}

// Rows that are no farther apart are read at once, with what is between them: that is faster than two calls.
constexpr std::size_t bytes_between = std::size_t{1} << 16;

// Into a matrix of that size.
std::function<void(Range, const float*)> into(Matrix<float>& u, const DrawVariable& variable) {
  if (u.rows() != variable.rows || u.columns() != variable.columns) u = Matrix<float>(variable.rows, variable.columns);
  return [&u](Range rows, const float* values) {
    for (std::size_t j = rows.begin; j < rows.end; ++j, values += u.columns())
      std::copy(values, values + u.columns(), u.row(j));
  };
}

// The matrix of a one-hot mode, which is in no file.
void set_identity(Matrix<float>& u, std::size_t n, float scale) {
  u = Matrix<float>(n, n);
  for (std::size_t j = 0; j < n; ++j) u.row(j)[j] = scale;
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
    if (draw_stats[s].stat == TraceColumn::Stat::whole) {
      file.get(variable, here, &whole);
      head.stats[s] = static_cast<std::uint64_t>(whole);
    } else {
      double real = 0;
      file.get(variable, here, &real);
      head.stats[s] = std::bit_cast<std::uint64_t>(real);
    }
  }
  return head;
}

}  // namespace

NetcdfFile::Slab slab_of(const DrawVariable& variable, const std::vector<std::size_t>& leading, Range rows) {
  NetcdfFile::Slab slab{leading, std::vector<std::size_t>(leading.size(), 1)};
  for (const std::size_t size : variable.shape()) {
    slab.start.push_back(0);
    slab.count.push_back(size);
  }
  if (variable.kind == Kind::factor) {
    slab.start[leading.size()] = rows.begin;
    slab.count[leading.size()] = rows.size();
  }
  return slab;
}

void for_slabs(const DrawVariable& variable, const std::vector<std::size_t>& leading,
               const std::function<void(const NetcdfFile::Slab&, Range)>& use) {
  const Blocks blocks{variable.rows, variable.rows_of_a_slab()};
  for (std::size_t b = 0; b < blocks.count(); ++b) {
    const Range rows{blocks.begin(b), blocks.end(b)};
    use(slab_of(variable, leading, rows), rows);
  }
}

DrawsFile::DrawsFile(const std::string& run_dir, const RunInfo& info, unsigned threads)
    : probabilities_(!is_rival(info.options)),
      file_(open_checked(run_dir, info, "draws.nc", threads)),
      bytes_of_file_(file_.path()),
      layout_(draw_layout(info)) {
  const int group = file_.group("posterior"), stats = file_.group("sample_stats");
  const NetcdfFile::Variable sweep = file_.variable(stats, "sweep");
  const std::vector<std::size_t> grid = file_.shape(sweep);
  if (grid.size() != 2 || grid[0] > most_draws || grid[1] > most_draws || grid[0] * grid[1] > most_draws)
    throw_damaged(file_.path(), "sample_stats/sweep");
  const auto stored = [&](Kind kind, std::size_t index) {
    const DrawVariable& variable = layout_.variable(kind, index);
    const NetcdfFile::Variable in_file = file_.variable(group, variable.name);
    std::vector<std::size_t> shape = grid;
    for (const std::size_t size : variable.shape()) shape.push_back(size);
    if (file_.shape(in_file) != shape) throw_damaged(file_.path(), "the size of a variable differs from options.json");
    return StoredVariable{variable, in_file};
  };
  for (std::size_t m = 0; m <= info.networks.size(); ++m) weights_.push_back(stored(Kind::weight, m));
  for (std::size_t f = 0; f < layout_.factors.matrices(); ++f)
    factors_.push_back(layout_.factors.is_one_hot(f) ? StoredVariable{} : stored(Kind::factor, f));
  for (std::size_t k = 0; k < layout_.factors.modes() && !layout_.factors.columns_are_components(); ++k)
    columns_.push_back(stored(Kind::column, k));
  if (!probabilities_) intercept_ = stored(Kind::learned, 0);
  std::vector<std::int64_t> sweeps(grid[0] * grid[1]);
  file_.get(sweep, {{0, 0}, grid}, sweeps.data());
  for (std::size_t c = 0; c < grid[0]; ++c)
    for (std::size_t d = 0; d < grid[1]; ++d)
      if (sweeps[c * grid[1] + d] > 0) draws_.push_back({c, d});
  if (draws_.empty()) throw_damaged(file_.path(), "no draws");
  check_room(file_, DrawPieces(layout_).bytes());
}

std::vector<double> DrawsFile::log_weights(std::size_t i, std::size_t network) const {
  const StoredVariable& weights = weights_[network];
  std::vector<double> values(weights.variable.columns);
  file_.get(weights.in_file, slab_of(weights.variable, leading(i), {0, 1}), values.data());
  for (double& value : values) {
    if (!(value >= 0 && std::isfinite(value))) throw_damaged(file_.path(), "a weight");
    value = std::log(value);
  }
  return values;
}

double DrawsFile::intercept(std::size_t i) const {
  double value = 0;
  file_.get(intercept_.in_file, slab_of(intercept_.variable, leading(i), {0, 1}), &value);
  if (!std::isfinite(value)) throw_damaged(file_.path(), "an intercept");
  return value;
}

void DrawsFile::read_factor(std::size_t i, std::size_t f, const std::function<void(Range, const float*)>& use) const {
  const float n = static_cast<float>(factors_[f].variable.rows);
  ztp::read_factor({file_, &bytes_of_file_, factors_[f]}, leading(i), {n, probabilities_}, use);
}

void DrawsFile::read_rows(std::size_t i, std::size_t f, std::span<const std::uint32_t> ids,
                          const std::function<void(Range, const float*)>& use) const {
  const StoredVariable& stored = factors_[f];
  const std::size_t P = stored.variable.columns, slab = stored.variable.rows_of_a_slab();
  const std::size_t apart = std::max<std::size_t>(1, bytes_between / (4 * P));
  const FactorFormat form{static_cast<float>(stored.variable.rows), probabilities_};
  std::vector<float> values;
  for (std::size_t begin = 0, end; begin < ids.size(); begin = end) {
    for (end = begin + 1; end < ids.size() && ids[end] - ids[end - 1] <= apart; ++end)
      if (ids[end] / slab != ids[begin] / slab) break;
    const Range rows{ids[begin], std::size_t{ids[end - 1]} + 1};
    read_slab({file_, &bytes_of_file_, stored}, slab_of(stored.variable, leading(i), rows), rows, form, values);
    for (std::size_t c = begin; c < end; ++c) {
      const std::size_t from = ids[c] - rows.begin, to = c - begin;
      if (from != to) std::copy_n(values.data() + from * P, P, values.data() + to * P);
    }
    use({begin, end}, values.data());
  }
}

void DrawsFile::load_factor(std::size_t i, std::size_t f, Matrix<float>& u) const {
  const FactorLayout::Size& size = layout_.factors.size(f);
  if (layout_.factors.is_one_hot(f)) return set_identity(u, size.rows, static_cast<float>(size.rows));
  read_factor(i, f, into(u, factors_[f].variable));
}

State DrawsFile::make_state(ArrayMaker& arrays) const {
  return ztp::make_state(layout_.factors, {}, {}, arrays);
}

void DrawsFile::load(std::size_t i, State& state) const {
  load_weights(i, state);
  for (std::size_t f = 0; f < factors_.size(); ++f)
    if (!layout_.factors.is_one_hot(f))  // make_state has made it
      read_factor(i, f, [&](Range rows, const float* values) { state.factors[f]->write(rows, values); });
}

void DrawsFile::load_weights(std::size_t i, State& state) const {
  state.tensor.log_weight = log_weights(i);
  if (!columns_.empty()) state.layout = layout(i);
}

std::vector<std::uint32_t> DrawsFile::columns(std::size_t i, std::size_t k) const {
  const StoredVariable& stored = columns_.at(k);
  std::vector<float> values(stored.variable.columns);
  file_.get(stored.in_file, slab_of(stored.variable, leading(i), {0, 1}), values.data());
  std::vector<std::uint32_t> columns;
  for (const float value : values) {
    if (!(value >= 1 && value <= static_cast<float>(layout_.factors.size_of_mode(k).columns)))
      throw_damaged(file_.path(), "a column");
    columns.push_back(static_cast<std::uint32_t>(value) - 1);
  }
  return columns;
}

FactorLayout DrawsFile::layout(std::size_t i) const {
  FactorLayout result = layout_.factors;
  for (std::size_t k = 0; k < columns_.size(); ++k) {
    const std::vector<std::uint32_t> of_mode = columns(i, k);
    std::copy(of_mode.begin(), of_mode.end(), result.columns_of_mode(k).begin());
  }
  return result;
}

void restore_draw_log(const std::string& run_dir, const RunInfo& info) {
  const std::string path = run_dir + "/draws.log", partial = path + ".partial";
  if (std::filesystem::exists(path) || !std::filesystem::exists(run_dir + "/draws.nc")) return;
  check_manifest(run_dir, "draws.nc", "the run cannot continue");
  const NetcdfFile file = NetcdfFile::open(run_dir + "/draws.nc");
  const int group = file.group("posterior");
  const std::vector<std::size_t> grid = file.shape(file.variable(file.group("sample_stats"), "sweep"));
  const DrawLayout layout = draw_layout(info);
  std::vector<float> values(layout.floats());
  DrawLogWriter log(partial, layout, 0);
  reserve_disk_space(partial, grid.at(0) * grid.at(1) * record_bytes(layout));
  for (std::size_t c = 0; c < grid.at(0); ++c)
    for (std::size_t d = 0; d < grid.at(1); ++d) {
      const DrawHead head = read_head(file, c, d);
      if (head.sweep == 0) continue;
      for (const DrawVariable& variable : layout.variables)
        file.get(file.variable(group, variable.name), slab_of(variable, {c, d}, {0, variable.rows}),
                 values.data() + variable.offset);
      log.append(head, values);
    }
  log.sync();
  publish_file(partial, path);
}

std::size_t draws_in_file(const std::string& run_dir) {
  if (!std::filesystem::exists(run_dir + "/draws.nc")) return 0;
  try {
    check_manifest(run_dir, "draws.nc");
    const NetcdfFile file = NetcdfFile::open(run_dir + "/draws.nc");
    const NetcdfFile::Variable sweep = file.variable(file.group("sample_stats"), "sweep");
    const std::vector<std::size_t> grid = file.shape(sweep);
    std::vector<std::int64_t> sweeps(grid.at(0) * grid.at(1));
    file.get(sweep, {{0, 0}, grid}, sweeps.data());
    return sweeps.size() - static_cast<std::size_t>(std::count(sweeps.begin(), sweeps.end(), 0));
  } catch (const Error&) {
    return 0;
  }
}

MeansFile::MeansFile(const std::string& run_dir, const RunInfo& info)
    : file_(open_checked(run_dir, info, "means.nc", 1)), layout_(draw_layout(info)), rival_(is_rival(info.options)) {}

Matrix<float> MeansFile::factor(std::size_t chain, std::size_t f) const {
  Matrix<float> u;
  if (layout_.factors.is_one_hot(f)) {
    set_identity(u, layout_.factors.size(f).rows, 1.0f);
    return u;
  }
  const DrawVariable& variable = layout_.variable(Kind::factor, f);
  const StoredVariable stored{variable, file_.variable(file_.group("posterior_mean"), variable.name)};
  check_room(file_, sizeof(float) * variable.floats());
  const std::vector<std::size_t> shape = file_.shape(stored.in_file);
  if (shape.size() != 3 || shape[1] != variable.rows || shape[2] != variable.columns || chain >= shape[0])
    throw_damaged(file_.path(), "sizes differ from options.json");
  read_factor({file_, nullptr, stored}, {chain}, {1.0f, !rival_}, into(u, variable));
  return u;
}

}  // namespace ztp
