#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <new>
#include <string_view>

#include "commands.hpp"
#include "common.hpp"
#include "ztp/error.hpp"
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

Exit codes: 0 done, 2 usage, 3 bad input, 4 options do not fit, 5 numeric, 6 file system or network, 7 out of memory;
128 and the number of the signal that stopped it: 129 hang-up, 130 Ctrl-C, 143 SIGTERM.)";

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a write beyond a limit on file sizes then fails as others do, with a message
  CLI::App app("ztp: Bayesian factorization of massive sparse binary tensors");
  app.set_version_flag("--version", std::string("ztp ") + ztp::version());
  app.require_subcommand(1);
  app.footer(footer);
  app.option_defaults()->always_capture_default();
  ztp::app::add_data(app);
  ztp::app::add_check(app);
  ztp::app::add_convert(app);
  ztp::app::add_split(app);
  ztp::app::add_simulate(app);
  ztp::app::add_fit(app);
  ztp::app::add_resume(app);
  ztp::app::add_update(app);
  ztp::app::add_predict(app);
  ztp::app::add_evaluate(app);
  ztp::app::add_diagnose(app);
  ztp::app::add_components(app);
  ztp::app::add_recommend(app);
  ztp::app::add_info(app);
  ztp::app::add_bench(app);
  const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
  const auto named = [&](const CLI::App* command) { return command->get_name() == argv[1]; };
  if (argc > 1 && argv[1][0] != '-' && std::none_of(commands.begin(), commands.end(), named)) {
    ztp::app::tell(fmt::format("ztp: there is no command \"{}\"; 'ztp --help' lists them\n", argv[1]));
    return 2;
  }
  // Nothing takes an empty word: it comes from a variable of the shell that is not set, and must not pass for a default.
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (!word.empty() && !(word.starts_with("--") && word.find('=') == word.size() - 1)) continue;
    const std::string what = word.empty() ? fmt::format("the argument after \"{}\" is empty", argv[i - 1])
                                          : fmt::format("\"{}\" has no value", word);
    ztp::app::tell(fmt::format("ztp: {}; is a variable of the shell not set?\n", what));
    return 2;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::RuntimeError& error) {  // a command's own exit code
    return error.get_exit_code();
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const ztp::Error& error) {
    ztp::app::tell(fmt::format("ztp: {}\n", error.what()));
    return exit_code(error.kind());
  } catch (const std::bad_alloc&) {
    ztp::app::tell("ztp: out of memory; 'ztp check FILE --rank R' tells what a fit needs\n");
    return 7;
  } catch (const std::exception& error) {
    ztp::app::tell(fmt::format("ztp: {}\n", error.what()));
    return 1;
  }
  if (std::fflush(stdout) != 0) {
    ztp::app::tell(fmt::format("ztp: cannot write to standard output: {}\n", std::strerror(errno)));
    return 6;
  }
  return 0;
}
