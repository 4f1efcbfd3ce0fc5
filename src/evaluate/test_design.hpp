// How test cells were sampled, and so how many cells of the tensor each stands for.
#pragma once
#include <cstdint>

#include "ztp/run_info.hpp"

namespace ztp {

struct TestDesign {
  enum class Zeros {
    as_ones,  // ones and zeros were sampled at the same rate
    drawn,    // some zeros were drawn: each stands for many
    none,     // there are no ones, or no zeros
  };
  Zeros zeros = Zeros::none;
  double all_zeros = 0;        // of the tensor, those that were observed when cells were held out
  double part_of_ones = 0;     // of all ones of the tensor, the part that is tested, and that the fit did not know
  double part_of_zeros = 0;    // the same of the zeros
  double zero_stands_for = 1;  // how many zeros a tested zero stands for, where a tested one stands for one
  bool missing = false;        // the test cells were missing in the fit, not zeros
};

// The design of the cells that the fit held out, or of a file, whose zeros are taken for a uniform sample of all zeros.
// own: the file was given to the fit.
TestDesign design_of(const RunInfo& info, bool own, std::uint64_t ones, std::uint64_t zeros);

// The share of ones if there are `times` as many zeros.
double with_more_zeros(double share, double times);

// The share of ones that must be among cells with this probability, if the model is right about the data it has seen.
double expected_share(double probability, const TestDesign& design);

}  // namespace ztp
