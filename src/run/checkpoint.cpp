#include "run/checkpoint.hpp"

#include <fmt/format.h>

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

}  // namespace

void write_checkpoint(const std::string& run_dir, const RunInfo& info, const Checkpoint& checkpoint,
                      const AnyChain& chain) {
  const Statistics& statistics = chain.statistics();
  SectionWriter file(file_of(run_dir));
  file.section("fingerprint", info.fingerprint.data(), info.fingerprint.size());
  const Head head{checkpoint.position.chain,  checkpoint.position.sweep, checkpoint.position.seconds,
                  checkpoint.draw_log_length, checkpoint.trace_length,   checkpoint.cells_length,
                  checkpoint.held_out_draws};
  file.values("position", &head, 1);
  file.values("held_out", checkpoint.held_out_sum.data(), checkpoint.held_out_sum.size());
  const Shapes& shapes = chain.state().shapes;
  file.values("dirichlet", shapes.dirichlet.data(), shapes.dirichlet.size());
  file.values("shape", &shapes.tensor, 1);
  file.values("network_shapes", shapes.networks.data(), shapes.networks.size());
  file.values("scale", &statistics.scale, 1);
  file.values("tensor", statistics.tensor.data(), statistics.tensor.size());
  for (std::size_t m = 0; m < statistics.networks.size(); ++m)
    file.values(fmt::format("network{}", m), statistics.networks[m].data(), statistics.networks[m].size());
  for (std::size_t k = 0; k < statistics.rows.size(); ++k)
    file.section(fmt::format("rows{}", k), statistics.rows[k].row(0), statistics.rows[k].bytes());
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
  const SectionReader file(file_of(run_dir));
  Shapes shapes = chain.state().shapes;
  file.read("dirichlet", shapes.dirichlet.data(), shapes.dirichlet.size() * sizeof(double));
  file.read("shape", &shapes.tensor, sizeof(double));
  file.read("network_shapes", shapes.networks.data(), shapes.networks.size() * sizeof(double));
  chain.restore(checkpoint.position.sweep, shapes);
  Statistics& statistics = chain.statistics();
  file.read("scale", &statistics.scale, sizeof(double));
  file.read("tensor", statistics.tensor.data(), statistics.tensor.size() * sizeof(std::int64_t));
  for (std::size_t m = 0; m < statistics.networks.size(); ++m)
    file.read(fmt::format("network{}", m), statistics.networks[m].data(),
              statistics.networks[m].size() * sizeof(std::int64_t));
  for (std::size_t k = 0; k < statistics.rows.size(); ++k)
    file.read(fmt::format("rows{}", k), statistics.rows[k].row(0), statistics.rows[k].bytes());
}

}  // namespace ztp
