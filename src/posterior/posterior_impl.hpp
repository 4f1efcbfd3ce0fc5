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
#include "store/draw_rows.hpp"
#include "store/draws_file.hpp"
#include "ztp/posterior.hpp"

namespace ztp {

// The entities with the most of column q, largest first.
std::vector<Component::Entity> top_entities(const Matrix<float>& u, std::size_t q, std::size_t top);

class CellFilter;

// probability: of a cell. of_draws: its probabilities at the draws, which are sorted here. rates: summed over draws.
Prediction summarise(double probability, float* of_draws, std::size_t draws, double rates);

// Weights of entries of the core, by their columns (from 1).
using CoreWeights = std::map<std::vector<std::size_t>, double>;

struct Posterior::Impl {
  Impl(const std::string& dir, unsigned threads, const PredictionOptions& prediction_options);
  // Bytes that may be loaded of draws.
  double room() const;
  // The training data: ones are mapped, and labels left out.
  Dataset mapped_data() const;
  // Draw i where the kernel keeps it; null, if it has no room.
  const State* kept_draw(std::size_t i);
  // A whole draw in memory, made when first asked for.
  State& whole_draw();
  // The rates z of some cells at one draw after another; of a rival their logits. The cells must stay where they are.
  class Scorer;
  // Calls use(scorer, first) for the cells, as many at a time as there is room for the rows that they touch.
  void for_scorers(const std::uint32_t* coords, std::size_t count,
                   const std::function<void(Scorer&, std::size_t)>& use);
  // Switches to the kernel of a device, if --kernel is auto and the query is large enough: one about these cells, or
  // one that would take one thread so long.
  void prepare_for_cells(std::size_t cells, std::size_t draws);
  void prepare_for_seconds(double seconds_of_a_thread);
  // From a rate or a logit to a probability.                                                               (M16), (M32)
  double probability(double z) const;
  // Error (usage), if an id is none of its mode, or the sizes do not fit each other. `unseen` as of Posterior::predict.
  void check_cells(const std::uint32_t* coords, std::size_t count, bool unseen = false) const;
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
  // Posterior::predict for the cells of a scorer.
  void predict(Scorer& scorer, Prediction* result);

  // Calls use(block) for the cells of a file, block by block. Lines with unknown labels are errors, or are skipped and
  // counted. require_cells: Error (input), if that left no cells.
  void read_file(TableSpec spec, const std::function<void(const CellBlock&)>& use);
  void require_cells(const std::string& file, std::size_t cells) const;
  void for_listed_ones(const std::string& file, const std::function<void(const std::uint32_t*, std::size_t)>& use);

  // Scores of test cells, and of the cells of calibration.bin, which are those that the fit held out and drawn ones.
  TestScores score_cells(const TestCells& cells, bool own);
  TestScores score_sample();
  CountScores score_counts(const TestCells& cells, double zero_weight);
  // The most probable cells with the given entities (nothing: left open) but those to skip, and their combined
  // probabilities, largest first. Exact. Error (config), if it would take too much memory.
  using Skip = std::function<bool(const std::uint32_t*)>;
  struct TopQuestion {
    std::vector<std::optional<std::uint32_t>> given;
    std::size_t top = 1;
    std::vector<std::vector<std::uint32_t>> excluded = {};  // entities of each mode, sorted; empty: none
    std::optional<std::size_t> distinct = std::nullopt;     // at most one cell for each entity of this mode
  };
  std::vector<ScoredCell> top_cells(const TopQuestion& question, const Skip& skip);
  // Posterior::recommend_entities, where an entity has several cells.
  class EntityRanking;
  std::vector<EntityRecommendation> rank_entities(std::size_t mode, std::size_t top, const CellFilter& filter);
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
  // One mode: batch after batch of its queries, each with a pass over the chosen draws, or two for each block of
  // candidates. step(part) tells how much is done.
  RankingSums rank_mode(const Queries& queries, const std::vector<std::size_t>& chosen, const RankingOptions& options,
                        const std::function<void(double)>& step);
  RankingSums rank_on_device(const Queries& queries, const std::vector<std::size_t>& chosen,
                             const CandidateSettings& settings, const RankingMeter& meter,
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
  std::size_t bytes_for_probabilities = 0;  // of the cells that are predicted at a time
  std::optional<MeansFile> means;
  std::optional<State> whole;                // whole_draw
  std::vector<SkippedLines> skipped;         // of the files read so far
  std::vector<std::unique_ptr<State>> kept;  // draws that the kernel keeps; null: not yet
};

class Posterior::Impl::Scorer {
 public:
  // Of the first of these cells: as many as there is room for.
  Scorer(Impl& impl, const std::uint32_t* coords, std::size_t count);
  std::size_t cells() const { return rows_ ? rows_->cells() : count_; }
  void score(std::size_t draw, double* z);

 private:
  void make_rows(double room);
  Impl& impl_;
  const std::uint32_t* coords_;
  std::size_t count_;
  bool unseen_;  // whether there are entities that the fit has not seen: then the rows are needed in any case
  std::unique_ptr<Ones> whole_;   // the cells, for draws that the kernel keeps
  std::optional<DrawRows> rows_;  // for all others
  std::optional<State> state_;
  std::unique_ptr<Ones> cells_;  // by their places in it; not of a rival
};

}  // namespace ztp
