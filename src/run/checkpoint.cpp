#include "run/checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>

#include "base/json.hpp"
#include "base/section_file.hpp"
#include "base/version.hpp"
#include "options/options_json.hpp"
#include "ztp/error.hpp"
#include "ztp/option_fields.hpp"

namespace ztp {
namespace {

constexpr std::uint32_t checkpoint_format = 2;
constexpr std::array suffixes = {"-a.bin", "-b.bin"};

std::string checkpoint_file(const std::string& run_dir, std::uint32_t chain, std::size_t which) {
  return fmt::format("{}/checkpoint-{}{}", run_dir, chain + 1, suffixes[which]);
}

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw Error(ErrorKind::config, fmt::format("{}: {}", path, why));
}

}  // namespace

// An option that a version of ztp before it did not know had its default then.
void check_options_match(const std::string& path, const std::string& written, const FitOptions& options) {
  const Json then = parse_json(written), now = options_to_object(options), defaults = options_to_object({});
  for (const OptionField& field : fit_option_fields()) {
    const std::string& name = field.name;
    const Json& value = then.contains(name) ? then[name] : defaults[name];
    if (field.may_change || value == now[name]) continue;
    refuse(path, fmt::format("written with {} {}, but options.json says {}", name, json_text(value, -1),
                             json_text(now[name], -1)));
  }
}

namespace {

void check_belongs(const SectionReader& file, const std::string& path, const RunInfo& info) {
  std::uint32_t format = 0;
  file.read("format", &format, sizeof format);
  if (format != checkpoint_format)
    refuse(path, fmt::format("format {}; this version of ztp reads {}", format, checkpoint_format));
  if (!continues(file.text("version")))
    refuse(path, fmt::format("written by ztp {}, and ztp {} cannot continue it; use that version", file.text("version"),
                             version()));
  if (file.text("fingerprint") != info.fingerprint)
    refuse(path, fmt::format("of other data (fingerprint {}) than the run (fingerprint {})", file.text("fingerprint"),
                             info.fingerprint));
  check_options_match(path, file.text("options"), info.options);
}

Checkpoint read_checkpoint(const SectionReader& file, const std::string& path, const RunInfo& info) {
  check_belongs(file, path, info);
  Checkpoint checkpoint;
  checkpoint.file = path;
  CheckpointPosition& position = checkpoint;
  file.read("position", &position, sizeof position);
  const std::uint64_t test_cells = info.test_ones + info.test_zeros, stored = file.bytes("held_out") / sizeof(double);
  if (checkpoint.chain >= static_cast<std::size_t>(info.options.chains) ||
      checkpoint.sweeps > static_cast<std::uint64_t>(info.options.sweeps) || (stored != 0 && stored != test_cells))
    throw_damaged(path, "its numbers do not match the run");
  return checkpoint;
}

// In the file, counts are rows of integers of 64 bits, each padded with zeros to a multiple of 16.
std::size_t row_bytes(const Counts& counts) {
  return padded(counts.columns()) * sizeof(std::int64_t);
}

void write_counts(SectionWriter& file, const std::string& name, const Counts& counts) {
  file.begin_section(name, std::uint64_t{counts.rows()} * row_bytes(counts));
  collect_blocks_of_rows(counts, [&](Range rows, const std::int64_t* values) {
    Matrix<std::int64_t> block(rows.size(), counts.columns());
    for (std::size_t j = 0; j < rows.size(); ++j)
      std::copy(values + j * counts.columns(), values + (j + 1) * counts.columns(), block.row(j));
    file.add(block.row(0), block.bytes());
  });
  file.end_section();
}

// Of the first rows, if there are more now than there were.
void read_counts(const SectionReader& file, const std::string& path, const std::string& name, Counts& counts) {
  const std::uint64_t bytes = file.bytes(name);
  if (bytes % row_bytes(counts) != 0 || bytes / row_bytes(counts) > counts.rows())
    throw_damaged(path, fmt::format("the file has a section \"{}\" of the wrong size", name));
  std::size_t begin = 0;
  std::vector<std::int64_t> packed;
  file.read_pieces(name, row_bytes(counts), [&](const char* data, std::size_t size) {
    const std::size_t rows = size / row_bytes(counts), packed_bytes = counts.columns() * sizeof(std::int64_t);
    packed.resize(rows * counts.columns());
    for (std::size_t j = 0; j < rows; ++j)
      std::copy_n(data + j * row_bytes(counts), packed_bytes, reinterpret_cast<char*>(&packed[j * counts.columns()]));
    counts.write({begin, begin + rows}, packed.data());
    begin += rows;
  });
}

}  // namespace

std::string chain_end_file(const std::string& run_dir, std::uint32_t chain) {
  return fmt::format("{}/chain-{}.bin", run_dir, chain + 1);
}

std::string next_checkpoint_file(const std::string& run_dir, std::uint32_t chain, const std::string& last) {
  return checkpoint_file(run_dir, chain, last == checkpoint_file(run_dir, chain, 0) ? 1 : 0);
}

bool is_checkpoint_file(const std::string& name) {
  return name.starts_with("checkpoint-") && (name.ends_with(suffixes[0]) || name.ends_with(suffixes[1]));
}

void write_checkpoint(const std::string& path, const RunInfo& info, Chain& chain, double seconds,
                      const HeldOutSum* held_out) {
  SectionWriter file(path);
  const auto text = [&](const char* name, const std::string& value) { file.section(name, value.data(), value.size()); };
  file.values("format", &checkpoint_format, 1);
  text("version", version());
  text("fingerprint", info.fingerprint);
  text("options", options_to_json(info.options));
  const CheckpointPosition position{.chain = chain.number(),
                                    .sweeps = chain.steps_done(),
                                    .seconds = seconds,
                                    .held_out_draws = held_out == nullptr ? 0 : held_out->draws,
                                    .burn_in = static_cast<std::uint32_t>(info.options.burn_in),
                                    .keep_every = info.keep_every};
  file.values("position", &position, 1);
  file.values("held_out", held_out == nullptr ? nullptr : held_out->of_cells.data(),
              held_out == nullptr ? 0 : held_out->of_cells.size());
  for (const CheckpointField& field : chain.checkpoint_fields()) {
    if (field.rows != nullptr)
      write_counts(file, field.name, *field.rows);
    else
      file.section(field.name, field.data, field.bytes);
  }
  file.commit();
}

namespace {

// Nothing, if the chain has no file.
Checkpoint latest_checkpoint(const std::string& run_dir, const RunInfo& info, std::uint32_t chain,
                             std::vector<std::string>& warnings) {
  std::optional<Checkpoint> latest;
  std::vector<std::string> damaged;
  for (const std::string& path :
       {checkpoint_file(run_dir, chain, 0), checkpoint_file(run_dir, chain, 1), chain_end_file(run_dir, chain)}) {
    std::error_code no_access;
    if (!std::filesystem::exists(path, no_access)) continue;
    try {
      const SectionReader file(path);
      file.verify();
      Checkpoint found = read_checkpoint(file, path, info);
      if (found.chain != chain) throw_damaged(path, fmt::format("it is of chain {}", found.chain + 1));
      if (!latest || found.sweeps > latest->sweeps) latest = std::move(found);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::config) throw;  // not damaged, but not of this run
      damaged.push_back(error.what());
    }
  }
  if (!latest && !damaged.empty())
    throw Error(ErrorKind::input,
                fmt::format("chain {} of {} has no intact checkpoint: {}; remove them to start the chain again",
                            chain + 1, run_dir, fmt::join(damaged, "; ")));
  for (const std::string& what : damaged)
    warnings.push_back(fmt::format("{}; continuing from {}, {} sweeps", what, latest->file, latest->sweeps));
  return latest.value_or(Checkpoint{});
}

}  // namespace

std::vector<Checkpoint> latest_checkpoints(const std::string& run_dir, const RunInfo& info,
                                           std::vector<std::string>& warnings) {
  std::vector<Checkpoint> all;
  for (std::uint32_t c = 0; c < static_cast<std::uint32_t>(info.options.chains); ++c)
    all.push_back(latest_checkpoint(run_dir, info, c, warnings));
  return all;
}

Checkpoint restore_chain(const std::string& path, const RunInfo& info, Chain& chain) {
  std::error_code no_access;
  if (!std::filesystem::exists(path, no_access))
    throw Error(ErrorKind::input, fmt::format("{} does not exist: only a finished chain has one", path));
  const SectionReader file(path);
  const Checkpoint checkpoint = read_checkpoint(file, path, info);
  if (checkpoint.chain != chain.number())
    throw Error(ErrorKind::input,
                fmt::format("{}: of chain {}, not {}", path, checkpoint.chain + 1, chain.number() + 1));
  for (const CheckpointField& field : chain.checkpoint_fields()) {
    if (field.rows != nullptr)
      read_counts(file, path, field.name, *field.rows);
    else if (field.make_room)
      file.read(field.name, field.make_room(file.bytes(field.name)), file.bytes(field.name));
    else
      file.read(field.name, field.data, field.bytes);
  }
  chain.restore(checkpoint.sweeps);
  return checkpoint;
}

std::optional<HeldOutSum> read_held_out(const std::string& path, const RunInfo& info) {
  const SectionReader file(path);
  const Checkpoint checkpoint = read_checkpoint(file, path, info);
  if (checkpoint.burn_in != info.options.burn_in || checkpoint.keep_every != info.keep_every) return std::nullopt;
  const Buffer<double> sum = file.values<double>("held_out");
  return HeldOutSum{checkpoint.held_out_draws, {sum.begin(), sum.end()}};
}

}  // namespace ztp
