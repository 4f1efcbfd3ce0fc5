#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <limits>

#include "base/clock.hpp"
#include "comm/comm.hpp"
#include "common.hpp"

namespace ztp::app {
namespace {

volatile std::sig_atomic_t first_signal = 0;

void on_signal(int number) {
  if (first_signal != 0) _exit(128 + number);
  first_signal = number;
}

}  // namespace

void install_stop_signals() {
  struct sigaction action = {};
  action.sa_handler = on_signal;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGUSR1, &action, nullptr);  // batch systems send it some time before a job must end
  struct sigaction before = {};
  sigaction(SIGHUP, nullptr, &before);
  if (before.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, nullptr);  // nohup wants it ignored
  std::signal(SIGPIPE, SIG_IGN);                                          // a closed pipe must not stop a fit
}

bool stop_signalled() {
  return first_signal != 0;
}

int stop_exit_code() {
  std::int64_t signal = first_signal;
  world().largest(&signal, 1);
  return 128 + static_cast<int>(signal);
}

ProgressBar::ProgressBar()
    : terminal_(isatty(STDERR_FILENO) != 0),
      begin_(clock_seconds()),
      last_shown_(begin_),
      last_log_likelihood_(std::numeric_limits<double>::quiet_NaN()),
      last_auc_(std::numeric_limits<double>::quiet_NaN()) {}

// Often enough to follow it, and not more often.
bool ProgressBar::is_due() const {
  return clock_seconds() - last_shown_ >= (terminal_ ? 0.1 : 10);
}

void ProgressBar::print(const std::string& line) {
  last_shown_ = clock_seconds();
  shown_ = true;
  tell(terminal_ ? fmt::format("\r\x1b[K{}", line) : fmt::format("{}\n", line));
}

void ProgressBar::show(const RankTrial& trial) {
  begin_ = clock_seconds();  // the time that is left is of the sweeps of the fit
  if (is_due())
    print(fmt::format("choosing the rank: {} of {} components in use after {} sweeps", trial.used, trial.rank,
                      trial.sweeps));
}

void ProgressBar::message(const std::string& text) {
  tell(fmt::format("{}{}\n", terminal_ ? "\r\x1b[K" : "", text));
  shown_ = false;
}

void ProgressBar::show(const SweepReport& report) {
  if (!std::isnan(report.log_likelihood)) last_log_likelihood_ = report.log_likelihood;
  if (!std::isnan(report.auc_roc)) last_auc_ = report.auc_roc;
  if (first_done_ == 0) first_done_ = report.done;
  const bool last = report.done == report.planned;
  if (last || !shown_ || is_due()) print(text(report));
}

std::string ProgressBar::text(const SweepReport& report) const {
  const double total = static_cast<double>(report.planned), done = static_cast<double>(report.done);
  const double since = done - static_cast<double>(first_done_) + 1;
  const double spent = clock_seconds() - begin_, left = spent / since * (total - done);
  std::string line;
  if (terminal_) {
    const std::size_t filled = static_cast<std::size_t>(20 * done / total);
    line += fmt::format("[{:<20}] ", std::string(filled, '='));
  }
  line += fmt::format("sweep {}/{}", report.done, report.planned);
  // The first sweeps are slow, so they say little of the others.
  if (report.done < report.planned && spent >= 1)
    line += fmt::format(", {} left", left < 1 ? "less than a second" : human_seconds(left));
  if (!std::isnan(last_log_likelihood_)) line += fmt::format(", log-likelihood {:.1f}", last_log_likelihood_);
  line += fmt::format(", {} components", report.occupied);
  if (!std::isnan(last_auc_)) line += fmt::format(", AUC {:.4f}", last_auc_);
  return line;
}

void ProgressBar::finish() {
  if (terminal_ && shown_) tell("\n");
}

ProgressLine::ProgressLine() : terminal_(isatty(STDERR_FILENO) != 0), begin_(clock_seconds()) {}

void ProgressLine::show(const std::string& what, double part) {
  const double elapsed = clock_seconds() - begin_;
  if (!terminal_ || elapsed - shown_ < (shown_ == 0 ? 1 : 0.1)) return;
  shown_ = elapsed;
  tell(fmt::format("\r\x1b[K{}{}", what, std::isnan(part) ? "" : fmt::format(" {:.0f} %", 100 * part)));
}

ProgressLine::~ProgressLine() {
  if (shown_ > 0) std::fputs("\r\x1b[K", stderr);
}

namespace {

std::string typed_command(const CLI::App& app) {
  // CLI11 does not keep argv.
  std::string text = "ztp";
  if (std::FILE* file = std::fopen("/proc/self/cmdline", "rb")) {
    std::string arguments(1 << 16, '\0');
    arguments.resize(std::fread(arguments.data(), 1, arguments.size(), file));
    std::fclose(file);
    const std::size_t program_end = arguments.find('\0');
    for (std::size_t begin = program_end + 1; program_end != std::string::npos && begin < arguments.size();) {
      const std::size_t end = std::min(arguments.find('\0', begin), arguments.size());
      const std::string word = arguments.substr(begin, end - begin);
      text += " " + quoted_for_shell(word);
      begin = end + 1;
    }
    return text;
  }
  return text + " " + app.get_name();
}

}  // namespace

FitCallbacks callbacks_with(ProgressBar& bar, const CLI::App& command) {
  FitCallbacks callbacks;
  callbacks.on_sweep = [&bar](const SweepReport& report) { bar.show(report); };
  callbacks.on_rank_trial = [&bar](const RankTrial& trial) { bar.show(trial); };
  callbacks.on_message = [&bar](const std::string& text) { bar.message(text); };
  callbacks.stop_requested = stop_signalled;
  callbacks.on_warning = [](const std::string& warning) { print_warnings({warning}); };
  callbacks.command = typed_command(command);
  return callbacks;
}

}  // namespace ztp::app
