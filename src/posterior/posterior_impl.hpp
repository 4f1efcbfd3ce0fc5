// The implementation of Posterior, which several files share.
#pragma once
#include <functional>
#include <map>
#include <optional>

#include "base/pool.hpp"
#include "evaluate/chain_average.hpp"
#include "evaluate/ranking.hpp"
#include "io/table.hpp"
#include "kernel/kernel.hpp"
#include "posterior/quantile.hpp"
#include "posterior/queries.hpp"
#include "posterior/top_search.hpp"
#include "store/calibration_file.hpp"
#include "store/draws_file.hpp"
#include "ztp/posterior.hpp"

namespace ztp {

// The entities with the most of column q, largest first.
std::vector<Component::Entity> top_entities(const Matrix<float>& u, std::size_t q, std::size_t top);

// Weights of entries of the core, by their columns (from 1).
using CoreWeights = std::map<std::vector<std::size_t>, double>;

struct Posterior::Impl {
  Impl(const std::string& dir, unsigned threads, const PredictionOptions& prediction_options);
  // Draw i: loaded into `state`, or where the kernel keeps it, if it has room for draws. Until the next call.
  const State& draw(std::size_t i);
  // The rates z of some cells at one draw after another; of a rival their logits. The cells must stay where they are.
  class Scorer;
  // From here on the kernel of a device, if it is left open and a question is worth it: that of these cells, or one
  // that one thread would take so long for.
  void prepare_for_cells(std::size_t cells, std::size_t draws);
  void prepare_for_seconds(double seconds_of_a_thread);
  // From a rate or a logit to a probability.                                                               (M16), (M32)
  double probability(double z) const;
  // Error (usage), if an id is none of its mode, or the sizes do not fit each other.
  void check_cells(const std::uint32_t* coords, std::size_t count) const;
  void check_cells(const TestCells& cells) const;
  // Error (config), if the run is of a rival, whose factors have either sign.
  void require_rates(const char* what) const;
  // Likewise, if components share columns, and what to ask instead; if they do not.
  void require_components(const char* what, const char* instead) const;
  void require_shared_columns(const char* what) const;
  // Error (usage), if there is no such mode.
  void require_mode(const char* what, std::size_t mode) const;
  // Combined over draws and chains, not calibrated: one pass over the draws.
  std::vector<double> combined_probabilities(const std::uint32_t* coords, std::size_t count);
  // From a combined probability to the one that is asked for: calibrated, and that of a cell which is not listed.
  double calibrated(double combined) const;
  double not_listed(double probability) const;
  // Whether there is a map, and it is asked for.
  bool uses_map() const { return !options.raw && calibration && calibration->map; }
  // Posterior::predict for as many cells as one pass over the draws has memory for.
  void predict(const std::uint32_t* coords, std::size_t count, Prediction* result);

  // Scores of test cells, and of the cells of calibration.bin, which are those that the fit held out and drawn ones.
  TestScores score_cells(const TestCells& cells, bool own);
  TestScores score_sample();
  CountScores score_counts(const TestCells& cells, double zero_weight);
  // The most probable cells with these entities (nothing: left open) but those to skip, and their combined
  // probabilities, largest first. Exact. Error (config), if it would take too much memory.
  using Skip = std::function<bool(const std::uint32_t*)>;
  std::vector<ScoredCell> top_cells(const std::vector<std::optional<std::uint32_t>>& given, std::size_t top,
                                    const Skip& skip);
  // The draws of a chain. Error (config), if there are none.
  std::vector<std::size_t> draws_of(std::size_t chain) const;
  // The weights of these draws, component by component; those of a network, from 1, column by column.
  std::vector<std::vector<float>> weights(const std::vector<std::size_t>& of_draws, std::size_t network = 0) const;
  // The mean of the matrix of mode k, of u; means.nc is opened when first asked for.
  Matrix<float> mean_factor(std::size_t chain, std::size_t k);
  // Its roots: take_square_roots.
  Matrix<float> roots(std::size_t chain, std::size_t k);

  // Where components share columns. The weights of the columns of a mode, in each draw of a chain; their means.
  std::vector<std::vector<float>> column_weights(std::size_t chain, std::size_t mode) const;
  std::vector<double> mean_column_weights(std::size_t chain, std::size_t mode) const;
  std::vector<CoreEntry> core_without_stability(std::size_t chain) const;
  // Finds the mean weights of these entries; those that the chain does not have keep theirs.
  void find_core_weights(std::size_t chain, CoreWeights& weights) const;

  // Ranks ones, which come from `source`; options that were checked.
  Ranking rank(const Buffer<std::uint32_t>& ones, const std::string& source, const RankingOptions& options);
  // One mode: batch after batch of its queries, each with a pass over the chosen draws. step(part) tells how much is
  // done.
  RankingSums rank_mode(const Queries& queries, const std::vector<std::size_t>& chosen, const RankingOptions& options,
                        const std::function<void(double)>& step);

  std::string run_dir;
  PredictionOptions options;
  RunInfo info;
  bool rival;  // with signed factors
  FactorLayout layout;
  std::vector<Mode> modes;
  Pool pool;
  std::unique_ptr<Kernel> kernel;
  DrawsFile draws;
  std::optional<RunCalibration> calibration;  // nothing, if there is none
  ChainDraws chain_draws;
  std::vector<CalibrationMap> map_of_draw;  // the map, drawn from its own uncertainty for each draw: for intervals
  std::optional<MeansFile> means;
  State state;                               // the draw that was loaded last
  std::vector<std::unique_ptr<State>> kept;  // draws that the kernel keeps; null: not yet
};

class Posterior::Impl::Scorer {
 public:
  Scorer(Impl& impl, const std::uint32_t* coords, std::size_t count);
  void score(std::size_t draw, double* z);

 private:
  Impl& impl_;
  const std::uint32_t* coords_;
  std::size_t count_;
  std::unique_ptr<Ones> cells_;  // where the kernel works on them; not of a rival
};

}  // namespace ztp
