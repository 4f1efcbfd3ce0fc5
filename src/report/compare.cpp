#include "report/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "base/file.hpp"
#include "base/hash.hpp"
#include "posterior/overlap.hpp"
#include "report/characteristic_entities.hpp"
#include "report/describe.hpp"
#include "report/listed_components.hpp"
#include "report/mean_factor.hpp"
#include "report/metrics_shown.hpp"
#include "report/numbers.hpp"
#include "report/options_shown.hpp"
#include "store/data.hpp"

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
  ComparedRun run{run_dir, run_title(run_dir), Posterior(run_dir, options.threads), 0, {}, {}, {}, {}, {}};
  run.chain = chain_shown(run.posterior);
  return run;
}

void examine(ComparedRun& run, const ReportOptions& options) {
  run.diagnosis = diagnose(run.run_dir);
  if (!options.test.empty() || has_test_cells(run.posterior.info())) run.metrics = run.posterior.evaluate(options.test);
  run.components = run.posterior.components(top_compared, run.chain);
  std::erase_if(run.components, [](const Component& component) { return component.weight < weight_of_empty; });
  std::vector<std::size_t> components;
  for (const Component& component : run.components) components.push_back(component.number - 1);
  run.names = component_names(run.posterior, find_groups(run.posterior), components);
}

// For each mode of a the one of b with the same name. match_components has seen that there is one.
std::vector<std::size_t> modes_of_other(const Posterior& a, const Posterior& b) {
  std::vector<std::size_t> result;
  for (const Mode& mode : a.modes())
    result.push_back(static_cast<std::size_t>(
        std::find_if(b.modes().begin(), b.modes().end(), [&](const Mode& other) { return other.name == mode.name; }) -
        b.modes().begin()));
  return result;
}

std::vector<ComparedPair> pair_up(const ComparedRun& a, const ComparedRun& b,
                                  const std::vector<ComponentMatch>& matches) {
  std::vector<ComparedPair> pairs;
  std::vector<const Component*> taken;
  for (const ComponentMatch& match : matches) {
    ComparedPair pair;
    pair.a = a.component(match.component);
    pair.b = match.partner ? b.component(*match.partner) : nullptr;
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
      pairs.push_back({pair.a, nullptr, pair.share_a, 0, pair.overlap, pair.agreement, pair.b});
      pairs.push_back({nullptr, pair.b, 0, pair.share_b, pair.overlap, pair.agreement, pair.a});
    }
  }
  double weight = 0;
  for (const Component& component : b.components) weight += component.weight;
  for (const Component& component : b.components)
    if (std::find(taken.begin(), taken.end(), &component) == taken.end())
      pairs.push_back({nullptr, &component, 0, component.weight / weight, 0, 0, nullptr});
  std::stable_sort(pairs.begin(), pairs.end(), [](const ComparedPair& x, const ComparedPair& y) {
    return std::max(x.share_a, x.share_b) > std::max(y.share_a, y.share_b);
  });
  return pairs;
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
  const std::size_t used = run.components.size();
  return {{"title", run.title},
          {"run", describe_run(run.run_dir, info)},
          {"verdict", name_of(run.diagnosis.verdict)},
          {"sentences", run.diagnosis.sentences},
          {"metrics", run.metrics ? metrics_shown(*run.metrics) : Json(nullptr)},
          {"test_same", test_same},
          {"occupied", occupied},
          {"components", {{"used", used}, {"empty", layout_of(run.posterior).components() - used}}},
          {"modes", modes}};
}

}  // namespace

const Component* ComparedRun::component(std::size_t r) const {
  const auto found = std::find_if(components.begin(), components.end(),
                                  [&](const Component& component) { return component.number == r + 1; });
  return found == components.end() ? nullptr : &*found;
}

Json compare_runs(const std::string& run_dir, const std::string& other_dir, const ReportOptions& options) {
  ComparedRun a = open_run(run_dir, options), b = open_run(other_dir, options);
  if (a.title == b.title) {
    a.title = run_dir;
    b.title = other_dir;
  }
  const std::vector<ComponentMatch> matches = a.posterior.match_components(a.chain, b.posterior, b.chain);
  double agreement = 0;
  for (const ComponentMatch& match : matches) agreement += common_weight(match);
  if (options.progress) options.progress("the first run");
  examine(a, options);
  if (options.progress) options.progress("the other run");
  examine(b, options);
  const std::vector<ComparedPair> pairs = pair_up(a, b, matches);

  a.only.resize(a.posterior.modes().size());
  b.only.resize(b.posterior.modes().size());
  std::vector<PairEntities> entities = compare_entities(a, b, modes_of_other(a.posterior, b.posterior), pairs);
  Json shown = Json::array();
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const ComparedPair& pair = pairs[i];
    shown.push_back({{"a", component_shown(a, pair.a, pair.share_a)},
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
          {"agreement", number(agreement, 4)},
          {"sentences", compare_in_words(a, b, pairs, agreement, test_same)}};
}

}  // namespace ztp
