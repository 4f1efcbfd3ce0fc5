// Files of sections, and data.bin and calibration.bin of a run directory, which are such files. The first byte: bit 0,
// checksums stay as they are; bits 1 to 3, what the run says of itself.
#include <fmt/format.h>

#include "base/section_file.hpp"
#include "section_bytes.hpp"
#include "store/calibration_file.hpp"
#include "store/data.hpp"

namespace {

ztp::RunInfo chosen_run(unsigned choice) {
  ztp::RunInfo info;
  info.modes = {{"a", 3, true, 1}, {"b", 5, true, 0}};
  if (choice & 1) info.modes.push_back({"c", 2, true, 1});
  info.networks.push_back({0, "friends.tsv"});
  if (choice & 2) info.networks.push_back({1, "others.tsv"});
  if (choice & 4) info.options.likelihood = ztp::Likelihood::count;
  return info;
}

// The data as they are in the file, for their fingerprint: an intruder can write a right one into options.json.
std::string fingerprint_in(const std::string& path, const ztp::RunInfo& info) {
  const ztp::SectionReader file(path);
  const auto ids = [&](const std::string& name) {
    return file.has(name) ? file.values<std::uint32_t>(name) : ztp::Buffer<std::uint32_t>();
  };
  ztp::Dataset data;
  for (const auto& mode : info.modes)
    data.tensor.modes.push_back({mode.name, ztp::LabelTable::numbered(mode.first, mode.size)});
  data.tensor.coords = ids("coords");
  data.tensor.counts = file.values<std::int64_t>("counts");
  for (std::size_t m = 0; m < info.networks.size(); ++m) {
    ztp::Network network;
    network.mode = info.networks[m].mode;
    network.edges = ids(fmt::format("edges{}", m + 1));
    network.missing = ids(fmt::format("missing_pairs{}", m + 1));
    data.networks.push_back(std::move(network));
  }
  for (std::size_t k = 0; k < info.modes.size(); ++k) {
    const auto slices = ids(fmt::format("missing_slices{}", k + 1));
    data.missing.slices.emplace_back(slices.begin(), slices.end());
  }
  data.missing.cells = ids("missing_cells");
  return ztp::fingerprint_of(data);
}

void require_records(const ztp::Buffer<std::uint32_t>& records, const std::vector<std::uint32_t>& sizes) {
  const std::size_t width = sizes.size();
  REQUIRE(records.size() % width == 0);
  for (std::size_t i = 0; i < records.size(); ++i) REQUIRE(records[i] < sizes[i % width]);
  for (std::size_t i = width; i < records.size(); i += width) {
    const std::uint32_t* record = records.data() + i;
    REQUIRE(std::lexicographical_compare(record - width, record, record, record + width));
  }
}

// What Dataset promises.
void require_sound(const ztp::Dataset& data) {
  std::vector<std::uint32_t> sizes;
  for (const ztp::Mode& mode : data.tensor.modes) sizes.push_back(mode.labels.size());
  require_records(data.tensor.coords, sizes);
  require_records(data.missing.cells, sizes);
  REQUIRE(data.tensor.counts.empty() || data.tensor.counts.size() == data.tensor.nnz());
  std::int64_t total = 0;
  for (const std::int64_t count : data.tensor.counts)
    REQUIRE(count > 0 && !__builtin_add_overflow(total, count, &total));
  for (const ztp::Network& network : data.networks)
    for (const auto* pairs : {&network.edges, &network.missing}) {
      require_records(*pairs, {sizes[network.mode], sizes[network.mode]});
      for (std::size_t i = 0; i < pairs->size(); i += 2) REQUIRE((*pairs)[i] < (*pairs)[i + 1]);
    }
  for (std::size_t k = 0; k < sizes.size(); ++k)
    for (const std::uint32_t j : data.missing.slices[k]) REQUIRE(j < sizes[k]);
}

// What RunCalibration promises: cells of the run, and maps that rise.
void require_sound(const ztp::RunCalibration& found, const ztp::RunInfo& info) {
  const std::size_t K = info.modes.size();
  REQUIRE(found.coords.size() == found.size() * K && found.tested <= found.size());
  for (std::size_t i = 0; i < found.coords.size(); ++i) REQUIRE(found.coords[i] < info.modes[i % K].size);
  for (std::size_t e = 0; e < found.size(); ++e)
    REQUIRE(found.weight[e] >= 0 && found.outcome[e] <= 1 && found.fold[e] < ztp::calibration_folds);
  REQUIRE(found.of_fold.size() == (found.map ? ztp::calibration_folds : 0));
  if (found.map) REQUIRE(found.map->knots <= ztp::CalibrationMap::most_knots && found.map->slope() > 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const unsigned choice = input.byte();
  std::string bytes(input.rest());
  std::vector<std::string> names;
  if ((choice & 1) == 0) names = fuzz::mend_sections(bytes);
  const std::string path = fuzz::write_file("data.bin", bytes);
  ztp::RunInfo info = chosen_run(choice >> 1);
  fuzz::accepted([&] {
    const ztp::SectionReader file(path);
    for (const std::string& name : names) file.text(name);
    info.fingerprint = fingerprint_in(path, info);
  });
  fuzz::accepted([&] { require_sound(ztp::load_data(fuzz::folder(), info)); });
  fuzz::write_file("calibration.bin", bytes);
  fuzz::accepted([&] {
    if (const auto found = ztp::load_calibration(fuzz::folder(), info)) require_sound(*found, info);
  });
  return 0;
}
