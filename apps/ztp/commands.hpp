// The subcommands of ztp, one file each. Every add_* adds a subcommand with its flags and its callback to the
// application. Callbacks throw ztp::Error, which main turns into a message and an exit code.
#pragma once

namespace CLI {
class App;
}

namespace ztp::app {

void add_check(CLI::App& app);
void add_convert(CLI::App& app);
void add_split(CLI::App& app);
void add_simulate(CLI::App& app);
void add_fit(CLI::App& app);
void add_resume(CLI::App& app);
void add_update(CLI::App& app);
void add_predict(CLI::App& app);
void add_evaluate(CLI::App& app);
void add_diagnose(CLI::App& app);
void add_components(CLI::App& app);
void add_recommend(CLI::App& app);
void add_report(CLI::App& app);
void add_info(CLI::App& app);
void add_bench(CLI::App& app);

}  // namespace ztp::app
