// What a run directory knows: predictions with uncertainty, accuracy, components, recommendations. Needs nothing else than the
// directory, so every door (shell, C++, Python) gives the same numbers.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ztp/metrics.hpp"
#include "ztp/ranking.hpp"
#include "ztp/run_info.hpp"
#include "ztp/tensor.hpp"

namespace ztp {

// A cell's probability of being a one: mean over the posterior draws, standard deviation, 5 % and 95 % quantiles.
struct Prediction {
  double probability = 0;
  double sd = 0;
  double q05 = 0;
  double q95 = 0;
  double rate = 0;  // posterior mean of z: the expected count under the count likelihood; of a rival, of the logit
};

struct Component {
  std::size_t number = 0;  // from 1, as in draws.nc
  double weight = 0;       // lambda: expected latent count, posterior mean
  double weight_q05 = 0;
  double weight_q95 = 0;
  double share = 0;  // of the training ones, the part that this component explains
  struct Entity {
    std::uint32_t id = 0;
    double value = 0;  // posterior mean of u
  };
  std::vector<std::vector<Entity>> top;  // for each mode, largest first
};

struct Recommendation {
  std::vector<std::uint32_t> cell;
  Prediction prediction;
  struct Part {
    std::size_t component = 0;  // from 1
    double share = 0;           // of the cell's rate, posterior mean within the chain shown
  };
  std::vector<Part> parts;  // largest first
};

class Posterior {
 public:
  explicit Posterior(const std::string& run_dir, unsigned threads = 0);  // threads = 0: all cores
  ~Posterior();

  const RunInfo& info() const;
  const std::vector<Mode>& modes() const;
  std::size_t draws() const;

  // In the order of the cells. Memory: the draws of one sweep, and four bytes for each cell and draw; at most
  // cells_at_a_time() cells are taken in one pass over the draws.
  std::vector<Prediction> predict(const std::uint32_t* coords, std::size_t count);
  std::size_t cells_at_a_time() const;
  // Reads a file of cells (or "-") and yields predictions in file order.
  void predict_file(const std::string& file,
                    const std::function<void(const std::uint32_t* coords, const Prediction*, std::size_t)>& yield);

  // Labels and a last column 0 or 1; without a file, the cells that the fit held out. Eight bytes a cell.
  Metrics evaluate(const std::string& file = "");

  // Ranks the ones of a file (labels, and a last column 0 or 1 or none; zeros are ignored) among all entities of a mode. Without a
  // file, the ones that the fit held out. Memory: options.memory (or 8 queries' scores, if these are more), up to 64 MiB of draws or one
  // draw, the training ones, and eight bytes for each known one of a query.
  Ranking rank(const std::string& file = "", const RankingOptions& options = {});

  // Components of one chain (from 0), largest weight first.
  std::vector<Component> components(std::size_t top, std::size_t chain = 0);

  // The most probable cells that are not training ones, best first. `given` holds an entity for each mode that is fixed and
  // nothing for each mode left open. Exact; yield returns false to stop early.
  void recommend(const std::vector<std::optional<std::uint32_t>>& given, std::size_t top,
                 const std::function<bool(const Recommendation&)>& yield);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ztp
