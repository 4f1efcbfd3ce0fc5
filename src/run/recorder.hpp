// Writes the trace, the draws and the checkpoints of a running fit.
#pragma once
#include <exception>
#include <string>
#include <vector>

#include "base/file.hpp"
#include "options/options.hpp"
#include "run/checkpoint.hpp"
#include "sampler/run_chains.hpp"
#include "store/draw_log.hpp"
#include "ztp/fit.hpp"
#include "ztp/run_info.hpp"

namespace ztp {

class Recorder final : public Observer {
 public:
  // `from`: where the run goes on.
  Recorder(const std::string& run_dir, RunInfo& info, const FitCallbacks& callbacks, const TrackedCells& followed,
           const Checkpoint& from);

  void on_draw(Chain& chain, const SweepReport& report) override;
  void on_sweep(Chain& chain, const SweepReport& report) override;
  void on_end(Chain& chain, const SweepReport& report) override;
  void on_stop(Chain& chain, const SweepReport& last) override;
  void on_failure(Chain& chain, const SweepReport& last) override;
  bool stop_requested() override;
  // Throws the exception of a callback, if there was one. Call it when the run directory is complete.
  void rethrow() const;

 private:
  // Calls a callback. The first exception that one of them throws is kept and stops the run, which then ends as any
  // interrupted run does. No callback is called after that.
  void guarded(const std::function<void()>& call);
  void write_rows(const SweepReport& report);
  bool checkpoint_is_due(const SweepReport& report);
  void checkpoint(Chain& chain, const SweepReport& report);
  void write(const std::string& file, Chain& chain, const SweepReport& report);

  const std::string run_dir_;
  RunInfo& info_;
  const FitCallbacks& callbacks_;
  std::exception_ptr thrown_;
  HeldOut* held_out_;
  AppendFile trace_;
  AppendFile cells_;
  DrawLogWriter draws_;
  const CheckpointInterval interval_;
  std::vector<std::uint32_t> sweeps_;  // done, of each chain
  std::string last_file_;              // of a checkpoint
  double last_checkpoint_;
  bool saved_ = true;  // the chain's state is in a file, or it has done nothing yet
};

}  // namespace ztp
