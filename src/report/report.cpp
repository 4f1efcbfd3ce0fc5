#include "ztp/report.hpp"

#include <filesystem>
#include <fstream>

#include "base/clock.hpp"
#include "base/file.hpp"
#include "report/compare.hpp"
#include "report/describe.hpp"
#include "report/page.hpp"
#include "report/sections.hpp"
#include "ztp/version.hpp"

namespace ztp {
namespace {

Json made() {
  return {{"version", version()}, {"time", time_of_creation()}};
}

ReportSummary finish(AtomicFile& file, const Json& data, std::vector<std::string> notes) {
  file.write(make_page(data["title"].get<std::string>(), data));
  const std::uint64_t bytes = file.bytes();
  file.commit();
  return {bytes, std::move(notes)};
}

}  // namespace

ReportSummary write_report(const std::string& run_dir, const std::string& file, const ReportOptions& options) {
  const auto tell = [&](const char* what) {
    if (options.progress) options.progress(what);
  };
  AtomicFile out(file);  // one that cannot be written is told before the work
  tell("reading the run");
  ReportSource source{run_dir, options, Posterior(run_dir, options.threads), {}, {}};
  source.shown = choose_shown_entities(source.data(), source.posterior, options, source.notes);
  Json data = {{"kind", "run"}, {"title", run_title(run_dir)}, {"made", made()}};
  data["run"] = run_section(source);
  data["modes"] = modes_section(source);
  tell("components");
  data["components"] = components_section(source);
  data["columns"] = columns_section(source);
  tell("unseen cells");
  data["entities"] = entities_section(source);
  data["diagnostics"] = diagnostics_section(source);
  tell("held-out cells");
  data["fit"] = fit_section(source);
  data["verdicts"] = verdicts_section(source);
  tell("replicated data");
  data["checks"] = checks_section(source);
  data["networks"] = networks_section(source);
  data["notes"] = source.notes;
  tell("writing");
  return finish(out, data, std::move(source.notes));
}

ReportSummary write_comparison(const std::string& run_dir, const std::string& other_dir, const std::string& file,
                               const ReportOptions& options) {
  AtomicFile out(file);
  Json data = {{"kind", "compare"}, {"made", made()}, {"notes", Json::array()}};
  data.update(compare_runs(run_dir, other_dir, options));
  return finish(out, data, {});
}

bool is_report(const std::string& file) {
  if (!std::filesystem::is_regular_file(file)) return false;  // reading a pipe would wait for ever
  std::string begin(page_begin.size(), '\0');
  std::ifstream in(file, std::ios::binary);
  in.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  return in.gcount() == static_cast<std::streamsize>(begin.size()) && begin == page_begin;
}

}  // namespace ztp
