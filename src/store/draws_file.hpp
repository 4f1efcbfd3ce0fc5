// draws.nc, one draw at a time.
#pragma once
#include <string>
#include <vector>

#include "model/state.hpp"
#include "store/netcdf.hpp"
#include "ztp/labels.hpp"
#include "ztp/run_info.hpp"

namespace ztp {

class DrawsFile {
 public:
  DrawsFile(const std::string& run_dir, const RunInfo& info);

  struct Index {
    std::size_t chain, draw;
  };
  const std::vector<Index>& draws() const { return draws_; }  // all there are, chain after chain
  void load(std::size_t i, State& state) const;               // fills u (times n_k) and the weights; p is not read
  void load_factor(std::size_t i, std::size_t k, Matrix<float>& u) const;
  std::vector<double> log_weights(std::size_t i) const;  // log lambda
  double intercept(std::size_t i) const;                 // of a rival

 private:
  const RunInfo& info_;
  std::string path_;
  NetcdfFile file_;
  int group_;
  int lambda_;
  int intercept_ = -1;
  std::vector<int> factors_;
  std::vector<Index> draws_;
};

// The posterior means of one chain, from means.nc: u of mode k, n_k x R, not scaled.
Matrix<float> load_mean_factor(const std::string& run_dir, const RunInfo& info, std::size_t chain, std::size_t k);

}  // namespace ztp
