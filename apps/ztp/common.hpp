// What several subcommands share: the flags that describe input data, and small formatting helpers.
#pragma once
#include <string>

#include "ztp/read.hpp"

namespace CLI {
class App;
}

namespace ztp::app {

// FILE and --format, --values, --index-base, --labels, and --network if wanted.
void add_data_flags(CLI::App& command, ReadOptions& options, bool with_networks);
// --threads, by default all cores.
void add_threads_flag(CLI::App& command, unsigned& threads);

// Warnings of reading, to standard error.
void print_warnings(const Dataset& data);

std::string human_bytes(double bytes);      // 1.2 GiB
std::string human_count(double count);      // 1,401,944
std::string human_seconds(double seconds);  // 3.2 s, 1 h 05 min

}  // namespace ztp::app
