#include "run/checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/section_file.hpp"
#include "ztp/error.hpp"

namespace ztp {
namespace {

std::string file_of(const std::string& run_dir) {
  return run_dir + "/checkpoint.bin";
}

struct Head {
  std::uint32_t chain, sweep;
  double seconds;
  std::uint64_t draw_log_length, trace_length, cells_length, held_out_draws;
};

std::string statistics_file(const std::string& run_dir, std::uint32_t chain) {
  return fmt::format("{}/statistics-{}.bin", run_dir, chain + 1);
}

void write_chain(SectionWriter& file, AnyChain& chain) {
  for (const Carried& part : chain.carried()) file.section(part.name, part.data, part.bytes);
}

// Modes may have more entities than when they were written: those have nothing yet.
void read_chain(const SectionReader& file, std::uint32_t t, AnyChain& chain) {
  for (const Carried& part : chain.carried())
    file.read(part.name, part.data,
              part.may_grow ? std::min<std::size_t>(file.bytes(part.name), part.bytes) : part.bytes);
  chain.restore(t);
}

}  // namespace

void write_checkpoint(const std::string& run_dir, const RunInfo& info, const Checkpoint& checkpoint, AnyChain& chain) {
  SectionWriter file(file_of(run_dir));
  file.section("fingerprint", info.fingerprint.data(), info.fingerprint.size());
  const Head head{checkpoint.position.chain,  checkpoint.position.sweep, checkpoint.position.seconds,
                  checkpoint.draw_log_length, checkpoint.trace_length,   checkpoint.cells_length,
                  checkpoint.held_out_draws};
  file.values("position", &head, 1);
  file.values("held_out", checkpoint.held_out_sum.data(), checkpoint.held_out_sum.size());
  write_chain(file, chain);
  file.commit();
}

std::optional<Checkpoint> read_checkpoint(const std::string& run_dir, const RunInfo& info) {
  if (!std::filesystem::exists(file_of(run_dir))) return std::nullopt;
  const SectionReader file(file_of(run_dir));
  if (file.text("fingerprint") != info.fingerprint)
    throw Error(ErrorKind::input,
                fmt::format("{}: belongs to other data than {}/options.json", file_of(run_dir), run_dir));
  Head head;
  file.read("position", &head, sizeof head);
  Checkpoint checkpoint;
  checkpoint.position = {head.chain, head.sweep, head.seconds};
  checkpoint.draw_log_length = head.draw_log_length;
  checkpoint.trace_length = head.trace_length;
  checkpoint.cells_length = head.cells_length;
  checkpoint.held_out_draws = head.held_out_draws;
  const Buffer<double> sum = file.values<double>("held_out");
  checkpoint.held_out_sum.assign(sum.begin(), sum.end());
  return checkpoint;
}

void restore_chain(const std::string& run_dir, const Checkpoint& checkpoint, AnyChain& chain) {
  read_chain(SectionReader(file_of(run_dir)), checkpoint.position.sweep, chain);
}

void write_statistics(const std::string& run_dir, const RunInfo& info, AnyChain& chain) {
  SectionWriter file(statistics_file(run_dir, chain.number()));
  file.section("fingerprint", info.fingerprint.data(), info.fingerprint.size());
  write_chain(file, chain);
  file.commit();
}

void read_statistics(const std::string& run_dir, const RunInfo& info, AnyChain& chain) {
  const std::string path = statistics_file(run_dir, chain.number());
  if (!std::filesystem::exists(path))
    throw Error(ErrorKind::input, fmt::format("{}: no {}: only a run that has come to its end can be updated", run_dir,
                                              std::filesystem::path(path).filename().string()));
  const SectionReader file(path);
  if (file.text("fingerprint") != info.fingerprint)
    throw Error(ErrorKind::input, fmt::format("{}: belongs to other data than {}/options.json", path, run_dir));
  read_chain(file, 0, chain);
}

}  // namespace ztp
