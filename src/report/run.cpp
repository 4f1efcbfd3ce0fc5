#include <fmt/format.h>

#include <filesystem>

#include "report/describe.hpp"
#include "report/numbers.hpp"
#include "report/options_shown.hpp"
#include "report/sections.hpp"

namespace ztp {
namespace {

Json chains_of(const RunInfo& info) {
  Json chains = Json::array();
  for (const RunInfo::ChainStatus& chain : info.chains)
    chains.push_back({{"sweeps", chain.sweeps},
                      {"seconds", number(chain.seconds)},
                      {"log_likelihood", number(chain.log_likelihood, 10)},
                      {"occupied", chain.occupied},
                      {"occupied_mean", number(chain.occupied_mean)},
                      {"network_only", chain.network_only}});
  return chains;
}

// Cells of the tensor, missing ones included.
double volume_of(const RunInfo& info) {
  double volume = 1;
  for (const RunInfo::ModeInfo& mode : info.modes) volume *= mode.size;
  return volume;
}

}  // namespace

std::string run_title(const std::string& run_dir) {
  const std::filesystem::path path = std::filesystem::absolute(run_dir).lexically_normal();
  return (path.has_filename() ? path : path.parent_path()).filename().string();
}

Json describe_run(const std::string& run_dir, const RunInfo& info) {
  double seconds = info.seconds;  // runs of earlier versions do not have it: their chains ran one after the other
  if (seconds == 0)
    for (const RunInfo::ChainStatus& chain : info.chains) seconds += chain.seconds;
  Json learned = Json::array(), options = Json::array(), changed = Json::array();
  for (const auto& [name, mean] : info.learned) learned.push_back({name, number(mean)});
  for (const OptionField* field : options_with_effect(info)) {
    options.push_back({field->name, field->text(info.options)});
    if (was_changed(*field, info)) changed.push_back(field->name);
  }
  return {{"directory", run_dir},
          {"status", info.status},
          {"version", info.version},
          {"command", info.command},
          {"created", info.created},
          {"fingerprint", info.fingerprint},
          {"method", name_of(info.options.method)},
          {"model", name_of(info.options.model)},
          {"likelihood", name_of(info.options.likelihood)},
          {"seed", fmt::format("{}", info.options.seed)},
          {"updates", info.updates},
          {"ones", info.ones},
          {"volume", number(volume_of(info))},
          {"density", number(static_cast<double>(info.ones) / volume_of(info))},
          {"total_count", info.total_count},
          {"missing_cells", info.missing_cells},
          {"test_ones", info.test_ones},
          {"test_zeros", info.test_zeros},
          {"draws", info.draws},
          {"chains", chains_of(info)},
          {"seconds", number(seconds)},
          {"peak_memory", info.peak_memory},
          {"rank", info.options.rank},
          {"options", options},
          {"changed", changed},
          {"learned", learned}};
}

Json run_section(ReportSource& source) {
  return describe_run(source.run_dir, source.posterior.info());
}

}  // namespace ztp
