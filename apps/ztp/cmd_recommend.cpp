#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "columns_and_core.hpp"
#include "commands.hpp"
#include "common.hpp"
#include "ztp/error.hpp"
#include "ztp/posterior.hpp"
#include "ztp/read.hpp"

namespace ztp::app {
namespace {

struct RecommendFlags {
  std::string run;
  std::vector<std::string> fixed, exclude;
  std::optional<std::string> mode, distinct, only_new;
  std::size_t top = 10;
  bool json = false;
  unsigned threads = 0;
  PredictionOptions options;
};

std::size_t mode_named(const std::string& name, const std::string& where, const std::vector<Mode>& modes) {
  std::string names;
  for (std::size_t k = 0; k < modes.size(); ++k) {
    if (modes[k].name == name) return k;
    names += (k == 0 ? "" : ", ") + modes[k].name;
  }
  throw Error(ErrorKind::usage, fmt::format("{}: no mode \"{}\"; the modes are {}", where, name, names));
}

std::string in_lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

// For a label that there is none of: one that differs in case only, or where they are all listed.
std::string label_advice(const std::string& label, const Mode& mode, const std::string& run) {
  const LabelTable& labels = mode.labels;
  if (labels.is_numbered())
    return fmt::format("they are numbers from {} to {}", labels.first_number(),
                       labels.first_number() + labels.size() - 1);
  std::string scratch;
  for (std::uint32_t j = 0; j < labels.size(); ++j)
    if (in_lower_case(std::string(labels.name(j, scratch))) == in_lower_case(label))
      return fmt::format("did you mean \"{}\"?", labels[j]);
  return fmt::format("{}/labels/{}.txt lists all", run, mode.name);
}

std::uint32_t entity_named(const std::string& label, const std::string& where, const Mode& mode,
                           const std::string& run) {
  if (const auto found = mode.labels.find(label)) return *found;
  throw Error(ErrorKind::input,
              fmt::format("{}: no {} is called \"{}\"; {}", where, mode.name, label, label_advice(label, mode, run)));
}

std::vector<std::optional<std::uint32_t>> fixed_entities(const RecommendFlags& flags, const std::vector<Mode>& modes) {
  std::vector<std::optional<std::uint32_t>> entities(modes.size());
  for (const std::string& item : flags.fixed) {
    const auto [name, label] = split_assignment(item, "recommend RUN", "LABEL");
    const std::size_t k = mode_named(name, item, modes);
    if (entities[k]) throw Error(ErrorKind::usage, fmt::format("{}: {} is given twice", item, name));
    entities[k] = entity_named(label, item, modes[k], flags.run);
  }
  return entities;
}

// --exclude MODE=LABEL, or a FILE of cells. A mode of that name goes before a file of that name.
void add_excluded(const std::string& item, const std::string& run, Posterior& posterior, RecommendOptions& options) {
  const std::vector<Mode>& modes = posterior.modes();
  const std::string where = "--exclude " + item;
  const std::size_t equals = item.find('=');
  const std::string name = item.substr(0, equals);
  const bool is_mode = std::any_of(modes.begin(), modes.end(), [&](const Mode& mode) { return mode.name == name; });
  if (equals != std::string::npos && (is_mode || !std::filesystem::exists(item))) {
    const std::size_t k = mode_named(name, where, modes);
    options.exclude_entities.resize(modes.size());
    options.exclude_entities[k].push_back(entity_named(item.substr(equals + 1), where, modes[k], run));
    return;
  }
  const std::vector<std::uint32_t> cells = posterior.read_cells(item);
  options.exclude_cells.insert(options.exclude_cells.end(), cells.begin(), cells.end());
}

RecommendOptions options_of(const RecommendFlags& flags, Posterior& posterior) {
  RecommendOptions options;
  if (flags.distinct)
    options.distinct = mode_named(*flags.distinct, "--distinct " + *flags.distinct, posterior.modes());
  if (flags.only_new)
    options.only_new = mode_named(*flags.only_new, "--only-new " + *flags.only_new, posterior.modes());
  for (const std::string& item : flags.exclude) add_excluded(item, flags.run, posterior, options);
  return options;
}

// What is told of cells and of entities alike.
class Teller {
 public:
  // with_rate: of entities, and of cells of counts.
  Teller(Posterior& posterior, bool with_rate) : posterior_(posterior), rate_(with_rate), columns_(posterior) {
    const RunInfo& info = posterior.info();
    const bool held_out = info.options.holdout_as == HoldoutAs::missing;
    missing_ = info.missing_cells > (held_out ? info.test_ones + info.test_zeros : 0);
    for (const auto& mode : info.modes) missing_ = missing_ || mode.missing_slices > 0;
  }

  std::string header() const {
    return fmt::format("probability\tsd\tq05\tq95{}{}", rate_ ? "\trate" : "", missing_ ? "\tmissing" : "");
  }
  std::string columns(const Prediction& p, bool missing) const {
    std::string text = fmt::format("{:.6g}\t{:.6g}\t{:.6g}\t{:.6g}", p.probability, p.sd, p.q05, p.q95);
    if (rate_) text += fmt::format("\t{:.6g}", p.rate);
    return text + (missing_ ? missing ? "\tyes" : "\tno" : "");
  }
  void add(const Prediction& p, bool missing, nlohmann::ordered_json& json) const {
    json["probability"] = p.probability;
    json["sd"] = p.sd;
    json["q05"] = p.q05;
    json["q95"] = p.q95;
    if (rate_) json["rate"] = p.rate;
    json["missing"] = missing;
  }

  std::string why(const std::vector<Recommendation::Part>& parts) {
    constexpr std::size_t parts_in_a_line = 5;
    std::string text;
    for (std::size_t i = 0; i < parts.size() && i < parts_in_a_line; ++i) {
      if (!parts[i].columns.empty()) columns_.add(parts[i].columns);
      const std::string name =
          parts[i].columns.empty() ? fmt::format("{}", parts[i].component) : entry_text(parts[i].columns, posterior_);
      text += fmt::format("{}{}:{:.0f}%", i == 0 ? "" : " ", name, 100 * parts[i].share);
    }
    return text;
  }
  void add_why(const std::vector<Recommendation::Part>& parts, nlohmann::ordered_json& json) const {
    json["why"] = nlohmann::ordered_json::array();
    for (const auto& part : parts)
      if (part.columns.empty())
        json["why"].push_back({{"component", part.component}, {"share", part.share}});
      else
        json["why"].push_back({{"columns", entry_json(part.columns, posterior_)}, {"share", part.share}});
  }
  void print_columns() const { columns_.print(); }

 private:
  Posterior& posterior_;
  bool rate_, missing_;  // whether rates are told, and whether something was declared missing
  MentionedColumns columns_;
};

std::string as_json(const Recommendation& item, const Posterior& posterior, const Teller& teller) {
  nlohmann::ordered_json json;
  for (std::size_t k = 0; k < item.cell.size(); ++k)
    json["cell"][posterior.modes()[k].name] = posterior.modes()[k].labels[item.cell[k]];
  teller.add(item.prediction, item.missing, json);
  teller.add_why(item.parts, json);
  return json_text(json);
}

std::string as_line(const Recommendation& item, const Posterior& posterior, Teller& teller) {
  std::string line;
  for (std::size_t k = 0; k < item.cell.size(); ++k) line += posterior.modes()[k].labels[item.cell[k]] + "\t";
  return line + teller.columns(item.prediction, item.missing) + "\t" + teller.why(item.parts);
}

void print_cells(const RecommendFlags& flags, Posterior& posterior, const RecommendOptions& options, Teller& teller) {
  std::string header;
  if (!flags.json) {
    header = "#";
    for (const Mode& mode : posterior.modes()) header += mode.name + "\t";
    header += teller.header() + "\twhy\n";
  }
  // A search that fails prints nothing, not even the header.
  posterior.recommend(
      fixed_entities(flags, posterior.modes()), flags.top,
      [&](const Recommendation& item) {
        fmt::print("{}{}\n", std::exchange(header, ""),
                   flags.json ? as_json(item, posterior, teller) : as_line(item, posterior, teller));
        return true;
      },
      options);
  fmt::print("{}", header);
}

void print_entities(const RecommendFlags& flags, Posterior& posterior, const RecommendOptions& options,
                    Teller& teller) {
  const std::size_t mode = mode_named(*flags.mode, "--mode " + *flags.mode, posterior.modes());
  const Mode& ranked = posterior.modes()[mode];
  const auto found = posterior.recommend_entities(mode, fixed_entities(flags, posterior.modes()), flags.top, options);
  if (!flags.json) fmt::print("#{}\t{}\tones\tcells\twhy\n", ranked.name, teller.header());
  for (const EntityRecommendation& item : found) {
    if (!flags.json) {
      fmt::print("{}\t{}\t{}\t{:.15g}\t{}\n", ranked.labels[item.entity], teller.columns(item.prediction, item.missing),
                 item.ones, item.cells, teller.why(item.parts));
      continue;
    }
    nlohmann::ordered_json json;
    json["entity"][ranked.name] = ranked.labels[item.entity];
    teller.add(item.prediction, item.missing, json);
    json["ones"] = item.ones;
    json["cells"] = item.cells;
    teller.add_why(item.parts, json);
    fmt::print("{}\n", json_text(json));
  }
}

void run_recommend(const RecommendFlags& flags) {
  PredictionOptions prediction = flags.options;
  prediction.skip_unknown = true;  // in files of excluded cells: what the run does not have cannot be recommended
  Posterior posterior(flags.run, flags.threads, prediction);
  const RecommendOptions options = options_of(flags, posterior);
  Teller teller(posterior, flags.mode || has_counts(posterior.info().options));
  (flags.mode ? print_entities : print_cells)(flags, posterior, options, teller);
  if (!flags.json) teller.print_columns();
  print_skipped(posterior);
  warn_of_predictions(flags.run);
}

void add_shape_flags(CLI::App& command, RecommendFlags& flags) {
  CLI::Option* mode = command.add_option(
      "--mode", flags.mode, "rank the entities of this mode: each by the probability that at least one cell is a one");
  command.add_option("--distinct", flags.distinct, "a mode: list at most one cell for each of its entities")
      ->excludes(mode);
  command.add_option("--only-new", flags.only_new,
                     "a mode: leave out its entities that already have a one with the given entities");
  command
      .add_option("--exclude", flags.exclude,
                  "MODE=LABEL: leave out an entity; or a FILE of cells to leave out, as for 'ztp predict' (repeatable)")
      ->allow_extra_args(false);
}

}  // namespace

void add_recommend(CLI::App& app) {
  auto flags = std::make_shared<RecommendFlags>();
  CLI::App* command = app.add_subcommand("recommend", "List the most probable unseen cells, and why");
  command->add_option("RUN", flags->run, "the run directory")->required();
  command->add_option("GIVEN", flags->fixed, "MODE=LABEL: fix the entity of a mode; the other modes are left open");
  command->add_option("--top", flags->top, "number of cells to list")->check(CLI::Range(1, 1000000));
  add_shape_flags(*command, *flags);
  add_raw_flag(*command, flags->options.raw);
  add_listed_flag(*command, flags->options.listed);
  add_kernel_flag(*command, flags->options.kernel);
  add_memory_flag(*command, flags->options.memory);
  add_threads_flag(*command, flags->threads);
  command->add_flag("--json", flags->json, "print one JSON object per line");
  command->footer(
      "The last column says which components (of the first chain) make up the rate of the cell. For a run with\n"
      "--columns it says which entries of the core do: (3, brother, 1) is an entry, named by its columns. The\n"
      "entities of these columns are listed below.\n"
      "The search is exact, and leaves out training ones. q05 and q95 are as in 'ztp predict'. For counts there is\n"
      "a column with the rate. If cells were declared missing, a column says which of these cells were. The search\n"
      "runs on the CPU; with --kernel cuda, the GPU only computes the predictions of the cells found.\n"
      "--mode item ranks items instead of cells. The cells of an item are those with the given entities, except\n"
      "training ones and excluded cells. Its probability, 1 - exp(-rate), is that at least one of them is a one,\n"
      "where 'rate' is the sum of their rates. 'cells' is their number, and 'ones' the number of training ones\n"
      "that the item has. These probabilities are not calibrated, unless each item has one cell only. To rank items\n"
      "by their most probable cell, use --distinct item.\n"
      "A cell that is not listed may still be a true one. If the data list nine of ten true ones, --listed 0.9\n"
      "gives the probability that it is.\n"
      "Examples:\n"
      "  ztp recommend run user=alice --top 5\n"
      "  ztp recommend run user=alice --mode item --only-new item\n"
      "  ztp recommend run user=alice --distinct item --exclude item=kettle --exclude seen.tsv\n"
      "  ztp recommend run user=alice --listed 0.9");
  command->callback([flags] { run_recommend(*flags); });
}

}  // namespace ztp::app
