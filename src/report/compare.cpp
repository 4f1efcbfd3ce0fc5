#include "report/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numeric>

#include "base/file.hpp"
#include "base/hash.hpp"
#include "posterior/matching.hpp"
#include "posterior/overlap.hpp"
#include "report/characteristic_entities.hpp"
#include "report/describe.hpp"
#include "report/listed_components.hpp"
#include "report/mean_factor.hpp"
#include "report/metrics_shown.hpp"
#include "report/numbers.hpp"
#include "report/options_shown.hpp"
#include "store/data.hpp"
#include "ztp/error.hpp"

namespace ztp {
namespace {

constexpr std::size_t top_compared = 10;

bool has_test_cells(const RunInfo& info) {
  return info.test_ones + info.test_zeros > 0;
}

// A number that two files have in common if they have the same lines, in whatever order.
std::uint64_t lines_in_any_order(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw_io("open", file);
  std::uint64_t sum = 0;
  for (std::string line; std::getline(in, line);) sum += XXH3_64bits(line.data(), line.size());
  return sum;
}

bool same_test_cells(const ComparedRun& a, const ComparedRun& b, const ReportOptions& options) {
  if (!options.test.empty()) return true;
  const RunInfo &of_a = a.posterior.info(), &of_b = b.posterior.info();
  return has_test_cells(of_a) && of_a.test_ones == of_b.test_ones && of_a.test_zeros == of_b.test_zeros &&
         lines_in_any_order(stored_test_file(a.run_dir, of_a)) == lines_in_any_order(stored_test_file(b.run_dir, of_b));
}

ComparedRun open_run(const std::string& run_dir, const ReportOptions& options) {
  ComparedRun run{run_dir, run_title(run_dir), Posterior(run_dir, options.threads), 0, false, {}, {}, {}, {}, 0, {},
                  {}};
  run.chain = chain_shown(run.posterior);
  run.shared = shares_columns(run.posterior.info().options);
  return run;
}

void find_components(ComparedRun& run) {
  run.components = run.posterior.components(top_compared, run.chain);
  std::erase_if(run.components, [](const Component& component) { return component.weight < weight_of_empty; });
  run.first_mode.assign(run.components.size(), 0);
  std::vector<std::size_t> components;
  for (const Component& component : run.components) components.push_back(component.number - 1);
  run.names = component_names(run.posterior, find_groups(run.posterior), components);
}

void find_columns(ComparedRun& run) {
  const Groups groups = find_groups(run.posterior);
  for (std::size_t f = 0; f < groups.layout.matrices(); ++f) {
    if (groups.layout.is_one_hot(f)) continue;
    const std::size_t k = groups.layout.first_mode(f);
    std::vector<std::size_t> columns;
    for (Column& column : run.posterior.columns(k, top_compared, run.chain)) {
      if (column.weight < weight_of_empty) continue;
      Component one{column.number, column.weight, column.weight_q05, column.weight_q95, 0, column.stability, {}};
      one.top.resize(groups.layout.modes());
      for (std::size_t l = 0; l < one.top.size(); ++l)
        if (groups.layout.matrix(l) == f) one.top[l] = column.top;
      columns.push_back(column.number - 1);
      run.components.push_back(std::move(one));
      run.first_mode.push_back(k);
    }
    for (auto& name : column_names(run.posterior, groups, k, columns)) run.names.push_back(std::move(name));
  }
}

void examine(ComparedRun& run, const ReportOptions& options) {
  run.diagnosis = diagnose(run.run_dir);
  if (!options.test.empty() || has_test_cells(run.posterior.info())) run.metrics = run.posterior.evaluate(options.test);
  run.shared ? find_columns(run) : find_components(run);
  const FactorLayout layout = layout_of(run.posterior);
  std::size_t all = run.shared ? 0 : layout.components();
  for (std::size_t f = 0; run.shared && f < layout.matrices(); ++f)
    if (!layout.is_one_hot(f)) all += layout.size(f).columns;
  run.empty = all - run.components.size();
}

void require_rates(const ComparedRun& run) {
  const FitOptions& options = run.posterior.info().options;
  if (is_rival(options))
    throw Error(ErrorKind::config, fmt::format("{}: a comparison does not work with --model {}, whose factors can be "
                                               "negative; compare runs that were fitted without --model",
                                               run.run_dir, name_of(options.model)));
}

// Components, or columns of mode k of a and of mode l of b, as they were matched.
std::vector<ComparedPair> pair_up(const ComparedRun& a, std::size_t k, const ComparedRun& b, std::size_t l,
                                  const std::vector<ComponentMatch>& matches) {
  std::vector<ComparedPair> pairs;
  std::vector<const Component*> taken;
  for (const ComponentMatch& match : matches) {
    ComparedPair pair;
    pair.a = a.component(match.component, k);
    pair.b = match.partner ? b.component(*match.partner, l) : nullptr;
    pair.share_a = match.weight_share;
    pair.share_b = match.partner_weight_share;
    if (pair.a == nullptr) continue;
    if (pair.b == nullptr) {
      pairs.push_back(pair);
      continue;
    }
    taken.push_back(pair.b);
    pair.overlap =
        std::round(1e4 * match.overlap) / 1e4;  // as it is sent: who compares it with the limits sees the same
    pair.agreement = match.agreement;
    if (pair.overlap >= alike_overlap) {
      pairs.push_back(pair);
    } else {
      pairs.push_back({pair.a, nullptr, pair.share_a, 0, pair.overlap, pair.agreement, pair.b, {}});
      pairs.push_back({nullptr, pair.b, 0, pair.share_b, pair.overlap, pair.agreement, pair.a, {}});
    }
  }
  double weight = 0;
  for (std::size_t i = 0; i < b.components.size(); ++i)
    if (b.first_mode[i] == l) weight += b.components[i].weight;
  for (std::size_t i = 0; i < b.components.size(); ++i)
    if (b.first_mode[i] == l && std::find(taken.begin(), taken.end(), &b.components[i]) == taken.end())
      pairs.push_back({nullptr, &b.components[i], 0, b.components[i].weight / weight, 0, 0, nullptr, {}});
  return pairs;
}

// What is compared, and how much of both models is the same: nothing, where one has components and the other columns.
struct Comparison {
  std::vector<ComparedPair> pairs;  // largest weight share first
  std::optional<double> agreement;
};

Comparison compare_components(ComparedRun& a, ComparedRun& b) {
  const std::vector<ComponentMatch> matches = a.posterior.match_components(a.chain, b.posterior, b.chain);
  Comparison result{pair_up(a, 0, b, 0, matches), 0};
  for (const ComponentMatch& match : matches) *result.agreement += common_weight(match);
  std::vector<std::size_t> modes(a.posterior.modes().size());
  std::iota(modes.begin(), modes.end(), std::size_t{0});
  for (ComparedPair& pair : result.pairs) pair.modes = modes;
  return result;
}

Comparison compare_columns(ComparedRun& a, ComparedRun& b, const std::vector<std::size_t>& other_modes) {
  const FactorLayout layout = layout_of(a.posterior), other = layout_of(b.posterior);
  Comparison result{{}, 0};
  for (std::size_t f = 0; f < layout.matrices(); ++f) {
    const std::size_t k = layout.first_mode(f), l = other_modes[k];
    if (layout.is_one_hot(f) || other.is_one_hot(other.matrix(l))) continue;
    const auto matches = a.posterior.match_columns(k, a.chain, b.posterior, b.chain);
    for (ComparedPair& pair : pair_up(a, k, b, other.first_mode(other.matrix(l)), matches)) {
      pair.modes = {k};
      result.pairs.push_back(std::move(pair));
    }
  }
  for (const CoreMatch& match : a.posterior.match_core(a.chain, b.posterior, b.chain))
    *result.agreement += std::sqrt(match.weight_share * match.partner_weight_share) * match.overlap;
  return result;
}

Json component_shown(const ComparedRun& run, const Component* component, double weight_share) {
  if (component == nullptr) return nullptr;
  return {{"number", component->number},
          {"name", run.names[static_cast<std::size_t>(component - run.components.data())]},
          {"weight", number(component->weight, precise)},
          {"q05", number(component->weight_q05, precise)},
          {"q95", number(component->weight_q95, precise)},
          {"share", number(component->share, 4)},
          {"weight_share", number(weight_share, 4)}};
}

Json options_that_differ(const RunInfo& a, const RunInfo& b) {
  const auto in_a = options_with_effect(a), in_b = options_with_effect(b);
  const auto value = [](const auto& fields, const OptionField& field, const RunInfo& info) -> Json {
    if (std::find(fields.begin(), fields.end(), &field) == fields.end()) return nullptr;
    return field.text(info.options);
  };
  Json result = Json::array();
  for (const OptionField& field : fit_option_fields()) {
    Json of_a = value(in_a, field, a), of_b = value(in_b, field, b);
    if (of_a != of_b) result.push_back({field.name, std::move(of_a), std::move(of_b)});
  }
  return result;
}

Json run_shown(const ComparedRun& run, bool test_same) {
  const RunInfo& info = run.posterior.info();
  Json occupied = Json::array(), modes = Json::array();
  for (const auto& [components, probability] : info.rank) occupied.push_back({components, number(probability)});
  for (std::size_t k = 0; k < info.modes.size(); ++k)
    modes.push_back({{"name", info.modes[k].name}, {"size", info.modes[k].size}, {"only", run.only[k]}});
  return {{"title", run.title},
          {"run", describe_run(run.run_dir, info)},
          {"verdict", name_of(run.diagnosis.verdict)},
          {"sentences", run.diagnosis.sentences},
          {"metrics", run.metrics ? metrics_shown(*run.metrics) : Json(nullptr)},
          {"test_same", test_same},
          {"occupied", occupied},
          {"components", {{"word", run.word()}, {"used", run.components.size()}, {"empty", run.empty}}},
          {"modes", modes}};
}

}  // namespace

const Component* ComparedRun::component(std::size_t r, std::size_t mode) const {
  for (std::size_t i = 0; i < components.size(); ++i)
    if (components[i].number == r + 1 && first_mode[i] == mode) return &components[i];
  return nullptr;
}

Json compare_runs(const std::string& run_dir, const std::string& other_dir, const ReportOptions& options) {
  ComparedRun a = open_run(run_dir, options), b = open_run(other_dir, options);
  if (a.title == b.title) {
    a.title = run_dir;
    b.title = other_dir;
  }
  require_rates(a);
  require_rates(b);
  const std::vector<std::size_t> other_modes = same_modes(a.posterior.modes(), b.posterior.modes());
  if (options.progress) options.progress("the first run");
  examine(a, options);
  if (options.progress) options.progress("the other run");
  examine(b, options);
  Comparison compared;
  if (a.shared == b.shared) compared = a.shared ? compare_columns(a, b, other_modes) : compare_components(a, b);
  std::vector<ComparedPair>& pairs = compared.pairs;
  std::stable_sort(pairs.begin(), pairs.end(), [](const ComparedPair& x, const ComparedPair& y) {
    return std::max(x.share_a, x.share_b) > std::max(y.share_a, y.share_b);
  });

  a.only.resize(a.posterior.modes().size());
  b.only.resize(b.posterior.modes().size());
  std::vector<PairEntities> entities = compare_entities(a, b, other_modes, pairs);
  Json shown = Json::array();
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const ComparedPair& pair = pairs[i];
    shown.push_back({{"modes", pair.modes},
                     {"a", component_shown(a, pair.a, pair.share_a)},
                     {"b", component_shown(b, pair.b, pair.share_b)},
                     {"overlap", number(pair.overlap, 4)},
                     {"agreement", number(pair.agreement, 4)},
                     {"nearest", pair.nearest != nullptr ? Json(pair.nearest->number) : Json()},
                     {"entities", std::move(entities[i].entities)},
                     {"differs", std::move(entities[i].differs)},
                     {"lines", std::move(entities[i].lines)}});
  }
  const bool test_same = same_test_cells(a, b, options);
  Json runs = Json::array();
  runs.push_back(run_shown(a, test_same));
  runs.push_back(run_shown(b, test_same));
  return {{"title", fmt::format("{} and {}", a.title, b.title)},
          {"runs", std::move(runs)},
          {"titles", metric_titles()},
          {"options", options_that_differ(a.posterior.info(), b.posterior.info())},
          {"same", same_overlap},
          {"alike", alike_overlap},
          {"matches", std::move(shown)},
          {"agreement", compared.agreement ? number(*compared.agreement, 4) : Json()},
          {"sentences", compare_in_words(a, b, pairs, compared.agreement, test_same)}};
}

}  // namespace ztp
