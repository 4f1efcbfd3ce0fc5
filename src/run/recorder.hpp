// Writes the trace, the draws and the checkpoints of a running fit.
#pragma once
#include <string>
#include <vector>

#include "base/file.hpp"
#include "options/amounts.hpp"
#include "run/checkpoint.hpp"
#include "sampler/run_chains.hpp"
#include "store/draw_log.hpp"
#include "ztp/fit.hpp"
#include "ztp/run_info.hpp"

namespace ztp {

class Recorder final : public Observer {
 public:
  // `from`: where the run goes on.
  Recorder(const std::string& run_dir, RunInfo& info, const FitCallbacks& callbacks, const Followed& followed,
           const Checkpoint& from);

  void on_draw(AnyChain& chain, const SweepReport& report) override;
  void on_sweep(AnyChain& chain, const SweepReport& report) override;
  void on_end(AnyChain& chain, const SweepReport& report) override;
  void on_failure(AnyChain& chain, const SweepReport& last) override;
  bool stop_requested() override;

 private:
  RunInfo::ChainStatus& status(const SweepReport& report);
  void write_rows(const SweepReport& report);
  bool checkpoint_is_due(const SweepReport& report);
  void checkpoint(AnyChain& chain, const SweepReport& report);
  void write(const std::string& file, AnyChain& chain, const SweepReport& report);

  const std::string run_dir_;
  RunInfo& info_;
  const FitCallbacks& callbacks_;
  HeldOut* held_out_;
  AppendFile trace_;
  AppendFile cells_;
  DrawLogWriter draws_;
  const Interval interval_;
  std::vector<std::uint32_t> sweeps_;  // done, of each chain
  std::string last_file_;              // of a checkpoint
  double last_checkpoint_;
};

}  // namespace ztp
