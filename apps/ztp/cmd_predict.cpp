#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "commands.hpp"
#include "common.hpp"
#include "ztp/error.hpp"
#include "ztp/posterior.hpp"

namespace ztp::app {
namespace {

struct PredictFlags {
  std::string run, cells;
  unsigned threads = 0;
  PredictionOptions options;
  bool json = false;
};

void print_checked(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    throw Error(ErrorKind::io, "cannot write to standard output");
}

std::string tsv_line(const Posterior& posterior, const std::uint32_t* cell, const Prediction& p, bool counts) {
  std::string line, scratch;
  for (std::size_t k = 0; k < posterior.modes().size(); ++k) {
    line += posterior.modes()[k].labels.name(cell[k], scratch);
    line += '\t';
  }
  line += fmt::format("{:.6g}\t{:.6g}\t{:.6g}\t{:.6g}", p.probability, p.sd, p.q05, p.q95);
  if (counts) line += fmt::format("\t{:.6g}", p.rate);
  return line + "\n";
}

std::string json_line(const Posterior& posterior, const std::uint32_t* cell, const Prediction& p, bool counts) {
  nlohmann::ordered_json json;
  for (std::size_t k = 0; k < posterior.modes().size(); ++k)
    json["cell"][posterior.modes()[k].name] = posterior.modes()[k].labels[cell[k]];
  json["probability"] = p.probability;
  json["sd"] = p.sd;
  json["q05"] = p.q05;
  json["q95"] = p.q95;
  if (counts) json["rate"] = p.rate;
  return json_text(json) + "\n";
}

void run_predict(const PredictFlags& flags) {
  Posterior posterior(flags.run, flags.threads, flags.options);
  const bool counts = has_counts(posterior.info().options);
  std::string header;  // printed with the first cells: a file that cannot be read prints nothing
  if (!flags.json) {
    header = "#";
    for (const Mode& mode : posterior.modes()) header += mode.name + "\t";
    header += std::string("probability\tsd\tq05\tq95") + (counts ? "\trate\n" : "\n");
  }
  const std::size_t order = posterior.modes().size();
  posterior.predict_file(
      flags.cells, [&](const std::uint32_t* coords, const Prediction* predictions, std::size_t count) {
        std::string text = std::exchange(header, "");
        for (std::size_t e = 0; e < count; ++e)
          text += (flags.json ? json_line : tsv_line)(posterior, coords + e * order, predictions[e], counts);
        print_checked(text);
      });
  print_skipped(posterior);
  warn_of_predictions(flags.run);
}

}  // namespace

void add_predict(CLI::App& app) {
  auto flags = std::make_shared<PredictFlags>();
  CLI::App* command = app.add_subcommand("predict", "Predict the probabilities of cells, with uncertainty");
  command->add_option("RUN", flags->run, "the run directory")->required();
  command->add_option("CELLS", flags->cells, "file with one cell per line, as labels; - is standard input")->required();
  add_raw_flag(*command, flags->options.raw);
  add_listed_flag(*command, flags->options.listed);
  add_skip_unknown_flag(*command, flags->options.skip_unknown);
  add_kernel_flag(*command, flags->options.kernel);
  add_memory_flag(*command, flags->options.memory);
  add_threads_flag(*command, flags->threads);
  command->add_flag("--json", flags->json, "print one JSON object per cell");
  command->footer(
      "Prints a TSV: the labels, then probability, sd, q05 and q95; for counts also the rate. If the fit held out\n"
      "cells, probabilities and intervals are calibrated with them; --raw gives those of the posterior itself.\n"
      "Nine in ten true probabilities should be between q05 and q95. For an online fit or an updated run it is only\n"
      "about two in three: their intervals are too narrow, and a warning says so.\n"
      "A label that the run does not have is an error; with --skip-unknown, its line has no prediction.\n"
      "An additional last column (as in a test file) is ignored.\n"
      "Example:\n"
      "  printf 'alice\\tmatrix\\n' | ztp predict run -");
  command->callback([flags] { run_predict(*flags); });
}

}  // namespace ztp::app
