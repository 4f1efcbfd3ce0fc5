#include "run/recorder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/clock.hpp"
#include "base/memory.hpp"
#include "store/run_info.hpp"
#include "ztp/error.hpp"

namespace ztp {
namespace {

void begin(AppendFile& file, const std::vector<std::string>& names) {
  if (file.length() == 0) file.append(fmt::format("{}\n", fmt::join(names, "\t")));
}

std::vector<std::string> trace_names(const std::vector<std::string>& learned) {
  std::vector<std::string> names;
  for (const TraceColumn& column : trace_columns) names.emplace_back(column.name);
  names.insert(names.end(), learned.begin(), learned.end());
  return names;
}

std::vector<std::string> cell_names(std::size_t watched) {
  std::vector<std::string> names = {"chain", "sweep"};
  for (std::size_t i = 1; i <= watched; ++i) names.push_back(fmt::format("c{}", i));
  return names;
}

std::string trace_row(const SweepReport& report) {
  std::vector<std::string> fields;
  for (const TraceColumn& column : trace_columns) {
    const double value = column.value(report);
    fields.push_back(std::isnan(value) ? "" : fmt::format(fmt::runtime(column.format), value));
  }
  // With every digit of the float32 in draws.nc (trace_columns.hpp).
  for (const double value : report.learned)
    fields.push_back(fmt::format("{}", static_cast<double>(static_cast<float>(value))));
  return fmt::format("{}\n", fmt::join(fields, "\t"));
}

}  // namespace

Recorder::Recorder(const std::string& run_dir, RunInfo& info, const FitCallbacks& callbacks,
                   const TrackedCells& followed, const Checkpoint& from)
    : run_dir_(run_dir),
      info_(info),
      callbacks_(callbacks),
      held_out_(followed.held_out),
      trace_(run_dir + "/trace.tsv", from.trace_length),
      cells_(run_dir + "/cells.tsv", from.cells_length),
      draws_(run_dir + "/draws.log", draw_layout(info), from.draw_log_length),
      interval_(checkpoint_interval(info.options.checkpoint)),
      sweeps_(from.sweeps),
      last_file_(from.file),
      last_checkpoint_(clock_seconds()) {
  begin(trace_, trace_names(draw_layout(info).learned));
  begin(cells_, cell_names(followed.watched == nullptr ? 0 : followed.watched->size()));
}

void Recorder::on_draw(Chain& chain, const SweepReport& report) {
  draws_.append(chain.state(), report);
  ++info_.draws;
}

void Recorder::on_sweep(Chain& chain, const SweepReport& report) {
  write_rows(report);
  sweeps_.resize(std::max<std::size_t>(sweeps_.size(), report.chain + 1), 0);
  sweeps_[report.chain] = report.sweep;
  info_.chains.resize(std::max<std::size_t>(info_.chains.size(), report.chain + 1));
  RunInfo::ChainStatus& now = info_.chains[report.chain];
  now.sweeps = report.sweep;
  now.seconds = report.seconds;
  if (!std::isnan(report.log_likelihood)) now.log_likelihood = report.log_likelihood;
  now.occupied = report.occupied;
  now.network_only = report.network_only;
  if (!std::isnan(report.auc_roc)) info_.auc_roc = report.auc_roc;
  saved_ = false;
  if (checkpoint_is_due(report)) checkpoint(chain, report);
  if (callbacks_.on_sweep) guarded([&] { callbacks_.on_sweep(report); });
}

void Recorder::on_end(Chain& chain, const SweepReport& report) {
  write(chain_end_file(run_dir_, report.chain), chain, report);
}

void Recorder::on_stop(Chain& chain, const SweepReport& last) {
  if (!saved_) checkpoint(chain, last);
}

void Recorder::on_failure(Chain& chain, const SweepReport& last) {
  if (saved_) return;
  try {
    checkpoint(chain, last);
  } catch (const Error&) {  // the previous checkpoint is still there, and the first error matters more
  }
}

bool Recorder::stop_requested() {
  bool stop = false;
  if (callbacks_.stop_requested) guarded([&] { stop = callbacks_.stop_requested(); });
  return stop || thrown_ != nullptr;
}

void Recorder::guarded(const std::function<void()>& call) {
  if (thrown_) return;
  try {
    call();
  } catch (...) {
    thrown_ = std::current_exception();
  }
}

void Recorder::rethrow() const {
  if (thrown_) std::rethrow_exception(thrown_);
}

bool Recorder::checkpoint_is_due(const SweepReport& report) {
  if (interval_.sweeps > 0) return report.sweep % interval_.sweeps == 0;
  return clock_seconds() - last_checkpoint_ >= interval_.seconds;
}

void Recorder::write_rows(const SweepReport& report) {
  trace_.append(trace_row(report));
  if (report.watched.empty()) return;
  std::string line = fmt::format("{}\t{}", report.chain, report.sweep);
  for (const double value : report.watched) line += fmt::format("\t{:.6g}", value);
  cells_.append(line + "\n");
}

void Recorder::checkpoint(Chain& chain, const SweepReport& report) {
  last_file_ = next_checkpoint_file(run_dir_, last_file_);
  write(last_file_, chain, report);
  last_checkpoint_ = clock_seconds();
}

void Recorder::write(const std::string& file, Chain& chain, const SweepReport& report) {
  trace_.sync();
  cells_.sync();
  draws_.sync();
  info_.peak_memory = peak_memory();
  write_run_status(run_dir_, info_);  // before the checkpoint, so that it is never older
  Checkpoint now;
  now.chain = report.chain;
  now.sweeps = sweeps_;
  now.seconds = report.seconds;
  now.draw_log_length = draws_.length();
  now.trace_length = trace_.length();
  now.cells_length = cells_.length();
  if (held_out_ != nullptr) {
    now.held_out_draws = held_out_->draws();
    now.held_out_sum = held_out_->sum();
  }
  write_checkpoint(file, info_, now, chain);
  saved_ = true;
}

}  // namespace ztp
