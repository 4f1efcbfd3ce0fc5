// Progress of long work. A fit has a bar on a terminal, and plain lines elsewhere.
#pragma once
#include <cstdint>
#include <string>

#include "ztp/fit.hpp"
#include "ztp/progress.hpp"

namespace CLI {
class App;
}

namespace ztp::app {

// Counts the sweeps of all chains together.
class ProgressBar {
 public:
  ProgressBar();
  void show(const RankTrial& trial);
  void show(const SweepReport& report);
  void message(const std::string& text);  // on a line of its own
  void finish();                          // leaves the last state on its own line

 private:
  std::string text(const SweepReport& report) const;
  bool is_due() const;
  void print(const std::string& line);

  bool terminal_;
  double begin_, last_shown_;
  std::uint64_t first_done_ = 0;  // sweeps with the first that is shown; more than one in a resumed run
  double last_log_likelihood_;
  double last_auc_;
  bool shown_ = false;
};

// What is being done and how far it is, in one line that is overwritten. On a terminal only, and only after a second.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();  // wipes the line
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  void show(const std::string& what, double part);  // from 0 to 1, or NaN if that is not known

 private:
  bool terminal_;
  double begin_, shown_ = 0;
};

// From now on Ctrl-C, SIGTERM, SIGUSR1 or a closed terminal stops a fit after its sweep, and other work soon. A second
// signal ends the program at once.
void install_stop_signals();
bool stop_signalled();
// As shells report it: 130 for Ctrl-C, 143 for SIGTERM. All processes of a job ask, and all get the same.
int stop_exit_code();

// The callbacks of a fit: the bar, Ctrl-C and the command line.
FitCallbacks callbacks_with(ProgressBar& bar, const CLI::App& command);

}  // namespace ztp::app
