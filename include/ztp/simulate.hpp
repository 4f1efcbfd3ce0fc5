// Synthetic tensors and networks with a known truth, of any size: exactly as many distinct ones as asked for.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "ztp/choices.hpp"
#include "ztp/tensor.hpp"

namespace ztp {

// How ones come about.
enum class SimulateKind {
  planted,  // each component is a block: in every mode a random subset of the entities, with uneven weights within
  model,    // each column is a draw from the prior, Dirichlet(a, ..., a)
  // subject, relation, object: entities are in communities, the same as subjects and as objects, and each component is
  // a relation that leads from one community to another. No entity relates to itself.
  relations,
};
template <>
inline constexpr auto choice_names<SimulateKind> = std::array{"planted", "model", "relations"};
// The kind of that name; Error (usage), if there is none.
SimulateKind simulate_kind_named(const std::string& name);

// What to simulate.
struct SimulateOptions {
  std::vector<std::uint64_t> dims;  // entities in each mode; 2 to 16 modes, up to 2^31 entities
  std::uint64_t ones = 0;           // distinct ones, exactly
  std::size_t rank = 10;            // components
  std::uint64_t seed = 1;           // the result is a function of the options and this
  SimulateKind kind = SimulateKind::planted;
  double dirichlet = 0.1;               // a, for `model`
  std::size_t communities = 10;         // for `relations`
  std::vector<std::string> mode_names;  // empty: mode1, mode2, ...; of `relations` subject, relation, object
  // A network of so many distinct edges over the mode so named.
  std::vector<std::pair<std::string, std::uint64_t>> edges;
};

// The truth, column by column: u^(k)[., r] over the entities of the block (planted), all of them (model), or those of a
// community and the relation itself (relations). A pure function of the options.
struct TrueFactorColumn {
  Buffer<std::uint32_t> ids;  // ascending
  Buffer<double> u;           // adds up to one
};
TrueFactorColumn true_factor_column(const SimulateOptions& options, std::size_t mode, std::size_t component);

// A simulated data set.
struct Simulated {
  SparseTensor tensor;  // labels are the numbers from 1
  std::vector<Network> networks;
  std::vector<double> lambda;  // of each component; adds up to `points`
  std::uint64_t points = 0;    // Poisson points that were drawn to hit so many distinct cells
  unsigned rounds = 0;         // of drawing, each of about as many points as were still missing
};

// Called now and then with what is being done and how much of it, 0 to 1.
using SimulateProgress = std::function<void(const std::string& what, double part)>;

// Points are drawn from the mixture with the components' weights as its shares, until the wanted number of different
// cells has been hit. Throws Error (config) where that cannot happen.
Simulated simulate(const SimulateOptions& options, const SimulateProgress& progress = {});

// What write_simulation did.
struct SimulateSummary {
  std::uint64_t ones = 0;          // written, as many as were asked for
  std::uint64_t points = 0;        // as Simulated::points
  unsigned rounds = 0;             // as Simulated::rounds
  double volume = 0;               // number of cells
  std::uint64_t bytes = 0;         // of tensor.tsv
  std::vector<std::string> files;  // written, relative to the directory
};

// The same into a directory, in less memory (8 bytes for each one where a cell fits into 64 bits):
//   tensor.tsv                 header and labels "1", "2", ...
//   labels/MODE.txt            all labels, for modes of up to a million entities
//   network-MODE.tsv           edges i < j
//   truth/weights.tsv          component, lambda; of `relations` also its two communities and its relation
//   truth/MODE.tsv             entity, component, u; only u > 1e-6 / n, so that less than 1e-6 of a column is left out;
//                              of `relations` entity, community, u, for the subjects, who are the objects
// Each file appears only when it is complete. With contents in the directory an error (config), unless forced: then
// what an earlier run left under these names is removed first.
SimulateSummary write_simulation(const SimulateOptions& options, const std::string& directory, bool force,
                                 bool with_truth = true, const SimulateProgress& progress = {});

}  // namespace ztp
