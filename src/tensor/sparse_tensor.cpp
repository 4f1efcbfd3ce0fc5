#include <algorithm>

#include "base/hash.hpp"
#include "tensor/records.hpp"
#include "ztp/tensor.hpp"

namespace ztp {

std::vector<std::uint32_t> SparseTensor::sizes() const {
  std::vector<std::uint32_t> sizes;
  for (const Mode& mode : modes) sizes.push_back(mode.labels.size());
  return sizes;
}

double SparseTensor::volume() const {
  double cells = 1;
  for (const Mode& mode : modes) cells *= mode.labels.size();
  return cells;
}

bool SparseTensor::contains(const std::uint32_t* wanted) const {
  return find_record(coords, order(), wanted) < nnz();
}

std::optional<std::size_t> SparseTensor::mode_named(const std::string& name) const {
  for (std::size_t k = 0; k < modes.size(); ++k)
    if (modes[k].name == name) return k;
  return std::nullopt;
}

std::size_t SparseTensor::sort_and_merge() {
  if (modes.empty()) return 0;
  return sort_and_merge_records(coords, order(), counts.empty() ? nullptr : &counts);
}

std::uint64_t fingerprint(const SparseTensor& tensor, std::span<const Network> networks, const Missing& missing) {
  Hash hash;
  const auto add = [&](const void* data, std::size_t bytes) { hash.add(data, bytes); };
  const auto add_number = [&](std::uint64_t number) { add(&number, sizeof number); };
  std::string scratch;
  add_number(tensor.order());
  for (const Mode& mode : tensor.modes) {
    add_number(mode.name.size());
    add(mode.name.data(), mode.name.size());
    add_number(mode.labels.size());
    if (mode.labels.is_numbered()) {
      add_number(mode.labels.first_number());
      continue;
    }
    for (std::uint32_t j = 0; j < mode.labels.size(); ++j) {
      const std::string_view label = mode.labels.name(j, scratch);
      add_number(label.size());
      add(label.data(), label.size());
    }
  }
  add(tensor.coords.data(), tensor.coords.size() * sizeof(std::uint32_t));
  add(tensor.counts.data(), tensor.counts.size() * sizeof(std::int64_t));
  for (const Network& network : networks) {
    add_number(network.mode);
    add_number(network.size());
    add(network.edges.data(), network.edges.size() * sizeof(std::uint32_t));
  }
  // Data without missing cells keep the fingerprint that they had before missing cells were supported.
  const auto add_ids = [&](std::span<const std::uint32_t> ids) {
    add_number(ids.size());
    add(ids.data(), ids.size_bytes());
  };
  const bool pairs = std::any_of(networks.begin(), networks.end(), [](const Network& n) { return !n.missing.empty(); });
  if (!missing.empty() || pairs) {
    for (std::size_t k = 0; k < tensor.order(); ++k)
      add_ids(k < missing.slices.size() ? std::span<const std::uint32_t>(missing.slices[k])
                                        : std::span<const std::uint32_t>());
    add_ids(missing.cells);
    for (const Network& network : networks) add_ids(network.missing);
  }
  return hash.sum();
}

}  // namespace ztp
