#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "common.hpp"
#include "fetch/fetch.hpp"
#include "progress.hpp"

namespace ztp::app {
namespace {

struct DataCommand {
  std::string name;
  FetchOptions options;
  bool json = false;
};

void run_list(bool json) {
  const std::vector<DataSetInfo> sets = list_data_sets();
  if (json) {
    auto array = nlohmann::ordered_json::array();
    for (const DataSetInfo& set : sets)
      array.push_back(
          {{"name", set.name}, {"about", set.about}, {"modes", set.modes}, {"home", set.home}, {"terms", set.terms}});
    fmt::print("{}\n", json_text(array, 2));
    return;
  }
  for (const DataSetInfo& set : sets)
    fmt::print("{}\n  what   {}\n  modes  {}\n  home   {}\n  terms  {}\n", set.name, set.about, set.modes, set.home,
               set.terms_short);
}

std::string default_folder(const std::string& name) {
  const char* data = std::getenv("ZTP_DATA");
  return fmt::format("{}/{}", data != nullptr && *data != '\0' ? data : "data", name);
}

DataSetInfo info_of(const std::string& name) {
  for (DataSetInfo& set : list_data_sets())
    if (set.name == name) return std::move(set);
  return {};
}

void print_json(const DataCommand& given, const FetchSummary& summary) {
  nlohmann::ordered_json object = {
      {"name", given.name}, {"out", given.options.out}, {"ones", summary.ones}, {"edges", summary.edges}};
  for (const auto& [name, size] : summary.modes) object["modes"].push_back({{"name", name}, {"size", size}});
  for (const FetchedFile& source : summary.sources)
    object["sources"].push_back(
        {{"url", source.url}, {"bytes", source.bytes}, {"sha256", source.sha256}, {"published", source.published}});
  object["files"] = summary.files;
  object["notes"] = summary.notes;
  object["terms"] = info_of(given.name).terms;
  fmt::print("{}\n", json_text(object));
}

void print_text(const DataCommand& given, const FetchSummary& summary) {
  std::string modes;
  for (const auto& [name, size] : summary.modes)
    modes += fmt::format("{}{} {}", modes.empty() ? "" : " x ", human_count(static_cast<double>(size)), name);
  fmt::print("{} ones, {}", human_count(static_cast<double>(summary.ones)), modes);
  if (summary.edges > 0) fmt::print(", {} edges", human_count(static_cast<double>(summary.edges)));
  fmt::print(", in {}\n", given.options.out);
  for (const FetchedFile& source : summary.sources)
    fmt::print("{}: {} bytes\n  SHA-256 {}\n  {}\n", source.url, human_count(static_cast<double>(source.bytes)),
               source.sha256,
               source.published.empty() ? "no checksum is published that it could be compared with"
                                        : fmt::format("agrees with the published {}", source.published));
  for (const std::string& note : summary.notes) fmt::print("Note: {}.\n", note);
  fmt::print("Terms: {}\n", info_of(given.name).terms);
}

void run_fetch(DataCommand& given) {
  if (given.options.out.empty()) given.options.out = default_folder(given.name);
  install_stop_signals();
  FetchSummary summary;
  {
    ProgressLine line;
    const auto show = [&](const std::string& file, std::uint64_t bytes, std::uint64_t total) {
      const double part = total == 0 ? std::numeric_limits<double>::quiet_NaN()
                                     : static_cast<double>(bytes) / static_cast<double>(total);
      line.show(fmt::format("{}: {}", file, human_bytes(static_cast<double>(bytes))), part);
    };
    summary = fetch(given.name, given.options, show, stop_signalled);
  }
  if (summary.stopped) {
    tell(fmt::format("Interrupted; nothing was written to {}.\n", quoted_for_shell(given.options.out)));
    throw CLI::RuntimeError(stop_exit_code());
  }
  given.json ? print_json(given, summary) : print_text(given, summary);
}

}  // namespace

void add_data(CLI::App& app) {
  auto given = std::make_shared<DataCommand>();
  CLI::App* command = app.add_subcommand("data", "Public data sets: list them, download and convert one");
  command->require_subcommand(1);
  CLI::App* list = command->add_subcommand("list", "What there is, where it comes from, and its terms in short");
  list->add_flag("--json", given->json, "print one JSON array");
  list->footer("Example:\n  ztp data list");
  list->callback([given] { run_list(given->json); });

  CLI::App* get = command->add_subcommand("fetch", "Download a data set from its home, check it, convert it");
  get->add_option("NAME", given->name, "as 'ztp data list' has it")->required();
  get->add_option("--out", given->options.out, "the folder to make; by default $ZTP_DATA/NAME, or data/NAME");
  get->add_option("--from", given->options.from, "a mirror: the address that takes the place of the home");
  get->add_option("--timeout", given->options.timeout, "seconds without a byte after which a server is given up")
      ->check(CLI::Range(1u, 86400u));
  get->add_flag("--force", given->options.force,
                "replace the folder, if a fetch made it, once the new one is complete");
  get->add_flag("--json", given->json, "print one JSON object");
  get->footer(
      "Read the terms it prints: data sets have owners. docs/data.md says what is in the folder.\n"
      "Example:\n"
      "  ztp data fetch movielens-100k --out movies\n"
      "  ztp check movies/tensor.tsv.gz --rank 20");
  get->callback([given] { run_fetch(*given); });
  command->footer("Example:\n  ztp data list\n  ztp data fetch kinship --out kinship");
}

}  // namespace ztp::app
