// The part of this process in a run that is made by several (ranks of an MPI job). Chains are divided among groups of
// ranks; the ranks of a group share each of its chains. The first rank of all leads: it makes the run directory. The
// first of each group records its chains there.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "comm/comm.hpp"
#include "sampler/run_chains.hpp"
#include "ztp/error.hpp"
#include "ztp/fit.hpp"
#include "ztp/run_info.hpp"

namespace ztp {

class RunRanks {
 public:
  RunRanks(Comm& all, std::int64_t chains);

  Comm& all() const { return all_; }
  Comm& of_chain() const { return *of_chain_; }  // that share a chain with this one
  bool alone() const { return all_.size() == 1; }
  bool leads() const { return all_.rank() == 0; }
  bool records() const { return of_chain_->rank() == 0; }
  std::size_t groups() const { return groups_; }
  std::size_t group() const { return group_; }
  bool shares_chains() const { return all_.size() > groups_; }
  bool has_chain(std::size_t c) const { return c % groups_ == group_; }
  // Of all chains, those that are this group's.
  Schedule part_of(Schedule schedule) const;

  // Whether it holds on all ranks. All of them ask.
  bool on_all(bool here) const;
  // Tells the leader what status.json says of the chains of other groups. All of them call it.
  void collect_statuses(RunInfo& info) const;
  // What all have sent to those that share their chains, for each sweep of a chain. All of them ask, with the sweeps
  // that each has made.
  double bytes_per_sweep(std::uint64_t sweeps) const;

 private:
  Comm& all_;
  std::size_t groups_, group_;
  std::unique_ptr<Comm> of_chain_;
};

// What the first rank says. All of them ask.
std::int64_t of_first(Comm& all, std::int64_t value);
// Error (config) on all ranks, if they run different versions or were given different options.
void require_same(Comm& all, const FitOptions& given);
// No more threads than this process has cores, whatever the run was begun with.
void limit_threads(RunInfo& info);

// Files of one group, as trace-2.tsv; those of the first have no number.
std::string group_file(const std::string& run_dir, const std::string& name, std::size_t group);
// Appends what other groups have recorded to the files of the first, and removes theirs. Rows and draws that a kill or
// a full disk has left incomplete are dropped.
void merge_group_files(const std::string& run_dir, const RunInfo& info);

bool is_group_file(const std::string& name);

// Whether a chain of these options can be shared by several ranks; else Error (config).
void check_ranks(const FitOptions& complete, std::size_t ranks);

}  // namespace ztp
