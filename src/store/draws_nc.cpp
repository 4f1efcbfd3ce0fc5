#include "store/draws_nc.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <filesystem>
#include <future>
#include <limits>
#include <numeric>

#include "base/background.hpp"
#include "base/file.hpp"
#include "store/data_groups.hpp"
#include "store/draws_file.hpp"
#include "store/netcdf.hpp"
#include "ztp/error.hpp"

namespace ztp {
namespace {

using Kind = DrawVariable::Kind;
using Type = NetcdfFile::Type;

bool has_label_coordinates(const LabelTable& table) {
  return !table.is_numbered() && table.size() <= most_label_coordinates;
}

// Where each record of draws.log is in draws.nc. Chains are numbered from 0 without gaps.
struct DrawGrid {
  std::vector<std::vector<std::size_t>> records;  // of each chain, in the order of drawing
  std::size_t draws = 0;                          // of the longest chain
  explicit DrawGrid(const DrawLogReader& log) {
    for (std::size_t i = 0; i < log.draws(); ++i) {
      const std::size_t chain = log.head(i).chain;
      records.resize(std::max(records.size(), chain + 1));
      records[chain].push_back(i);
      draws = std::max(draws, records[chain].size());
    }
  }
  std::size_t chains() const { return records.size(); }
};

}  // namespace

// A group of a file and its dimensions.
struct DrawGroup {
  int id = -1;
  std::vector<int> leading;  // chain and draw, or chain alone
  int component = -1;
  std::vector<int> rows, columns;  // of each factor matrix

  std::vector<int> dimensions(const DrawVariable& variable) const {
    std::vector<int> result = leading;
    if (variable.kind == Kind::factor) result.push_back(rows[variable.index]);
    if (variable.kind != Kind::learned) result.push_back(variable.matrix ? columns[*variable.matrix] : component);
    return result;
  }
};

namespace {

void add_attributes(NetcdfFile& file, int group, const RunInfo& info) {
  file.add_attribute(group, "inference_library", "ztp");
  file.add_attribute(group, "inference_library_version", info.version);
  file.add_attribute(group, "created_at", info.created);
}

std::vector<std::int64_t> numbers_from(std::int64_t first, std::size_t count) {
  std::vector<std::int64_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

// With the dimensions chain and draw, chain alone or none, of these sizes.
DrawGroup add_group(NetcdfFile& file, const char* name, const RunInfo& info, const std::vector<std::size_t>& sizes) {
  constexpr const char* names[] = {"chain", "draw"};
  DrawGroup group{file.add_group(name), {}, -1, {}, {}};
  add_attributes(file, group.id, info);
  for (std::size_t i = 0; i < sizes.size(); ++i)
    group.leading.push_back(file.add_dimension(group.id, names[i], sizes[i]));
  for (std::size_t i = 0; i < sizes.size(); ++i)
    file.add_list(group.id, names[i], group.leading[i], numbers_from(0, sizes[i]));
  return group;
}

// The dimensions of components, modes and columns, with their coordinate variables.
void add_axes(NetcdfFile& file, DrawGroup& group, const DrawLayout& layout, const std::vector<Mode>& modes) {
  const FactorLayout& factors = layout.factors;
  group.component = file.add_dimension(group.id, layout.component, factors.components());
  file.add_list(group.id, layout.component, group.component, numbers_from(1, factors.components()));
  std::vector<int> of_modes;
  for (std::size_t k = 0; k < modes.size(); ++k) {
    const LabelTable& table = modes[k].labels;
    const std::string& name = layout.dimensions[k];
    of_modes.push_back(file.add_dimension(group.id, name, table.size()));
    if (table.is_numbered()) {
      file.add_list(group.id, name, of_modes[k], numbers_from(table.first_number(), table.size()));
    } else if (has_label_coordinates(table)) {
      std::vector<std::string> labels;
      for (std::uint32_t j = 0; j < table.size(); ++j) labels.push_back(table[j]);
      file.add_list(group.id, name, of_modes[k], labels);
    }
  }
  for (std::size_t f = 0; f < factors.matrices(); ++f) {
    const std::size_t k = factors.first_mode(f);
    group.rows.push_back(of_modes[k]);
    if (factors.columns_are_components() || factors.is_one_hot(f)) {
      group.columns.push_back(group.component);
      continue;
    }
    const std::size_t P = factors.size(f).columns;
    group.columns.push_back(file.add_dimension(group.id, layout.columns[f], P));
    file.add_list(group.id, layout.columns[f], group.columns[f], numbers_from(1, P));
  }
}

// A number for each place of the grid, from the head of its draw; `none` where there is no draw.
template <class Number, class Value>
std::vector<Number> on_grid(const DrawGrid& grid, const DrawLogReader& log, Number none, const Value& value) {
  std::vector<Number> numbers(grid.chains() * grid.draws, none);
  for (std::size_t c = 0; c < grid.chains(); ++c)
    for (std::size_t d = 0; d < grid.records[c].size(); ++d)
      numbers[c * grid.draws + d] = value(log.head(grid.records[c][d]));
  return numbers;
}

void write_sample_stats(NetcdfFile& file, const RunInfo& info, const DrawGrid& grid, const DrawLogReader& log) {
  const DrawGroup group = add_group(file, "sample_stats", info, {grid.chains(), grid.draws});
  const NetcdfFile::Slab all = {{0, 0}, {grid.chains(), grid.draws}};
  const auto whole = [&](std::string_view name, const auto& value) {
    const std::vector<std::int64_t> numbers = on_grid(grid, log, std::int64_t{0}, value);
    file.put(file.add_variable(group.id, std::string(name), Type::integers, group.leading), all, numbers.data());
  };
  const auto real = [&](std::string_view name, const auto& value) {
    const std::vector<double> numbers = on_grid(grid, log, std::numeric_limits<double>::quiet_NaN(), value);
    file.put(file.add_variable(group.id, std::string(name), Type::doubles, group.leading), all, numbers.data());
  };
  for (std::size_t s = 0; s < draw_stats.size(); ++s) {
    if (draw_stats[s].stat == TraceColumn::Stat::whole)
      whole(draw_stats[s].stat_name, [&](const DrawHead& head) { return static_cast<std::int64_t>(head.stats[s]); });
    else
      real(draw_stats[s].stat_name, [&](const DrawHead& head) { return std::bit_cast<double>(head.stats[s]); });
  }
  whole("sweep", [](const DrawHead& head) { return std::int64_t{head.sweep}; });
}

// The variables of a group of draws, each draw in chunks of its own.
std::vector<StoredVariable> add_variables(NetcdfFile& file, const DrawGroup& group, const DrawLayout& layout) {
  // The bytes of the file depend on the order in which variables are made: what is learned comes last.
  std::vector<DrawVariable> variables = layout.variables;
  std::stable_partition(variables.begin(), variables.end(),
                        [](const DrawVariable& variable) { return variable.kind != Kind::learned; });
  std::vector<StoredVariable> result;
  for (const DrawVariable& variable : variables) {
    std::vector<std::size_t> chunk;
    if (variable.kind != Kind::learned) chunk = slab_of(variable, {0, 0}, {0, variable.rows_of_a_slab()}).count;
    result.push_back({variable, file.add_variable(group.id, variable.name, Type::floats, group.dimensions(variable),
                                                  chunk, variable.packed)});
  }
  return result;
}

}  // namespace

// A file that has its name only when it is complete.
class PartialFile {
 public:
  explicit PartialFile(std::string path)
      : path_(std::move(path)), partial_(path_ + ".partial"), netcdf_(NetcdfFile::create(partial_)) {}
  ~PartialFile() {
    std::error_code gone;  // where it was published
    std::filesystem::remove(partial_, gone);
  }
  NetcdfFile& netcdf() { return netcdf_; }
  void reserve(std::uint64_t bytes) const { reserve_disk_space(partial_, bytes); }
  void publish() {
    netcdf_.close();
    publish_file(partial_, path_);
  }

 private:
  const std::string path_, partial_;
  NetcdfFile netcdf_;
};

class DrawFiles::DrawsNc : public PartialFile {
 public:
  DrawsNc(const std::string& run_dir) : PartialFile(run_dir + "/draws.nc") {}
  void add_posterior(const RunInfo& info, const std::vector<Mode>& modes, const DrawLayout& layout,
                     const std::vector<std::size_t>& grid) {
    add_attributes(netcdf(), -1, info);
    DrawGroup group = add_group(netcdf(), "posterior", info, grid);
    add_axes(netcdf(), group, layout, modes);
    variables_ = add_variables(netcdf(), group, layout);
    // HDF5 gives room in the order of writing, and so the bytes depend on that, too: what is learned comes first.
    std::stable_partition(variables_.begin(), variables_.end(),
                          [](const StoredVariable& stored) { return stored.variable.kind == Kind::learned; });
  }
  // Draw d of chain c. numbers(first, count, values) reads some of its numbers, piece(p) is a piece as it is stored.
  // Draws must come in the order of the file: HDF5 gives room in the order of writing.
  template <class Numbers, class Piece>
  void put_draw(std::size_t c, std::size_t d, const DrawPieces& pieces, const Numbers& numbers, const Piece& piece) {
    for (const auto& [variable, in_file] : variables_)
      for_slabs(variable, {c, d}, [&](const NetcdfFile::Slab& slab, Range rows) {
        const std::uint64_t first = variable.offset + rows.begin * variable.columns;
        if (variable.packed) {
          auto bytes = std::make_shared<const std::vector<std::byte>>(piece(pieces.with_number(first)));
          return putting_.run(1,
                              [this, where = in_file, slab, bytes] { netcdf().put_chunk(where, slab.start, *bytes); });
        }
        auto values = std::make_shared<std::vector<float>>(rows.size() * variable.columns);
        numbers(first, values->size(), values->data());
        putting_.run(1, [this, where = in_file, slab, values] { netcdf().put(where, slab, values->data()); });
      });
    putting_.wait();
  }
  void add_other_groups(const RunInfo& info, const Dataset& data, const DrawLogReader& log, const DrawGrid& grid) {
    write_sample_stats(netcdf(), info, grid, log);
    write_observed_data(netcdf(), add_group(netcdf(), "observed_data", info, {}).id, info, data);
    write_constant_data(netcdf(), add_group(netcdf(), "constant_data", info, {}).id, info, data);
  }

 private:
  std::vector<StoredVariable> variables_;
  Background putting_{1};  // one slab at a time, each of size 1: the next one is read meanwhile
};

namespace {

// Means of learned values are in status.json, and columns have none.
bool has_means(const DrawVariable& variable) {
  return variable.kind != Kind::learned && variable.kind != Kind::column;
}

// Parts of the numbers of a draw, of so many, or a slab more: whole slabs of variables that have means.
constexpr std::size_t floats_of_part = std::size_t{64} << 20;

std::vector<Range> parts_of_means(const DrawLayout& layout) {
  std::vector<Range> parts = {{0, 0}};
  for (const DrawVariable& variable : layout.variables) {
    if (!has_means(variable)) continue;
    const Blocks slabs{variable.rows, variable.rows_of_a_slab()};
    for (std::size_t b = 0; b < slabs.count(); ++b) {
      if (parts.back().size() >= floats_of_part) parts.push_back({parts.back().end, parts.back().end});
      parts.back().end = variable.offset + slabs.end(b) * variable.columns;
    }
  }
  parts.back().end = layout.floats();
  return parts;
}

}  // namespace

class DrawFiles::MeansNc : public PartialFile {
 public:
  MeansNc(const std::string& run_dir) : PartialFile(run_dir + "/means.nc") {}
  void add_posterior(const RunInfo& info, const std::vector<Mode>& modes, const DrawLayout& layout,
                     std::size_t chains) {
    add_attributes(netcdf(), -1, info);
    group_ = add_group(netcdf(), "posterior_mean", info, {chains});
    add_axes(netcdf(), group_, layout, modes);
  }
  // The means over the draws of chain c of the slabs that begin in part of the numbers of a draw. Chains, and parts of
  // each, are put one after the other. mean(i): where that of number i and those after it are.
  template <class Mean>
  void put(std::size_t c, const DrawLayout& layout, Range part, const Mean& mean) {
    std::size_t i = 0;
    for (const DrawVariable& variable : layout.variables) {
      if (!has_means(variable)) continue;
      // The bytes of the file depend on when a variable is made.
      if (i == variables_.size() && variable.offset < part.end)
        variables_.push_back(
            netcdf().add_variable(group_.id, variable.name, Type::floats, group_.dimensions(variable)));
      for_slabs(variable, {c}, [&](const NetcdfFile::Slab& slab, Range rows) {
        const std::size_t first = variable.offset + rows.begin * variable.columns;
        if (part.begin <= first && first < part.end) netcdf().put(variables_[i], slab, mean(first));
      });
      ++i;
    }
  }

 private:
  DrawGroup group_;
  std::vector<NetcdfFile::Variable> variables_;
};

DrawFiles::Sizes DrawFiles::Sizes::of(const DrawLogReader& log) {
  const DrawGrid grid(log);
  return {grid.chains(), log.draws(), grid.draws};
}

DrawFiles::DrawFiles(const std::string& run_dir, const RunInfo& info, const Dataset& data, const DrawLayout& layout,
                     const Sizes& sizes)
    : sizes_(sizes),
      pieces_(layout),
      draws_(std::make_unique<DrawsNc>(run_dir)),
      means_(std::make_unique<MeansNc>(run_dir)),
      followed_(sizes.chains, 0),
      following_(following_bytes(layout)) {
  const std::vector<Mode>& modes = data.tensor.modes;
  // That takes the system a while where files are in memory.
  std::future<void> reserved =
      std::async(std::launch::async, [&] { draws_->reserve(sizes.draws * pieces_.bytes()); });  // at the least
  means_->reserve(sizes.chains * layout.bytes());
  means_->add_posterior(info, modes, layout, sizes.chains);
  reserved.get();
  draws_->add_posterior(info, modes, layout, {sizes.chains, sizes.longest});
}

DrawFiles::~DrawFiles() = default;

// ---- draws that are followed

std::size_t DrawFiles::following_bytes(const DrawLayout& layout) {
  return std::clamp<std::size_t>(4 * DrawPieces(layout).bytes(), std::size_t{1} << 20, std::size_t{256} << 20);
}

void DrawFiles::follow(std::size_t number, std::shared_ptr<const StoredDraw> draw) {
  const std::scoped_lock lock(mutex_);
  early_.emplace(number, std::move(draw));
  for (auto first = early_.begin(); first != early_.end() && first->first == next_; first = early_.begin(), ++next_) {
    following_.run(pieces_.bytes(), [this, next = std::move(first->second)] {
      try {
        if (!failed_) put(*next);
      } catch (const std::exception&) {  // at the end there may be room again; if not, the error is told then
        failed_ = true;
      }
    });
    early_.erase(first);
  }
}

void DrawFiles::put(const StoredDraw& draw) {
  const std::size_t c = draw.head.chain, after = c + 1;
  // Another chain has begun before: then all draws are put at the end.
  if (after < followed_.size() && followed_[after] > 0) failed_ = true;
  if (failed_) return;
  const auto numbers = [&](std::uint64_t first, std::size_t count, float* values) {
    for (const std::uint64_t end = first + count; first < end;) {
      const std::size_t p = pieces_.with_number(first);
      const DrawPiece piece = pieces_[p];
      const auto here = static_cast<std::size_t>(std::min(end, piece.end()) - first);
      std::memcpy(values, draw.pieces[p].data() + sizeof(float) * (first - piece.first), here * sizeof(float));
      values += here;
      first += here;
    }
  };
  draws_->put_draw(c, followed_.at(c)++, pieces_, numbers, [&](std::size_t p) { return draw.pieces[p]; });
}

bool DrawFiles::fit(const DrawLogReader& log) {
  following_.wait();
  if (failed_ || sizes_ != Sizes::of(log)) return false;
  if (next_ == 0) return true;
  const DrawGrid grid(log);
  if (next_ != log.draws()) return false;
  for (std::size_t c = 0; c < grid.chains(); ++c)
    if (followed_[c] != grid.records[c].size()) return false;
  return true;
}

void DrawFiles::discard() {
  draws_.reset();
  means_.reset();
}

namespace {

// Compares the checksums of a piece of some records, and writes its means.
void mean_of_piece(const DrawLogReader& log, const std::vector<std::size_t>& records, std::size_t p, float* means) {
  std::vector<float> values(log.pieces()[p].floats);
  std::vector<double> sum(values.size(), 0.0);
  for (const std::size_t i : records) {
    log.read_piece(i, p, values.data());
    for (std::size_t v = 0; v < values.size(); ++v) sum[v] += static_cast<double>(values[v]);
  }
  for (std::size_t v = 0; v < values.size(); ++v)
    means[v] = static_cast<float>(sum[v] / static_cast<double>(records.size()));
}

}  // namespace

void DrawFiles::write(const RunInfo& info, const Dataset& data, const DrawLogReader& log, Pool& pool) {
  const DrawGrid grid(log);
  for (std::size_t i = 0; i < log.draws(); ++i) log.verify_sums(i);
  std::vector<float> means;
  for (std::size_t c = 0; c < grid.chains(); ++c) {
    bool puts_draws = next_ == 0;
    for (const Range& part : parts_of_means(log.layout())) {
      const std::size_t first = pieces_.with_number(part.begin), end = pieces_.with_number(part.end - 1) + 1;
      const std::uint64_t begin = pieces_[first].first;
      means.resize(pieces_[end - 1].end() - begin);
      // One thread has HDF5 write while the others check what is written and add it up.
      const std::size_t writers = puts_draws ? 1 : 0;
      pool.for_blocks(writers + end - first, [&](std::size_t block) {
        if (block < writers) return put_chain(c, log, grid.records[c]);
        const std::size_t p = first + block - writers;
        mean_of_piece(log, grid.records[c], p, means.data() + (pieces_[p].first - begin));
      });
      puts_draws = false;
      means_->put(c, log.layout(), part, [&](std::size_t i) { return means.data() + (i - begin); });
    }
  }
  draws_->add_other_groups(info, data, log, grid);
  draws_->publish();
  means_->publish();
}

void DrawFiles::put_chain(std::size_t c, const DrawLogReader& log, const std::vector<std::size_t>& records) {
  for (std::size_t d = 0; d < records.size(); ++d) {
    const std::size_t i = records[d];
    const auto numbers = [&](std::uint64_t first, std::size_t count, float* values) {
      log.read(i, first, count, values);
    };
    draws_->put_draw(c, d, pieces_, numbers, [&](std::size_t p) { return log.stored_piece(i, p); });
  }
}

double DrawFiles::bytes(const DrawLayout& layout, const std::vector<Mode>& modes, unsigned threads) {
  constexpr double of_libraries = 11 << 20, of_label = 400;  // measured: what HDF5 and netCDF have of two files
  double bytes = of_libraries, slab = 0;
  for (const Mode& mode : modes)
    if (has_label_coordinates(mode.labels)) bytes += of_label * mode.labels.size();
  for (const DrawVariable& variable : layout.variables)
    slab = std::max(slab, 4.0 * static_cast<double>(variable.rows_of_a_slab() * variable.columns));
  bytes += 3 * slab;                                                                    // two of DrawsNc, one of HDF5
  bytes += std::min(static_cast<double>(layout.bytes()), 4.0 * floats_of_part + slab);  // means
  return bytes + threads * 16.0 * static_cast<double>(DrawPieces(layout).most_floats());
}

}  // namespace ztp
