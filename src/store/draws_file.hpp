// Reads draws.nc, one draw at a time, and means.nc.
#pragma once
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

// Rows first..first+rows-1 of a variable. `leading`: the indices before the rows, chain and draw in draws.nc, chain in
// means.nc.
NetcdfFile::Slab slab_of(const DrawVariable& variable, const std::vector<std::size_t>& leading, std::size_t first,
                         std::size_t rows);

class DrawsFile {
 public:
  // Error (input), if there are no draws yet, or the file is damaged.
  DrawsFile(const std::string& run_dir, const RunInfo& info);

  struct Index {
    std::size_t chain, draw;
  };
  const std::vector<Index>& draws() const { return draws_; }  // all there are, chain after chain
  void load(std::size_t i, State& state) const;               // fills u (times n_k) and the weights; p is not read
  void load_factor(std::size_t i, std::size_t k, Matrix<float>& u) const;
  std::vector<double> log_weights(std::size_t i, std::size_t network = 0) const;  // log lambda; from 1, log beta of it
  double intercept(std::size_t i) const;                                          // of a rival

 private:
  std::vector<std::size_t> leading(std::size_t i) const { return {draws_[i].chain, draws_[i].draw}; }

  bool probabilities_;  // factors are, as they are of ztp
  NetcdfFile file_;
  DrawLayout layout_;
  std::vector<StoredVariable> weights_;  // of the tensor, and of each network
  StoredVariable intercept_;
  std::vector<StoredVariable> factors_;
  std::vector<Index> draws_;
};

// Recreates a missing draws.log from draws.nc, to continue a run that was complete. `length`: its expected length.
void restore_draw_log(const std::string& run_dir, const RunInfo& info, std::uint64_t length);

// means.nc of a run directory: the posterior means of each chain.
class MeansFile {
 public:
  MeansFile(const std::string& run_dir, const RunInfo& info);
  Matrix<float> factor(std::size_t chain, std::size_t k) const;  // u of mode k, n_k x R, not scaled

 private:
  NetcdfFile file_;
  DrawLayout layout_;
  bool rival_;
};

}  // namespace ztp
