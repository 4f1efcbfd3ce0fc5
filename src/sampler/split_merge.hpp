// Splits and merges of components, with u, lambda and p integrated out. Gibbs sweeps move single counts and hardly ever make a
// component or end one; these moves do it in one step, so that the number of occupied components is drawn, too.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "kernel/kernel.hpp"
#include "model/state.hpp"
#include "ztp/tensor.hpp"

namespace ztp {

// Given the latent counts, each unit of them (a token) belongs to one component, and a component's tokens are independent draws of a
// cell from the product of its columns: a mixture. The moves are those of Jain and Neal (2004) for mixtures, on the tokens of the
// ones; counts of missing cells and of networks stay where they are.                                              (M22)
class SplitMerge {
 public:
  SplitMerge(const SparseTensor& tensor, const Hyperparameters& hyper, std::size_t R);

  struct Outcome {
    std::size_t splits = 0, merges = 0;  // accepted
  };
  // Makes `proposals` proposals and keeps the statistics in step. `allocation`: the parts of all ones, whose sums the statistics
  // hold beside whatever else. `network_ends[k][r]`: of the counts of column r of mode k, those from networks. `only_tokens`: there are no counts but
  // those of the ones. Serial, O(tokens K) for each component looked at.
  Outcome run(const Allocation& allocation, const Shapes& shapes, std::size_t proposals, StreamKey key,
              std::uint32_t sweep, bool only_tokens, Statistics& statistics,
              const std::vector<std::vector<std::int64_t>>& network_ends);

 private:
  enum Side { left = 0, right = 1, joint = 2 };
  struct Sizes {
    double tokens;                // of this side
    double base;                  // imputed counts of its component
    std::vector<double> columns;  // n_k a_k + counts of column k that are not tokens
  };

  void load(const Allocation& allocation);
  bool propose(Stream& stream);
  void gather(std::uint32_t i, std::uint32_t j, std::size_t r, std::size_t s, Stream& stream);
  void reset(std::size_t r, std::size_t s);
  double factor(int side) const;
  double predictive(std::uint32_t token, int side) const;
  void put(std::uint32_t token, int side, double count);
  void launch(Stream& stream);
  double scan(Stream& stream, const std::vector<std::uint8_t>* forced);
  double log_ratio(std::uint32_t i, std::uint32_t j);
  void move(std::uint32_t token, std::size_t to);

  const SparseTensor& tensor_;
  const Hyperparameters& hyper_;
  std::size_t R_, K_;
  const Shapes* shapes_ = nullptr;
  Statistics* statistics_ = nullptr;
  const std::vector<std::vector<std::int64_t>>* network_ends_ = nullptr;
  bool only_tokens_ = false;

  std::vector<std::uint32_t> entry_, component_, place_;  // of each token; place_ within members_
  std::vector<std::vector<std::uint32_t>> members_;       // tokens of each component
  std::size_t occupied_ = 0;

  // Of the proposal at hand
  std::vector<std::uint32_t> tokens_;                      // of both components but for the two that were picked
  std::vector<std::uint8_t> side_;                         // of each of them
  std::vector<std::vector<std::array<double, 3>>> value_;  // [mode][row][side]: a + counts there
  std::array<Sizes, 3> sizes_;
};

}  // namespace ztp
