#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "diagnose/chain_table.hpp"
#include "report/numbers.hpp"
#include "report/rank_plot.hpp"
#include "report/sections.hpp"
#include "ztp/diagnose.hpp"

namespace ztp {
namespace {

constexpr std::size_t most_points = 400;  // of a trace, for each chain
constexpr std::size_t most_cells = 200;   // watched ones in the table
constexpr int trace_digits = 9;           // a log-likelihood of millions moves by units

// A column of one of the tables that is drawn.
struct Recorded {
  std::string name;  // that of the quantity
  const ChainTable* table;
  std::size_t column;
  bool of_draws = true;  // else it is not a property of a draw: it has a trace, but no ranks
};

std::vector<Recorded> recorded_in(const ChainTable& trace, const Diagnosis& diagnosis) {
  const std::map<std::string, std::string> names = {{"log_likelihood", "log-likelihood"},
                                                    {"occupied", "occupied rank"},
                                                    {"total_weight", "total weight"},
                                                    {"auc_roc", "held-out AUC so far"},
                                                    {"network_only", "components of networks alone"}};
  std::vector<Recorded> result;
  for (std::size_t i = 0; i < trace.names.size(); ++i) {
    if (trace.names[i] == "seconds") continue;
    const auto known = names.find(trace.names[i]);
    const std::string name = known == names.end() ? trace.names[i] : known->second;
    const bool measured = std::any_of(diagnosis.quantities.begin(), diagnosis.quantities.end(),
                                      [&](const Quantity& quantity) { return quantity.name == name; });
    result.push_back({name, &trace, i, measured});
  }
  return result;
}

// Whether a column says anything: networks there are, a likelihood that was computed.
bool says_something(const Recorded& recorded) {
  for (const ChainTable::Rows& rows : recorded.table->chains)
    if (!rows.columns.empty())
      for (const double value : rows.columns[recorded.column])
        if (!std::isnan(value) && (recorded.of_draws || value != 0)) return true;
  return false;
}

// At most so many of the values that there are, evenly spread, the first and the last among them.
Json trace_of(const Recorded& recorded, std::int64_t burn_in) {
  Json chains = Json::array();
  for (const ChainTable::Rows& rows : recorded.table->chains) {
    std::vector<std::size_t> there;
    for (std::size_t i = 0; i < rows.sweep.size(); ++i)
      if (!std::isnan(rows.columns[recorded.column][i])) there.push_back(i);
    const std::size_t points = std::min(there.size(), most_points);
    Json sweeps = Json::array(), values = Json::array();
    for (std::size_t p = 0; p < points; ++p) {
      const std::size_t i = there[points == 1 ? 0 : p * (there.size() - 1) / (points - 1)];
      sweeps.push_back(rows.sweep[i]);
      values.push_back(number(rows.columns[recorded.column][i], trace_digits));
    }
    chains.push_back({{"sweep", sweeps}, {"value", values}});
  }
  return {{"name", recorded.name}, {"burn_in", burn_in}, {"chains", chains}};
}

// Null, if there are too few draws to tell anything.
Json ranks_of(const Recorded& recorded, const Diagnosis& diagnosis, std::int64_t burn_in) {
  DrawsOfChains draws = recorded.table->draws(recorded.column, diagnosis.chains, burn_in);
  for (auto& chain : draws) std::erase_if(chain, [](double value) { return std::isnan(value); });
  if (draws.empty()) return nullptr;
  // One chain is compared with itself, its beginning with its end, as R-hat does.
  const bool halves = draws.size() == 1;
  if (halves) {
    const auto middle = draws[0].begin() + static_cast<std::ptrdiff_t>((draws[0].size() + 1) / 2);
    draws.emplace_back(middle, draws[0].end());
    draws[0].erase(middle, draws[0].end());
  }
  std::size_t shortest = draws[0].size();
  for (const auto& chain : draws) shortest = std::min(shortest, chain.size());
  if (shortest < rank_bins) return nullptr;
  for (auto& chain : draws) chain.resize(shortest);
  return {
      {"name", recorded.name}, {"of", halves ? "halves" : "chains"}, {"bins", rank_plot(draws)}, {"draws", shortest}};
}

Json quantity_shown(const Quantity& quantity) {
  return {{"name", quantity.name},
          {"mean", number(quantity.mean, trace_digits)},
          {"sd", number(quantity.sd)},
          {"mcse", number(quantity.mcse)},
          {"r_hat", number(quantity.r_hat)},
          {"ess_bulk", number(quantity.ess_bulk)},
          {"ess_tail", number(quantity.ess_tail)},
          {"ess_per_second", number(quantity.ess_per_second)},
          {"constant", quantity.constant},
          {"chain_means", numbers(quantity.chain_means, trace_digits)},
          {"cell", nullptr},
          {"outcome", nullptr},
          {"chosen", ""}};
}

// Why a watched cell is looked at more closely; empty, if it is not.
std::string reason(const Diagnosis& diagnosis, std::size_t cell) {
  std::string text;
  const auto add = [&](const std::optional<std::size_t>& chosen, const char* why) {
    if (chosen == cell) text += (text.empty() ? "" : ", ") + std::string(why);
  };
  add(diagnosis.worst_cell, "largest R-hat");
  add(diagnosis.scarce_cell, "smallest ESS");
  add(diagnosis.median_cell, "median R-hat");
  return text;
}

Json cell_shown(const Diagnosis& diagnosis, std::size_t i) {
  const WatchedCell& cell = diagnosis.cells[i];
  Json result = quantity_shown(cell.probability);
  if (!cell.labels.empty()) result["cell"] = cell.labels;
  if (cell.outcome) result["outcome"] = *cell.outcome ? 1 : 0;
  result["chosen"] = reason(diagnosis, i);
  return result;
}

// The chosen ones, and then the others in their order.
std::vector<std::size_t> order_of_cells(const Diagnosis& diagnosis) {
  std::vector<std::size_t> order;
  for (const auto& chosen : {diagnosis.worst_cell, diagnosis.scarce_cell, diagnosis.median_cell})
    if (chosen && std::find(order.begin(), order.end(), *chosen) == order.end()) order.push_back(*chosen);
  const std::size_t chosen = order.size();
  for (std::size_t i = 0; i < diagnosis.cells.size() && order.size() < most_cells; ++i)
    if (std::find(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(chosen), i) ==
        order.begin() + static_cast<std::ptrdiff_t>(chosen))
      order.push_back(i);
  return order;
}

Json occupied_shown(const RunInfo& info, const ChainTable& trace, const Diagnosis& diagnosis) {
  Json posterior = Json::array(), chains = Json::array();
  for (const auto& [components, probability] : info.rank) posterior.push_back({components, number(probability)});
  for (const auto& draws : trace.draws(trace.column("occupied"), diagnosis.chains, info.options.burn_in)) {
    std::map<double, std::size_t> counts;
    for (const double value : draws) ++counts[value];
    Json chain = Json::array();
    for (const auto& [components, count] : counts)
      chain.push_back({number(components), number(static_cast<double>(count) / static_cast<double>(draws.size()))});
    chains.push_back(chain);
  }
  return {{"posterior", posterior}, {"chains", chains}};
}

}  // namespace

Json diagnostics_section(ReportSource& source) {
  const RunInfo& info = source.posterior.info();
  if (is_point_estimate(info.options)) return nullptr;
  const Diagnosis diagnosis = diagnose(source.run_dir);
  const std::size_t chains = static_cast<std::size_t>(info.options.chains);
  const ChainTable trace = read_chain_table(source.run_dir + "/trace.tsv", chains);
  std::vector<Recorded> recorded = recorded_in(trace, diagnosis);
  const std::vector<std::size_t> cells = order_of_cells(diagnosis);
  const std::string watched = source.run_dir + "/cells.tsv";
  const ChainTable probabilities =
      std::filesystem::exists(watched) ? read_chain_table(watched, chains) : ChainTable{watched, {}, {}, {}};
  for (const std::size_t i : cells)
    if (!reason(diagnosis, i).empty())
      recorded.push_back({diagnosis.cells[i].probability.name, &probabilities,
                          probabilities.column(diagnosis.cells[i].probability.name)});

  Json quantities = Json::array(), traces = Json::array(), ranks = Json::array(), judged = Json::array();
  for (const Quantity& quantity : diagnosis.quantities) quantities.push_back(quantity_shown(quantity));
  for (const std::size_t i : cells) quantities.push_back(cell_shown(diagnosis, i));
  for (const Recorded& column : recorded) {
    if (!says_something(column)) continue;
    traces.push_back(trace_of(column, info.options.burn_in));
    Json of_column = column.of_draws ? ranks_of(column, diagnosis, info.options.burn_in) : Json(nullptr);
    if (!of_column.is_null()) ranks.push_back(std::move(of_column));
  }
  for (const std::size_t chain : diagnosis.chains) judged.push_back(chain + 1);
  return {{"verdict", name_of(diagnosis.verdict)},
          {"predictions", name_of(diagnosis.predictions)},
          {"rank", name_of(diagnosis.rank)},
          {"sentences", diagnosis.sentences},
          {"status", diagnosis.status},
          {"chains", judged},
          {"draws", diagnosis.draws},
          {"seconds", number(diagnosis.seconds)},
          {"quantities", quantities},
          {"watched", diagnosis.cells.size()},
          {"traces", traces},
          {"ranks", ranks},
          {"occupied", occupied_shown(info, trace, diagnosis)}};
}

}  // namespace ztp
