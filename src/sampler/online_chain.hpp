// One chain of online MCMC by conditional density filtering (docs/model.md, section 8): each step looks at a minibatch,
// and what it says moves running statistics of all the data.
#pragma once
#include <vector>

#include "sampler/minibatches.hpp"
#include "sampler/poisson_chain.hpp"

namespace ztp {

struct OnlineOptions {
  double kappa = 0.5;  // rho_t = (t + t0)^-kappa                                                          (M25)
  double t0 = 0;
  bool expected_counts = false;   // latent counts by their means, not drawn
  bool mean_parameters = false;   // parameters by their means, not drawn
  std::uint32_t inner_draws = 1;  // M: draws of the parameters whose average is used for a minibatch
  std::uint32_t looks = 1;        // of an update: how many steps there will be
};

// The data in parts, which chains that run one after the other may share.
struct DataInMinibatches {
  Minibatches& ones;
  std::vector<Minibatches*> edges;  // of each network
  Minibatches* missing = nullptr;   // the listed missing cells; null: there are none
};

class OnlineChain : public PoissonChain {
 public:
  OnlineChain(const Problem& problem, const OnlineOptions& options, const DataInMinibatches& data, Kernel& kernel,
              std::uint32_t number);

  // The first minibatch, each of its ones in a random component.
  void start() override;
  // Parameters from the statistics, latent counts of a minibatch from the parameters, and the statistics moved towards
  // them.
  double step(bool likelihood) override;
  const char* step_name() const override { return "step"; }
  void draw_state() override { draw_parameters(t_ + 1); }
  // Bytes that it takes beside parameters and minibatches of so many ones.
  static std::size_t bytes(const FactorLayout& layout, std::int64_t inner_draws, std::size_t minibatch);

 protected:
  // Draws or means of the parameters given the statistics, or the average of several draws; of u these rows alone,
  // where they are given.
  // `part`: of several times in one step. Reads the statistics, writes the state, O(rows R).
  void set_parameters(const RowLists* rows = nullptr, std::uint32_t part = 0);
  // The same for what minibatch b needs of them; whether that is few rows alone.
  bool set_parameters_for(std::size_t b, std::uint32_t part = 0);
  // Adds the latent counts of minibatch b of the ones, each worth `weight` counts. O(minibatch R K). Returns their
  // log-likelihood, as LatentCounts does.
  double add_ones(std::size_t b, std::size_t next, double weight, DrawSettings settings);
  double add_edges(std::size_t m, std::size_t b, double weight, DrawSettings settings);

  // What a one of minibatch b stands for: so many of all. Of nothing, as in a network without edges, one.
  static double weight_of(const Minibatches& minibatches, std::size_t b);
  std::int64_t units(double counts) const;  // as they are stored
  // Makes room, so that counts of this weight and all that will be added fit and are fine enough.
  void fit_scale(double smallest_weight);

  // Latent counts of the ones of a chunk. Returns their log-likelihood, as LatentCounts does.
  virtual double draw_counts(const Minibatches::Chunk& chunk, const DrawSettings& settings);
  // Those of listed missing cells. Returns their rate.
  virtual double impute_listed(const Minibatches::Chunk& chunk, const DrawSettings& settings);
  // Those of all cells that are not data and not listed. Returns their rate.
  virtual double impute_unlisted(const DrawSettings& settings);
  virtual double move_statistics(std::size_t b, bool few, bool likelihood);
  virtual void clear_statistics();
  virtual void rescale(int bits);  // by 2^bits, what they stand for stays

  const OnlineOptions options_;
  Minibatches& ones_;
  const std::vector<Minibatches*> edges_;
  Minibatches* const missing_;

 private:
  void add_inner_draw(std::uint32_t draw, const RowLists* rows);
  void average_inner_draws(const RowLists* rows);
  bool touches_few(std::size_t b) const;
  RowLists touched_rows(std::size_t b);
  std::size_t minibatch(std::uint32_t t) const;
  // In epochs of its own: there may be fewer edges than minibatches of ones, and each must be met as often as any
  // other.
  std::size_t edge_minibatch(std::size_t m, std::uint32_t t) const;
  std::size_t missing_minibatch(std::uint32_t t) const;
  void decay(double rho);

  // Sums of inner draws, where there are several: of factors, and of weights of the tensor and the networks.
  std::vector<Matrix<float>> factor_sums_;
  std::vector<std::vector<double>> log_weight_sums_;
  // for each matrix and row the last list that touched it; empty until needed
  std::vector<std::vector<std::uint32_t>> met_;
  std::uint32_t seen_ = 0;
};

}  // namespace ztp
