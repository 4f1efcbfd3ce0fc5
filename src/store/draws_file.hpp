// Reads draws.nc, one draw at a time, and means.nc.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "model/state.hpp"
#include "store/draw_layout.hpp"
#include "store/netcdf.hpp"
#include "ztp/run_info.hpp"

namespace ztp {

// A variable of a draw, and its id in a netCDF file.
struct StoredVariable {
  DrawVariable variable;
  NetcdfFile::Variable in_file;
};

// Some rows of a variable. `leading`: the indices before the rows, chain and draw in draws.nc, chain in means.nc.
NetcdfFile::Slab slab_of(const DrawVariable& variable, const std::vector<std::size_t>& leading, Range rows);
// Calls use(slab, rows) for one block of rows after another.
void for_slabs(const DrawVariable& variable, const std::vector<std::size_t>& leading,
               const std::function<void(const NetcdfFile::Slab&, Range)>& use);

class DrawsFile {
 public:
  // Error (input), if there are no draws yet, or the file is damaged: `threads` compare its checksum.
  DrawsFile(const std::string& run_dir, const RunInfo& info, unsigned threads = 1);

  struct Index {
    std::size_t chain, draw;
  };
  const std::vector<Index>& draws() const { return draws_; }  // all there are, chain after chain
  State make_state(ArrayMaker& arrays) const;                 // for draws to be loaded into
  void load(std::size_t i, State& state) const;               // fills factors (times n), weights and columns; not p
  void load_weights(std::size_t i, State& state) const;       // weights and columns alone
  void load_factor(std::size_t i, std::size_t f, Matrix<float>& u) const;  // of matrix f, times n, on the host
  // Calls use(rows, values) for one block of the rows of matrix f after another, packed and times n; not of a one-hot
  // mode, whose matrix is in no file.
  void read_factor(std::size_t i, std::size_t f, const std::function<void(Range, const float*)>& use) const;
  // The same for some of the rows, in ascending order: use(c, values) has those of ids[c.begin] .. ids[c.end - 1].
  void read_rows(std::size_t i, std::size_t f, std::span<const std::uint32_t> ids,
                 const std::function<void(Range, const float*)>& use) const;
  const FactorLayout& factors() const { return layout_.factors; }
  std::vector<double> log_weights(std::size_t i, std::size_t network = 0) const;  // log lambda; from 1, log beta of it
  std::vector<std::uint32_t> columns(std::size_t i, std::size_t k) const;         // of components in mode k; not of CP
  FactorLayout layout(std::size_t i) const;                                       // with these columns
  double intercept(std::size_t i) const;                                          // of a rival

 private:
  std::vector<std::size_t> leading(std::size_t i) const { return {draws_[i].chain, draws_[i].draw}; }

  bool probabilities_;  // factors are, as they are of ztp
  NetcdfFile file_;
  ReadFile bytes_of_file_;
  DrawLayout layout_;
  std::vector<StoredVariable> weights_;  // of the tensor, and of each network
  std::vector<StoredVariable> columns_;  // of components in each mode; none in CP
  StoredVariable intercept_;
  std::vector<StoredVariable> factors_;
  std::vector<Index> draws_;
};

// Recreates a missing draws.log from draws.nc, if there is one, to continue a run that was complete.
void restore_draw_log(const std::string& run_dir, const RunInfo& info);

// How many draws draws.nc has; 0, if there is no such file or it is not as it should be.
std::size_t draws_in_file(const std::string& run_dir);

// means.nc of a run directory: the posterior means of each chain.
class MeansFile {
 public:
  MeansFile(const std::string& run_dir, const RunInfo& info);
  Matrix<float> factor(std::size_t chain, std::size_t f) const;  // of matrix f, not scaled

 private:
  NetcdfFile file_;
  DrawLayout layout_;
  bool rival_;
};

}  // namespace ztp
