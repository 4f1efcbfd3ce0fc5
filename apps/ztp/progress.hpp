// What work that takes long shows. A fit: a bar that renews itself on a terminal, plain lines elsewhere.
#pragma once
#include <cstdint>
#include <string>

#include "ztp/fit.hpp"
#include "ztp/progress.hpp"

namespace CLI {
class App;
}

namespace ztp::app {

class ProgressBar {
 public:
  ProgressBar(std::uint32_t chains, std::uint32_t sweeps);
  void show(const SweepReport& report);
  void finish();  // leaves the last state on its own line

 private:
  std::string text(const SweepReport& report) const;

  bool terminal_;
  std::uint32_t chains_, sweeps_;
  double begin_, last_shown_ = 0;
  std::uint64_t first_done_ = 0;  // sweeps that were done before (a resumed run)
  double last_log_likelihood_;
  double last_auc_;
  bool shown_ = false;
};

// What is being done and how far it is: one line that renews itself, on a terminal only, and not before the work has
// taken a second.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();  // wipes the line
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  void show(const std::string& what, double part);  // of 1, or not a number where that is not known

 private:
  bool terminal_;
  double begin_, shown_ = 0;
};

// Ctrl-C, SIGTERM or a terminal that goes away asks a fit to stop after its sweep, and other work to stop soon; a
// second one ends the program at once.
void install_stop_signals();
bool stop_signalled();
int stop_exit_code();  // what shells give a program that the signal ended: 130 of Ctrl-C, 143 of SIGTERM

// The bar, Ctrl-C and the command as it was typed, for a fit.
FitCallbacks callbacks_with(ProgressBar& bar, const CLI::App& command);

}  // namespace ztp::app
