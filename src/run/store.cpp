#include "run/store.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "base/section_file.hpp"
#include "io/dataset.hpp"
#include "io/write_cells.hpp"
#include "ztp/error.hpp"

namespace ztp {
namespace {

std::string label_file(const std::string& run_dir, const std::string& mode) {
  return fmt::format("{}/labels/{}.txt", run_dir, mode);
}

// Sections of missing cells are there only where something is missing.
void store_ids(SectionWriter& file, const std::string& name, std::span<const std::uint32_t> ids) {
  if (!ids.empty()) file.values(name, ids.data(), ids.size());
}

Buffer<std::uint32_t> load_ids(const SectionReader& file, const std::string& name) {
  return file.has(name) ? file.values<std::uint32_t>(name) : Buffer<std::uint32_t>();
}

}  // namespace

void store_labels(const std::string& run_dir, const std::vector<Mode>& modes) {
  std::filesystem::create_directories(run_dir + "/labels");
  for (const Mode& mode : modes)
    if (!mode.labels.is_numbered()) write_label_file(label_file(run_dir, mode.name), mode.labels);
}

std::vector<Mode> load_modes(const std::string& run_dir, const RunInfo& info) {
  std::vector<Mode> modes;
  for (const auto& mode : info.modes) {
    if (mode.numbered) {
      modes.push_back({mode.name, LabelTable::numbered(mode.first, mode.size)});
      continue;
    }
    const std::string path = label_file(run_dir, mode.name);
    LabelTable labels = read_label_file(path);
    if (labels.size() != mode.size)
      throw Error(ErrorKind::input,
                  fmt::format("{}: damaged: {} labels, but the run has {}", path, labels.size(), mode.size));
    modes.push_back({mode.name, std::move(labels)});
  }
  return modes;
}

void store_data(const std::string& run_dir, const Dataset& data) {
  SectionWriter file(run_dir + "/data.bin");
  file.values("coords", data.tensor.coords.data(), data.tensor.coords.size());
  file.values("counts", data.tensor.counts.data(), data.tensor.counts.size());
  for (std::size_t m = 0; m < data.networks.size(); ++m)
    file.values(fmt::format("edges{}", m + 1), data.networks[m].edges.data(), data.networks[m].edges.size());
  for (std::size_t k = 0; k < data.missing.slices.size(); ++k)
    store_ids(file, fmt::format("missing_slices{}", k + 1), data.missing.slices[k]);
  store_ids(file, "missing_cells", data.missing.cells);
  for (std::size_t m = 0; m < data.networks.size(); ++m)
    store_ids(file, fmt::format("missing_pairs{}", m + 1), data.networks[m].missing);
  file.commit();
}

Dataset load_data(const std::string& run_dir, const RunInfo& info) {
  Dataset data;
  data.tensor.modes = load_modes(run_dir, info);
  const std::string path = run_dir + "/data.bin";
  const SectionReader file(path);
  data.tensor.coords = file.values<std::uint32_t>("coords");
  data.tensor.counts = file.values<std::int64_t>("counts");
  for (std::size_t m = 0; m < info.networks.size(); ++m) {
    Network network;
    network.mode = info.networks[m].mode;
    network.source = info.networks[m].source;
    network.edges = file.values<std::uint32_t>(fmt::format("edges{}", m + 1));
    network.missing = load_ids(file, fmt::format("missing_pairs{}", m + 1));
    data.networks.push_back(std::move(network));
  }
  for (std::size_t k = 0; k < data.tensor.order(); ++k) {
    const Buffer<std::uint32_t> ids = load_ids(file, fmt::format("missing_slices{}", k + 1));
    data.missing.slices.emplace_back(ids.begin(), ids.end());
  }
  data.missing.cells = load_ids(file, "missing_cells");
  if (fmt::format("{:016x}", fingerprint(data.tensor, data.networks, data.missing)) != info.fingerprint)
    throw Error(ErrorKind::input, fmt::format("{}: the data are not those the run was started with (fingerprint {})",
                                              path, info.fingerprint));
  return data;
}

}  // namespace ztp
