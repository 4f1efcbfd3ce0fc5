#include "tensor/tie_modes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/errors.hpp"
#include "tensor/records.hpp"

namespace ztp {
namespace {

bool same_labels(const LabelTable& a, const LabelTable& b) {
  if (a.size() != b.size()) return false;
  if (a.is_numbered() && b.is_numbered()) return a.first_number() == b.first_number();
  std::string first, second;
  for (std::uint32_t j = 0; j < a.size(); ++j)
    if (a.name(j, first) != b.name(j, second)) return false;
  return true;
}

}  // namespace

std::vector<std::uint32_t> join_labels(Mode& a, Mode& b) {
  LabelTable &first = a.labels, &second = b.labels, both;
  if (same_labels(first, second)) return {};
  std::vector<std::uint32_t> id_of_second;
  if (first.is_numbered() && second.is_numbered() && first.first_number() == second.first_number()) {
    both = LabelTable::numbered(first.first_number(), std::max(first.size(), second.size()));
  } else {
    std::string scratch;
    for (std::uint32_t j = 0; j < first.size(); ++j) both.add(first.name(j, scratch));
    for (std::uint32_t j = 0; j < second.size(); ++j) id_of_second.push_back(both.add(second.name(j, scratch)));
    if (both.size() == first.size() + second.size())
      throw config_error("--tie {0}={1}: modes {0} and {1} have no label in common, so their entities are not the same",
                         a.name, b.name);
  }
  first = both;
  second = std::move(both);
  return id_of_second;
}

void tie_modes(Dataset& data, std::size_t k, std::size_t l) {
  SparseTensor& tensor = data.tensor;
  if (same_labels(tensor.modes[k].labels, tensor.modes[l].labels)) return;
  if (data.file != nullptr)
    throw config_error(
        "--tie {0}={1}: in {2} the two modes do not share their entities; convert the data again with 'ztp convert "
        "--tie {0}={1}'",
        tensor.modes[k].name, tensor.modes[l].name, data.file->path());
  const std::vector<std::uint32_t> id_of_second = join_labels(tensor.modes[k], tensor.modes[l]);
  if (id_of_second.empty()) return;
  const std::size_t K = tensor.order();
  const auto rename = [&](Buffer<std::uint32_t>& cells) {
    for (std::size_t i = 0; i < cells.size(); i += K) cells[i + l] = id_of_second[cells[i + l]];
  };
  rename(tensor.coords);
  tensor.sort_and_merge();
  rename(data.missing.cells);
  sort_and_merge_records(data.missing.cells, K);
  if (l < data.missing.slices.size()) {
    for (std::uint32_t& j : data.missing.slices[l]) j = id_of_second[j];
    std::sort(data.missing.slices[l].begin(), data.missing.slices[l].end());
  }
  for (Network& network : data.networks) {
    if (network.mode != l) continue;
    for (Buffer<std::uint32_t>* pairs : {&network.edges, &network.missing}) {
      for (std::size_t i = 0; i < pairs->size(); i += 2) {
        const std::uint32_t a = id_of_second[(*pairs)[i]], b = id_of_second[(*pairs)[i + 1]];
        (*pairs)[i] = std::min(a, b);
        (*pairs)[i + 1] = std::max(a, b);
      }
      sort_and_merge_records(*pairs, 2);
    }
  }
}

void remove_self_cells(std::size_t k, std::size_t l, std::size_t K, TestCells& test, Missing& missing) {
  const auto is_self = [&](const Buffer<std::uint32_t>& cells, std::size_t i) {
    return cells[i * K + k] == cells[i * K + l];
  };
  remove_records(missing.cells, K, [&](std::size_t i) { return is_self(missing.cells, i); });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < test.size(); ++i)
    if (!is_self(test.coords, i)) {
      if (!test.counts.empty()) test.counts[kept] = test.counts[i];
      test.outcome[kept++] = test.outcome[i];
    }
  remove_records(test.coords, K, [&](std::size_t i) { return is_self(test.coords, i); });
  test.outcome.resize(kept);
  if (!test.counts.empty()) test.counts.resize(kept);
}

}  // namespace ztp
