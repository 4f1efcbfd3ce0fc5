// checkpoint-1-a.bin and chain-1.bin, up to what a chain carries, with checksums mended (unless the first byte is odd).
// The chain is a stand-in: what a real one makes of its numbers is its own affair.
#include "kernel/host_arrays.hpp"
#include "run/checkpoint.hpp"
#include "section_bytes.hpp"

namespace {

class StandIn : public ztp::Chain {
 public:
  StandIn() : Chain(0) {}
  void start() override {}
  double step(bool) override { return 0; }
  void draw_state() override {}
  std::vector<ztp::CheckpointField> checkpoint_fields() override {
    return {{"scale", &scale_, sizeof scale_}, {"tensor", tensor_, sizeof tensor_}, {.name = "rows0", .rows = &rows_}};
  }
  std::vector<double> learned() const override { return {}; }
  void describe(ztp::SweepReport&) const override {}
  void probabilities(const std::uint32_t*, std::size_t, double*) const override {}

 private:
  double scale_ = 0;
  std::int64_t tensor_[3] = {};
  ztp::HostCounts rows_{3, 3, false, {}};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const unsigned choice = input.byte();
  std::string bytes(input.rest());
  if ((choice & 1) == 0) fuzz::mend_sections(bytes);
  ztp::RunInfo info;
  info.fingerprint = "0123456789abcdef";
  info.options.chains = 2;
  info.test_ones = 2;
  const std::string path = fuzz::write_file(choice & 2 ? "chain-1.bin" : "checkpoint-1-a.bin", bytes);
  const std::string other = fuzz::folder() + (choice & 2 ? "/checkpoint-1-a.bin" : "/chain-1.bin");
  std::filesystem::remove(other);
  std::vector<std::string> warnings;
  fuzz::accepted([&] {
    const std::vector<ztp::Checkpoint> checkpoints = ztp::latest_checkpoints(fuzz::folder(), info, warnings);
    REQUIRE(checkpoints.size() == 2 && checkpoints[1].file.empty() && warnings.empty());
    REQUIRE(checkpoints[0].file == path && checkpoints[0].chain == 0 && checkpoints[0].sweeps <= 1000);
    StandIn chain;
    ztp::restore_chain(path, info, chain);
    ztp::read_held_out(path, info);
  });
  return 0;
}
