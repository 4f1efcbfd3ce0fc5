#include "run/recorder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/clock.hpp"
#include "base/memory.hpp"
#include "store/run_info.hpp"
#include "ztp/error.hpp"

namespace ztp {
namespace {

std::uint64_t length_of(const std::string& path) {
  std::error_code none_yet;
  const std::uintmax_t length = std::filesystem::file_size(path, none_yet);
  return none_yet ? 0 : length;
}

// A file system lets one thread at a time write to a file; the others divide, pack and hash. While a GPU samples, no
// other work needs them.
unsigned writing_threads(const FitOptions& options) {
  return static_cast<unsigned>(std::min<std::int64_t>(options.threads, options.kernel == KernelName::cuda ? 12 : 4));
}

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

// What a rank does while the first rank of its chain reads factors or counts, whose rows several ranks have.
template <class Rows>
void read_along(const RowArray<Rows>& rows) {
  collect_blocks_of_rows(rows, [](Range, const Rows*) {});
}
void read_along(const State& state) {
  for (std::size_t f = 0; f < state.factors.size(); ++f)
    if (!state.layout.is_one_hot(f)) read_along(*state.factors[f]);  // the identity is in no draw
}
void read_along(Chain& chain) {
  for (const CheckpointField& field : chain.checkpoint_fields())
    if (field.rows != nullptr) read_along(*field.rows);
}

}  // namespace

Recorder::Recorder(const std::string& run_dir, RunInfo& info, const FitCallbacks& callbacks, std::size_t watched,
                   const std::vector<Checkpoint>& from, const RunRanks& ranks)
    : ranks_(ranks),
      run_dir_(run_dir),
      info_(info),
      callbacks_(callbacks),
      began_(clock_seconds()),
      seconds_before_(info.seconds),
      last_checkpoint_(began_),
      interval_(checkpoint_interval(info.options.checkpoint)),
      chains_(static_cast<std::size_t>(info.options.chains), SavedChain{"", clock_seconds()}) {
  for (std::size_t c = 0; c < from.size(); ++c) chains_[c].last_file = from[c].file;
  if (!ranks.records()) return;
  const auto path = [&](const char* name) { return group_file(run_dir, name, ranks.group()); };
  trace_.emplace(path("trace.tsv"), length_of(path("trace.tsv")));
  cells_.emplace(path("cells.tsv"), length_of(path("cells.tsv")));
  draws_.emplace(path("draws.log"), draw_layout(info), length_of(path("draws.log")), writing_threads(info.options));
  begin(*trace_, trace_names(draw_layout(info).learned));
  begin(*cells_, cell_names(watched));
}

void Recorder::on_draw(const RunningChain& now) {
  if (draws_)
    draws_->append(now.chain.state(), now.report);
  else
    read_along(now.chain.state());
  ++info_.draws;
}

void Recorder::on_sweep(const RunningChain& now) {
  const SweepReport& report = now.report;
  ++sweeps_;
  write_rows(report);
  info_.chains.resize(std::max<std::size_t>(info_.chains.size(), report.chain + 1));
  RunInfo::ChainStatus& status = info_.chains[report.chain];
  status.sweeps = report.sweep;
  status.seconds = report.seconds;
  if (!std::isnan(report.log_likelihood)) status.log_likelihood = report.log_likelihood;
  status.occupied = report.occupied;
  status.network_only = report.network_only;
  if (!std::isnan(report.auc_roc)) info_.auc_roc = report.auc_roc;
  chains_[report.chain].saved = false;
  if (checkpoint_is_due(report)) checkpoint(now);
}

void Recorder::on_end(const RunningChain& now) {
  const std::string file = chain_end_file(run_dir_, now.report.chain);
  write(file, now);
  chains_[now.report.chain].last_file = file;
}

void Recorder::on_stop(const RunningChain& last) {
  if (!chains_[last.report.chain].saved) checkpoint(last);
}

void Recorder::on_failure(const RunningChain& last) {
  // Ranks that share the chain may not have failed, and would have to help.
  if (chains_[last.report.chain].saved || ranks_.of_chain().size() > 1) return;
  try {
    checkpoint(last);
  } catch (const Error&) {  // the previous checkpoint is still there, and the first error matters more
  }
}

RunControl Recorder::control() {
  RunControl result;
  result.tell = [this](const SweepReport& report) {
    if (callbacks_.on_sweep) guarded([&] { callbacks_.on_sweep(report); });
  };
  result.stop_requested = [this] {
    bool stop = false;
    if (callbacks_.stop_requested) guarded([&] { stop = callbacks_.stop_requested(); });
    return stops(stop || thrown_ != nullptr);
  };
  return result;
}

// A stop that one process asks for stops all. Ranks that share a chain stop between the same two sweeps, and agree on
// checkpoints.
bool Recorder::stops(bool here) {
  if (ranks_.alone()) return here;
  if (here) ranks_.all().request_stop();
  here = here || ranks_.all().stop_requested();
  if (!ranks_.shares_chains()) return here;
  const bool due = interval_.sweeps == 0 && clock_seconds() - last_checkpoint_ >= interval_.seconds;
  std::int64_t wishes[] = {here ? 1 : 0, due ? 1 : 0};
  ranks_.of_chain().largest(wishes, 2);
  due_ = wishes[1] != 0;
  if (due_) last_checkpoint_ = clock_seconds();
  return wishes[0] != 0;
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

void Recorder::close() {
  if (!trace_) return;
  trace_->sync();
  cells_->sync();
  draws_->sync();
  trace_.reset();
  cells_.reset();
  draws_.reset();
}

void Recorder::stop_clock() {
  info_.seconds = seconds_before_ + clock_seconds() - began_;
}

bool Recorder::checkpoint_is_due(const SweepReport& report) const {
  if (interval_.sweeps > 0) return report.sweep % interval_.sweeps == 0;
  if (ranks_.shares_chains()) return due_;
  return clock_seconds() - chains_[report.chain].last_checkpoint >= interval_.seconds;
}

void Recorder::write_rows(const SweepReport& report) {
  if (!trace_) return;
  trace_->append(trace_row(report));
  if (report.watched.empty()) return;
  std::string line = fmt::format("{}\t{}", report.chain, report.sweep);
  for (const double value : report.watched) line += fmt::format("\t{:.6g}", value);
  cells_->append(line + "\n");
}

void Recorder::checkpoint(const RunningChain& now) {
  SavedChain& chain = chains_[now.report.chain];
  const std::string file = next_checkpoint_file(run_dir_, now.report.chain, chain.last_file);
  write(file, now);
  chain.last_file = file;
  chain.last_checkpoint = clock_seconds();
}

void Recorder::write(const std::string& file, const RunningChain& now) {
  if (!ranks_.records()) {
    read_along(now.chain);
    chains_[now.report.chain].saved = true;
    return;
  }
  trace_->sync();
  cells_->sync();
  draws_->sync();
  info_.peak_memory = peak_memory();
  stop_clock();
  if (ranks_.leads()) write_run_status(run_dir_, info_);  // before the checkpoint, so that it is never older
  write_checkpoint(file, info_, now.chain, now.report.seconds,
                   now.held_out == nullptr ? nullptr : &now.held_out->sum());
  chains_[now.report.chain].saved = true;
}

}  // namespace ztp
