// The answers of a run: predictions with uncertainty, accuracy, components, recommendations. Needs only the run
// directory, so the command line, C++ and Python give the same numbers.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ztp/labels.hpp"
#include "ztp/match.hpp"
#include "ztp/metrics.hpp"
#include "ztp/options.hpp"
#include "ztp/ranking.hpp"
#include "ztp/run_info.hpp"
#include "ztp/tensor.hpp"
#include "ztp/verdicts.hpp"

namespace ztp {

// Which probabilities a Posterior gives.
struct PredictionOptions {
  // The posterior's own: the mean over all draws. Otherwise, where the run has calibrated probabilities
  // (calibration.bin), these: the mean of the chains' logits, and a map that was fitted to held-out cells.
  bool raw = false;
  // The part of the true ones that the data list, between 0 and 1. Probabilities are then those of a cell that is not
  // listed: p (1 - listed) / (listed (1 - p)), at most 1, where p is that of being listed. 1: not asked for.
  double listed = 1;
  // Where probabilities are computed: as FitOptions::kernel. automatic: on a GPU, if there is one and the query is
  // large enough. The search of a recommendation, and predictions of rivals, are done on the host in any case.
  KernelName kernel = KernelName::automatic;
  // A limit on what is loaded of draws, in addition to what is in memory anyway; written as FitOptions::memory. If a
  // draw takes more, answers about cells load the rows that they need, block by block. Empty: the memory of the
  // machine.
  std::string memory = {};
  // Whether lines of files of cells are skipped, and counted (skipped_lines), if they name entities that the run does
  // not have. Otherwise they are errors.
  bool skip_unknown = false;
};

// The lines of a file that were skipped because they name entities that the run does not have.
struct SkippedLines {
  std::string file;
  std::uint64_t lines = 0;
  std::vector<std::string> labels;  // a few of them, with their modes: user "eve"
  std::string sentence() const;
};

// A cell's probability of being a one, its standard deviation, 5 % and 95 % quantiles over the posterior draws.
struct Prediction {
  double probability = 0;
  double sd = 0;   // posterior standard deviation of the probability
  double q05 = 0;  // its quantiles
  double q95 = 0;
  double rate = 0;  // posterior mean of z: the expected count under the count likelihood; of a rival, of the logit
};

// A component with a smaller weight, half a count, is empty: its factors are those of the prior.
inline constexpr double weight_of_empty = 0.5;

// A component of one chain. Each chain has its own order: Posterior::match_chains tells which component of one is which
// of another.
struct Component {
  std::size_t number = 0;  // from 1, as in draws.nc
  double weight = 0;       // lambda: expected latent count, posterior mean
  double weight_q05 = 0;   // its posterior quantiles, 5 % and 95 %
  double weight_q95 = 0;
  double share = 0;      // of the training ones, the part that this component explains; from a sample of ones and draws
  double stability = 0;  // how far the other chains have it, too: 0 to 1; NaN with one chain, and if it is empty
  // An entity of a mode, and its part of the component.
  struct Entity {
    std::uint32_t id = 0;  // in modes()
    double value = 0;      // posterior mean of u: its part of the component, 1 over all entities of the mode
  };
  std::vector<std::vector<Entity>> top;  // for each mode, largest first
};

// A column of a factor matrix of one chain, where components share columns: a community of entities. Each chain has its
// own order: Posterior::match_columns tells which column of one is which of another.
struct Column {
  std::size_t number = 0;  // from 1, as in draws.nc; of a mode with own columns, the entity's id is one less
  double weight = 0;       // expected latent count of all components that use it, posterior mean
  double weight_q05 = 0;   // its posterior quantiles
  double weight_q95 = 0;
  double stability = 0;  // how far the other chains have it, too: 0 to 1; NaN with one chain, and if it is empty
  std::vector<Component::Entity> top;  // largest first
};

// An entry of the core of one chain: all components that have the same columns, taken together.
struct CoreEntry {
  std::vector<std::size_t> columns;  // of each mode, from 1; of a mode with own columns that is the entity
  double weight = 0;                 // expected latent count, posterior mean
  double weight_q05 = 0;             // its posterior quantiles
  double weight_q95 = 0;
  double stability = 0;  // how far the others have it, too, in the columns matched with its own; NaN with one chain
};

// The position of a number in the factors: u of an entity of a mode in a column of its factor matrix, all from 0.
// Column r is component r unless components share columns.
struct FactorPlace {
  std::size_t mode = 0;
  std::uint32_t entity = 0;
  std::size_t column = 0;
};

// The 5 % and 95 % quantiles of something.
struct Interval {
  double q05 = 0;
  double q95 = 0;
};

// A cell that recommend has found.
struct Recommendation {
  std::vector<std::uint32_t> cell;  // an entity for each mode
  Prediction prediction;
  // What a component contributes to the cell's rate; where components share columns, an entry of the core.
  struct Part {
    std::size_t component = 0;              // from 1; 0, where components share columns
    double share = 0;                       // of the cell's rate, posterior mean within the chain shown
    std::vector<std::size_t> columns = {};  // of an entry of the core, as in CoreEntry; empty, if it is a component
  };
  std::vector<Part> parts;  // those with at least a hundredth of it, largest first
  bool missing = false;     // whether the data declare the cell missing; held-out cells are not declared so
};

// What must not be recommended, and how the list is made.
struct RecommendOptions {
  std::vector<std::vector<std::uint32_t>> exclude_entities = {};  // for each mode; the last modes may be left out
  std::vector<std::uint32_t> exclude_cells = {};                  // cells x K
  std::optional<std::size_t> only_new = {};  // a mode: leave out entities that have a one, held out or not, with these
  std::optional<std::size_t> distinct = {};  // a mode: at most one cell for each of its entities, the most probable one
};

// An entity that recommend_entities has found.
struct EntityRecommendation {
  std::uint32_t entity = 0;
  // Of at least one of its cells being a one, and the sum of their rates.
  Prediction prediction;
  std::uint64_t ones = 0;                   // training ones that it has with the given entities
  double cells = 0;                         // how many cells it stands for
  bool missing = false;                     // whether the data declare all of them missing, as a slice
  std::vector<Recommendation::Part> parts;  // of the sum of the rates
};

// The most probable cells that are not training ones, which people act on: how many held-out ones were expected among
// them, and how many were found.
struct HeadOfList {
  std::size_t cells = 0;
  double expected = 0;
  std::uint64_t found = 0;
};

// Test cells, with the predictions of the model and of popularity.
struct TestScores {
  MetricsCollector model, popularity;
  bool calibrated = false;            // by a map that was fitted to held-out cells
  std::optional<CountScores> counts;  // of a fit of counts
};

// The draws of a run directory, and the questions that they answer. Every call may throw Error: io, if a file cannot be
// read; input, if one is damaged; usage, for ids and sizes that do not fit the run. Cells are given as K entities each,
// one cell after the other, as ids of modes(). Moved, not copied; not for several threads at once.
class Posterior {
 public:
  // threads = 0: all cores. Error (input), if this is not a run directory, or it has no draws yet.
  // Also, if calibration.bin is damaged and not raw. Error (usage), if `listed` is not above 0 and at most 1. Error
  // (config), if the kernel is cuda and there is no GPU.
  explicit Posterior(const std::string& run_dir, unsigned threads = 0, const PredictionOptions& options = {});
  ~Posterior();
  Posterior(Posterior&&) noexcept;
  Posterior& operator=(Posterior&&) noexcept;

  const RunInfo& info() const;             // what the directory said when it was opened
  const std::vector<Mode>& modes() const;  // names and labels, by id
  // How probabilities were calibrated, or why they are not, in a sentence.
  std::string calibration_words() const;
  std::size_t draws() const;                      // kept ones, all chains together
  std::vector<std::size_t> chains() const;        // those that have draws, from 0
  std::size_t draws_of(std::size_t chain) const;  // how many. Error (config), if there are none

  // In the order of the cells. Takes a pass over the draws for every cells_at_a_time() cells, or for fewer whose rows
  // fit into PredictionOptions::memory. Memory: the rows of one draw that the cells touch, and 256 MiB at most for
  // probabilities. With `unseen`, the id n of a mode with n entities stands for an entity that the fit has not seen. It
  // has the mean of the factors of all entities, 1/n in each column, which is also their mean a priori. Not for a
  // rival, nor for a mode with own columns.
  std::vector<Prediction> predict(const std::uint32_t* coords, std::size_t count, bool unseen = false);
  std::size_t cells_at_a_time() const;
  // Reads a file of cells (or "-"), with or without a last column of values, and yields predictions in file order, some
  // at a time. Error (input) that names file:line for a label that the run does not have.
  // Error (input) also if no line is left of those that were not skipped.
  void predict_file(const std::string& file,
                    const std::function<void(const std::uint32_t* coords, const Prediction*, std::size_t)>& yield);

  // The cells of a file as ids; a last column of values is ignored. Errors as of predict_file, but with skip_unknown
  // there may be no cells.
  std::vector<std::uint32_t> read_cells(const std::string& file);
  // What was skipped of the files read so far, if PredictionOptions::skip_unknown.
  const std::vector<SkippedLines>& skipped_lines() const;

  // Labels and a last column 0 or 1; without a file, the cells that the fit held out: Error (config), if there are
  // none. Of these each is predicted by a map that has not seen it. Zeros of a file are taken for a uniform sample of
  // all zeros. Memory: rows as of predict, 48 bytes a cell, and 8 for each entity.
  Evaluation evaluate(const std::string& file = "");
  // The same with cells that are in memory.
  Evaluation evaluate(const TestCells& cells);
  // The first so many (for each of these sizes) of all cells, most probable first, without training ones and missing
  // cells (test cells do not count as missing). The held-out ones, or the ones of a file, are taken as a random sample
  // of all ones that the fit did not know; it knew the others. Takes the time of recommend for the largest size. Error
  // (config) for a rival, or if there are no held-out ones; Error (usage), if a size is 0.
  std::vector<HeadOfList> head(const std::vector<std::size_t>& sizes = {10, 100, 1000}, const std::string& file = "");
  // What evaluate computes its metrics from, for curves.
  TestScores score_test(const std::string& file = "");

  // Have the chains converged, are the probabilities calibrated, is the bound on the rank large enough? In this order.
  // Takes the time of diagnose and, where cells were held out, of evaluate.
  std::vector<RunVerdict> verdicts();

  // Ranks the ones of a file (labels, and a last column 0 or 1 or none; zeros are ignored) among all entities of a
  // mode. Without a file, the ones that the fit held out. Memory: options.memory (or 8 queries' scores, if these are
  // more), the rows of the mode twice and up to 64 MiB of further draws, 8 bytes for each known one of a query and for
  // each entity, and 4 for each entity of the mode and thread. Where PredictionOptions::memory is less, entities are
  // ranked block by block, each block twice. Error (config) for a rival; Error (usage) for options that cannot be;
  // Error (input), if the file has no ones.
  Ranking rank(const std::string& file = "", const RankingOptions& options = {});
  // The same with the ones among cells that are in memory.
  Ranking rank(const TestCells& cells, const RankingOptions& options = {});

  // All components of one chain (from 0), largest weight first, with the `top` entities of each mode. Error (config),
  // if there are no draws of that chain; also for a rival, whose factors have either sign. With several chains, it
  // takes the time and memory of match_chains.
  std::vector<Component> components(std::size_t top, std::size_t chain = 0);

  // Where components share columns: the columns of a mode and the entries of the core, of one chain (from 0), largest
  // weight first. Entries with a weight below weight_of_empty are left out. Tied modes have the same columns. Errors as
  // of components; Error (config), if components have columns of their own. With several chains, columns takes the time
  // and memory of match_columns, and core that of all modes.
  std::vector<Column> columns(std::size_t mode, std::size_t top, std::size_t chain = 0);
  std::vector<CoreEntry> core(std::size_t chain = 0);

  // Posterior means of one chain (from 0): of u, entities of the mode x columns of its factor matrix, row after row,
  // where column r is component r unless components share columns; and of lambda. In the order of draws.nc. Error
  // (config), if there are no draws of that chain; also for a rival.
  std::vector<float> mean_factor(std::size_t mode, std::size_t chain = 0);
  std::vector<double> mean_weights(std::size_t chain = 0);
  // Quantiles of numbers of the factors over the draws of one chain. Takes a pass over the draws for every 256 MiB of
  // values. Errors as of mean_factor; usage, if a place does not exist.
  std::vector<Interval> factor_intervals(const std::vector<FactorPlace>& places, std::size_t chain = 0);
  // beta of a network (from 0) in the draws of one chain, for each column of the mean_factor of its mode. Errors as of
  // mean_factor; usage, if there is no such network.
  std::vector<std::vector<float>> network_weights(std::size_t network, std::size_t chain = 0);

  // For each component of a chain, the matching one in a chain of another run (or of this one). Modes are matched by
  // name and entities by label; those that one run alone has count as zeros in the other. Error (config), if the modes
  // have other names, there are no draws of a chain, a run is of a rival, or components of a run share columns: those
  // have match_columns and match_core. Memory: two mean factors of the largest mode.
  std::vector<ComponentMatch> match_components(std::size_t chain, Posterior& other, std::size_t other_chain);
  // All chains that have draws, matched with one of them; the first is as good as any other, and the one that
  // components() shows. Errors as there. Memory: two mean factors of the largest mode, and 8 bytes for each pair of
  // components of each chain.
  Matching match_chains(std::size_t reference = 0);
  // Where components share columns, the same for the columns of a mode: `component` and `partner` of a match are
  // columns of mean_factor then, and weights those of columns(). Which column of a chain of another run (or of this
  // one) each column of a chain is; and all chains that have draws, matched with one of them. Error (config) also if
  // components of a run have columns of their own.
  std::vector<ComponentMatch> match_columns(std::size_t mode, std::size_t chain, Posterior& other,
                                            std::size_t other_chain);
  Matching match_columns(std::size_t mode, std::size_t reference = 0);
  // Each entry of core(chain), and the one of a chain of another run (or of this one) that has the columns matched with
  // its columns. Errors as of match_columns.
  std::vector<CoreMatch> match_core(std::size_t chain, Posterior& other, std::size_t other_chain);
  // The mean factor of a mode over all chains, in the order of the reference: as large as its mean_factor. Each chain
  // counts as much as it has of the component, so that one that does not have it changes nothing. The matching is one
  // of match_chains, or of match_columns of that mode. Error (usage), if the matching does not fit this run.
  std::vector<float> matched_mean_factor(const Matching& matching, std::size_t mode);
  // The part that each component of the reference has in the rate of each cell, cells x components, at these means of
  // all chains. Error (usage) as there; Error (config) for a rival, and where components share columns: explain tells
  // the parts of core entries.
  std::vector<double> parts_of_rates(const Matching& matching, const std::uint32_t* coords, std::size_t count);

  // The most probable cells that are not training ones, best first. `given` holds an entity for each mode that is fixed
  // and nothing for each mode left open. Cells (i, i) of tied modes are left out if the fit treated them as missing,
  // since they cannot be ones. Exact; yield returns false to stop early. Rows of open modes are read by blocks where
  // PredictionOptions::memory, or 8 GiB, is less than they take in all draws. Error (config), if the cells that cannot
  // be told apart take more; also for a rival.
  void recommend(const std::vector<std::optional<std::uint32_t>>& given, std::size_t top,
                 const std::function<bool(const Recommendation&)>& yield, const RecommendOptions& options = {});
  // The entities of a mode that is left open, most probable first, each with the probability that at least one of its
  // cells is a one: 1 - exp(-sum of their rates), the mean over all draws. These are its cells that agree with what is
  // given, but for training ones, cells that are excluded or have an excluded entity, and cells (i, i) as in recommend.
  // Missing and held-out cells are among them. Not calibrated, since calibration is for single cells, unless an entity
  // has only one cell: then as recommend. Error (usage), if PredictionOptions::listed is asked for and an entity has
  // several cells. Takes two passes over the draws, and the rates of the training ones that agree with what is given.
  // Memory: 256 MiB at most for rates, and those of a draw of all components, for each draw.
  std::vector<EntityRecommendation> recommend_entities(std::size_t mode,
                                                       const std::vector<std::optional<std::uint32_t>>& given,
                                                       std::size_t top, const RecommendOptions& options = {});
  // Explains the probabilities of any cells, by the same parts as in recommend. One pass over the draws of the first
  // chain that has any: components of different chains do not correspond. Memory: 8 bytes for each cell and component;
  // where components share columns, the entries of the core that the cells have a part in; rows as of predict. Error
  // (config) for a rival.
  std::vector<std::vector<Recommendation::Part>> explain(const std::uint32_t* coords, std::size_t count);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ztp
