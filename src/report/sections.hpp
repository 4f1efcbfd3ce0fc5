// The sections of the data of a report, one function each. src/report/README.md describes them.
#pragma once
#include <algorithm>
#include <optional>

#include "base/json.hpp"
#include "base/pool.hpp"
#include "posterior/calibration.hpp"
#include "report/groups.hpp"
#include "report/shown_entities.hpp"
#include "store/data.hpp"
#include "ztp/posterior.hpp"
#include "ztp/report.hpp"

namespace ztp {

// What all sections use.
struct ReportSource {
  std::string run_dir;
  const ReportOptions& options;
  Posterior posterior;
  ShownEntities shown;
  std::vector<std::string> notes;  // what was left out
  Pool pool{options.threads > 0 ? options.threads : available_cores()};

  // The data of the fit, loaded when first used: several sections read all of it.
  const Dataset& data() {
    if (!loaded) loaded = load_data(run_dir, posterior.info());
    return *loaded;
  }
  std::optional<Dataset> loaded{};

  // What entities belong to; not of a rival.
  const Groups& groups() {
    if (!found) found = find_groups(posterior);
    return *found;
  }
  std::optional<Groups> found{};

  // The held-out cells, or those of the file that was asked for; null without any.
  Calibration* calibration() {
    const RunInfo& info = posterior.info();
    if (options.test.empty() && info.test_ones + info.test_zeros == 0) return nullptr;
    if (!judged) judged.emplace(posterior, options.test);
    return &*judged;
  }
  std::optional<Calibration> judged{};

  bool rates() const { return !is_rival(posterior.info().options); }  // it has components
};

Json run_section(ReportSource& source);          // what was fitted, on what, with what
Json verdicts_section(ReportSource& source);     // three questions and their answers
Json modes_section(ReportSource& source);        // labels, ones and overall parts of the entities
Json components_section(ReportSource& source);   // components, their places in the map, entities, lines
Json columns_section(ReportSource& source);      // where components share columns: columns with entities, and the core
Json entities_section(ReportSource& source);     // profiles, and unseen cells with reasons
Json diagnostics_section(ReportSource& source);  // verdict, quantities, traces, ranks
Json fit_section(ReportSource& source);          // held-out cells: metrics and curves
Json checks_section(ReportSource& source);       // the data beside replicates drawn from the posterior
Json networks_section(ReportSource& source);     // edges, cold starts, weights of the components

// An entity: its place, or its label, if it has none.
Json entity_shown(const ReportSource& source, std::size_t mode, std::uint32_t id);
// An entry of the core, whose columns are counted from 1: for each mode the index of its column in the list or, of a
// one-hot mode, its entity. Null, if a column is not listed.
Json entry_shown(ReportSource& source, const std::vector<std::size_t>& columns);

}  // namespace ztp
