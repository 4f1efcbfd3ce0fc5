#include "run/watched_cells.hpp"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "io/dataset_ones.hpp"

namespace ztp {
namespace {

constexpr std::size_t of_each_kind = 32;

void add(TestCells& cells, const std::uint32_t* cell, std::size_t K, bool one) {
  cells.coords.append(cell, K);
  cells.outcome.push_back(one ? 1 : 0);
}

// Up to 32 random held-out cells with this outcome.
void add_held_out(TestCells& cells, const TestCells& held_out, std::size_t K, bool one, Stream& stream) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < held_out.size(); ++i)
    if ((held_out.outcome[i] != 0) == one) places.push_back(i);
  for (std::size_t taken = 0; taken < of_each_kind && taken < places.size(); ++taken) {
    std::swap(places[taken], places[taken + stream.below(places.size() - taken)]);
    add(cells, held_out.coords.data() + places[taken] * K, K, one);
  }
}

}  // namespace

TestCells watched_cells(const Dataset& data, const TestCells& held_out, std::uint64_t seed) {
  const SparseTensor& tensor = data.tensor;
  TestCells cells;
  Stream stream(stream_key(seed, 0, Purpose::watch), 0, 0);
  if (held_out.size() > 0) {
    for (const bool one : {true, false}) add_held_out(cells, held_out, tensor.order(), one, stream);
    return cells;
  }
  cells.coords = first_ones_of_file(data, of_each_kind);
  for (std::size_t i = 0; i * tensor.order() < cells.coords.size(); ++i) cells.outcome.push_back(1);
  std::set<std::size_t> ones;
  while (cells.size() == 0 && ones.size() < std::min(of_each_kind, tensor.nnz()))
    ones.insert(stream.below(tensor.nnz()));
  for (const std::size_t e : ones) add(cells, tensor.cell(e), tensor.order(), true);
  std::vector<std::uint32_t> cell(tensor.order());
  for (std::size_t i = 0; i < of_each_kind; ++i) {
    for (std::size_t k = 0; k < cell.size(); ++k)
      cell[k] = static_cast<std::uint32_t>(stream.below(tensor.modes[k].labels.size()));
    add(cells, cell.data(), cell.size(), tensor.contains(cell.data()));
  }
  return cells;
}

}  // namespace ztp
