#include "run/ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <set>

#include "base/file.hpp"
#include "base/hash.hpp"
#include "base/pool.hpp"
#include "model/layout_options.hpp"
#include "options/options.hpp"
#include "options/options_json.hpp"
#include "store/draw_layout.hpp"
#include "store/draw_log.hpp"
#include "ztp/version.hpp"

namespace ztp {
namespace {

namespace fs = std::filesystem;

constexpr std::array recorded = {"trace.tsv", "cells.tsv", "draws.log"};

std::size_t group_of(std::size_t rank, std::size_t ranks, std::size_t groups) { return rank * groups / ranks; }

}  // namespace

RunRanks::RunRanks(Comm& all, std::int64_t chains)
    : all_(all),
      groups_(std::min(all.size(), static_cast<std::size_t>(chains))),
      group_(group_of(all.rank(), all.size(), groups_)),
      of_chain_(all.size() == 1 ? single_comm() : all.split(group_)) {}

Schedule RunRanks::part_of(Schedule schedule) const {
  schedule.first = static_cast<std::uint32_t>(group_);
  schedule.step = static_cast<std::uint32_t>(groups_);
  return schedule;
}

bool RunRanks::on_all(bool here) const {
  std::int64_t not_here = here ? 0 : 1;
  all_.largest(&not_here, 1);
  return not_here == 0;
}

void RunRanks::collect_statuses(RunInfo& info) const {
  if (groups_ == 1) return;
  struct Status {
    std::size_t chain;
    RunInfo::ChainStatus of_chain;
  };
  std::vector<Status> mine;
  for (std::size_t c = 0; records() && c < info.chains.size(); ++c)
    if (has_chain(c) && info.chains[c].sweeps > 0) mine.push_back({c, info.chains[c]});
  for (const auto& bytes : all_.gather(mine.data(), mine.size() * sizeof(Status), 0)) {
    std::vector<Status> statuses(bytes.size() / sizeof(Status));
    if (!bytes.empty()) std::memcpy(static_cast<void*>(statuses.data()), bytes.data(), bytes.size());
    for (const Status& status : statuses) {
      info.chains.resize(std::max(info.chains.size(), status.chain + 1));
      info.chains[status.chain] = status.of_chain;
    }
  }
}

double RunRanks::bytes_per_sweep(std::uint64_t sweeps) const {
  std::int64_t sums[] = {static_cast<std::int64_t>(of_chain_->bytes_sent()),
                         records() ? static_cast<std::int64_t>(sweeps) : 0};
  all_.add_up(sums, 2);
  return sums[1] == 0 ? 0 : static_cast<double>(sums[0]) / static_cast<double>(sums[1]);
}

std::int64_t of_first(Comm& all, std::int64_t value) {
  all.broadcast(&value, sizeof value, 0);
  return value;
}

void require_same(Comm& all, const FitOptions& given) {
  if (all.size() == 1) return;
  FitOptions options = given;
  options.threads = 0;
  options.memory.clear();
  const std::array<std::string, 2> mine = {version(), options_to_json(options)};
  constexpr std::array what = {"runs a different version of ztp", "has different options"};
  std::array<std::uint64_t, 2> hashes{};
  for (std::size_t i = 0; i < mine.size(); ++i) {
    Hash hash;
    hash.add(mine[i].data(), mine[i].size());
    hashes[i] = hash.sum();
  }
  const auto of_all = all.all_gather(hashes.data(), sizeof hashes);
  for (std::size_t rank = 1; rank < of_all.size(); ++rank)
    for (std::size_t i = 0; i < mine.size(); ++i)
      if (std::memcmp(of_all[0].data() + 8 * i, of_all[rank].data() + 8 * i, 8) != 0)
        throw Error(ErrorKind::config, fmt::format("process {} of the job {} than the first; start all of them with "
                                                   "the same program and options",
                                                   rank + 1, what[i]));
}

void limit_threads(RunInfo& info) {
  info.options.threads = std::min(info.options.threads, static_cast<std::int64_t>(available_cores()));
}

namespace {

// trace-2.tsv is of trace.tsv.
bool is_of_group(const std::string& file, const std::string& name) {
  const std::size_t dot = name.find('.');
  const std::string stem = name.substr(0, dot) + "-", ending = name.substr(dot);
  return file.starts_with(stem) && file.ends_with(ending) && file.size() > stem.size() + ending.size();
}

}  // namespace

bool is_group_file(const std::string& name) {
  return std::any_of(recorded.begin(), recorded.end(), [&](const char* of) { return is_of_group(name, of); });
}

std::string group_file(const std::string& run_dir, const std::string& name, std::size_t group) {
  if (group == 0) return run_dir + "/" + name;
  const std::size_t dot = name.find('.');
  return fmt::format("{}/{}-{}{}", run_dir, name.substr(0, dot), group + 1, name.substr(dot));
}

namespace {

// The end of the last whole line; 0 without any.
std::uint64_t end_of_lines(const ReadFile& file) {
  std::vector<char> block;
  for (std::uint64_t end = file.length(); end > 0; end -= block.size()) {
    block.resize(std::min<std::uint64_t>(1 << 16, end));
    file.read(end - block.size(), block.data(), block.size());
    const auto newline = std::find(block.rbegin(), block.rend(), '\n');
    if (newline != block.rend()) return end - static_cast<std::uint64_t>(newline - block.rbegin());
  }
  return 0;
}

// Without a last row or draw that is incomplete: what is appended to it would be lost with it.
std::uint64_t whole_length(const std::string& path, const RunInfo& info) {
  std::error_code no_access;
  if (!fs::exists(path, no_access)) return 0;
  const ReadFile file(path);
  if (path.ends_with(".tsv")) return end_of_lines(file);
  return file.length() - file.length() % record_bytes(draw_layout(info));
}

}  // namespace

// A kill in between may leave rows twice, which those who read them look out for.
void merge_group_files(const std::string& run_dir, const RunInfo& info) {
  for (const std::string name : recorded) {
    std::set<std::string> files;
    for (const auto& entry : fs::directory_iterator(run_dir))
      if (is_of_group(entry.path().filename().string(), name)) files.insert(entry.path().string());
    for (const std::string& file : files) {
      const ReadFile from(file);
      const std::uint64_t end = whole_length(file, info);
      const std::string path = run_dir + "/" + name;
      AppendFile to(path, whole_length(path, info));
      Buffer<char> buffer(std::size_t{1} << 20);
      // The first line of a table is its header.
      bool skips = to.length() > 0 && name.ends_with(".tsv");
      for (std::uint64_t at = 0; at < end;) {
        const std::size_t part = std::min<std::uint64_t>(buffer.size(), end - at);
        from.read(at, buffer.data(), part);
        const char* begin = buffer.data();
        if (skips) begin = std::find(begin, begin + part, '\n') + 1;
        skips = false;
        to.append(begin, static_cast<std::size_t>(buffer.data() + part - begin));
        at += part;
      }
      to.sync();
      fs::remove(file);
    }
  }
}

void check_ranks(const FitOptions& complete, std::size_t ranks) {
  const std::size_t chains = static_cast<std::size_t>(complete.chains);
  if (ranks <= chains) return;
  const auto refuse = [&](const std::string& what, const std::string& remedy) {
    throw Error(ErrorKind::config, fmt::format("{} processes for {} chain{}: {}; use at most {} process{}{}", ranks,
                                               chains, chains == 1 ? "" : "s", what, chains,
                                               chains == 1 ? "" : "es", remedy));
  };
  const std::string more = fmt::format(", or --chains {}", ranks);
  if (is_rival(complete))
    refuse(fmt::format("a chain of --model {} runs in one process", name_of(complete.model)), more);
  if (complete.sampler == Sampler::collapsed)
    refuse("the collapsed sampler moves counts one after another", more + ", or --sampler plain");
}

}  // namespace ztp
