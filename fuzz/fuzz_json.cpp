// options.json and status.json of a run directory, parted by a line of three dashes. Bits of the first byte put a good
// file in the place of one of them, have the options alone read, or the first part as manifest.json, which is mended
// otherwise.
#include "harness.hpp"
#include "run_files.hpp"
#include "store/data.hpp"
#include "store/manifest.hpp"
#include "ztp/run_info.hpp"

namespace {

void require_sound(const ztp::RunInfo& info) {
  REQUIRE(info.modes.size() >= 1 && info.modes.size() <= ztp::max_modes);
  for (const auto& mode : info.modes) {
    REQUIRE(mode.size >= 1 && mode.size <= ztp::max_mode_size && mode.missing_slices <= mode.size);
    REQUIRE(!mode.name.empty() && mode.name.find('/') == mode.name.npos && mode.name != "..");
  }
  for (const auto& network : info.networks) REQUIRE(network.mode < info.modes.size());
  REQUIRE(info.options.rank >= 1 && info.options.rank <= 100000);
  REQUIRE(info.options.chains >= 1 && info.options.chains <= 1000);
  REQUIRE(info.chains.size() <= 1000);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const unsigned choice = input.byte();
  if (choice & 4) {
    fuzz::accepted([&] { ztp::options_from_json(std::string(input.rest())); });
    return 0;
  }
  const std::string_view first = input.part(), second = input.part();
  fuzz::write_file("options.json", choice & 1 ? fuzz::good_options : first);
  fuzz::write_file("status.json", choice & 2 ? fuzz::good_status : choice & 1 ? first : second);
  static const bool has_folder = std::filesystem::create_directories(fuzz::folder() + "/labels");
  static const std::string labels = fuzz::write_file("labels/user.txt", "anna\nbert\n");
  REQUIRE(has_folder);
  std::filesystem::remove(fuzz::folder() + "/manifest.json");
  if (choice & 8)
    fuzz::write_file("manifest.json", first);
  else
    ztp::add_to_manifest(fuzz::folder(), {"options.json", "labels/user.txt"});
  fuzz::accepted([&] {
    const ztp::RunInfo info = ztp::run_info(fuzz::folder());
    require_sound(info);
    const std::string text = ztp::run_info_as_json(info);
    REQUIRE(text.size() > 2);
    ztp::load_modes(fuzz::folder(), info);
  });
  return 0;
}
