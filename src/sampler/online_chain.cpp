#include "sampler/online_chain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernel/draw_columns.hpp"
#include "ztp/error.hpp"

namespace ztp {
namespace {

constexpr double finest_scale = 0x1p-16;    // of a count: what a stored one stands for at first
constexpr double units_of_weight = 0x1p10;  // at least so many make up what a count adds, or it would be rounded
constexpr double most_units = 0x1p60;       // of one component in all rows together

}  // namespace

OnlineChain::OnlineChain(const Problem& problem, const OnlineOptions& options, const DataInMinibatches& data,
                         Kernel& kernel, std::uint32_t number)
    : PoissonChain(problem, kernel, number, true),
      options_(options),
      ones_(data.ones),
      edges_(data.edges),
      missing_(data.missing) {
  const FactorLayout& layout = problem.layout;
  for (std::size_t f = 0; options.inner_draws > 1 && f < layout.matrices(); ++f)
    factor_sums_.emplace_back(layout.size(f).rows, layout.size(f).columns);
  counts_.reserve(std::max(ones_.largest_chunk(), missing_ == nullptr ? 0 : missing_->largest_chunk()));
  met_.resize(layout.matrices());
  for (std::size_t f = 0; touches_few(0) && f < met_.size(); ++f) met_[f].assign(layout.size(f).rows, 0);
}

std::size_t OnlineChain::bytes(const FactorLayout& layout, std::int64_t inner_draws, std::size_t minibatch) {
  std::size_t sums = 0, rows = 0;
  for (std::size_t f = 0; f < layout.matrices(); ++f) {
    if (inner_draws > 1) sums += Matrix<float>::bytes_of(layout.size(f).rows, layout.size(f).columns);
    rows += layout.size(f).rows;
  }
  return sums + (minibatch * layout.modes() < rows / 2 ? sizeof(std::uint32_t) * rows : 0);
}

std::size_t OnlineChain::minibatch(std::uint32_t t) const {
  return minibatch_of_step(counts_.key(Purpose::minibatches), ones_.count(), t);
}

std::size_t OnlineChain::edge_minibatch(std::size_t m, std::uint32_t t) const {
  return minibatch_of_step(counts_.key(Purpose::minibatches, m + 1), edges_[m]->count(), t);
}

std::size_t OnlineChain::missing_minibatch(std::uint32_t t) const {
  return minibatch_of_step(counts_.key(Purpose::minibatches, 1 + edges_.size()), missing_->count(), t);
}

void OnlineChain::start() {
  t_ = 0;
  clear_statistics();
  const std::size_t b = minibatch(1);
  // Without counts the means of all components are alike; with weights so small every one counts once.
  for (std::size_t f = 0; f < state_.factors.size(); ++f) {
    if (state_.layout.is_one_hot(f)) continue;
    mean_columns(kernel_, {.S = *statistics_.rows[f], .a = state_.shapes.dirichlet[f]}, column_totals(f),
                 *state_.factors[f]);
  }
  std::fill(state_.tensor.log_weight.begin(), state_.tensor.log_weight.end(), -100.0);
  for (Weights& weights : state_.networks) std::fill(weights.log_weight.begin(), weights.log_weight.end(), -100.0);
  const double weight = weight_of(ones_, b);
  fit_scale(weight);
  add_ones(b, b, weight, {.t = 0, .anywhere = true});
  for (std::size_t m = 0; m < edges_.size(); ++m) {
    const std::size_t part = edge_minibatch(m, 1);
    add_edges(m, part, weight_of(*edges_[m], part), {.t = 0, .anywhere = true});
  }
}

// A step of conditional density filtering:
//   set_parameters_for     u; p and lambda; h and beta, drawn or by their means, for what the minibatch needs of them
//                                                                         (M5), (M27); (M6), (M7); (M13), (M14); (M28)
//   move_statistics        towards the latent counts of the minibatch, drawn or expected      (M25), (M3), (M4), (M26)
//                          and of what is imputed: missing cells, missing pairs, the diagonal (M17), (M18), (M12)
// O(minibatch R K), and O(R sum_k n_k) unless it touches few rows. If it throws before the counts, the chain is as it
// was.
double OnlineChain::step(bool likelihood) {
  Step step(*this);
  const std::size_t b = minibatch(t_);
  const bool few = set_parameters_for(b);
  step.begin_counts();
  const double log_likelihood = move_statistics(b, few, likelihood);
  step.end();
  return log_likelihood;
}

// Reads the state, changes the statistics, O(minibatch R K).                                                    (M25)
double OnlineChain::move_statistics(std::size_t b, bool few, bool likelihood) {
  const std::size_t next = minibatch(t_ + 1);
  const double rho = t_ == 1 ? 1 : std::pow(t_ + options_.t0, -options_.kappa);
  decay(rho);
  fit_scale(rho);
  const DrawSettings settings{.t = t_,
                              .expected = options_.expected_counts,
                              .likelihood = likelihood,
                              .bounded = problem_.bounded && !few && !options_.expected_counts,
                              .anywhere = true};
  const double ones = weight_of(ones_, b);
  double log_likelihood = ones * add_ones(b, next, rho * ones, settings) - rates().total;
  DrawSettings imputed = settings;  // complete in every step, and so not scaled
  imputed.unit = units(rho);
  log_likelihood += impute_unlisted(imputed);
  if (missing_ != nullptr) {
    const std::size_t part = missing_minibatch(t_);
    const double weight = weight_of(*missing_, part);
    DrawSettings listed = settings;
    listed.unit = units(rho * weight);
    missing_->read(part, part,
                   [&](const Minibatches::Chunk& chunk) { log_likelihood += weight * impute_listed(chunk, listed); });
  }
  for (std::size_t m = 0; m < edges_.size(); ++m) {
    const std::size_t part = edge_minibatch(m, t_);
    const double weight = weight_of(*edges_[m], part), of_edges = add_edges(m, part, rho * weight, settings);
    log_likelihood +=
        networks_[m].scaled_log_likelihood(state_, weight, of_edges, networks_[m].impute(state_, imputed, statistics_));
  }
  return log_likelihood;
}

double OnlineChain::weight_of(const Minibatches& minibatches, std::size_t b) {
  if (minibatches.size(b) == 0) return 1;
  return static_cast<double>(minibatches.total()) / static_cast<double>(minibatches.size(b));
}

double OnlineChain::add_ones(std::size_t b, std::size_t next, double weight, DrawSettings settings) {
  settings.unit = units(weight);
  double log_likelihood = 0;
  ones_.read(b, next, [&](const Minibatches::Chunk& chunk) { log_likelihood += draw_counts(chunk, settings); });
  return log_likelihood;
}

double OnlineChain::draw_counts(const Minibatches::Chunk& chunk, const DrawSettings& settings) {
  return counts_.draw_counts_of_ones(chunk.ones, state_, settings, statistics_);
}

double OnlineChain::impute_listed(const Minibatches::Chunk& chunk, const DrawSettings& settings) {
  return counts_.impute_cells(chunk.ones, state_, settings, statistics_);
}

double OnlineChain::impute_unlisted(const DrawSettings& settings) {
  return counts_.impute_missing(state_, settings, statistics_);
}

double OnlineChain::add_edges(std::size_t m, std::size_t b, double weight, DrawSettings settings) {
  settings.unit = units(weight);
  double log_likelihood = 0;
  edges_[m]->read(b, b, [&](const Minibatches::Chunk& chunk) {
    log_likelihood += networks_[m].draw_counts_of_edges(chunk.ones, state_, settings, statistics_);
  });
  return log_likelihood;
}

// ---- parameters
// ------------------------------------------------------------------------------------------------------

void OnlineChain::set_parameters(const RowLists* rows, std::uint32_t part) {
  const bool several = !options_.mean_parameters && options_.inner_draws > 1;
  for (std::uint32_t draw = 0; draw < (several ? options_.inner_draws : 1); ++draw) {
    PoissonChain::set_parameters({t_, part * options_.inner_draws + draw, rows, options_.mean_parameters});
    if (several) add_inner_draw(draw, rows);
  }
  if (several) average_inner_draws(rows);
}

void OnlineChain::add_inner_draw(std::uint32_t draw, const RowLists* rows) {
  for (std::size_t f = 0; f < state_.factors.size(); ++f) {
    const Factors& u = *state_.factors[f];
    const auto add = [&](Range of, const float* values) {
      for (std::size_t j = of.begin; j < of.end; ++j, values += u.columns()) {
        float* sum = factor_sums_[f].row(j);
        for (std::size_t q = 0; q < u.columns(); ++q) sum[q] = (draw == 0 ? 0 : sum[q]) + values[q];
      }
    };
    for_blocks_of_rows(u, add, rows == nullptr ? nullptr : &(*rows)[f]);
  }
  const auto add = [&](const std::vector<double>& log_weight, std::vector<double>& log_sum) {
    log_sum.resize(log_weight.size());
    for (std::size_t r = 0; r < log_sum.size(); ++r)
      log_sum[r] = std::log((draw == 0 ? 0 : std::exp(log_sum[r])) + std::exp(log_weight[r]));
  };
  log_weight_sums_.resize(1 + edges_.size());
  add(state_.tensor.log_weight, log_weight_sums_[0]);
  for (std::size_t m = 0; m < edges_.size(); ++m) add(state_.networks[m].log_weight, log_weight_sums_[1 + m]);
}

void OnlineChain::average_inner_draws(const RowLists* rows) {
  const double M = options_.inner_draws;
  for (std::size_t f = 0; f < state_.factors.size(); ++f) {
    Factors& u = *state_.factors[f];
    const auto mean = [&](std::size_t j, float* row) {
      for (std::size_t q = 0; q < u.columns(); ++q) row[q] = factor_sums_[f].row(j)[q] / static_cast<float>(M);
    };
    write_rows(u, mean, rows == nullptr ? nullptr : &(*rows)[f]);
  }
  const auto average = [&](const std::vector<double>& log_sum, std::vector<double>& log_weight) {
    for (std::size_t r = 0; r < log_sum.size(); ++r) log_weight[r] = log_sum[r] - std::log(M);
  };
  average(log_weight_sums_[0], state_.tensor.log_weight);
  for (std::size_t m = 0; m < edges_.size(); ++m) average(log_weight_sums_[1 + m], state_.networks[m].log_weight);
}

bool OnlineChain::set_parameters_for(std::size_t b, std::uint32_t part) {
  const bool few = touches_few(b);
  if (few) {
    const RowLists rows = touched_rows(b);
    set_parameters(&rows, part);
  } else {
    set_parameters(nullptr, part);
  }
  return few;
}

// ---- rows that a minibatch touches
// -----------------------------------------------------------------------------------

// Counts that are imputed in no listed cell can fall anywhere, and a minibatch in chunks would have to be read twice.
bool OnlineChain::touches_few(std::size_t b) const {
  const bool anywhere = has_slices(problem_) || problem_.self_missing || !problem_.networks.empty();
  if (!ones_.whole() || anywhere) return false;
  std::uint64_t rows = 0;
  for (std::size_t f = 0; f < problem_.layout.matrices(); ++f) rows += problem_.layout.size(f).rows;
  const std::uint64_t cells = ones_.size(b) + (missing_ == nullptr ? 0 : missing_->largest_chunk());
  return cells * problem_.layout.modes() < rows / 2;
}

OnlineChain::RowLists OnlineChain::touched_rows(std::size_t b) {
  const FactorLayout& layout = problem_.layout;
  const std::size_t K = layout.modes();
  ++seen_;
  RowLists rows(layout.matrices());
  const auto add = [&](const Minibatches::Chunk& chunk) {
    for (std::size_t k = 0; k < K; ++k) {
      const std::size_t f = layout.matrix(k);
      if (met_[f].empty()) met_[f].assign(layout.size(f).rows, 0);
      for (std::size_t e = 0; e < chunk.ones.count(); ++e) {
        const std::uint32_t j = chunk.coords[e * K + k];
        if (met_[f][j] == seen_) continue;
        met_[f][j] = seen_;
        rows[f].push_back(j);
      }
    }
  };
  ones_.read(b, b, add);
  if (missing_ != nullptr) missing_->read(missing_minibatch(t_), 0, add);
  for (std::vector<std::uint32_t>& of_matrix : rows) std::sort(of_matrix.begin(), of_matrix.end());
  return rows;
}

// ---- integer statistics
// -------------------------------------------------------------------------------------

std::int64_t OnlineChain::units(double counts) const {
  return std::llround(counts / statistics_.scale);
}

// What is stored stays; what it stands for shrinks.
void OnlineChain::decay(double rho) {
  if (rho < 1) {
    statistics_.scale *= 1 - rho;
    return;
  }
  clear_statistics();
}

void OnlineChain::clear_statistics() {
  statistics_.clear();
  statistics_.scale = finest_scale;
}

void OnlineChain::fit_scale(double smallest_weight) {
  std::int64_t largest = 0;
  for (std::size_t f = 0; f < state_.factors.size(); ++f)
    for (const double total : column_totals(f))
      largest = std::max(largest, static_cast<std::int64_t>(total / statistics_.scale));
  // What a step may add: all counts, several times over, since those of ones are latent.
  double coming = static_cast<double>(ones_.total_count());
  for (const Minibatches* edges : edges_) coming += NetworkPart::ends_of(edges->total());
  double rate = rates().total;  // and those of all cells may be more still
  for (const NetworkPart& network : networks_) rate += network.rate_of_ends(state_);
  const double most = std::max(16 * coming, 2 * rate) / statistics_.scale + static_cast<double>(largest);
  const int too_fine = most > most_units ? static_cast<int>(std::ceil(std::log2(most / most_units))) + 8 : 0;
  const double least = smallest_weight / units_of_weight;
  if (too_fine > 0) {
    rescale(-too_fine);
  } else if (statistics_.scale > least) {
    const int room = static_cast<int>(std::floor(std::log2(most_units / most)));
    const int wanted = static_cast<int>(std::ceil(std::log2(statistics_.scale / least))) + 4;
    if (std::min(room, wanted) > 0) rescale(std::min(room, wanted));
  }
  if (units(smallest_weight) == 0 && too_fine > 0)
    throw Error(ErrorKind::numeric, fmt::format("step {}: counts that add up to {:.3g} are too many for online "
                                                "statistics; use --method batch",
                                                t_, coming));
  if (units(smallest_weight) == 0)
    throw Error(ErrorKind::numeric, fmt::format("step {}: a minibatch changes the statistics by less than can be "
                                                "stored; use a smaller --kappa or --t0, or smaller counts",
                                                t_));
}

void OnlineChain::rescale(int bits) {
  for (const auto& rows : statistics_.rows) kernel_.shift(bits, *rows);
  for (const Statistics::Totals& totals : statistics_.totals())
    for (std::int64_t& total : *totals.counts) total = shifted(total, bits);
  statistics_.scale = std::ldexp(statistics_.scale, -bits);
}

}  // namespace ztp
