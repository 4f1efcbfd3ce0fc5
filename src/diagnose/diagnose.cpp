#include "ztp/diagnose.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <numeric>

#include "diagnose/chain_table.hpp"
#include "diagnose/verdict.hpp"
#include "ztp/error.hpp"

namespace ztp {
namespace {

std::size_t sweeps_after(const ChainTable& trace, std::size_t chain, std::int64_t burn_in) {
  return trace.chains[chain].sweep.size() - trace.first_after(chain, burn_in);
}

// Chains run one after the other, so the last chain of an unfinished run may be short, and cutting the others to its
// length would waste draws. Takes the number of longest chains that gives the most draws in all, at least two if two
// can be judged.
std::vector<std::size_t> chains_to_judge(const ChainTable& trace, std::int64_t burn_in) {
  std::vector<std::size_t> order(trace.chains.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto length = [&](std::size_t c) { return sweeps_after(trace, c, burn_in); };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return length(a) > length(b); });
  const std::size_t least = order.empty() || length(order[0]) < fewest_sweeps ? 1 : fewest_sweeps;
  std::size_t best = 1, most = 0;
  for (std::size_t m = 2; m <= order.size(); ++m) {
    const std::size_t shortest = length(order[m - 1]);
    if (shortest < least || m * shortest < most) continue;
    best = m;
    most = m * shortest;
  }
  order.resize(std::min(best, order.size()));
  std::sort(order.begin(), order.end());
  return order;
}

// Seconds of the first `draws` sweeps after burn-in, all chains together.
double seconds_of(const ChainTable& trace, const Diagnosis& diagnosis, std::int64_t burn_in) {
  const std::size_t column = trace.column("seconds");
  double sum = 0;
  for (const std::size_t c : diagnosis.chains) {
    if (diagnosis.draws == 0) continue;
    const auto& seconds = trace.chains[c].columns[column];
    const std::size_t first = trace.first_after(c, burn_in);
    sum += seconds[first + diagnosis.draws - 1] - (first > 0 ? seconds[first - 1] : 0);
  }
  return sum;
}

Quantity measure(const std::string& name, const DrawsOfChains& draws, double seconds) {
  Quantity result{convergence(draws), name, 0, false, {}};
  result.ess_per_second = seconds > 0 ? result.ess_bulk / seconds : std::numeric_limits<double>::quiet_NaN();
  result.constant = result.sd == 0;
  for (const auto& chain : draws)
    result.chain_means.push_back(std::accumulate(chain.begin(), chain.end(), 0.0) / static_cast<double>(chain.size()));
  return result;
}

// All columns that are properties of a single draw. The held-out AUC is not: it is that of the mean of all draws so
// far.
void measure_trace(const ChainTable& trace, std::int64_t burn_in, Diagnosis& diagnosis) {
  const auto add = [&](const std::string& name, std::size_t column) {
    DrawsOfChains draws = trace.draws(column, diagnosis.chains, burn_in);
    // The log-likelihood of a large rank is computed on some sweeps only, the same ones of every chain.
    for (auto& chain : draws) std::erase_if(chain, [](double value) { return std::isnan(value); });
    diagnosis.quantities.push_back(measure(name, draws, diagnosis.seconds));
  };
  add("log-likelihood", trace.column("log_likelihood"));
  add("occupied rank", trace.column("occupied"));
  if (const auto column = trace.find("total_weight")) add("total weight", *column);
  for (std::size_t i = 0; i < trace.names.size(); ++i)
    if (trace.names[i].starts_with("dirichlet_") || trace.names[i].starts_with("gamma_shape")) add(trace.names[i], i);
}

void label_cells(const std::string& path, std::size_t order, std::vector<WatchedCell>& cells) {
  if (!std::filesystem::exists(path)) return;
  std::vector<WatchedCellLabels> watched = read_watched(path, order);
  if (watched.size() != cells.size())
    throw Error(ErrorKind::input, fmt::format("{}:{}: {} cells, but cells.tsv has {}", path, watched.size() + 1,
                                              watched.size(), cells.size()));
  for (std::size_t i = 0; i < cells.size(); ++i) {
    cells[i].labels = std::move(watched[i].labels);
    cells[i].outcome = watched[i].outcome;
  }
}

double smaller_ess(const Quantity& q) {
  return std::min(q.ess_bulk, q.ess_tail);
}

void choose_cells_to_show(Diagnosis& diagnosis) {
  const auto& cells = diagnosis.cells;
  std::vector<std::size_t> order(cells.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::erase_if(order, [&](std::size_t i) { return std::isnan(cells[i].probability.r_hat); });
  if (order.empty()) return;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return cells[a].probability.r_hat < cells[b].probability.r_hat;
  });
  diagnosis.worst_cell = order.back();
  diagnosis.median_cell = order[order.size() / 2];
  diagnosis.scarce_cell = *std::min_element(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return smaller_ess(cells[a].probability) < smaller_ess(cells[b].probability);
  });
}

void measure_cells(const std::string& run_dir, const RunInfo& info, Diagnosis& diagnosis) {
  const std::string path = run_dir + "/cells.tsv";
  if (!std::filesystem::exists(path)) return;
  const ChainTable table = read_chain_table(path, static_cast<std::size_t>(info.options.chains));
  for (std::size_t i = 1; const auto column = table.find(fmt::format("c{}", i)); ++i) {
    const DrawsOfChains draws = table.draws(*column, diagnosis.chains, info.options.burn_in);
    if (std::any_of(draws.begin(), draws.end(), [](const auto& chain) { return chain.empty(); })) return;
    diagnosis.cells.push_back({{}, {}, measure(fmt::format("c{}", i), draws, diagnosis.seconds)});
  }
  label_cells(run_dir + "/watched.tsv", info.modes.size(), diagnosis.cells);
  choose_cells_to_show(diagnosis);
}

}  // namespace

Diagnosis diagnose(const std::string& run_dir) {
  const RunInfo info = run_info(run_dir);
  if (is_point_estimate(info.options))
    throw Error(ErrorKind::config, fmt::format("{}: --model {} is a point estimate, not a chain; there is nothing to "
                                               "diagnose",
                                               run_dir, name_of(info.options.model)));
  const ChainTable trace = read_chain_table(run_dir + "/trace.tsv", static_cast<std::size_t>(info.options.chains));
  Diagnosis diagnosis;
  diagnosis.status = info.status;
  diagnosis.chains = chains_to_judge(trace, info.options.burn_in);
  diagnosis.draws = diagnosis.chains.empty() ? 0 : std::numeric_limits<std::size_t>::max();
  for (const std::size_t c : diagnosis.chains)
    diagnosis.draws = std::min(diagnosis.draws, sweeps_after(trace, c, info.options.burn_in));
  diagnosis.seconds = seconds_of(trace, diagnosis, info.options.burn_in);
  measure_trace(trace, info.options.burn_in, diagnosis);
  measure_cells(run_dir, info, diagnosis);
  judge(info, run_dir, diagnosis);
  return diagnosis;
}

Cautions cautions(const std::string& run_dir) {
  Cautions result;
  const RunInfo info = run_info(run_dir);
  if (is_point_estimate(info.options)) return result;
  // docs/correctness.md, "Coverage of intervals".
  if (info.updates > 0 || is_online(info.options))
    result.intervals = fmt::format(
        "{} approximates the posterior, and its intervals are too narrow: in simulations, 90 % intervals contain about "
        "{} % of the true probabilities",
        info.updates > 0 ? "an updated run" : "an online fit", info.updates > 0 ? 65 : 70);
  try {
    const Diagnosis diagnosis = diagnose(run_dir);
    const bool too_short = diagnosis.verdict == Verdict::too_short;
    if (too_short || diagnosis.predictions == Verdict::poor)
      result.convergence = fmt::format("these probabilities should not be used yet: the chains {}",
                                       too_short ? "are too short" : "have not converged");
  } catch (const Error&) {
  }
  return result;
}

}  // namespace ztp
