#include "baselines/training_cells.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/random.hpp"
#include "io/draw_cells.hpp"
#include "options/options.hpp"
#include "ztp/error.hpp"

namespace ztp {
namespace {

constexpr double most_cells_by_default = 4e6;
constexpr double most_cells = 4294967295.0;  // rows are indexed with 32 bits

// Cells that are neither ones nor missing.
double zeros_there(const SparseTensor& tensor, const Buffer<std::uint32_t>* missing) {
  const double missing_cells = missing == nullptr ? 0 : static_cast<double>(missing->size() / tensor.order());
  return tensor.volume() - static_cast<double>(tensor.nnz()) - missing_cells;
}

// Sorted, as both lists are.
void merge(const Buffer<std::uint32_t>& ones, const Buffer<std::uint32_t>& zeros, std::size_t K, TrainingCells& cells) {
  cells.coords = Buffer<std::uint32_t>(ones.size() + zeros.size());
  cells.one = Buffer<std::uint8_t>((ones.size() + zeros.size()) / K);
  const std::uint32_t *one = ones.begin(), *zero = zeros.begin();
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const bool take_one =
        zero == zeros.end() || (one != ones.end() && std::lexicographical_compare(one, one + K, zero, zero + K));
    const std::uint32_t*& from = take_one ? one : zero;
    std::copy(from, from + K, cells.coords.data() + i * K);
    cells.one[i] = take_one;
    from += K;
  }
}

}  // namespace

double share_of_zeros(const SparseTensor& tensor, const Buffer<std::uint32_t>* missing, std::uint64_t zeros) {
  const double there = zeros_there(tensor, missing);
  return there < 1 ? 1 : static_cast<double>(zeros) / there;
}

std::uint64_t zeros_wanted(const SparseTensor& tensor, const Buffer<std::uint32_t>* missing,
                           const std::string& choice) {
  const double ones = static_cast<double>(tensor.nnz()), there = zeros_there(tensor, missing);
  const double each = zeros_per_one_of(choice);
  const bool all = choice == "all" || (choice == "auto" && tensor.volume() <= most_cells_by_default);
  const double wanted = all ? there : std::min(there, std::ceil(each * ones));
  if (wanted + ones > most_cells)
    throw Error(ErrorKind::config,
                fmt::format("--zeros {}: {:.3g} cells are too many for the logistic model; give a number of zeros for "
                            "each one",
                            choice, wanted + ones));
  return static_cast<std::uint64_t>(std::max(0.0, wanted));
}

TrainingCells training_cells(const SparseTensor& tensor, const Buffer<std::uint32_t>* missing, std::uint64_t zeros,
                             std::uint64_t seed) {
  const std::size_t K = tensor.order();
  ExcludedCells excluded{tensor.coords};
  if (missing != nullptr) excluded.others = *missing;
  const ObservedBox box(tensor, {});
  const StreamKey key = stream_key(seed, 0, Purpose::rival_zeros);
  const std::optional<std::uint64_t> volume = box.volume();
  const Buffer<std::uint32_t> drawn =
      volume ? draw_cells_by_number(box, excluded, *volume - excluded.count_in(box), zeros, key)
             : draw_cells_by_rejection(box, excluded, zeros, key);
  TrainingCells cells;
  merge(tensor.coords, drawn, K, cells);
  cells.zeros_used = share_of_zeros(tensor, missing, zeros);
  return cells;
}

}  // namespace ztp
