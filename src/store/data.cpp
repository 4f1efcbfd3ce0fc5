#include "store/data.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <filesystem>

#include "base/file.hpp"
#include "base/section_file.hpp"
#include "io/assemble.hpp"
#include "io/dataset_ones.hpp"
#include "io/read.hpp"
#include "io/text_writer.hpp"
#include "store/manifest.hpp"
#include "ztp/error.hpp"

namespace ztp {
namespace {

std::string label_file(const std::string& mode) {
  return fmt::format("labels/{}.txt", mode);
}

// Sections of missing cells are there only where something is missing.
void store_ids(SectionWriter& file, const std::string& name, std::span<const std::uint32_t> ids) {
  if (!ids.empty()) file.values(name, ids.data(), ids.size());
}

Buffer<std::uint32_t> load_ids(const SectionReader& file, const std::string& name) {
  return file.has(name) ? file.values<std::uint32_t>(name) : Buffer<std::uint32_t>();
}

// Complete records with ids below the sizes, sorted and distinct.
void check_records(std::span<const std::uint32_t> ids, const std::vector<std::uint32_t>& sizes, const std::string& what,
                   const std::string& path) {
  const std::size_t width = sizes.size();
  if (ids.size() % width != 0) throw_damaged(path, fmt::format("the {} are cut off", what));
  for (std::size_t i = 0; i < ids.size(); i += width) {
    const std::uint32_t* record = ids.data() + i;
    for (std::size_t k = 0; k < width; ++k)
      if (record[k] >= sizes[k])
        throw_damaged(path, fmt::format("the {} have entity {}, but there are only {}", what, record[k], sizes[k]));
    if (i > 0 && !std::lexicographical_compare(record - width, record, record, record + width))
      throw_damaged(path, fmt::format("the {} are not in order", what));
  }
}

void check_pairs(std::span<const std::uint32_t> ids, std::uint32_t size, const std::string& what,
                 const std::string& path) {
  check_records(ids, {size, size}, what, path);
  for (std::size_t i = 0; i < ids.size(); i += 2)
    if (ids[i] >= ids[i + 1]) throw_damaged(path, fmt::format("the {} have a pair that is not in order", what));
}

void check_counts(const SparseTensor& tensor, const std::string& path) {
  if (!tensor.counts.empty() && tensor.counts.size() != tensor.nnz())
    throw_damaged(path, fmt::format("{} counts of {} ones", tensor.counts.size(), tensor.nnz()));
  std::int64_t total = 0;
  for (const std::int64_t count : tensor.counts) {
    if (count <= 0) throw_damaged(path, fmt::format("a count of {}", count));
    add_to_total(total, count, path);
  }
}

// The modes may have grown since the file was made.
void check_file(const Dataset& data, const std::vector<std::uint32_t>& sizes) {
  const TensorFile& file = *data.file;
  bool fits = file.order() == sizes.size() && data.file_ones <= file.ones();
  for (std::size_t k = 0; fits && k < sizes.size(); ++k) fits = file.mode_size(k) <= sizes[k];
  if (!fits)
    throw Error(ErrorKind::input, fmt::format("{}: this is not the tensor that the run was started with", file.path()));
}

// Error (input), unless the data are what Dataset promises: ids in range, records sorted and distinct, positive counts.
// Other code uses the ids as indices, and a correct checksum does not prove that they are valid.
void check_stored_data(const Dataset& data, const std::string& path) {
  const std::vector<std::uint32_t> sizes = data.tensor.sizes();
  check_records(data.tensor.coords, sizes, "ones", path);
  check_counts(data.tensor, path);
  check_records(data.missing.cells, sizes, "missing cells", path);
  for (std::size_t k = 0; k < data.missing.slices.size(); ++k)
    check_records(data.missing.slices[k], {sizes[k]}, "missing slices", path);
  for (const Network& network : data.networks) {
    check_pairs(network.edges, sizes[network.mode], "edges", path);
    check_pairs(network.missing, sizes[network.mode], "missing pairs", path);
  }
  if (data.file != nullptr) check_file(data, sizes);
}

}  // namespace

std::vector<std::string> store_labels(const std::string& run_dir, const std::vector<Mode>& modes) {
  std::error_code error;
  std::filesystem::create_directories(run_dir + "/labels", error);
  if (error) throw Error(ErrorKind::io, fmt::format("cannot create {}/labels: {}", run_dir, error.message()));
  std::vector<std::string> files;
  for (const Mode& mode : modes) {
    if (mode.labels.is_numbered()) continue;
    files.push_back(label_file(mode.name));
    write_label_file(run_dir + "/" + files.back(), mode.labels);
  }
  return files;
}

namespace {

// A list without an index: of large modes this takes twice the memory of the labels.
LabelTable list_label_file(const std::string& path) {
  std::string characters;
  std::vector<std::uint64_t> ends;
  read_label_lines(path, [&](std::string_view label, std::size_t) {
    characters += label;
    ends.push_back(characters.size());
  });
  characters.shrink_to_fit();
  ends.shrink_to_fit();
  return LabelTable::listed(std::move(characters), std::move(ends));
}

}  // namespace

std::vector<Mode> load_modes(const std::string& run_dir, const RunInfo& info, bool indexed) {
  std::vector<Mode> modes;
  for (const auto& mode : info.modes) {
    if (mode.numbered) {
      modes.push_back({mode.name, LabelTable::numbered(mode.first, mode.size)});
      continue;
    }
    check_manifest(run_dir, label_file(mode.name));
    const std::string path = run_dir + "/" + label_file(mode.name);
    LabelTable labels = indexed ? read_label_file(path) : list_label_file(path);
    if (labels.size() != mode.size)
      throw_damaged(path, fmt::format("{} labels, but the run has {}", labels.size(), mode.size));
    modes.push_back({mode.name, std::move(labels)});
  }
  return modes;
}

std::string fingerprint_of(const Dataset& data) {
  std::uint64_t number = fingerprint(data.tensor, data.networks, data.missing);
  if (data.file != nullptr) {
    const std::uint64_t parts[] = {number, data.file->fingerprint(), data.file_ones};
    number = XXH3_64bits(parts, sizeof parts);
  }
  return fmt::format("{:016x}", number);
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

namespace {

// All but ones and labels.
Dataset data_of(const RunInfo& info, const SectionReader& file) {
  Dataset data;
  for (std::size_t m = 0; m < info.networks.size(); ++m) {
    Network network;
    network.mode = info.networks[m].mode;
    network.source = info.networks[m].source;
    network.edges = file.values<std::uint32_t>(fmt::format("edges{}", m + 1));
    network.missing = load_ids(file, fmt::format("missing_pairs{}", m + 1));
    data.networks.push_back(std::move(network));
  }
  for (std::size_t k = 0; k < info.modes.size(); ++k) {
    const Buffer<std::uint32_t> ids = load_ids(file, fmt::format("missing_slices{}", k + 1));
    data.missing.slices.emplace_back(ids.begin(), ids.end());
  }
  data.missing.cells = load_ids(file, "missing_cells");
  if (!info.ones_file.empty()) {
    data.file = std::make_shared<const TensorFile>(info.ones_file);
    data.file_ones = info.ones_in_file;
  }
  return data;
}

void check_data(const Dataset& data, const RunInfo& info, const std::string& path) {
  check_stored_data(data, path);
  if (fingerprint_of(data) != info.fingerprint)
    throw Error(ErrorKind::input, fmt::format("{}: the data are not those the run was started with (fingerprint {})",
                                              info.ones_file.empty() ? path : info.ones_file, info.fingerprint));
}

}  // namespace

Dataset load_data(const std::string& run_dir, const RunInfo& info) {
  const std::string path = run_dir + "/data.bin";
  const SectionReader file(path);
  Dataset data = data_of(info, file);
  data.tensor.modes = load_modes(run_dir, info);
  data.tensor.coords = file.values<std::uint32_t>("coords");
  data.tensor.counts = file.values<std::int64_t>("counts");
  check_data(data, info, path);
  return data;
}

Dataset map_data(const std::string& run_dir, const RunInfo& info, bool leads) {
  const std::string path = run_dir + "/data.bin";
  const SectionReader file(path);
  Dataset data = data_of(info, file);
  const auto map = [&] {
    data.tensor.coords = file.mapped<std::uint32_t>("coords");
    data.tensor.counts = file.mapped<std::int64_t>("counts");
  };
  map();
  if (!leads) {
    for (const auto& mode : info.modes) data.tensor.modes.push_back({mode.name, LabelTable::unnamed(mode.size)});
    return data;
  }
  data.tensor.modes = load_modes(run_dir, info, false);
  file.verify();
  check_data(data, info, path);
  map();  // anew: what was looked at is no longer in memory
  return data;
}

std::string stored_test_file(const std::string& run_dir, const RunInfo& info) {
  if (info.test_ones + info.test_zeros == 0)
    throw Error(ErrorKind::config,
                fmt::format("{} has no held-out cells (--holdout, --test): give cells of your own", run_dir));
  check_manifest(run_dir, "test.tsv");
  return run_dir + "/test.tsv";
}

TestCells load_test_cells(const std::string& run_dir, const RunInfo& info, const std::vector<Mode>& modes,
                          unsigned threads) {
  if (info.test_ones + info.test_zeros == 0) return {};
  return read_test_cells(stored_test_file(run_dir, info), modes, threads, has_counts(info.options));
}

SparseTensor sample_of_ones(const std::string& run_dir, const RunInfo& info, std::size_t count) {
  Dataset data = load_data(run_dir, info);
  SparseTensor& tensor = data.tensor;
  if (data.file == nullptr) return std::move(tensor);
  const Buffer<std::uint32_t> coords = first_ones_of_file(data, count);
  tensor.coords.append(coords.data(), coords.size());
  tensor.counts.resize(0);
  return std::move(tensor);
}

Dataset data_matching(const std::string& run_dir, const RunInfo& info,
                      const std::vector<std::optional<std::uint32_t>>& given) {
  Dataset data = info.ones_file.empty() ? map_data(run_dir, info, true) : load_data(run_dir, info);
  SparseTensor& tensor = data.tensor;
  if (data.file == nullptr) return data;
  const std::size_t K = tensor.order();
  for_file_chunks(*data.file, data.file_ones, [&](const std::uint32_t* coords, const std::int64_t*, std::size_t count) {
    for (std::size_t e = 0; e < count; ++e) {
      bool matches = true;
      for (std::size_t k = 0; k < K && matches; ++k) matches = !given[k] || coords[e * K + k] == *given[k];
      if (matches) tensor.coords.append(coords + e * K, K);
    }
  });
  tensor.counts.resize(0);
  tensor.sort_and_merge();
  return data;
}

}  // namespace ztp
