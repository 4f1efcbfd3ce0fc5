#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <new>
#include <string_view>
#include <thread>

#include "comm/comm.hpp"
#include "commands.hpp"
#include "common.hpp"
#include "ztp/error.hpp"
#include "ztp/rivals.hpp"
#include "ztp/version.hpp"

namespace {

int exit_code(ztp::ErrorKind kind) {
  switch (kind) {
    case ztp::ErrorKind::usage:
      return 2;
    case ztp::ErrorKind::input:
      return 3;
    case ztp::ErrorKind::config:
      return 4;
    case ztp::ErrorKind::numeric:
      return 5;
    case ztp::ErrorKind::io:
      return 6;
  }
  return 1;
}

constexpr const char* footer = R"(Examples:
  ztp check ones.tsv
  ztp fit ones.tsv --rank 50 --holdout 0.1 --out run
  ztp diagnose run
  ztp components run
  ztp evaluate run
  ztp recommend run user=alice
  ztp report run -o report.html

Exit codes: 0 done, 2 usage, 3 bad input, 4 options that do not fit, 5 numerical failure, 6 file system,
7 out of memory, 128 + n stopped by signal n (129 hang-up, 130 Ctrl-C, 138 SIGUSR1, 143 SIGTERM).)";

void add_commands(CLI::App& app) {
  using namespace ztp::app;
  for (const auto add : {add_check, add_convert, add_split, add_simulate, add_fit, add_resume, add_update, add_predict,
                         add_evaluate, add_diagnose, add_components, add_recommend, add_report, add_info, add_bench})
    add(app);
}

// What is wrong with the arguments, before they are parsed; empty if nothing is.
std::string bad_arguments(const CLI::App& app, int argc, char** argv) {
  const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
  const auto named = [&](const CLI::App* command) { return command->get_name() == argv[1]; };
  if (argc > 1 && argv[1][0] != '-' && std::none_of(commands.begin(), commands.end(), named))
    return fmt::format("there is no command \"{}\"; 'ztp --help' lists them", argv[1]);
  const std::string_view first = argc > 1 ? argv[1] : "";
  if (ztp::world().size() > 1 && !first.starts_with('-') && first != "fit" && first != "resume")
    return fmt::format("'ztp {}' runs in one process: start it without the MPI launcher", first);
  // No flag takes an empty word. It comes from a shell variable that is not set, and must not pass for a default.
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (!word.empty() && !(word.starts_with("--") && word.find('=') == word.size() - 1)) continue;
    const std::string what = word.empty() ? fmt::format("the argument after \"{}\" is empty", argv[i - 1])
                                          : fmt::format("\"{}\" has no value", word);
    return what + "; is a shell variable unset?";
  }
  return "";
}

// Of a job of several processes the first speaks; the others are heard only where it has nothing to say.
int spoken_to = STDERR_FILENO;

void be_quiet() {
  spoken_to = dup(STDERR_FILENO);
  for (std::FILE* stream : {stdout, stderr})
    if (std::freopen("/dev/null", "w", stream) == nullptr) std::fclose(stream);
}

// Ends all processes of a job, once the first has had time to say why: most errors are everyone's.
int end_job(int code) {
  ztp::Comm& job = ztp::world();
  if (job.rank() > 0) std::this_thread::sleep_for(std::chrono::seconds(2));
  if (job.size() > 1) job.abort(code);
  return code;
}

int fail(int code, const std::string& message) {
  const ztp::Comm& job = ztp::world();
  if (job.rank() == 0) {
    ztp::app::tell(fmt::format("ztp: {}\n", message));
    return end_job(code);
  }
  std::this_thread::sleep_for(std::chrono::seconds(1));
  const std::string line =
      fmt::format("ztp: process {} of {}, on {}: {}\n", job.rank() + 1, job.size(), job.host(), message);
  if (write(spoken_to, line.data(), line.size()) < 0) std::fflush(stderr);
  return end_job(code);
}

// Parses the arguments, and thereby runs the command.
int run(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::RuntimeError& error) {  // a command's own exit code
    return error.get_exit_code();
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : end_job(2);
  } catch (const ztp::Error& error) {
    return fail(exit_code(error.kind()), error.what());
  } catch (const std::bad_alloc&) {
    return fail(7, "out of memory; 'ztp check FILE --rank R' tells what a fit needs");
  } catch (const std::exception& error) {
    return fail(1, error.what());
  }
  if (std::fflush(stdout) != 0)
    return fail(6, fmt::format("cannot write to standard output: {}", std::strerror(errno)));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a write beyond a limit on file sizes then fails as others do, with a message
  try {
    ztp::start_ranks();
  } catch (const ztp::Error& error) {
    return fail(exit_code(error.kind()), error.what());
  }
  if (ztp::world().rank() > 0) be_quiet();
#ifdef ZTP_RIVALS
  ztp::add_rivals();
#endif
  CLI::App app("ztp: Bayesian factorization of massive sparse binary tensors", "ztp");
  app.set_version_flag("--version", std::string("ztp ") + ztp::version());
  app.require_subcommand(1);
  app.footer(footer);
  app.option_defaults()->always_capture_default();
  add_commands(app);
  if (argc == 1) {  // nothing was asked: say what there is
    ztp::app::tell(app.help());
    return end_job(2);
  }
  const std::string wrong = bad_arguments(app, argc, argv);
  const int code = wrong.empty() ? run(app, argc, argv) : fail(2, wrong);
  ztp::end_ranks();
  return code;
}
