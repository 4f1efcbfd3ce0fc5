#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "commands.hpp"
#include "ztp/error.hpp"

namespace ztp::app {
namespace {

// Runs ztp-bench in place of this process. It is a separate program since it needs Google Benchmark.
void run_bench(const std::vector<std::string>& arguments) {
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe").replace_filename("ztp-bench");
  std::string name = program.string();
  std::vector<char*> argv = {name.data()};
  std::vector<std::string> words = arguments;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  execv(name.c_str(), argv.data());
  const std::string advice = errno == ENOENT ? "; 'make bench' builds it" : "";
  throw Error(ErrorKind::io, fmt::format("cannot run {}: {}{}", name, std::strerror(errno), advice));
}

}  // namespace

void add_bench(CLI::App& app) {
  CLI::App* command = app.add_subcommand("bench", "Measure how fast the sampler is on this machine");
  command->set_help_flag();   // all flags go to ztp-bench
  command->prefix_command();  // also those that ztp has itself
  command->callback([command] { run_bench(command->remaining()); });
}

}  // namespace ztp::app
