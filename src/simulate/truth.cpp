#include "simulate/truth.hpp"

#include <fmt/format.h>
#include <hwy/contrib/sort/vqsort.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/errors.hpp"
#include "model/distributions.hpp"
#include "simulate/distinct_cells.hpp"
#include "tensor/mode_name.hpp"

namespace ztp {
namespace {

constexpr std::size_t most_modes = 16;
constexpr std::uint64_t most_ones = 10'000'000'000;
constexpr std::size_t most_components = 1'000'000;

// A random permutation of 0..size-1 that needs no memory: invertible steps on the next power of two, repeated while the
// result is out of range (at most twice, on average).
class RandomPermutation {
 public:
  RandomPermutation(StreamKey key, std::uint64_t index, std::uint64_t size)
      : size_(size), mask_((std::uint64_t{1} << bits_for(size)) - 1), shift_((bits_for(size) + 1) / 2) {
    Stream stream(key, 0, index);
    for (Step& step : steps_) step = {stream.bits64() | 1, stream.bits64()};
  }
  std::uint64_t operator()(std::uint64_t x) const {
    do {
      for (const Step& step : steps_) {
        x = (x * step.factor + step.term) & mask_;
        x ^= x >> shift_;
      }
    } while (x >= size_);
    return x;
  }

 private:
  struct Step {
    std::uint64_t factor, term;
  };
  std::uint64_t size_, mask_;
  unsigned shift_;
  Step steps_[4];
};

// R blocks of 1.5 n / R entities each on a circle of n: each entity is in one or two of them. At least 3 entities, and
// not many more than the points of a component, which would only add entities without ones.
std::uint64_t block_size(std::uint64_t n, const SimulateOptions& options) {
  const std::uint64_t rank = options.rank;
  std::uint64_t points = options.ones / rank + 1;
  for (const auto& [mode, edges] : options.edges) points = std::max(points, edges / rank + 1);
  const std::uint64_t size = (3 * n + 2 * rank - 1) / (2 * rank);
  return std::min(n, std::max<std::uint64_t>(3, std::min(size, std::max<std::uint64_t>(64, 4 * points))));
}

void normalise(Buffer<double>& values) {
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  for (double& value : values) value /= sum;
}

// Gamma(2) weights: uneven, but none negligible.
void draw_block_weights(StreamKey key, std::size_t r, Buffer<double>& u) {
  Stream stream(key, 0, r);
  for (double& value : u) value = -std::log(stream.uniform() * stream.uniform());
}

// In logs, since most gammas underflow at small `a`.
void draw_dirichlet(StreamKey key, std::size_t r, double a, Buffer<double>& u) {
  double largest = -std::numeric_limits<double>::infinity();
  for (std::size_t j = 0; j < u.size(); ++j) {
    Stream stream(key, static_cast<std::uint32_t>(r), j);
    u[j] = draw_log_gamma(stream, a);
    largest = std::max(largest, u[j]);
  }
  for (double& value : u) value = std::exp(value - largest);
}

void check_names(const std::vector<std::string>& names) {
  for (std::size_t k = 0; k < names.size(); ++k) {
    const std::string& name = names[k];
    if (!usable_mode_name(name) || name.front() == ' ')
      throw config_error("the mode name \"{}\" cannot be used in file names and headers", name);
    if (name == "weights") throw config_error("a mode cannot be named weights: truth/weights.tsv is a reserved name");
    if (std::count(names.begin(), names.end(), name) > 1)
      throw config_error("the mode name \"{}\" is given twice", name);
  }
}

void check_relations(const SimulateOptions& options) {
  if (options.kind != SimulateKind::relations) return;
  if (options.dims.size() != 3 || options.dims[0] != options.dims[2])
    throw config_error("--kind relations: --dims must be entities, relations and the same number of entities again");
  const std::uint64_t most = std::min<std::uint64_t>(options.dims[0] / 2, options.rank);
  if (options.communities < 2 || options.communities > most)
    throw config_error("--communities {}: it must be 2 to {}, the components or half of the entities",
                       options.communities, most);
  if (options.rank < options.dims[1])
    throw config_error("--rank {}: each of the {} relations needs a component", options.rank, options.dims[1]);
}

void check_edges(const SimulateOptions& options, const std::vector<std::string>& names) {
  for (std::size_t i = 0; i < options.edges.size(); ++i) {
    const auto& [mode, edges] = options.edges[i];
    if (std::find(names.begin(), names.end(), mode) == names.end())
      throw usage_error("--edges {}={}: there is no such mode; they are: {}", mode, edges, fmt::join(names, ", "));
    for (std::size_t other = 0; other < i; ++other)
      if (options.edges[other].first == mode) throw usage_error("--edges gives mode {} twice", mode);
    if (edges == 0 || edges > most_ones)
      throw config_error("--edges {}={}: it must be 1 to {}", mode, edges, most_ones);
  }
}

}  // namespace

std::vector<std::string> mode_names(const SimulateOptions& options) {
  std::vector<std::string> names = options.mode_names;
  if (names.empty() && options.kind == SimulateKind::relations) names = {"subject", "relation", "object"};
  for (std::size_t k = names.size(); names.size() < options.dims.size(); ++k)
    names.push_back(fmt::format("mode{}", k + 1));
  return names;
}

void check(const SimulateOptions& options) {
  const auto refuse = [](const std::string& message) { throw Error(ErrorKind::config, message); };
  if (options.dims.size() < 2 || options.dims.size() > most_modes)
    refuse(fmt::format("--dims gives {} modes; it must be 2 to {}", options.dims.size(), most_modes));
  for (const std::uint64_t n : options.dims)
    if (n == 0 || n > max_mode_size)
      refuse(fmt::format("--dims has {}; a mode has 1 to {} entities", n, max_mode_size));
  if (options.ones == 0 || options.ones > most_ones)
    refuse(fmt::format("--ones is {}; it must be 1 to {}", options.ones, most_ones));
  if (options.rank == 0 || options.rank > most_components)
    refuse(fmt::format("--rank is {}; it must be 1 to {}", options.rank, most_components));
  if (!(options.dirichlet > 0 && options.dirichlet <= 1e6))
    refuse(fmt::format("--dirichlet is {}; it must be above 0 and at most 1e6", options.dirichlet));
  if (!options.mode_names.empty() && options.mode_names.size() != options.dims.size())
    refuse(fmt::format("--mode-names gives {} names for {} modes", options.mode_names.size(), options.dims.size()));
  check_relations(options);
  check_names(mode_names(options));
  check_edges(options, mode_names(options));
}

Truth::Truth(const SimulateOptions& options) : options_(options) {
  check(options);
  const bool planted = options.kind == SimulateKind::planted;
  const bool even = options.kind != SimulateKind::model;
  // Planted components have similar weights, those of the model exponential ones (a gamma prior of shape 1: with the
  // 0.1 of a fit, which empties components, one or two would dominate).
  Buffer<double> weights(options.rank);
  for (std::size_t r = 0; r < options.rank; ++r) {
    Stream stream(key(simulate_stream::shares), 0, r);
    weights[r] = std::exp(draw_log_gamma(stream, even ? 4 : 1));
  }
  normalise(weights);
  shares_.assign(weights.begin(), weights.end());
  if (has_relations()) {
    const std::uint64_t n = options.dims[0], communities = options.communities;
    support_ = {(n + communities - 1) / communities, 1, (n + communities - 1) / communities};
    for (std::size_t r = 0; r < options.rank; ++r) {
      Stream stream(key(simulate_stream::pairs), 0, r);
      const auto subjects = static_cast<std::uint32_t>(stream.below(communities));
      pairs_.push_back({subjects, static_cast<std::uint32_t>(stream.below(communities))});
    }
    return;
  }
  for (std::size_t k = 0; k < options.dims.size(); ++k) {
    support_.push_back(planted ? block_size(options.dims[k], options) : options.dims[k]);
    if (!planted) continue;
    // Another order of the blocks in every mode, so that components that overlap in one need not overlap in the next.
    std::vector<std::uint32_t> order(options.rank);
    std::iota(order.begin(), order.end(), 0u);
    Stream stream(key(simulate_stream::order), 0, k);
    for (std::size_t r = order.size(); r > 1; --r) std::swap(order[r - 1], order[stream.below(r)]);
    block_order_.push_back(std::move(order));
  }
}

// So many entities from `start` on, of a random order of them.
Buffer<std::uint32_t> Truth::block(std::size_t k, std::uint64_t start) const {
  const std::uint64_t n = options_.dims[k], size = support_[k];
  Buffer<std::uint32_t> ids(size);
  if (size == n) {
    std::iota(ids.begin(), ids.end(), 0u);
    return ids;
  }
  const RandomPermutation scatter(key(simulate_stream::scatter), k, n);
  for (std::uint64_t i = 0; i < size; ++i) ids[i] = static_cast<std::uint32_t>(scatter((start + i) % n));
  hwy::Sorter()(ids.data(), size, hwy::SortAscending());
  return ids;
}

std::size_t Truth::columns(std::size_t k) const {
  if (!has_relations()) return options_.rank;
  return k == 1 ? options_.dims[1] : options_.communities;
}

std::size_t Truth::column_number(std::size_t k, std::size_t r) const {
  if (!has_relations()) return r;
  return k == 1 ? r % options_.dims[1] : pairs_[r][k / 2];
}

TrueFactorColumn Truth::column(std::size_t k, std::size_t number) const {
  TrueFactorColumn column;
  column.u = Buffer<double>(support_[k]);
  const std::size_t same = has_relations() && k == 2 ? 0 : k;  // objects are the subjects
  const StreamKey columns = key(simulate_stream::columns + static_cast<std::uint32_t>(same));
  if (has_relations() && k == 1) {
    column.ids.push_back(static_cast<std::uint32_t>(number));
    column.u[0] = 1;
  } else if (options_.kind == SimulateKind::model) {
    column.ids = Buffer<std::uint32_t>(support_[k]);
    std::iota(column.ids.begin(), column.ids.end(), 0u);
    draw_dirichlet(columns, number, options_.dirichlet, column.u);
  } else {
    const std::uint64_t place = has_relations() ? number : block_order_[k][number];
    column.ids = block(same, place * options_.dims[k] / this->columns(k));
    draw_block_weights(columns, number, column.u);
  }
  normalise(column.u);
  return column;
}

SimulateKind simulate_kind_named(const std::string& name) {
  if (const auto kind = choice_named<SimulateKind>(name)) return *kind;
  throw usage_error("--kind \"{}\": must be planted, model or relations", name);
}

TrueFactorColumn true_factor_column(const SimulateOptions& options, std::size_t mode, std::size_t component) {
  const Truth truth(options);
  return truth.column(mode, truth.column_number(mode, component));
}

}  // namespace ztp
