// trace.tsv, cells.tsv and watched.tsv, parted by lines of three dashes, as 'ztp diagnose' reads them.
#include "harness.hpp"
#include "run_files.hpp"
#include "store/manifest.hpp"
#include "ztp/diagnose.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string options = fuzz::write_file("options.json", fuzz::short_options),
                           status = fuzz::write_file("status.json", fuzz::short_status);
  static const bool listed = (ztp::add_to_manifest(fuzz::folder(), {"options.json"}), true);
  REQUIRE(listed);
  fuzz::Input input(data, size);
  fuzz::write_file("trace.tsv", input.part());
  fuzz::write_file("cells.tsv", input.part());
  fuzz::write_file("watched.tsv", input.part());
  fuzz::accepted([&] {
    const ztp::Diagnosis diagnosis = ztp::diagnose(fuzz::folder());
    for (const std::size_t chain : diagnosis.chains) REQUIRE(chain < 2);
  });
  return 0;
}
