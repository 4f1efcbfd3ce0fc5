// Writes the trace, the draws and the checkpoints of a running fit.
#pragma once
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "base/file.hpp"
#include "options/options.hpp"
#include "run/checkpoint.hpp"
#include "run/ranks.hpp"
#include "sampler/run_chains.hpp"
#include "store/draw_log.hpp"
#include "ztp/fit.hpp"
#include "ztp/run_info.hpp"

namespace ztp {

class Recorder final : public Observer {
 public:
  // `from`: where the chains go on. Rows and draws are appended to what the files have. Where no cells are watched,
  // `watched` is 0. Ranks that share a chain all have a recorder, and all must get the same calls: that of the first
  // writes, the others help it to read their parts of the chain.
  Recorder(const std::string& run_dir, RunInfo& info, const FitCallbacks& callbacks, std::size_t watched,
           const std::vector<Checkpoint>& from, const RunRanks& ranks);

  // Told of draws as they are stored.
  void follow_draws(DrawLogWriter::Follower follower) { draws_->follow(std::move(follower)); }

  void on_draw(const RunningChain& now) override;
  void on_sweep(const RunningChain& now) override;
  void on_end(const RunningChain& now) override;
  void on_stop(const RunningChain& last) override;
  void on_failure(const RunningChain& last) override;

  // The callbacks of the fit. The first exception that one of them throws is kept and stops the run, which then ends as
  // any interrupted run does. No callback is called after that.
  RunControl control();
  bool has_thrown() const { return thrown_ != nullptr; }  // a callback
  std::uint64_t sweeps() const { return sweeps_; }        // of all chains of this process
  // Throws the exception of a callback, if there was one. Call it when the run directory is complete.
  void rethrow() const;
  void close();       // all that was recorded is on the disk
  void stop_clock();  // brings RunInfo::seconds up to date
  // Where the state of a chain was written last; empty, if it has done nothing yet.
  const std::string& last_file(std::uint32_t chain) const { return chains_[chain].last_file; }

 private:
  struct SavedChain {
    std::string last_file;   // of a checkpoint
    double last_checkpoint;  // when
    bool saved = true;       // its state is in a file, or it has done nothing yet
  };
  void guarded(const std::function<void()>& call);
  void write_rows(const SweepReport& report);
  bool checkpoint_is_due(const SweepReport& report) const;
  void checkpoint(const RunningChain& now);
  void write(const std::string& file, const RunningChain& now);
  bool stops(bool here);

  const RunRanks& ranks_;
  const std::string run_dir_;
  RunInfo& info_;
  const FitCallbacks& callbacks_;
  const double began_, seconds_before_;
  double last_checkpoint_;  // of a chain that ranks share
  std::uint64_t sweeps_ = 0;
  std::exception_ptr thrown_;
  std::optional<AppendFile> trace_, cells_;  // none of these, if this rank does not record
  std::optional<DrawLogWriter> draws_;
  const CheckpointInterval interval_;
  bool due_ = false;  // a checkpoint, as the ranks of the chain have agreed
  std::vector<SavedChain> chains_;
};

}  // namespace ztp
