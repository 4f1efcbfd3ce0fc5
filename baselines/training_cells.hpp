// The cells that the logistic model is fitted to: all of them where that is feasible, and otherwise the ones and a
// sample of the zeros.
#pragma once
#include <cstdint>
#include <string>

#include "ztp/tensor.hpp"

namespace ztp {

struct TrainingCells {
  Buffer<std::uint32_t> coords;  // cells x K, sorted
  Buffer<std::uint8_t> one;      // whether each is a one
  double zeros_used = 1;         // the part of the zeros that are here
  std::size_t size() const { return one.size(); }
};

// What part of the zeros so many are; 1, if there are none.
double share_of_zeros(const SparseTensor& tensor, const Buffer<std::uint32_t>* missing, std::uint64_t zeros);

// How many zeros `choice` means: "all", a number of them for each one, or "auto": all, if there are at most four
// million cells, else ten for each one. Never more than there are. Error (config), if it means nothing.
std::uint64_t zeros_wanted(const SparseTensor& tensor, const Buffer<std::uint32_t>* missing, const std::string& choice);

TrainingCells training_cells(const SparseTensor& tensor, const Buffer<std::uint32_t>* missing, std::uint64_t zeros,
                             std::uint64_t seed);

}  // namespace ztp
